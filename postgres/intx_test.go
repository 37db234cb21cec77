package postgres

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/sqlite"
)

// business is a pool of the caller's, with a table of its own in the ledger's database.
func business(tb testing.TB, name string) *pgxpool.Pool {
	tb.Helper()
	require.NoError(tb, cluster(tb).Do(tb.Context(), name, "CREATE TABLE IF NOT EXISTS public.bookings (id text PRIMARY KEY)",
		"TRUNCATE public.bookings", "GRANT ALL ON public.bookings TO "+application))
	pool, err := pgxpool.New(tb.Context(), cluster(tb).DSN(name, application))
	require.NoError(tb, err)
	tb.Cleanup(pool.Close)
	return pool
}

func begin(tb testing.TB, pool *pgxpool.Pool) pgx.Tx {
	tb.Helper()
	tx, err := pool.Begin(tb.Context())
	require.NoError(tb, err)
	tb.Cleanup(func() {
		if err := tx.Rollback(context.Background()); !errors.Is(err, pgx.ErrTxClosed) {
			require.NoError(tb, err)
		}
	})
	return tx
}

// within is a tenant inside a transaction.
func within(tb testing.TB, tx pgx.Tx, l *sgam.Ledger, name string) *sgam.Tenant {
	tb.Helper()
	inside, err := InTx(tb.Context(), tx, l)
	require.NoError(tb, err)
	return tenant(tb, inside, name)
}

func bookings(tb testing.TB, pool *pgxpool.Pool) (n int) {
	tb.Helper()
	require.NoError(tb, pool.QueryRow(tb.Context(), "SELECT count(*) FROM public.bookings").Scan(&n))
	return n
}

func TestMemoriesAreStoredWithTheCallersRowsOrNotAtAll(t *testing.T) {
	for _, known := range []bool{false, true} {
		t.Run(fmt.Sprintf("tenant known %t", known), func(t *testing.T) {
			name := newDatabase(t, InitOptions{})
			l, pool := opened(t, name), business(t, name)
			outside := tenant(t, l, "acme")
			if known {
				_, err := outside.Apply(t.Context(), assert("zoe", "deadline", "1", day(1)).From(message("e0", day(1))))
				require.NoError(t, err)
			}
			book := func(id string) (pgx.Tx, *sgam.Tenant) {
				tx := begin(t, pool)
				_, err := tx.Exec(t.Context(), "INSERT INTO public.bookings VALUES ($1)", id)
				require.NoError(t, err)
				acme := within(t, tx, l, "acme")
				var last sgam.Receipt
				for i := range 3 {
					at := day(i + 1)
					r, err := acme.Apply(t.Context(), assert("mira", "deadline", fmt.Sprint(i), at).From(message(fmt.Sprint(id, i), at)))
					require.NoError(t, err)
					require.Equal(t, sgam.Applied, r.Outcome)
					require.True(t, r.Known.After(last.Known), "each call has a known time of its own")
					last = r
				}
				f, err := acme.Current().Get(t.Context(), "mira", "deadline")
				require.NoError(t, err)
				require.JSONEq(t, `"2"`, string(f.Value), "it reads what it wrote")
				_, err = outside.Current().Get(t.Context(), "mira", "deadline")
				require.ErrorIs(t, err, sgam.ErrUnknown, "nobody else does")
				return tx, acme
			}
			tx, acme := book("b1")
			require.NoError(t, tx.Rollback(t.Context()))
			require.Zero(t, bookings(t, pool))
			_, err := outside.Current().Get(t.Context(), "mira", "deadline")
			require.ErrorIs(t, err, sgam.ErrUnknown)
			_, err = acme.Current().Get(t.Context(), "mira", "deadline")
			require.ErrorIs(t, err, sgam.ErrClosed)

			tx, acme = book("b2")
			require.NoError(t, tx.Commit(t.Context()))
			require.Equal(t, 1, bookings(t, pool))
			f, err := outside.Current().Get(t.Context(), "mira", "deadline")
			require.NoError(t, err)
			require.Equal(t, "b22", f.Episode)
			_, err = acme.Apply(t.Context(), assert("mira", "deadline", "9", day(9)).From(message("e9", day(9))))
			require.ErrorIs(t, err, sgam.ErrClosed, "the transaction has ended")
		})
	}
}

