package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/internal/ledgerkey"
)

var (
	stLedgerExists = named("ledger_exists")
	stFormat       = named("format")
	stLedger       = named("ledger")
	stWalls        = named("walls")
	stStrangers    = named("strangers")
)

// Options are those that only this engine has. Every zero value is a working default, and nil options are allowed.
type Options struct {
	// NoWall opens a ledger although row-level security does not hold for the connection's role, because it is the owner of
	// the tables or a superuser. For administrators and tests; false is [ErrNoWall].
	NoWall bool
	// Unprepared sends statements as text each time. False prepares each statement once a connection, which is faster, unless
	// opening finds a pooler that may not keep them: see the package's words on poolers.
	Unprepared bool
	// Prepared keeps to prepared statements whatever the connection goes through. It is for poolers in session mode and for
	// proxies that give each client a connection of its own, which opening cannot tell from others. Behind a pooler in
	// transaction mode that does not know prepared statements calls then fail, with SQLSTATE 26000 or 42P05, or run what a
	// program of another version has prepared.
	Prepared bool
	// Warn is told while opening what does not keep the ledger from being opened: [ErrPooled]. It may be nil.
	Warn func(error)
}

// Open opens the ledger in the database that a connection string names. Nil options are the defaults, but a program that
// opens a ledger needs the ledger's secret: opts.Keys is required, [KeyFile] for instance.
//
// It makes no tables and changes none, so opts.AutoUpgrade does nothing here. It fails with [sgam.ErrForeignFile] when the
// database holds no ledger, [sgam.ErrFormatOld] and [sgam.ErrFormatTooNew], [sgam.ErrKeyMissing], [ErrNoWall],
// [ErrNotDurable]; and with what [sgam.New] fails with.
//
// The connection string is what pgx takes: a URL or words, with settings of its pool such as pool_max_conns.
func Open(ctx context.Context, dsn string, opts *sgam.Options) (*sgam.Ledger, error) {
	return OpenWith(ctx, dsn, opts, nil)
}

// OpenWith is [Open] with options of the engine.
func OpenWith(ctx context.Context, dsn string, opts *sgam.Options, engine *Options) (*sgam.Ledger, error) {
	s, err := OpenStore(ctx, dsn, opts, engine)
	if err != nil {
		return nil, err
	}
	return sgam.New(ctx, s, opts)
}

// OpenStore opens the engine alone, for tests and benchmarks of engines. Errors are those of [Open].
func OpenStore(ctx context.Context, dsn string, opts *sgam.Options, engine *Options) (sgam.Store, error) {
	pool, err := pgxpool.New(ctx, dsn)
	if err != nil {
		return nil, fmt.Errorf("sgam: postgres: %w", err)
	}
	s, err := newStore(ctx, pool, opts, engine)
	if err != nil {
		pool.Close()
		return nil, err
	}
	return s, nil
}

// New opens the ledger in the database of a pool, which stays the caller's: the ledger must be closed before it. Options
// and errors are those of [OpenWith].
//
// A call takes one connection for as long as it needs, and leaves no setting behind but prepared statements whose names
// begin with sgam_.
func New(ctx context.Context, pool *pgxpool.Pool, opts *sgam.Options, engine *Options) (*sgam.Ledger, error) {
	s, err := newStore(ctx, pool, opts, engine)
	if err != nil {
		return nil, err
	}
	s.lent = true
	return sgam.New(ctx, s, opts)
}

func newStore(ctx context.Context, pool *pgxpool.Pool, opts *sgam.Options, engine *Options) (*store, error) {
	if opts == nil {
		opts = &sgam.Options{}
	}
	if engine == nil {
		engine = &Options{}
	}
	if engine.Prepared && engine.Unprepared {
		return nil, &sgam.FieldError{Field: "Prepared", Rule: "exclusive", Want: "not together with Unprepared"}
	}
	if opts.Keys == nil {
		return nil, fmt.Errorf("%w: %w", sgam.ErrKeyMissing,
			&sgam.FieldError{Field: "Keys", Rule: "required", Want: "where the ledger's secret is kept, a postgres.KeyFile for instance"})
	}
	s := &store{
		pool: pool, noWall: engine.NoWall, readOnly: opts.ReadOnly, unprepared: engine.Unprepared, prepared: engine.Prepared, told: opts.Observe,
		known: &numbers{of: map[string]int64{}}, writes: newQueues(),
	}
	return s, s.reading(ctx, func(c *session) error { return s.check(ctx, c, opts.Keys, engine) })
}

