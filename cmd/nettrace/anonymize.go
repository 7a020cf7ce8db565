package main

import (
	"crypto/sha256"
	"hash"
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"nettrace/analyze"
	"nettrace/anonymize"
)

// anonymizeFlags are those of commands whose output may be given to others.
type anonymizeFlags struct {
	on      bool
	keyFile string
	stdin   hash.Hash // of standard input, as far as it was read
}

func (f *anonymizeFlags) add(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.on, "anonymize", false, "replace addresses, names of hosts and folders; addresses of one network stay in one")
	cmd.Flags().StringVar(&f.keyFile, "anonymize-key", "", "file whose content is the key: the same key replaces alike in all outputs; without one the key is made of all that is read. Implies --anonymize")
}

// begin takes note of what is read from standard input.
func (f *anonymizeFlags) begin(e *env) {
	f.on = f.on || f.keyFile != ""
	if f.on && f.keyFile == "" {
		f.stdin = sha256.New()
		e.stdin = io.TeeReader(e.stdin, f.stdin)
	}
}

// mapping returns what replaces addresses when all is read; nil if nothing is to be replaced.
func (f *anonymizeFlags) mapping(paths []string) (*anonymize.Mapping, error) {
	if !f.on {
		return nil, nil
	}
	if f.keyFile != "" {
		key, err := os.ReadFile(f.keyFile)
		switch {
		case err != nil:
			return nil, couldNot(err)
		case len(key) == 0:
			return nil, failed("%s: empty; expected a key, such as head -c 32 /dev/urandom writes", f.keyFile)
		}
		return anonymize.New(key)
	}
	key, err := analyze.InputDigest(paths)
	if err != nil {
		return nil, couldNot(err)
	}
	if len(paths) == 0 || slices.Contains(paths, "-") {
		key = f.stdin.Sum(key)
	}
	return anonymize.New(key)
}

// apply anonymizes a result, if that is asked for.
func (f *anonymizeFlags) apply(r *analyze.Result, paths []string) error {
	m, err := f.mapping(paths)
	if m != nil && err == nil {
		analyze.Anonymize(r, m)
	}
	return err
}