// The first call of a tenant that decides nothing leaves no tenant behind, though the transaction goes on.
func TestATenantBeginsInATransactionWithWhatIsWritten(t *testing.T) {
	name := newDatabase(t, InitOptions{})
	l, pool := opened(t, name), business(t, name)
	tx := begin(t, pool)
	acme := within(t, tx, l, "acme")
	late := day(1)
	_, err := acme.ApplyBatch(t.Context(), sgam.Batch{KnownAt: &late, Deltas: []sgam.MemoryDelta{assert("mira", "deadline", "1", day(1)).From(message("e1", day(1)))}})
	require.NoError(t, err)
	_, err = within(t, tx, l, "zeta").Preview(t.Context(), sgam.Batch{Deltas: []sgam.MemoryDelta{assert("mira", "deadline", "1", day(1)).From(message("e1", day(1)))}})
	require.NoError(t, err)
	inside, err := InTx(t.Context(), tx, l)
	require.NoError(t, err)
	undecided := engine(t, inside)
	refuse := errors.New("refused")
	err = undecided.writeJoined(t.Context(), &request{
		ctx: t.Context(), tenant: "beta", call: &sgam.Call{Principal: "p"},
		decide: func(*sgam.Snapshot) (*sgam.Change, error) { return nil, refuse }, done: make(chan struct{}),
	})
	require.ErrorIs(t, err, refuse)
	require.PanicsWithValue(t, "wrong", func() {
		_ = undecided.writeJoined(t.Context(), &request{
			ctx: t.Context(), tenant: "beta", call: &sgam.Call{Principal: "p"},
			decide: func(*sgam.Snapshot) (*sgam.Change, error) { panic("wrong") }, done: make(chan struct{}),
		})
	})
	require.NoError(t, tx.Commit(t.Context()))
	var names []string
	for name, err := range l.Tenants(t.Context()) {
		require.NoError(t, err)
		names = append(names, name)
	}
	require.Equal(t, []string{"acme"}, names)
}

func TestATransactionOfTheCallersIsJudgedFirst(t *testing.T) {
	name := newDatabase(t, InitOptions{})
	l, pool := opened(t, name), business(t, name)
	var fe *sgam.FieldError
	for _, level := range []pgx.TxIsoLevel{pgx.RepeatableRead, pgx.Serializable} {
		tx, err := pool.BeginTx(t.Context(), pgx.TxOptions{IsoLevel: level})
		require.NoError(t, err)
		_, err = InTx(t.Context(), tx, l)
		require.ErrorAs(t, err, &fe)
		require.Equal(t, "isolation", fe.Rule)
		require.NoError(t, tx.Rollback(t.Context()))
	}
	tx, err := pool.BeginTx(t.Context(), pgx.TxOptions{AccessMode: pgx.ReadOnly})
	require.NoError(t, err)
	_, err = InTx(t.Context(), tx, l)
	require.ErrorAs(t, err, &fe)
	require.Equal(t, "access", fe.Rule)
	require.NoError(t, tx.Rollback(t.Context()))
	_, err = InTx(t.Context(), tx, l)
	require.ErrorIs(t, err, sgam.ErrClosed)

	in := func(database, role string) error {
		tx, err := as(t, database, role).Begin(t.Context())
		require.NoError(t, err)
		defer func() { require.NoError(t, tx.Rollback(context.Background())) }()
		_, err = InTx(t.Context(), tx, l)
		return err
	}
	require.NoError(t, in(name, application))
	require.ErrorIs(t, in(name, owner), ErrNoWall)
	require.ErrorIs(t, in("postgres", application), sgam.ErrForeignFile)
	other := blank(t)
	require.NoError(t, Init(t.Context(), cluster(t).DSN(other, owner), InitOptions{Keys: secret{}, Role: application}))
	require.ErrorIs(t, in(other, application), sgam.ErrForeignFile)

	file, err := sqlite.Open(t.Context(), t.TempDir()+"/ledger.db", nil)
	require.NoError(t, err)
	_, err = InTx(t.Context(), begin(t, pool), file)
	require.ErrorIs(t, err, sgam.ErrUnsupported)
	require.NoError(t, file.Close())

	lossy := begin(t, pool)
	_, err = lossy.Exec(t.Context(), "SET LOCAL synchronous_commit = off")
	require.NoError(t, err)
	_, err = InTx(t.Context(), lossy, l)
	require.ErrorIs(t, err, ErrNotDurable)
}

