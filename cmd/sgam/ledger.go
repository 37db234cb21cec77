package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/schema"
)

// reading runs a command on a ledger that exists, and changes nothing in it.
func (p *program) reading(ctx context.Context, do func(*sgam.Ledger) error) error {
	if err := p.mustExist(); err != nil {
		return err
	}
	return p.with(ctx, &sgam.Options{ReadOnly: true, Schemas: newReadableTypes()}, do)
}

// writing runs a command on a ledger for writing. A missing file is made when create is set.
func (p *program) writing(ctx context.Context, create bool, do func(*sgam.Ledger) error) error {
	if !create {
		if err := p.mustExist(); err != nil {
			return err
		}
	}
	return p.with(ctx, &sgam.Options{}, do)
}

// with opens the ledger that the flags name. Unless the options declare schemas, what the file holds is what counts.
func (p *program) with(ctx context.Context, opts *sgam.Options, do func(*sgam.Ledger) error) (err error) {
	if _, err := p.examine(); err != nil {
		return err
	}
	if opts.Schemas == nil {
		opts.Schemas = schema.Stored()
	}
	if opts.Clock == nil {
		opts.Clock, opts.Rand = p.clock, p.rand
	}
	l, err := p.open(ctx, p.flags.db, opts)
	if err != nil {
		return p.openFault(err)
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	return do(l)
}

// openFault says of the file that --db names that it could not be opened.
func (p *program) openFault(err error) error {
	return pathFault(p.flags.db, err)
}

// mustExist is the check of every command that makes no ledger.
func (p *program) mustExist() error {
	there, err := p.examine()
	if err == nil && !there {
		return usage("--db: there is no ledger at %s", p.flags.db)
	}
	return err
}

// examine reports whether the file that --db names is there. What is there and no file, a pipe say, is refused before an
// engine waits for it.
func (p *program) examine() (there bool, err error) { return examineFile("--db", p.flags.db) }

// examineFile is examine of the file that a flag names.
func examineFile(flag, path string) (there bool, err error) {
	if path == "" {
		return false, usage("%s is missing: it names the ledger's file", flag)
	}
	if strings.HasPrefix(path, ":memory:") {
		return false, usage("%s %s: want a file, since a ledger in memory would end with the command", flag, path)
	}
	info, err := os.Stat(path) //nolint:gosec // the user names the file
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, usage("%s: %w", flag, fileFault(err))
	case info.IsDir():
		return false, usage("%s: %s is a folder", flag, path)
	case !info.Mode().IsRegular():
		return false, usage("%s: %s is no file", flag, path)
	}
	return true, nil
}

// tenant is the handle that the flags name. A tenant that was never written is not an error, so a slip in the name gets a
// note on standard error.
func (p *program) tenant(ctx context.Context, l *sgam.Ledger) (*sgam.Tenant, error) {
	t, err := l.Tenant(p.flags.tenant)
	if err != nil {
		return nil, usage("--tenant %q: %w", p.flags.tenant, err)
	}
	var others []string
	for have, err := range l.Tenants(ctx) {
		if err != nil {
			return nil, err
		}
		if have == p.flags.tenant {
			return t, nil
		}
		if len(others) < 3 {
			others = append(others, have)
		}
	}
	if len(others) > 0 {
		p.err.printf("sgam: note: tenant %q was never written in this ledger; --tenant may be one of %q\n", p.flags.tenant, others)
	}
	return t, nil
}

// zone is the time zone of plain dates and of the times shown.
func (p *program) zone() (*time.Location, error) {
	loc, err := time.LoadLocation(p.flags.zone)
	if err != nil || p.flags.zone == "" || p.flags.zone == "Local" {
		return nil, usage("--zone %q: want a time zone such as Europe/Berlin or UTC", p.flags.zone)
	}
	return loc, nil
}

// words writes for people, in the zone that the flags name.
func (p *program) words() (words, error) {
	zone, err := p.zone()
	return words{s: p.out, zone: zone, indent: "  "}, err
}

// moment reads the time of a flag. A flag that was not given is nil. One that was given without a text is refused: a variable
// of a script that is empty by mistake must not be answered about now.
func (p *program) moment(c *cobra.Command, flag, text string) (*time.Time, error) {
	if !c.Flags().Changed(flag) {
		return nil, nil
	}
	zone, err := p.zone()
	if err != nil {
		return nil, err
	}
	t, err := sgam.ParseTime(text, zone)
	if fe, ok := errors.AsType[*sgam.FieldError](err); ok {
		return nil, usage("--%s %q: want %s", flag, text, fe.Want)
	}
	if err == nil {
		_, err = sgam.InstantOf(t)
	}
	if err != nil {
		return nil, usage("--%s %q: want a time in the years 0001 to 9998", flag, text)
	}
	return &t, nil
}

// scratchLedger runs something on the file that --db names, or on a temporary ledger that goes away.
func (p *program) scratchLedger(ctx context.Context, opts *sgam.Options, do func(*sgam.Ledger) error) (err error) {
	if p.flags.db == "" {
		dir, failed := os.MkdirTemp("", "sgam-")
		if failed != nil {
			return failed
		}
		p.flags.db = filepath.Join(dir, "ledger.db")
		defer func() {
			p.flags.db = ""
			err = errors.Join(err, os.RemoveAll(dir))
		}()
	}
	return p.with(ctx, opts, do)
}

// mustBeNew is the check of the commands that begin a ledger.
func mustBeNew(path string) error {
	_, err := os.Lstat(path) //nolint:gosec // the user names the file
	switch {
	case err == nil:
		return fmt.Errorf("--db: %s is there already, and this command writes a new ledger: %w", path, fs.ErrExist)
	case !errors.Is(err, fs.ErrNotExist):
		return usage("--db: %w", fileFault(err))
	}
	return nil
}

// fileFault is the error of a file without the name of the system call, which says nothing to a person.
func fileFault(err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return fmt.Errorf("%s: %w", pe.Path, pe.Err)
	}
	return err
}
