package main

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/sgam-ledger/sgam"
)

func (p *program) demo() *cobra.Command {
	var keep bool
	c := &cobra.Command{
		Use:   "demo",
		Short: "Watch a real ledger give the right answer where a text search gives the stale one",
		Args:  needs(),
		Long: `Write a real ledger and ask it: first the stale passport, where a text search finds the old message, then a real deadline
that moved. The data is a part of this program, every answer is read from the ledger, and it is the same with every run.

The ledger is a temporary file and goes away at the end, unless --db or --keep is given.`,
		Example: `  sgam demo
  sgam demo --db demo.db`,
		RunE: func(c *cobra.Command, _ []string) error { return p.runDemo(c.Context(), keep) },
	}
	c.Flags().BoolVar(&keep, "keep", false, "keep the temporary ledger")
	return c
}

func (p *program) runDemo(ctx context.Context, keep bool) (err error) {
	w, err := p.words()
	if err != nil {
		return err
	}
	kept := keep || p.flags.db != ""
	if p.flags.db == "" {
		dir, failed := os.MkdirTemp("", "sgam-demo-")
		if failed != nil {
			return failed
		}
		if !keep {
			defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
		}
		p.flags.db = filepath.Join(dir, "demo.db")
	} else if err := mustBeNew(p.flags.db); err != nil {
		return err
	}
	told, err := p.demoLedger(ctx)
	if err != nil {
		return err
	}
	told.DB, told.Kept = p.flags.db, kept
	if p.flags.json {
		p.out.json(told)
	} else {
		w.tale(told)
		w.next(p.name, told)
	}
	if !told.Verified {
		return &verdict{code: exitTampered}
	}
	return nil
}

// demoLedger writes the ledger and asks it. Clock and ids are fixed, so every run is the same.
func (p *program) demoLedger(ctx context.Context) (told *tale, err error) {
	registry, deadline, err := demoSchemas()
	if err != nil {
		return nil, err
	}
	clock := time.Time{}
	opts := &sgam.Options{
		Schemas: registry, Clock: func() time.Time { return clock }, Rand: rand.NewChaCha8([32]byte([]byte("the demo is the same every time."))),
	}
	err = p.with(ctx, opts, func(l *sgam.Ledger) error {
		if err := writeMira(ctx, l, deadline, &clock); err != nil {
			return err
		}
		sum, err := writeReleases(ctx, l)
		if err != nil {
			return err
		}
		clock = time.Date(2026, time.June, 20, 9, 0, 0, 0, time.UTC)
		told, err = tell(ctx, l)
		if told != nil {
			told.Loaded = sum
		}
		return err
	})
	return told, err
}
