package rivals

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/internal/mariatest"
)

// mariaDatabase is the database of the table.
const mariaDatabase = "rivals"

// maria is MariaDB. Its known times are those of the clock, which a session may set.
type maria struct {
	db      *sql.DB
	durable bool
	loaded  int

	insert, portion, void, current, asOf *sql.Stmt
}

func openMaria(ctx context.Context, s *mariatest.Server, durable bool) (Keeper, error) {
	if err := s.Do(ctx, "", texts["maria_database"]); err != nil {
		return nil, err
	}
	if err := s.Do(ctx, mariaDatabase, texts["maria_table"]); err != nil {
		return nil, err
	}
	connector, err := mysql.NewConnector(s.Config(mariaDatabase))
	if err != nil {
		return nil, err
	}
	m := &maria{db: sql.OpenDB(connector), durable: durable}
	m.db.SetMaxOpenConns(callers)
	m.db.SetMaxIdleConns(callers)
	for name, into := range map[string]**sql.Stmt{
		"maria_insert": &m.insert, "maria_portion": &m.portion, "maria_void": &m.void, "maria_current": &m.current, "maria_as_of": &m.asOf,
	} {
		if *into, err = m.db.PrepareContext(ctx, texts[name]); err != nil { //nolint:sqlclosecheck // they are closed with the pool
			return nil, errors.Join(fmt.Errorf("%s: %w", name, err), m.db.Close())
		}
	}
	return m, nil
}

func (m *maria) Name() string { return "MariaDB" }

func (m *maria) Close() error { return m.db.Close() }

func (m *maria) Load(ctx context.Context, ops []Operation) (err error) {
	conn, err := m.db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() {
		// The session goes back to its pool with a clock that runs.
		_, cerr := conn.ExecContext(ctx, texts["maria_clock"])
		err = errors.Join(err, cerr, conn.Close())
	}()
	if m.durable {
		if _, err := conn.ExecContext(ctx, texts["maria_lax"]); err != nil {
			return err
		}
		defer func() {
			_, serr := conn.ExecContext(ctx, texts["maria_strict"])
			err = errors.Join(err, serr)
		}()
	}
	for _, op := range ops {
		m.loaded++
		if _, err := conn.ExecContext(ctx, texts["maria_known_at"], knownAt(m.loaded).Unix()); err != nil {
			return err
		}
		tx, err := conn.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		if err := m.do(ctx, op, func(st *sql.Stmt) *sql.Stmt { return tx.StmtContext(ctx, st) }); err != nil {
			return errors.Join(fmt.Errorf("operation %d: %w", m.loaded, err), tx.Rollback())
		}
		if err := tx.Commit(); err != nil {
			return err
		}
	}
	return nil
}

// do runs the statements of an operation. All but a put are a single one.
func (m *maria) do(ctx context.Context, op Operation, on func(*sql.Stmt) *sql.Stmt) error {
	from, to := datetime(op.Valid.From), datetime(op.Valid.To)
	var err error
	//nolint:sqlclosecheck // a transaction closes its statements
	switch op.Kind {
	case Begin:
		_, err = on(m.insert).ExecContext(ctx, op.Slot, op.Value, from, to)
	case Change, Correct, Update:
		_, err = on(m.portion).ExecContext(ctx, from, to, op.Value, op.Slot)
	case Void:
		_, err = on(m.void).ExecContext(ctx, from, to, op.Slot)
	case Put:
		if _, err = on(m.void).ExecContext(ctx, from, to, op.Slot); err == nil {
			_, err = on(m.insert).ExecContext(ctx, op.Slot, op.Value, from, to)
		}
	}
	return err
}

// endOfTime is the last instant of the type of the valid times, which stands for an open end.
var endOfTime = time.Date(9999, 12, 31, 23, 59, 59, 999_999_000, time.UTC)

// datetime is an instant as the server has it.
func datetime(i sgam.Instant) time.Time {
	if i == sgam.Forever {
		return endOfTime
	}
	return i.Time()
}

func undatetime(t time.Time) sgam.Instant {
	if t.Equal(endOfTime) {
		return sgam.Forever
	}
	return instant(t)
}

func (m *maria) Settle(ctx context.Context) error {
	_, err := m.db.ExecContext(ctx, texts["maria_settle"])
	return err
}

// Write tries an operation again when the server chose it to end a deadlock, as its manual tells applications to do.
func (m *maria) Write(ctx context.Context, op Operation) error {
	for {
		err := m.write(ctx, op)
		const deadlock = 1213
		if refused, ok := errors.AsType[*mysql.MySQLError](err); !ok || refused.Number != deadlock {
			return err
		}
	}
}

func (m *maria) write(ctx context.Context, op Operation) error {
	if op.Kind != Put {
		return m.do(ctx, op, func(st *sql.Stmt) *sql.Stmt { return st })
	}
	tx, err := m.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := m.do(ctx, op, func(st *sql.Stmt) *sql.Stmt { return tx.StmtContext(ctx, st) }); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

func (m *maria) Current(ctx context.Context, slot int64) (string, error) {
	now := time.Now()
	return value(m.current.QueryRowContext(ctx, slot, now, now))
}

func (m *maria) Valid(ctx context.Context, slot int64, valid sgam.Instant) (string, error) {
	at := datetime(valid)
	return value(m.current.QueryRowContext(ctx, slot, at, at))
}

func (m *maria) ValidKnown(ctx context.Context, slot int64, valid sgam.Instant, n int) (string, error) {
	at := datetime(valid)
	return value(m.asOf.QueryRowContext(ctx, knownAt(n), slot, at, at))
}

func value(row *sql.Row) (value string, err error) {
	var from, to, known time.Time
	err = row.Scan(&value, &from, &to, &known)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return value, err
}

// endOfKnown is later than any known time, and not later than the end of what stands. Which instant that is depends on the version.
var endOfKnown = time.Date(2038, 1, 1, 0, 0, 0, 0, time.UTC)

func (m *maria) Rectangles(ctx context.Context) (all []Rectangle, err error) {
	rows, err := m.db.QueryContext(ctx, texts["maria_rectangles"])
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var r Rectangle
		var from, to, begun, ended time.Time
		if err := rows.Scan(&r.Slot, &r.Value, &from, &to, &begun, &ended); err != nil {
			return nil, err
		}
		r.Valid, r.To = sgam.Span{From: undatetime(from), To: undatetime(to)}, standing
		if r.From, err = numberOf(begun); err == nil && ended.Before(endOfKnown) {
			r.To, err = numberOf(ended)
		}
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, rows.Err()
}

func (m *maria) Size(ctx context.Context) (size Size, err error) {
	if err := m.Settle(ctx); err != nil {
		return size, err
	}
	err = m.db.QueryRowContext(ctx, texts["maria_size"]).Scan(&size.All)
	size.Rectangles = size.All
	return size, err
}
