package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/sqlite"
)

// engine opens the ledgers that a word before a colon stands for. Where is what comes after the colon.
type engine struct {
	scheme string
	// read opens a ledger that is there, for reading.
	read func(ctx context.Context, flag, where string, opts *sgam.Options) (*sgam.Ledger, error)
	// copy opens the copy of the ledger with the given key, a new one where there is none.
	copy func(ctx context.Context, flag, where string, key []byte, opts *sgam.Options) (*sgam.Ledger, error)
}

// engines are all that this program has. The first one is meant when no word is given.
var engines = []engine{
	{"sqlite", readFile, copyFile},
}

// schemeLike is what begins like a word for an engine, and not like a drive or a path.
var schemeLike = regexp.MustCompile(`^[a-z][a-z0-9+-]+:`)

// engineOf finds the engine of a flag's text.
func engineOf(flag, text string) (engine, string, error) {
	for _, e := range engines {
		if where, ok := strings.CutPrefix(text, e.scheme+":"); ok {
			return e, where, nil
		}
	}
	if word := schemeLike.FindString(text); word != "" {
		return engine{}, "", usage("%s: there is no engine %q: want %s, or the path of a file", flag, strings.TrimSuffix(word, ":"), schemes())
	}
	return engines[0], text, nil
}

func schemes() string {
	var names []string
	for _, e := range engines {
		names = append(names, e.scheme)
	}
	return strings.Join(names, ", ")
}

func readFile(ctx context.Context, flag, path string, opts *sgam.Options) (*sgam.Ledger, error) {
	there, err := examineFile(flag, path)
	switch {
	case err != nil:
		return nil, err
	case !there:
		return nil, usage("%s: there is no ledger at %s", flag, path)
	}
	l, err := sqlite.Open(ctx, path, opts)
	return l, pathFault(path, err)
}

func copyFile(ctx context.Context, flag, path string, key []byte, opts *sgam.Options) (*sgam.Ledger, error) {
	if _, err := examineFile(flag, path); err != nil {
		return nil, err
	}
	l, err := sqlite.OpenCopy(ctx, path, key, opts)
	return l, pathFault(path, err)
}

// pathFault says which file could not be opened, unless the engine has said so.
func pathFault(path string, err error) error {
	if err == nil || strings.Contains(err.Error(), filepath.Base(path)) {
		return fileFault(err)
	}
	return fmt.Errorf("%s: %w", path, err)
}

// sameFile reports whether two paths are one file.
func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}
