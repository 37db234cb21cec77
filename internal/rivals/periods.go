package rivals

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/internal/pgtest"
)

// periods is the extension of that name. Its known times are those of the transactions.
type periods struct {
	pool    *pgxpool.Pool
	admin   *pgx.Conn
	known   []time.Time // of the operations, from the first
	numbers map[time.Time]int
}

func openPeriods(ctx context.Context, c *pgtest.Cluster) (k Keeper, err error) {
	if err := c.Do(ctx, superuser, texts["database_periods"]); err != nil {
		return nil, err
	}
	if err := c.Extend(ctx, periodsDatabase, "periods"); err != nil {
		return nil, err
	}
	for _, name := range []string{
		"periods_table", "periods_validity", "periods_portions", "periods_system_time", "periods_versioning", "periods_index", "periods_index_history",
	} {
		if err := c.Do(ctx, periodsDatabase, texts[name]); err != nil {
			return nil, err
		}
	}
	p := &periods{numbers: map[time.Time]int{}}
	config, err := pgxpool.ParseConfig(c.DSN(periodsDatabase, superuser))
	if err != nil {
		return nil, err
	}
	config.MaxConns = callers
	config.ConnConfig.RuntimeParams["timezone"] = "UTC"
	if p.admin, err = pgx.ConnectConfig(ctx, config.ConnConfig); err != nil {
		return nil, err
	}
	if p.pool, err = pgxpool.NewWithConfig(ctx, config); err != nil {
		return nil, errors.Join(err, p.admin.Close(ctx))
	}
	return p, nil
}

func (p *periods) Name() string { return "`periods`" }

func (p *periods) Close() error {
	p.pool.Close()
	return p.admin.Close(context.Background())
}

func (p *periods) Load(ctx context.Context, ops []Operation) (err error) {
	if _, err := p.admin.Exec(ctx, texts["periods_lax"]); err != nil {
		return err
	}
	defer func() {
		_, serr := p.admin.Exec(ctx, texts["periods_strict"])
		err = errors.Join(err, serr)
	}()
	for _, op := range ops {
		known, err := p.load(ctx, op)
		if err != nil {
			return fmt.Errorf("operation %d: %w", len(p.known)+1, err)
		}
		p.known = append(p.known, known)
		p.numbers[known] = len(p.known)
	}
	return nil
}

// load does one operation and tells its known time.
func (p *periods) load(ctx context.Context, op Operation) (known time.Time, err error) {
	err = pgx.BeginFunc(ctx, p.admin, func(tx pgx.Tx) error {
		if err := tx.QueryRow(ctx, texts["periods_now"]).Scan(&known); err != nil {
			return err
		}
		return p.do(ctx, tx, op)
	})
	return known.UTC(), err
}

// executor is a connection, a pool or a transaction.
type executor interface {
	Exec(ctx context.Context, text string, args ...any) (pgconn.CommandTag, error)
	Query(ctx context.Context, text string, args ...any) (pgx.Rows, error)
}

// do runs the statements of an operation. All but a put are a single one.
func (p *periods) do(ctx context.Context, on executor, op Operation) error {
	from, to := stamp(op.Valid.From), stamp(op.Valid.To)
	var err error
	switch op.Kind {
	case Begin:
		_, err = on.Exec(ctx, texts["periods_insert"], op.Slot, op.Value, from, to)
	case Change, Correct:
		_, err = on.Exec(ctx, texts["periods_portion"], op.Slot, op.Value, from, to)
	case Void:
		_, err = on.Exec(ctx, texts["periods_portion"], op.Slot, nil, from, to)
	case Update:
		_, err = on.Exec(ctx, texts["periods_portion_of_values"], op.Slot, op.Value, from, to)
	case Put:
		err = p.put(ctx, on, op)
	}
	return err
}

