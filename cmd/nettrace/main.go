// Command nettrace reads what was recorded on a machine whose network is slow and says what costs performance.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

// Exit codes, as nettrace --help lists them.
const (
	exitDone        = 0
	exitFailed      = 1   // could not do it
	exitUsage       = 2   // wrong usage
	exitFound       = 3   // findings at or above --fail-on
	exitDamaged     = 4   // input damaged, with --strict
	exitInterrupted = 130 // what was learnt so far was printed
)

func main() { os.Exit(Main()) }

// Main runs the command line of the process and returns its exit code.
func Main() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	go func() { // the first interrupt ends the reading, a second one the program
		<-ctx.Done()
		stop()
	}()
	signal.Ignore(syscall.SIGPIPE) // a closed pipe is an error of Write, and ends quietly
	return run(ctx, newEnv(os.Stdin, os.Stdout, os.Stderr, os.Getenv), os.Args[1:])
}

// exit is an error that carries its exit code. An empty text prints nothing.
type exit struct {
	code int
	text string
}

func (e exit) Error() string { return e.text }

func failed(format string, args ...any) error { return exit{exitFailed, fmt.Sprintf(format, args...)} }
func usage(format string, args ...any) error  { return exit{exitUsage, fmt.Sprintf(format, args...)} }

// run executes one command line.
func run(ctx context.Context, e *env, args []string) int {
	root := newRoot(e)
	root.SetArgs(args)
	root.SetIn(e.stdin)
	root.SetOut(e.stdout)
	root.SetErr(e.stderr)
	err := root.ExecuteContext(ctx)
	if flush := e.stdout.Flush(); err == nil {
		err = flush
	}
	var x exit
	switch {
	case err == nil:
		return exitDone
	case errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe):
		return exitDone
	case errors.As(err, &x):
		if x.text != "" {
			fmt.Fprintln(e.stderr, "nettrace: "+strings.TrimSpace(x.text))
		}
		return x.code
	default: // cobra's own errors are about flags and arguments
		fmt.Fprintf(e.stderr, "nettrace: %s\nnettrace --help lists the commands and nettrace COMMAND --help their flags\n", err)
		return exitUsage
	}
}
