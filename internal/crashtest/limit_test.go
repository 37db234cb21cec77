//go:build cgo && unix

package crashtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	sqlite3 "github.com/mattn/go-sqlite3"
	"github.com/stretchr/testify/require"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/sqlite"
)

// limiting tells a child to write until its files may grow no more.
type limiting struct {
	Path  string
	New   bool  // the limit is there before the ledger is
	Slack int64 // how many bytes the file that grows may still grow
}

// limited is what became of it.
type limited struct {
	Before int // writes before the limit was met
	Error  string
	Code   int // SQLite's, with its extension
}

// writeUnderLimit meets a limit on the size of files, the way a quota or a full disk is met, and holds the ledger to its
// promises: a typed error, nothing half there, reads that go on, and writes that work again as soon as there is room.
func writeUnderLimit(ctx context.Context, args limiting, up *parent) error {
	signal.Ignore(syscall.SIGXFSZ) // so that a write fails instead
	var found limited
	s := newStage(args.Path, 1)
	if args.New {
		err := under(args.Slack, func() error { return s.open(ctx) })
		if err == nil {
			return errors.New("the ledger was created under the limit")
		}
		if err := found.note(err); err != nil {
			return err
		}
	}
	if err := s.open(ctx); err != nil {
		return fmt.Errorf("open without a limit: %w", err)
	}
	acme, err := s.ledger.Tenant("acme")
	if err != nil {
		return err
	}
	next := 0
	apply := func() error {
		_, err := acme.Apply(ctx, note(next))
		if err == nil {
			next++
		}
		return err
	}
	for range 3 {
		if err := apply(); err != nil {
			return err
		}
	}
	if !args.New {
		if err := meet(ctx, s, args, apply, &found); err != nil {
			return err
		}
		found.Before = next
	}
	for range 3 {
		if err := apply(); err != nil {
			return fmt.Errorf("after the limit: %w", err)
		}
	}
	if err := up.say(found); err != nil {
		return err
	}
	return s.close()
}

// note is a statement that needs several pages.
func note(n int) sgam.MemoryDelta {
	return say("e0", sgam.Assert, "mira", "note", strings.Repeat(fmt.Sprint(n, " "), 2000), n)
}

// meet writes until the limit is met, and looks at what that leaves.
func meet(ctx context.Context, s *stage, args limiting, apply func() error, found *limited) error {
	log, err := os.Stat(args.Path + "-wal")
	if err != nil {
		return err
	}
	return under(log.Size()+args.Slack, func() error {
		var before []string
		for err == nil {
			if before, err = portrait(ctx, s.ledger); err != nil {
				return fmt.Errorf("read under the limit: %w", err)
			}
			err = apply()
		}
		for range 3 { // it stays so, and nothing piles up
			if err := found.note(err); err != nil {
				return err
			}
			after, rerr := portrait(ctx, s.ledger)
			if rerr != nil {
				return fmt.Errorf("read after the limit was met: %w", rerr)
			}
			if !slices.Equal(before, after) {
				return errors.New("a failed write left something")
			}
			if err = apply(); err == nil {
				return errors.New("the same write worked under the same limit")
			}
		}
		reader, err := sqlite.Open(ctx, args.Path, &sgam.Options{ReadOnly: true})
		if err != nil {
			return fmt.Errorf("open to read after the limit was met: %w", err)
		}
		return reader.Close()
	})
}

// note keeps an error, which must be one of SQLite's or say that the outcome is unknown.
func (l *limited) note(err error) error {
	failure, typed := errors.AsType[sqlite3.Error](err)
	if !typed && !errors.Is(err, sgam.ErrOutcomeUnknown) {
		return fmt.Errorf("not a typed error: %w", err)
	}
	l.Error, l.Code = err.Error(), int(failure.ExtendedCode)
	return nil
}

// under does something while no file may grow beyond a size.
func under(size int64, do func() error) error {
	var was syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &was); err != nil {
		return err
	}
	low := was
	low.Cur = uint64(size)
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &low); err != nil {
		return err
	}
	return errors.Join(do(), syscall.Setrlimit(syscall.RLIMIT_FSIZE, &was))
}

// TestFilesMayGrowNoMore meets the limit at the start of a page, inside its header and inside its content, and while the
// ledger is being created.
func TestFilesMayGrowNoMore(t *testing.T) {
	jobs := map[string]limiting{}
	for _, slack := range []int64{0, 23, 24, 2000, 4096 + 24, 12_345, 200_000} {
		jobs[fmt.Sprintf("%d bytes more", slack)] = limiting{Slack: slack}
	}
	for _, size := range []int64{0, 100, 4096, 5000, 100_000} {
		jobs[fmt.Sprintf("%d bytes in all", size)] = limiting{New: true, Slack: size}
	}
	for name, job := range jobs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			job.Path = filepath.Join(t.TempDir(), "a.db")
			p := start(t, "limited", job)
			var found limited
			p.expect(&found)
			p.end()
			t.Logf("%+v", found)
			require.NotEmpty(t, found.Error)
			s := newStage(job.Path, 2)
			require.NoError(t, s.open(t.Context()))
			prove(t, s.ledger, job.Path)
			acme, err := s.ledger.Tenant("acme")
			require.NoError(t, err)
			facts := 0
			for _, err := range acme.History(t.Context(), sgam.Slot{Subject: "mira", Attribute: "note"}) {
				require.NoError(t, err)
				facts++
			}
			require.Equal(t, max(3, found.Before)+3, facts, "every acknowledged write is there once")
			require.NoError(t, s.close())
		})
	}
}
