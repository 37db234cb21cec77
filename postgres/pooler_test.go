package postgres

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/internal/pgtest"
	"github.com/sgam-ledger/sgam/ledgertest"
)

// The laws are played on a server without a pooler, since each statement is planned anew here and they would take too long:
// random histories compare the two.
func TestEngineBehindAPoolerAnswersWhatTheOthersAnswer(t *testing.T) {
	pgtest.Long(t)
	ledgertest.Equivalent(t, 1, 1, ledgertest.InMemory(nil), by(t, pooler(t), newDatabase(t, InitOptions{}), &Options{Unprepared: true}))
}

// client is a connection of the driver alone to the pooler, as the application's role.
func client(t *testing.T, name string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), pooler(t).DSN(name, application)+" default_query_exec_mode=exec")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, conn.Close(context.Background())) })
	return conn
}

// hold begins a transaction, which keeps a server connection of the pooler from all others, and names its process.
func hold(t *testing.T, conn *pgx.Conn) (pgx.Tx, uint32) {
	t.Helper()
	tx, err := conn.Begin(t.Context())
	require.NoError(t, err)
	var pid uint32
	require.NoError(t, tx.QueryRow(t.Context(), "SELECT pg_backend_pid()").Scan(&pid))
	return tx, pid
}

// serving are the processes of the pooler's connections to a database.
func serving(t *testing.T, name string) []uint32 {
	t.Helper()
	rows, err := as(t, name, "postgres").Query(t.Context(),
		"SELECT pid::bigint FROM pg_stat_activity WHERE datname = $1 AND usename = $2 ORDER BY pid", name, application)
	require.NoError(t, err)
	found, err := pgx.CollectRows(rows, pgx.RowTo[uint32])
	require.NoError(t, err)
	return found
}

// cutOff ends the pooler's connections to a database, and with them what they remember.
func cutOff(t *testing.T, name string) {
	t.Helper()
	require.NoError(t, cluster(t).Do(t.Context(), "postgres",
		"SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE datname = '"+name+"' AND usename = '"+application+"'"))
}

// remembered looks at each of the pooler's connections to a database, all at once so that none is looked at twice, and returns
// the tenants that they are left with and what they have prepared.
func remembered(t *testing.T, name string) (tenants, statements []string) {
	t.Helper()
	var looked []uint32
	for range serverConnections {
		tx, pid := hold(t, client(t, name))
		defer func() { require.NoError(t, tx.Rollback(context.Background())) }()
		looked = append(looked, pid)
		var tenant string
		require.NoError(t, tx.QueryRow(t.Context(), "SELECT coalesce(current_setting('sgam.tenant_id', true), '')").Scan(&tenant))
		if tenant != "" {
			tenants = append(tenants, tenant)
		}
		rows, err := tx.Query(t.Context(), "SELECT name FROM pg_prepared_statements")
		require.NoError(t, err)
		prepared, err := pgx.CollectRows(rows, pgx.RowTo[string])
		require.NoError(t, err)
		statements = append(statements, prepared...)
	}
	slices.Sort(looked)
	require.Equal(t, serving(t, name), looked)
	return tenants, statements
}

func TestNoTransactionLeavesItsTenantOnAServerConnection(t *testing.T) {
	name := newDatabase(t, InitOptions{})
	l, err := by(t, pooler(t), name, &Options{Unprepared: true})(t.Context(), &sgam.Options{Schemas: schemas(), ClockTolerance: -1})
	require.NoError(t, err)
	ledgertest.Proven(t, l)
	looker := client(t, name)
	done := make(chan struct{})
	var writers, watcher sync.WaitGroup
	for w := range 12 {
		writers.Go(func() {
			who := fmt.Sprint("tenant", w%6)
			of, err := l.Tenant(who)
			if !assertNoError(t, err) {
				return
			}
			for n := range 10 {
				id := fmt.Sprintf("%s-%d-%d", who, w, n)
				_, err := of.Apply(t.Context(), assert("mira", "deadline", who, day(n+1)).From(message(id, day(1))))
				if !assertNoError(t, err) {
					return
				}
				f, err := of.ValidAt(day(n+1)).Get(t.Context(), "mira", "deadline")
				if !assertNoError(t, err) {
					return
				}
				if string(f.Value) != strconv.Quote(who) {
					t.Errorf("%s reads %s", who, f.Value)
				}
				for f, err := range of.Current().Facts(t.Context(), sgam.Filter{}) {
					if err != nil || string(f.Value) != strconv.Quote(who) {
						t.Errorf("%s reads %s, %v", who, f.Value, err)
					}
				}
			}
		})
	}
	looks := 0
	watcher.Go(func() {
		for {
			var tenant string
			var rows int
			err := looker.QueryRow(context.Background(),
				"SELECT coalesce(current_setting('sgam.tenant_id', true), ''), (SELECT count(*) FROM sgam.facts)").Scan(&tenant, &rows)
			if err != nil || tenant != "" || rows != 0 {
				t.Errorf("between the transactions of tenants: tenant %q, %d rows, %v", tenant, rows, err)
			}
			looks++
			select {
			case <-done:
				return
			default:
			}
		}
	})
	writers.Wait()
	close(done)
	watcher.Wait()
	require.Greater(t, looks, 10)
	require.Len(t, serving(t, name), serverConnections, "the transactions were spread over all connections")
	tenants, statements := remembered(t, name)
	require.Empty(t, tenants)
	require.Empty(t, statements)

	// What is left behind would have been seen.
	_, err = looker.Exec(t.Context(), "SET sgam.tenant_id = '1'")
	require.NoError(t, err)
	tenants, _ = remembered(t, name)
	require.Equal(t, []string{"1"}, tenants)
	cutOff(t, name)
}