func TestATransactionOfTheCallersKeepsTheTenantLocked(t *testing.T) {
	name := newDatabase(t, InitOptions{})
	l, pool := opened(t, name), business(t, name)
	outside := tenant(t, l, "acme")
	_, err := outside.Apply(t.Context(), assert("mira", "deadline", "0", day(1)).From(message("e0", day(1))))
	require.NoError(t, err)
	tx := begin(t, pool)
	_, err = within(t, tx, l, "acme").Current().Get(t.Context(), "mira", "deadline")
	require.NoError(t, err)
	var done sync.WaitGroup
	done.Go(func() {
		_, err := outside.Apply(t.Context(), assert("mira", "deadline", "2", day(3)).From(message("e2", day(3))))
		if err != nil {
			t.Error(err)
		}
	})
	waits(t, name)
	r, err := within(t, tx, l, "acme").Apply(t.Context(), assert("mira", "deadline", "1", day(2)).From(message("e1", day(2))))
	require.NoError(t, err)
	require.Equal(t, sgam.Applied, r.Outcome)
	require.NoError(t, tx.Commit(t.Context()))
	done.Wait()
	var order []string
	for f, err := range outside.History(t.Context(), sgam.Slot{Subject: "mira", Attribute: "deadline"}) {
		require.NoError(t, err)
		order = append(order, f.Fact.Episode)
	}
	require.Equal(t, []string{"e0", "e1", "e2"}, order)
}

func TestADeadlineEndsTheWaitOfATransactionOfTheCallers(t *testing.T) {
	name := newDatabase(t, InitOptions{})
	l, pool := opened(t, name), business(t, name)
	applied(t, tenant(t, l, "acme"), several(1, 1))
	holder := begin(t, pool)
	applied(t, within(t, holder, l, "acme"), several(2, 1))
	conn, err := pgx.Connect(t.Context(), cluster(t).DSN(name, application))
	require.NoError(t, err)
	tx, err := conn.Begin(t.Context())
	require.NoError(t, err)
	waiting := within(t, tx, l, "acme")
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err = waiting.ApplyBatch(ctx, several(3, 1))
	require.ErrorIs(t, err, sgam.ErrBusy)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.NotErrorIs(t, err, sgam.ErrRetryTransaction)
	require.True(t, conn.IsClosed(), "what the server was asked is not known to have ended")
	require.NoError(t, holder.Commit(t.Context()))
	_, err = tenant(t, l, "acme").Current().Get(t.Context(), "s3 0", "deadline")
	require.ErrorIs(t, err, sgam.ErrUnknown)
	_, err = tenant(t, l, "acme").Current().Get(t.Context(), "s2 0", "deadline")
	require.NoError(t, err)
}

// waits returns when somebody waits for a lock in a database.
func waits(tb testing.TB, name string) {
	tb.Helper()
	conn := as(tb, "postgres", "postgres")
	require.Eventually(tb, func() bool {
		var n int
		err := conn.QueryRow(tb.Context(), "SELECT count(*) FROM pg_stat_activity WHERE datname = $1 AND wait_event_type = 'Lock'", name).Scan(&n)
		return err == nil && n > 0
	}, patience, patience/10_000)
}

func TestADeadlockOfTransactionsIsToBeRetried(t *testing.T) {
	name := newDatabase(t, InitOptions{})
	l, pool := opened(t, name), business(t, name)
	for _, who := range []string{"acme", "zeta"} {
		_, err := tenant(t, l, who).Apply(t.Context(), assert("mira", "deadline", "0", day(1)).From(message("e0", day(1))))
		require.NoError(t, err)
	}
	write := func(tx pgx.Tx, who, episode string) error {
		inside, err := InTx(t.Context(), tx, l)
		if err != nil {
			return err
		}
		told, err := inside.Tenant(who)
		if err != nil {
			return err
		}
		_, err = told.Apply(t.Context(), assert("mira", "deadline", episode, day(2)).From(message(episode, day(2))))
		return err
	}
	one, two := begin(t, pool), begin(t, pool)
	require.NoError(t, write(one, "acme", "e1"))
	require.NoError(t, write(two, "zeta", "e2"))
	var first error
	var done sync.WaitGroup
	done.Go(func() {
		if first = write(one, "zeta", "e1"); first != nil {
			first = errors.Join(first, one.Rollback(context.Background()))
		}
	})
	waits(t, name)
	second := write(two, "acme", "e2")
	if second != nil {
		require.NoError(t, two.Rollback(t.Context()))
	}
	done.Wait()
	require.NotEqual(t, first == nil, second == nil, "one of them goes on: %v, %v", first, second)
	require.ErrorIs(t, errors.Join(first, second), sgam.ErrRetryTransaction)
}

