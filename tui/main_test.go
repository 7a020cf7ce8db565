package tui

import (
	"context"
	"fmt"
	"io"
	"os"
	"testing"

	"nettrace/analyze"
)

// panicking is the variable that makes the test binary an explorer whose report panics.
const panicking = "NETTRACE_TEST_PANIC"

func TestMain(m *testing.M) {
	if os.Getenv(panicking) == "" {
		os.Exit(m.Run())
	}
	report := Form{Name: "one page", Ending: ".html", Page: true, Write: func(context.Context, io.Writer, *analyze.Result) error { panic("on purpose") }}
	_, err := Run(context.Background(), Options{Paths: []string{"fixtures/pcap/base.pcap"}, Color: true, Forms: []Form{report}})
	fmt.Fprintln(os.Stderr, "it ended:", err)
	os.Exit(1)
}