// assertNoError is for goroutines, which must not end the test.
func assertNoError(t *testing.T, err error) bool {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
	return err == nil
}

// The only server connection that has prepared something is held by somebody else, so it cannot come back by luck.
func TestAPoolerThatDoesNotKnowPreparedStatementsIsSeenWhileOpening(t *testing.T) {
	name := newDatabase(t, InitOptions{})
	cutOff(t, name)
	open := func(engine Options) (*sgam.Ledger, error) {
		return by(t, pooler(t), name, &engine)(t.Context(), &sgam.Options{Schemas: schemas(), ClockTolerance: -1})
	}
	insisting, err := open(Options{Prepared: true})
	require.NoError(t, err)
	defer func() { require.NoError(t, insisting.Close()) }()
	require.Len(t, serving(t, name), 1)
	one, first := hold(t, client(t, name))
	require.Equal(t, []uint32{first}, serving(t, name))

	s := engine(t, insisting)
	ask := func() error {
		return s.once(t.Context(), func(c *session) error { return c.judge(t.Context()) })
	}
	require.Equal(t, "26000", code(ask()), "the other server connection does not know the statement")
	require.NoError(t, ask(), "on a new connection it is prepared again")
	_, err = open(Options{Prepared: true})
	require.Equal(t, "42P05", code(err), "the only free server connection has it from another client")
	require.ErrorContains(t, err, "prepared statement exists")

	var warned []error
	told := func(err error) { warned = append(warned, err) }
	l, err := open(Options{Warn: told})
	require.NoError(t, err)
	require.Equal(t, []error{ErrPooled}, warned)
	ledgertest.Proven(t, l)
	acme := tenant(t, l, "acme")
	apply := func(n int) {
		_, err := acme.Apply(t.Context(), assert("mira", "deadline", strconv.Itoa(n), day(n)).From(message(fmt.Sprint("e", n), day(n))))
		require.NoError(t, err)
		f, err := acme.ValidAt(day(n)).Get(t.Context(), "mira", "deadline")
		require.NoError(t, err)
		require.JSONEq(t, strconv.Quote(strconv.Itoa(n)), string(f.Value))
	}
	apply(1)
	two, second := hold(t, client(t, name))
	require.NotEqual(t, first, second)
	apply(2) // on a third server connection, which is new
	require.NoError(t, one.Rollback(t.Context()))
	require.NoError(t, two.Rollback(t.Context()))
	apply(3)
	_, statements := remembered(t, name)
	for _, statement := range statements {
		require.NotContains(t, statement, "probe", "the question leaves nothing behind")
	}
	require.Contains(t, statements, "sgam_ledger_exists", "what others have prepared is still there")

	for why, c := range map[string]struct {
		to     way
		engine Options
	}{"no pooler": {cluster(t), Options{Warn: told}}, "said before": {pooler(t), Options{Unprepared: true, Warn: told}}} {
		warned = nil
		l, err := by(t, c.to, name, &c.engine)(t.Context(), nil)
		require.NoError(t, err, why)
		require.Empty(t, warned, why)
		require.Equal(t, c.engine.Unprepared, engine(t, l).unprepared, why)
		require.NoError(t, l.Close())
	}
	var fault *sgam.FieldError
	_, err = open(Options{Prepared: true, Unprepared: true})
	require.ErrorAs(t, err, &fault)
	cutOff(t, name)
}