func TestALostConnectionLosesTheTransaction(t *testing.T) {
	name := newDatabase(t, InitOptions{})
	l, pool := opened(t, name), business(t, name)
	conn, err := pool.Acquire(t.Context())
	require.NoError(t, err)
	defer conn.Release()
	tx, err := conn.Begin(t.Context())
	require.NoError(t, err)
	acme := within(t, tx, l, "acme")
	require.NoError(t, cluster(t).Do(t.Context(), "postgres", fmt.Sprint("SELECT pg_terminate_backend(", conn.Conn().PgConn().PID(), ")")))
	_, err = acme.Apply(t.Context(), assert("mira", "deadline", "1", day(1)).From(message("e1", day(1))))
	require.ErrorIs(t, err, sgam.ErrRetryTransaction)
}

func TestASavepointOfTheCallersTakesCallsBack(t *testing.T) {
	name := newDatabase(t, InitOptions{})
	l, pool := opened(t, name), business(t, name)
	tx := begin(t, pool)
	acme := within(t, tx, l, "acme")
	for i := range 3 {
		nested, err := tx.Begin(t.Context())
		require.NoError(t, err)
		at := day(i + 1)
		r, err := acme.Apply(t.Context(), assert("mira", "deadline", fmt.Sprint(i), at).From(message(fmt.Sprint("e", i), at)))
		require.NoError(t, err)
		require.Equal(t, sgam.Applied, r.Outcome)
		if i == 1 {
			require.NoError(t, nested.Commit(t.Context()))
		} else {
			require.NoError(t, nested.Rollback(t.Context()))
		}
	}
	require.NoError(t, tx.Commit(t.Context()))
	n := 0
	for f, err := range tenant(t, l, "acme").History(t.Context(), sgam.Slot{Subject: "mira", Attribute: "deadline"}) {
		require.NoError(t, err)
		require.Equal(t, "e1", f.Fact.Episode)
		n++
	}
	require.Equal(t, 1, n)
}

func TestATransactionOfTheCallersIsLeftOfNoTenant(t *testing.T) {
	name := newDatabase(t, InitOptions{})
	l, pool := opened(t, name), business(t, name)
	tx := begin(t, pool)
	seen := func() (n int) {
		require.NoError(t, tx.QueryRow(t.Context(), "SELECT count(*) FROM sgam.facts").Scan(&n))
		return n
	}
	acme := within(t, tx, l, "acme")
	for i := range 2 {
		_, err := acme.Apply(t.Context(), assert("mira", "deadline", fmt.Sprint(i), day(i+1)).From(message(fmt.Sprint("e", i), day(i+1))))
		require.NoError(t, err)
		require.Zero(t, seen())
		_, err = acme.Current().Get(t.Context(), "mira", "deadline")
		require.NoError(t, err)
		require.Zero(t, seen())
		for _, err := range acme.Current().Facts(t.Context(), sgam.Filter{}) {
			require.NoError(t, err)
		}
		require.Zero(t, seen())
	}
	_, err := tx.Exec(t.Context(), "SET LOCAL sgam.tenant_id = '1'")
	require.NoError(t, err)
	require.Equal(t, 2, seen(), "with a tenant they are seen")
}

// joining is an engine that makes a transaction for every second write, as a caller would, and for some of the reads: the laws
// read very often.
type joining struct {
	*store
	pool          *pgxpool.Pool
	reads, writes atomic.Int64
}

func (j *joining) in(ctx context.Context, do func(*store) error) error {
	for {
		err := j.once(ctx, do)
		if !errors.Is(err, sgam.ErrRetryTransaction) {
			return err
		}
	}
}

func (j *joining) once(ctx context.Context, do func(*store) error) error {
	tx, err := j.pool.Begin(ctx)
	if err != nil {
		return err
	}
	over := context.WithoutCancel(ctx)
	// It ends when the call panics, too. A connection that was lost has nothing to roll back.
	defer func() { _ = tx.Rollback(over) }()
	if err := do(&store{name: j.name, lent: true, joint: &joint{tx: tx}, spread: j.spread, key: j.key, known: j.known}); err != nil {
		return err
	}
	return tx.Commit(over)
}

func (j *joining) Write(ctx context.Context, t sgam.TenantID, call *sgam.Call, decide func(*sgam.Snapshot) (*sgam.Change, error)) error {
	if j.readOnly && !call.DryRun {
		return sgam.ErrReadOnly
	}
	if j.writes.Add(1)%2 == 0 {
		return j.store.Write(ctx, t, call, decide)
	}
	return j.in(ctx, func(s *store) error { return s.Write(ctx, t, call, decide) })
}