// check holds the database against what the engine relies on.
func (s *store) check(ctx context.Context, c *session, keys sgam.KeyStore, engine *Options) error {
	if err := s.seePooler(ctx, c, engine.Warn); err != nil {
		return err
	}
	if err := c.judge(ctx); err != nil {
		return err
	}
	var name, layout string
	var check []byte
	c.add(func(r row) error { name, check, layout = r.text(0), r.bytes(1), r.text(2); return nil }, stLedger)
	if err := c.run(ctx); err != nil {
		return err
	}
	if check == nil {
		return damaged("name of the ledger")
	}
	s.name, s.spread = name, layout == layoutDistributed
	c.spread = s.spread
	if err := c.tryWall(ctx, engine.NoWall); err != nil {
		return err
	}
	s.copyLarge(c.temporary)
	key, err := ledgerkey.Of(ctx, keys, name, check)
	s.key = key
	return err
}

// judge compares the database's format with the program's.
func (s *session) judge(ctx context.Context) error {
	there := false
	s.add(func(r row) error { there = r.flag(0); return nil }, stLedgerExists)
	if err := s.run(ctx); err != nil {
		return err
	}
	if !there {
		return fmt.Errorf("%w: the database has no schema sgam: run 'sgam init' first", sgam.ErrForeignFile)
	}
	var version int64
	s.add(func(r row) error { version = r.int(0); return nil }, stFormat)
	if err := s.run(ctx); err != nil {
		return err
	}
	switch {
	case version > format:
		return fmt.Errorf("%w: it has format %d, this program knows %d", sgam.ErrFormatTooNew, version, format)
	case version < format:
		return fmt.Errorf("%w: it has format %d, this program writes %d", sgam.ErrFormatOld, version, format)
	}
	return nil
}

// tryWall checks that row-level security holds for the connection: by what the role is, and by looking for the row of
// tenant 0, which must be there for tenant 0 and for nobody else.
func (s *session) tryWall(ctx context.Context, waived bool) error {
	if err := s.judgeRole(ctx, waived); err != nil || waived {
		return err
	}
	for _, as := range []int64{0, nobody} {
		var seen, own int64
		s.begin(stBeginRead)
		s.enter(as)
		s.add(func(r row) error { seen, own = r.int(0), r.int(1); return nil }, stStrangers, as)
		s.end(stRollback)
		if err := s.run(ctx); err != nil {
			return err
		}
		if own != seen || (as == 0) != (own == 1) {
			return fmt.Errorf("%w: a transaction of one tenant sees %d rows of others", ErrNoWall, seen-own)
		}
	}
	return nil
}

// judgeRole looks at what the connection's role is and may, and at whether its commits are durable.
func (s *session) judgeRole(ctx context.Context, waived bool) error {
	var role, why string
	durable := false
	s.add(func(r row) error {
		role, durable, s.temporary = r.text(0), r.flag(5), r.flag(7)
		for i, reason := range []string{"is a superuser", "bypasses row-level security", "owns the tables"} {
			if r.flag(i + 1) {
				why = reason
			}
		}
		switch {
		case why != "":
		case !r.flag(4):
			why = "has row_security turned off"
		case r.int(6) > 0:
			why = "meets tables without row-level security"
		}
		return nil
	}, stWalls)
	if err := s.run(ctx); err != nil {
		return err
	}
	if !durable {
		return ErrNotDurable
	}
	if why != "" && !waived {
		return fmt.Errorf("%w: %s %s", ErrNoWall, role, why)
	}
	return nil
}

// nobody is the number of no tenant.
const nobody = -1
