package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/jackc/pgx/v5"

	"github.com/sgam-ledger/sgam"
)

var stCaller = named("caller")

// joint is a transaction of the caller's that a ledger writes in.
type joint struct {
	mu sync.Mutex // one call after the other, as the connection has it
	tx pgx.Tx
}

// InTx is the ledger inside a transaction of the caller's, in the same database: what it writes is stored with the
// caller's own rows when the caller commits, or not at all. Nothing is registered and nothing is committed by it. It costs
// a round trip, and one more for the first on a connection. Closing it is allowed and does nothing to the transaction; when
// that has ended every call is [sgam.ErrClosed].
//
// The transaction must be READ COMMITTED, PostgreSQL's default, so that a call sees what was committed while it waited. The
// first call about a tenant takes the tenant's write lock, a read too, and the transaction holds it until it ends: what was
// read stays true, and whoever else writes that tenant waits, the ledger that l is included. So keep it short. Reads see what
// the transaction wrote. Every call has a known time of its own, and receipts and known times are provisional until the
// commit; an Observer is told of outcomes before it.
//
// [sgam.ErrRetryTransaction] says that the transaction is lost to a deadlock or a lost connection, and that it may go well
// when the caller rolls back and runs all of it again. After any other error from the server, and when a context ends while a
// call waits, which is [sgam.ErrBusy] at its deadline, the transaction can only be rolled back.
//
// It fails with a [*sgam.FieldError] for another isolation level or a transaction that cannot write, with
// [sgam.ErrForeignFile] when the transaction is in another ledger's database, with [ErrNoWall] and [ErrNotDurable] by its role
// and settings, and with [sgam.ErrUnsupported] for a ledger of another engine.
func InTx(ctx context.Context, tx pgx.Tx, l *sgam.Ledger) (*sgam.Ledger, error) {
	own, ok := l.Store().(*store)
	if !ok {
		return nil, fmt.Errorf("%w: %s: only a ledger of package postgres joins its transactions", sgam.ErrUnsupported, l.Store().Engine())
	}
	s := &store{
		name: own.name, lent: true, joint: &joint{tx: tx}, noWall: own.noWall, readOnly: own.readOnly, unprepared: own.unprepared,
		prepared: own.prepared, spread: own.spread, key: own.key, told: own.told, known: own.known,
	}
	if err := s.reading(ctx, func(c *session) error { return c.judgeCaller(ctx, s) }); err != nil {
		return nil, err
	}
	return l.Over(s)
}

// judgeCaller holds the caller's transaction against what the engine relies on.
func (s *session) judgeCaller(ctx context.Context, of *store) error {
	if err := of.seePooler(ctx, s, nil); err != nil {
		return err
	}
	var ledger string
	var readCommitted, cannotWrite bool
	s.add(func(r row) error { ledger, readCommitted, cannotWrite = r.text(0), r.flag(1), r.flag(2); return nil }, stCaller)
	err := s.judgeRole(ctx, of.noWall)
	of.copyLarge(s.temporary)
	switch {
	case code(err) == "3F000", code(err) == "42P01":
		return fmt.Errorf("%w: the transaction is in a database without a schema sgam", sgam.ErrForeignFile)
	case err != nil:
		return err
	case ledger != of.name:
		return fmt.Errorf("%w: the transaction is in the database of another ledger", sgam.ErrForeignFile)
	case !readCommitted:
		return &sgam.FieldError{Field: "tx", Rule: "isolation", Want: "READ COMMITTED"}
	case cannotWrite:
		return &sgam.FieldError{Field: "tx", Rule: "access", Want: "READ WRITE"}
	}
	return nil
}

// join runs something in the caller's transaction.
func (s *store) join(ctx context.Context, run func(*session) error) error {
	s.joint.mu.Lock()
	defer s.joint.mu.Unlock()
	// An empty batch sends nothing, and is refused when the transaction has ended: then its connection may be somebody
	// else's.
	if err := s.joint.tx.SendBatch(ctx, &pgx.Batch{}).Close(); err != nil {
		return fmt.Errorf("%w: postgres: the caller's transaction has ended", sgam.ErrClosed)
	}
	conn := s.joint.tx.Conn().PgConn()
	err := run(&session{conn: conn, unprepared: s.unprepared, spread: s.spread, large: s.large, joined: true})
	if err == nil {
		return nil
	}
	if failing, ok := errors.AsType[*stepError](err); ok {
		err = failing.err
	}
	const goesOn = 'T'
	if !conn.IsClosed() && conn.TxStatus() == goesOn {
		// Something was wrong before the server was asked.
		after := &session{conn: conn, unprepared: s.unprepared, joined: true}
		after.end(stRollback)
		return errors.Join(err, after.run(context.WithoutCancel(ctx)))
	}
	switch {
	case ctx.Err() == nil && isPassing(err):
		return fmt.Errorf("%w: %w", sgam.ErrRetryTransaction, err)
	case errors.Is(err, sgam.ErrBusy):
		return err
	}
	return ended(ctx, err)
}

// writeJoined runs one call in the caller's transaction.
func (s *store) writeJoined(ctx context.Context, r *request) error {
	for {
		err := s.reading(ctx, func(c *session) error { //nolint:contextcheck // the request brings its context
			t := &transaction{store: s, tenant: r.tenant, batch: []*request{r}, session: c}
			return t.run()
		})
		switch {
		case errors.Is(err, errRegistryMoved):
			// The transaction holds the registry now, so it does not move again.
			continue
		case r.panicked != nil:
			panic(r.panicked)
		case err != nil:
			return err
		}
		return r.err
	}
}
