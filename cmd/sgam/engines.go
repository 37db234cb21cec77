package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/postgres"
	"github.com/sgam-ledger/sgam/sqlite"
)

// engine opens the ledgers that a word before a colon stands for. Where is what comes after the colon.
type engine struct {
	scheme string
	// read opens a ledger that is there, for reading.
	read func(ctx context.Context, at ledgerAt, opts *sgam.Options) (*sgam.Ledger, error)
	// copy opens the copy of the ledger with the given key, a new one where there is none.
	copy func(ctx context.Context, at ledgerAt, key []byte, opts *sgam.Options) (*sgam.Ledger, error)
}

// ledgerAt is a ledger as the flags of a command name it: where it is, and the file with its key if that is not beside it.
type ledgerAt struct{ flag, where, keyFile string }

// engines are all that this program has. The first one is meant when no word is given.
var engines = []engine{
	{"sqlite", readFile, copyFile},
	{"postgres", readServer, copyServer},
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

func readFile(ctx context.Context, at ledgerAt, opts *sgam.Options) (*sgam.Ledger, error) {
	there, err := at.file()
	switch {
	case err != nil:
		return nil, err
	case !there:
		return nil, usage("%s: there is no ledger at %s", at.flag, at.where)
	}
	l, err := sqlite.Open(ctx, at.where, opts)
	return l, pathFault(at.where, err)
}

func copyFile(ctx context.Context, at ledgerAt, key []byte, opts *sgam.Options) (*sgam.Ledger, error) {
	if _, err := at.file(); err != nil {
		return nil, err
	}
	l, err := sqlite.OpenCopy(ctx, at.where, key, opts)
	return l, pathFault(at.where, err)
}

// file reports whether a file is there. Its key is beside it.
func (at ledgerAt) file() (there bool, err error) {
	if at.keyFile != "" {
		return false, usage("%s-key: the key of a file is beside it", at.flag)
	}
	return examineFile(at.flag, at.where)
}

func readServer(ctx context.Context, at ledgerAt, opts *sgam.Options) (*sgam.Ledger, error) {
	return openServer(ctx, at, opts)
}

// copyServer opens a copy that 'sgam init' has made. Whether it has the original's key, the copy itself finds out.
func copyServer(ctx context.Context, at ledgerAt, _ []byte, opts *sgam.Options) (*sgam.Ledger, error) {
	return openServer(ctx, at, opts)
}

func openServer(ctx context.Context, at ledgerAt, opts *sgam.Options) (*sgam.Ledger, error) {
	if at.keyFile == "" {
		return nil, usage("%s-key is missing: it names the file with the ledger's key, which is not in the database", at.flag)
	}
	own := *opts
	own.Keys = postgres.KeyFile(at.keyFile)
	l, err := postgres.Open(ctx, at.where, &own)
	if errors.Is(err, sgam.ErrForeignFile) {
		return nil, refused(err, "%s: the database holds no ledger: 'sgam init' makes one", at.flag)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", at.flag, err)
	}
	return l, nil
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
