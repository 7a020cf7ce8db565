package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"nettrace/fixtures"
)

// demoBundle is the folder of the embedded recordings.
const demoBundle = "bundles/rr-4345"

func demoCommand(e *env) *cobra.Command {
	return &cobra.Command{
		Use:   "demo DIR",
		Short: "Write a bundle of recordings to try everything on",
		Long: `Write a bundle of recordings to try everything on: captures, settings, counters, interrupts, lock statistics, stacks and
benchmark logs of one incident, in which one more byte costs two thirds of the transaction rate.`,
		Example: `  nettrace demo rr-4345`,
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			n, err := writeDemo(args[0])
			if err != nil {
				return couldNot(err)
			}
			_, err = fmt.Fprintf(e.stdout, "%d recordings in %s; try\n  nettrace analyze %s\n  nettrace explore %s\n  nettrace report %s -o report.html\n", n, args[0], args[0], args[0], args[0])
			return err
		},
	}
}

// writeDemo writes the recordings into dir, which it makes, and returns how many there are. Files of the user are not
// written over.
func writeDemo(dir string) (n int, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return 0, err
	}
	entries, err := fs.ReadDir(fixtures.Demo, demoBundle)
	if err != nil {
		return 0, err
	}
	for _, entry := range entries {
		data, err := fixtures.Demo.ReadFile(demoBundle + "/" + entry.Name())
		if err != nil {
			return n, err
		}
		f, err := os.OpenFile(filepath.Join(dir, entry.Name()), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if err != nil {
			return n, err
		}
		_, werr := f.Write(data)
		if err := errors.Join(werr, f.Close()); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}
