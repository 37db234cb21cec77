package rivals

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/internal/pgtest"
	"github.com/sgam-ledger/sgam/postgres"
)

// The databases and roles of the server.
const (
	ledgerDatabase  = "ledger"
	periodsDatabase = "periods"
	superuser       = "postgres"
	owner           = "sgam_owner"
	application     = "sgam_app"
)

// secret is the key of the ledger.
type secret struct{}

func (secret) Key(context.Context, string, bool) ([]byte, error) {
	return []byte("thirty-two bytes that are known."), nil
}

// inServer is what the ledger on PostgreSQL stores, as the superuser sees it.
type inServer struct {
	pool  *pgxpool.Pool // the application's
	admin *pgx.Conn
}

// openPostgres makes a ledger in a database of its own, with an application that is not its owner.
func openPostgres(ctx context.Context, c *pgtest.Cluster, counting *trips) (k *ledger, err error) {
	if err := c.Do(ctx, superuser, texts["role_owner"], texts["role_application"], texts["database_ledger"]); err != nil {
		return nil, err
	}
	if err := postgres.Init(ctx, c.DSN(ledgerDatabase, owner), postgres.InitOptions{Keys: secret{}, Role: application}); err != nil {
		return nil, err
	}
	types, err := declared()
	if err != nil {
		return nil, err
	}
	config, err := pgxpool.ParseConfig(c.DSN(ledgerDatabase, application))
	if err != nil {
		return nil, err
	}
	config.MaxConns, config.ConnConfig.DialFunc = callers, counting.dial
	s := &inServer{}
	if s.admin, err = pgx.Connect(ctx, c.DSN(ledgerDatabase, superuser)); err != nil {
		return nil, err
	}
	if s.pool, err = pgxpool.NewWithConfig(ctx, config); err != nil {
		return nil, errors.Join(err, s.close()) //nolint:contextcheck // it is closed whatever became of the context
	}
	l, err := postgres.New(ctx, s.pool, &sgam.Options{Schemas: types, Keys: secret{}}, nil)
	if err != nil {
		return nil, errors.Join(err, s.close()) //nolint:contextcheck // it is closed whatever became of the context
	}
	k, err = newLedger("sgam on PostgreSQL", l, s)
	if err != nil {
		return nil, errors.Join(err, l.Close(), s.close()) //nolint:contextcheck // likewise
	}
	return k, nil
}

func (s *inServer) close() error {
	if s.pool != nil {
		s.pool.Close()
	}
	return s.admin.Close(context.Background())
}

func (s *inServer) Settle(ctx context.Context) error { return settle(ctx, s.admin) }

// settle brings the statistics and the pages of a database in order.
func settle(ctx context.Context, admin *pgx.Conn) error {
	for _, name := range []string{"postgres_settle", "postgres_checkpoint"} {
		if _, err := admin.Exec(ctx, texts[name]); err != nil {
			return err
		}
	}
	return nil
}

func (s *inServer) Rectangles(ctx context.Context) ([]Rectangle, error) {
	rows, err := s.admin.Query(ctx, texts["postgres_rectangles"])
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (Rectangle, error) {
		var g segment
		if err := row.Scan(&g.subject, &g.validFrom, &g.validTo, &g.knownAt, &g.knownTo, &g.value); err != nil {
			return Rectangle{}, err
		}
		return g.rectangle()
	})
}

func (s *inServer) Size(ctx context.Context) (size Size, err error) {
	if err := s.Settle(ctx); err != nil {
		return size, err
	}
	err = s.admin.QueryRow(ctx, texts["postgres_size"]).Scan(&size.All, &size.Rectangles)
	return size, err
}
