package rivals

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/internal/bench"
)

// ServerRows hold the engine on PostgreSQL against its driver alone.
func (a *Arena) ServerRows() []bench.Row {
	return []bench.Row{{
		Name: "postgres-get", Title: "`Current().Get` on PostgreSQL", Baseline: "the same statements in one round trip, prepared, driver alone",
		Bar: 1.2, Open: func(ctx context.Context, _ *bench.Files) (*bench.Sides, error) { return a.getAgainstDriver(ctx) },
	}}
}

// Trips are how many round trips an ordinary write and a current read cost the engine on PostgreSQL.
func (a *Arena) Trips(ctx context.Context) (write, read int64, err error) {
	w := &writer{keeper: a.Postgres, from: a.story.now() + month, rand: draws(7), slots: int64(a.scale.Slots)}
	count := func(do func() error) (int64, error) {
		if err := do(); err != nil { // whatever is prepared or looked up once is behind it
			return 0, err
		}
		before := a.trips.n.Load()
		err := do()
		return a.trips.n.Load() - before, err
	}
	if write, err = count(func() error { return a.Postgres.Write(ctx, w.forward(1)) }); err != nil {
		return 0, 0, err
	}
	read, err = count(func() error {
		_, err := a.Postgres.Current(ctx, 1)
		return err
	})
	return write, read, err
}

func (a *Arena) getAgainstDriver(ctx context.Context) (*bench.Sides, error) {
	b, err := a.openBare(ctx)
	if err != nil {
		return nil, err
	}
	s := &bench.Sides{Subject: a.reading(ordinary, func(ctx context.Context, slot int64, _ sgam.Instant, _ int) error {
		_, err := a.Postgres.Current(ctx, slot)
		return err
	}), Baseline: a.reading(ordinary, func(ctx context.Context, slot int64, _ sgam.Instant, _ int) error {
		return b.get(ctx, slot)
	})}
	s.OnClose(func() error { return b.conn.Close(context.WithoutCancel(ctx)) })
	return s, nil
}

// bare is the driver alone, on a connection of the application's role.
type bare struct {
	conn      *pgconn.PgConn
	attribute []byte
	row       scanned
}

const (
	tenantID  = 1
	setTenant = "set_tenant_and_plans"
	readPoint = "point"
)

func (a *Arena) openBare(ctx context.Context) (*bare, error) {
	l, ok := a.Postgres.(*ledger)
	if !ok {
		return nil, errors.New("the keeper is no ledger")
	}
	engine, ok := l.ledger.Store().(interface {
		sgam.Store
		Statement(name string) string
	})
	if !ok {
		return nil, errors.New("the engine does not show its statements")
	}
	types, err := engine.Types(ctx)
	if err != nil {
		return nil, err
	}
	b := &bare{attribute: eight(int64(types[0].IDs[0]))}
	config, err := pgx.ParseConfig(a.cluster.DSN(ledgerDatabase, application))
	if err != nil {
		return nil, err
	}
	if b.conn, err = pgconn.ConnectConfig(ctx, &config.Config); err != nil {
		return nil, err
	}
	for _, name := range []string{setTenant, readPoint} {
		if _, err := b.conn.Prepare(ctx, name, engine.Statement(name), nil); err != nil {
			return nil, errors.Join(err, b.conn.Close(ctx))
		}
	}
	return b, nil
}

// eight is a number as it travels.
func eight(n int64) []byte { return binary.BigEndian.AppendUint64(nil, uint64(n)) } //nolint:gosec // two's complement is the format

// openNode is the list of the one node where what stands is, as it travels: one dimension, no NULL, of numbers, one element.
var openNode = []byte{0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 20, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0}

// get is what a current read sends, and keeps what it answers in variables of the same kinds. The setting is what row-level
// security asks for: without it there is no row to read.
func (b *bare) get(ctx context.Context, slot int64) error {
	binaries := []int16{1}
	pipe := b.conn.StartPipeline(ctx)
	pipe.SendQueryPrepared(setTenant, [][]byte{[]byte("1")}, binaries, binaries)
	pipe.SendQueryPrepared(readPoint, [][]byte{
		eight(tenantID), []byte(subject(slot)), {}, b.attribute, {}, eight(time.Now().UnixMicro()), eight(int64(sgam.Forever)),
		eight(int64(sgam.Forever)), openNode,
	}, binaries, binaries)
	if err := pipe.Sync(); err != nil {
		return errors.Join(err, pipe.Close())
	}
	b.row = scanned{}
	const setting, fact = 0, 1
	for answer := setting; ; answer++ {
		results, err := pipe.GetResults()
		if err != nil {
			return errors.Join(err, pipe.Close())
		}
		reader, ok := results.(*pgconn.ResultReader)
		if !ok {
			break
		}
		for reader.NextRow() {
			if answer == fact {
				b.row.scan(reader.Values())
			}
		}
		if _, err := reader.Close(); err != nil {
			return errors.Join(err, pipe.Close())
		}
	}
	if len(b.row.value) == 0 {
		return errors.Join(fmt.Errorf("the driver alone finds no value in slot %d", slot), pipe.Close())
	}
	return pipe.Close()
}

// scanned is what a program that reads a fact by itself would have it in.
type scanned struct {
	id, supersedes                               [16]byte
	op, retention, provenance, episode           string
	principal                                    string
	value                                        []byte
	number, version, digest, registry            int64
	confidence, erased                           bool
	lastKnown, valid, validTo, known             time.Time
	asserted, assertedTo, assertedReach, learned time.Time
}

func (s *scanned) scan(row [][]byte) {
	number := func(i int) int64 {
		if len(row[i]) != 8 {
			return 0
		}
		return int64(binary.BigEndian.Uint64(row[i])) //nolint:gosec // two's complement is the format
	}
	at := func(i int) time.Time { return time.UnixMicro(number(i)).UTC() }
	s.lastKnown, s.registry, s.valid, s.validTo, s.known, s.number = at(0), number(1), at(2), at(3), at(4), number(5)
	copy(s.id[:], row[6])
	s.op, s.asserted, s.assertedTo, s.assertedReach, s.learned = string(row[7]), at(8), at(9), at(10), at(11)
	s.confidence, s.version, s.retention, s.provenance = row[12] != nil, number(13), string(row[14]), string(row[15])
	s.erased, s.value, s.episode, s.principal = row[16] != nil, append([]byte(nil), row[17]...), string(row[18]), string(row[19])
	copy(s.supersedes[:], row[20])
	s.digest = number(21)
}
