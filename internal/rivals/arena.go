package rivals

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/sgam-ledger/sgam/internal/mariatest"
	"github.com/sgam-ledger/sgam/internal/pgtest"
)

// callers is the largest number of connections that a keeper has to a server.
const callers = 64

// Arena is where the four meet: two servers, a folder, and everything in them.
type Arena struct {
	SQLite, Postgres, Periods, MariaDB Keeper

	cluster *pgtest.Cluster
	maria   *mariatest.Server
	scale   Scale
	story   *story
	trips   trips // of the ledger on PostgreSQL
}

// Open starts the servers and makes empty tables. The file of the ledger on SQLite goes into a folder of the caller's, who
// also removes it. Servers that are not durable are faster.
func Open(ctx context.Context, dir string, durable bool) (a *Arena, err error) {
	a = &Arena{}
	defer func() {
		if err != nil {
			err = errors.Join(err, a.Close())
			a = nil
		}
	}()
	if a.cluster, err = pgtest.Start(ctx, durable); err != nil {
		return a, err
	}
	if a.maria, err = mariatest.Start(ctx, durable); err != nil {
		return a, err
	}
	if a.SQLite, err = openSQLite(ctx, dir); err != nil {
		return a, err
	}
	k, err := openPostgres(ctx, a.cluster, &a.trips)
	if err != nil {
		return a, err
	}
	a.Postgres = k
	if a.Periods, err = openPeriods(ctx, a.cluster); err != nil {
		return a, err
	}
	a.MariaDB, err = openMaria(ctx, a.maria, durable)
	return a, err
}

// Keepers are the four, in the order of the tables.
func (a *Arena) Keepers() []Keeper { return []Keeper{a.SQLite, a.Postgres, a.Periods, a.MariaDB} }

// Close ends everything.
func (a *Arena) Close() error {
	var errs []error
	for _, k := range a.Keepers() {
		if k != nil {
			errs = append(errs, k.Close())
		}
	}
	if a.maria != nil {
		errs = append(errs, a.maria.Stop())
	}
	if a.cluster != nil {
		errs = append(errs, a.cluster.Stop())
	}
	return errors.Join(errs...)
}

// Fill brings every keeper through a history and proves that all hold what it means. Log is told what takes long.
func (a *Arena) Fill(ctx context.Context, scale Scale, log func(format string, args ...any)) error {
	a.scale, a.story = scale, tell(scale)
	log("history: %d operations, %d rectangles", len(a.story.ops), a.story.count)
	filling, loading := errgroup.WithContext(ctx)
	for _, k := range a.Keepers() {
		filling.Go(func() error {
			start := time.Now()
			if err := k.Load(loading, a.story.ops); err != nil {
				return fmt.Errorf("%s: %w", k.Name(), err)
			}
			log("%s: filled in %.1f s", k.Name(), time.Since(start).Seconds())
			return k.Settle(loading)
		})
	}
	if err := filling.Wait(); err != nil {
		return err
	}
	if err := a.prove(ctx, a.story.model); err != nil {
		return err
	}
	return a.answer(ctx)
}

// prove fails unless each keeper holds what a history means.
func (a *Arena) prove(ctx context.Context, m *model) error {
	want := m.rectangles()
	for _, k := range a.Keepers() {
		have, err := k.Rectangles(ctx)
		if err == nil {
			err = same(want, have)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", k.Name(), err)
		}
	}
	return nil
}

// answer fails unless the reads that are measured answer what the history means.
func (a *Arena) answer(ctx context.Context) error {
	r := draws(4)
	for i := range 400 {
		slot, valid, n := a.point(r, []choice{ordinary, onlyHot}[i%2])
		for _, k := range a.Keepers() {
			for _, asked := range []struct {
				want string
				read func() (string, error)
			}{
				{a.story.at(slot, valid, n), func() (string, error) { return k.ValidKnown(ctx, slot, valid, n) }},
				{a.story.at(slot, valid, a.story.n), func() (string, error) { return k.Valid(ctx, slot, valid) }},
				{a.story.last(slot).Value, func() (string, error) { return k.Current(ctx, slot) }},
			} {
				have, err := asked.read()
				if err == nil && have != asked.want {
					err = fmt.Errorf("slot %d at %d, operation %d: %q where %q was written", slot, valid, n, have, asked.want)
				}
				if err != nil {
					return fmt.Errorf("%s: %w", k.Name(), err)
				}
			}
		}
	}
	return nil
}
