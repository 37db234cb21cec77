package rivals

import (
	"context"
	"errors"
	"fmt"

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
	k, err := openPostgres(ctx, a.cluster)
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

// prove fails unless each keeper holds what the history means.
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