func (j *joining) WriteRun(ctx context.Context, t sgam.TenantID, run []sgam.RunCall) error {
	return j.in(ctx, func(s *store) error { return s.WriteRun(ctx, t, run) })
}

func (j *joining) Read(ctx context.Context, t sgam.TenantID, q *sgam.Query) (page *sgam.Page, err error) {
	const some = 10
	if j.reads.Add(1)%some != 0 {
		return j.store.Read(ctx, t, q)
	}
	err = j.in(ctx, func(s *store) (err error) {
		page, err = s.Read(ctx, t, q)
		return err
	})
	return page, err
}

func (j *joining) Close() error {
	j.pool.Close()
	return j.store.Close()
}

// The caller's pool may go through a pooler though the ledger's does not.
func TestATransactionOfTheCallersMayGoThroughAPooler(t *testing.T) {
	name := newDatabase(t, InitOptions{})
	l, err := at(t, name, nil)(t.Context(), &sgam.Options{Schemas: schemas(), ClockTolerance: -1})
	require.NoError(t, err)
	require.False(t, engine(t, l).unprepared)
	pool, err := pgxpool.New(t.Context(), pooler(t).DSN(name, application)+" default_query_exec_mode=exec")
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	for i := range 3 {
		tx := begin(t, pool)
		inside, err := InTx(t.Context(), tx, l)
		require.NoError(t, err)
		require.True(t, engine(t, inside).unprepared)
		at := day(i + 1)
		_, err = tenant(t, inside, "acme").Apply(t.Context(), assert("mira", "deadline", fmt.Sprint(i), at).From(message(fmt.Sprint("e", i), at)))
		require.NoError(t, err)
		require.NoError(t, tx.Commit(t.Context()))
		f, err := tenant(t, l, "acme").ValidAt(at).Get(t.Context(), "mira", "deadline")
		require.NoError(t, err)
		require.JSONEq(t, strconv.Quote(strconv.Itoa(i)), string(f.Value))
	}
	for err := range l.Verify(t.Context()) {
		require.NoError(t, err)
	}
	require.NoError(t, l.Close())
	tenants, statements := remembered(t, name)
	require.Empty(t, tenants)
	require.Empty(t, statements)
}

func TestClosingInsideATransactionClosesNothingElse(t *testing.T) {
	name := newDatabase(t, InitOptions{})
	l, pool := opened(t, name), business(t, name)
	tx := begin(t, pool)
	inside, err := InTx(t.Context(), tx, l)
	require.NoError(t, err)
	acme := tenant(t, inside, "acme")
	applied(t, acme, several(1, 1))
	require.NoError(t, inside.Close())
	require.ErrorIs(t, inside.Close(), sgam.ErrClosed)
	_, err = acme.Current().Get(t.Context(), "s1 0", "deadline")
	require.ErrorIs(t, err, sgam.ErrClosed)
	require.NoError(t, tx.Commit(t.Context()))
	_, err = tenant(t, l, "acme").Current().Get(t.Context(), "s1 0", "deadline")
	require.NoError(t, err)

	other, err := at(t, name, nil)(t.Context(), &sgam.Options{Schemas: schemas()})
	require.NoError(t, err)
	require.NoError(t, other.Close())
	_, err = InTx(t.Context(), begin(t, pool), other)
	require.ErrorIs(t, err, sgam.ErrClosed)
}

// Two round trips are what a call costs inside a transaction, too.
func TestACallInATransactionOfTheCallersCostsTwoRoundTrips(t *testing.T) {
	name := newDatabase(t, InitOptions{})
	l, pool := opened(t, name), business(t, name)
	applied(t, tenant(t, l, "acme"), several(1, 1))
	inside, err := InTx(t.Context(), begin(t, pool), l)
	require.NoError(t, err)
	s := engine(t, inside)
	for call := range 3 {
		trips := 0
		require.NoError(t, s.reading(t.Context(), func(c *session) error {
			tx := &transaction{store: s, tenant: "acme", session: c, batch: []*request{{
				ctx: t.Context(), tenant: "acme", call: &sgam.Call{Principal: "p", Keys: []string{"k"}, Episodes: []string{"e"}},
				decide: func(snapshot *sgam.Snapshot) (*sgam.Change, error) {
					require.Equal(t, int64(call+1), snapshot.LastSeq)
					return &sgam.Change{Known: snapshot.LastKnown + 1, Outcomes: []sgam.NewOutcome{{Outcome: sgam.Rejected}}}, nil
				},
			}}}
			err := tx.run()
			trips = c.trips
			return err
		}))
		require.Equal(t, 2, trips)
	}
}