// put changes the rows that there are in the portion and fills the gaps between them.
func (p *periods) put(ctx context.Context, on executor, op Operation) error {
	rows, err := on.Query(ctx, texts["periods_held"], op.Slot, stamp(op.Valid.From), stamp(op.Valid.To))
	if err != nil {
		return err
	}
	held, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (sgam.Span, error) {
		var from, to pgtype.Timestamptz
		err := row.Scan(&from, &to)
		return sgam.Span{From: unstamp(from), To: unstamp(to)}, err
	})
	if err != nil {
		return err
	}
	if _, err := on.Exec(ctx, texts["periods_portion"], op.Slot, op.Value, stamp(op.Valid.From), stamp(op.Valid.To)); err != nil {
		return err
	}
	at := op.Valid.From
	for _, s := range append(held, sgam.Span{From: op.Valid.To, To: sgam.Forever}) {
		if at < s.From {
			if _, err := on.Exec(ctx, texts["periods_insert"], op.Slot, op.Value, stamp(at), stamp(s.From)); err != nil {
				return err
			}
		}
		at = s.To
	}
	return nil
}

// stamp is an instant as the server has it.
func stamp(i sgam.Instant) pgtype.Timestamptz {
	if i == sgam.Forever {
		return pgtype.Timestamptz{InfinityModifier: pgtype.Infinity, Valid: true}
	}
	return pgtype.Timestamptz{Time: i.Time(), Valid: true}
}

func unstamp(t pgtype.Timestamptz) sgam.Instant {
	if t.InfinityModifier == pgtype.Infinity {
		return sgam.Forever
	}
	return instant(t.Time)
}

func (p *periods) Settle(ctx context.Context) error { return settle(ctx, p.admin) }

func (p *periods) Write(ctx context.Context, op Operation) error {
	if op.Kind == Put {
		return pgx.BeginFunc(ctx, p.pool, func(tx pgx.Tx) error { return p.do(ctx, tx, op) })
	}
	return p.do(ctx, p.pool, op)
}

func (p *periods) Current(ctx context.Context, slot int64) (string, error) {
	return p.value(ctx, texts["periods_current"], slot, stamp(instant(time.Now())))
}

func (p *periods) Valid(ctx context.Context, slot int64, valid sgam.Instant) (string, error) {
	return p.value(ctx, texts["periods_current"], slot, stamp(valid))
}

func (p *periods) ValidKnown(ctx context.Context, slot int64, valid sgam.Instant, n int) (string, error) {
	return p.value(ctx, texts["periods_as_of"], slot, stamp(valid), p.known[n-1])
}

func (p *periods) value(ctx context.Context, text string, args ...any) (string, error) {
	var value pgtype.Text
	var from, to pgtype.Timestamptz
	var known time.Time
	err := p.pool.QueryRow(ctx, text, args...).Scan(&value, &from, &to, &known)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", nil
	}
	return value.String, err
}

func (p *periods) Rectangles(ctx context.Context) ([]Rectangle, error) {
	rows, err := p.admin.Query(ctx, texts["periods_rectangles"])
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (Rectangle, error) {
		var r Rectangle
		var from, to, begun, ended pgtype.Timestamptz
		if err := row.Scan(&r.Slot, &r.Value, &from, &to, &begun, &ended); err != nil {
			return r, err
		}
		r.Valid = sgam.Span{From: unstamp(from), To: unstamp(to)}
		r.From, r.To = p.numbers[begun.Time.UTC()], standing
		if ended.InfinityModifier != pgtype.Infinity {
			r.To = p.numbers[ended.Time.UTC()]
		}
		if r.From == 0 || r.To == 0 {
			return r, errors.New("a row is known from or until a time at which nothing was written")
		}
		return r, nil
	})
}

func (p *periods) Size(ctx context.Context) (size Size, err error) {
	if err := p.Settle(ctx); err != nil {
		return size, err
	}
	err = p.admin.QueryRow(ctx, texts["periods_size"]).Scan(&size.All)
	size.Rectangles = size.All
	return size, err
}