func TestACallThatGivesUpTheLockLeavesNoTransactionBehindAPooler(t *testing.T) {
	name := newDatabase(t, InitOptions{})
	l, err := by(t, pooler(t), name, nil)(t.Context(), &sgam.Options{Schemas: schemas(), ClockTolerance: -1})
	require.NoError(t, err)
	ledgertest.Proven(t, l)
	acme := tenant(t, l, "acme")
	apply := func(ctx context.Context, n int) error {
		_, err := acme.Apply(ctx, assert("mira", "deadline", strconv.Itoa(n), day(n)).From(message(fmt.Sprint("e", n), day(n))))
		return err
	}
	require.NoError(t, apply(t.Context(), 1))
	holder, err := as(t, name, owner).Begin(t.Context())
	require.NoError(t, err)
	_, err = holder.Exec(t.Context(), "SELECT FROM sgam.tenants FOR UPDATE")
	require.NoError(t, err)
	watcher := as(t, name, "postgres")
	busy := func(waiting string) int {
		var n int
		if err := watcher.QueryRow(t.Context(), "SELECT count(*) FROM pg_stat_activity WHERE datname = $1 AND usename = $2 AND xact_start IS NOT NULL"+waiting,
			name, application).Scan(&n); err != nil {
			return -1
		}
		return n
	}
	for n, end := range []func() (context.Context, context.CancelFunc){
		func() (context.Context, context.CancelFunc) { return context.WithCancel(t.Context()) },
		func() (context.Context, context.CancelFunc) { return context.WithTimeout(t.Context(), time.Second) },
	} {
		ctx, cancel := end()
		told := make(chan error, 1)
		go func() { told <- apply(ctx, 2+n) }()
		require.Eventually(t, func() bool { return busy(" AND wait_event_type = 'Lock'") == 1 }, 30*time.Second, 5*time.Millisecond)
		if n == 0 {
			cancel()
		}
		err := <-told
		require.ErrorIs(t, err, ctx.Err())
		require.Error(t, err)
		require.Eventually(t, func() bool { return busy("") == 0 }, 30*time.Second, 5*time.Millisecond, "while the lock is held")
		cancel()
	}
	require.NoError(t, holder.Rollback(t.Context()))
	require.NoError(t, apply(t.Context(), 4))
	f, err := acme.ValidAt(day(3)).Get(t.Context(), "mira", "deadline")
	require.NoError(t, err)
	require.JSONEq(t, `"1"`, string(f.Value), "what was given up is not stored")
}

func TestAConnectionStringIsTakenByAPooler(t *testing.T) {
	name := newDatabase(t, InitOptions{})
	dsn := pooler(t).DSN(name, application)
	opts := &sgam.Options{Keys: secret{}}
	l, err := Open(t.Context(), dsn+" pool_max_conns=4 pool_max_conn_idle_time=1m application_name=memory connect_timeout=10", opts)
	require.NoError(t, err)
	require.NoError(t, l.Close())
	_, err = Open(t.Context(), dsn+" statement_timeout=60000", opts)
	require.ErrorContains(t, err, "unsupported startup parameter", "what a pooler does not know belongs to the role")
	require.NoError(t, cluster(t).Do(t.Context(), name, "ALTER ROLE "+application+" IN DATABASE "+name+" SET statement_timeout = '60s'"))
	cutOff(t, name)
	l, err = Open(t.Context(), dsn, opts)
	require.NoError(t, err)
	require.NoError(t, l.Close())
	var timeout string
	require.NoError(t, client(t, name).QueryRow(t.Context(), "SHOW statement_timeout").Scan(&timeout))
	require.Equal(t, "1min", timeout)
	require.NoError(t, cluster(t).Do(t.Context(), name, "ALTER ROLE "+application+" IN DATABASE "+name+" RESET statement_timeout"))
	cutOff(t, name)
}

// One server connection serves them all, so a statement that one of them prepared would meet the next.
func TestTheOwnerCanComeThroughAPooler(t *testing.T) {
	name := blank(t)
	dsn := pooler(t).DSN(name, owner)
	require.NoError(t, Init(t.Context(), dsn, InitOptions{Keys: secret{}, Role: application, Partitions: 2}))
	for range 3 {
		require.NoError(t, Upgrade(t.Context(), dsn, application))
	}
	l, err := Open(t.Context(), cluster(t).DSN(name, application), &sgam.Options{Keys: secret{}})
	require.NoError(t, err)
	require.NoError(t, l.Close())
}

// A large call's temporary tables live and end with its transaction, so no other client of the server connection meets them.
func TestALargeCallIsCopiedThroughAPooler(t *testing.T) {
	name := newDatabase(t, InitOptions{})
	l, err := by(t, pooler(t), name, nil)(t.Context(), &sgam.Options{Schemas: schemas(), ClockTolerance: -1})
	require.NoError(t, err)
	ledgertest.Proven(t, l)
	s := engine(t, l)
	require.True(t, s.unprepared)
	acme := tenant(t, l, "acme")
	for call := range 3 {
		applied(t, acme, several(call, s.large))
	}
	require.Zero(t, temporaries(t, name))
}
