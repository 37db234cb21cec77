package postgres

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"net"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/internal/pgtest"
	"github.com/sgam-ledger/sgam/ledgertest"
)

// The tests of this file run against the stand-in for Citus.

// Every law holds in the distributed layout, and for calls in transactions of the caller's: one play for both, since it takes
// minutes.
func TestTheLawsHoldInTheDistributedLayoutOfTheStandInAndInTransactionsOfTheCallers(t *testing.T) {
	pgtest.Long(t)
	t.Parallel()
	ledgertest.Run(t, func(tb testing.TB) ledgertest.Place {
		tb.Helper()
		name := newDatabase(tb, InitOptions{Distributed: new(true)})
		place := at(tb, name, nil)
		return func(ctx context.Context, opts *sgam.Options) (*sgam.Ledger, error) {
			l, err := place(ctx, opts)
			if err != nil {
				return nil, err
			}
			own, ok := l.Store().(*store)
			require.True(tb, ok)
			pool, err := pgxpool.New(ctx, home(tb, name).DSN(name, application))
			if err != nil {
				return nil, err
			}
			return sgam.New(ctx, &joining{store: own, pool: pool}, keyed(opts))
		}
	})
}

func TestEachTableIsDistributedOrCopiedInTheOrderOfItsReferences(t *testing.T) {
	all := as(t, newDatabase(t, InitOptions{Distributed: new(true)}), "postgres")
	type call struct {
		Call, Table, By, Beside string
		Sequential              bool
	}
	rows, err := all.Query(t.Context(), `SELECT call, what::text, coalesce(distributed_by, ''), coalesce(beside, ''), sequential FROM no_citus.told ORDER BY turn`)
	require.NoError(t, err)
	calls, err := pgx.CollectRows(rows, pgx.RowToStructByPos[call])
	require.NoError(t, err)
	owned, shared := layoutTables(t)
	var want []call
	for _, one := range shared {
		want = append(want, call{Call: "reference", Table: "sgam." + one, Sequential: true})
	}
	for i, one := range owned {
		beside := "sgam.tenants"
		if i == 0 {
			require.Equal(t, "tenants", one)
			beside = "default"
		}
		want = append(want, call{"distributed", "sgam." + one, "tenant_id", beside, true})
	}
	require.Equal(t, want, calls)

	var there []string
	rows, err = all.Query(t.Context(), "SELECT 'sgam.' || relname FROM pg_class WHERE relnamespace = 'sgam'::regnamespace AND relkind IN ('r', 'p')")
	require.NoError(t, err)
	there, err = pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	turn := map[string]int{}
	for i, c := range calls {
		turn[c.Table] = i
	}
	require.Len(t, turn, len(calls), "no table twice")
	for _, table := range there {
		require.Contains(t, turn, table)
	}
	require.Len(t, turn, len(there))

	type reference struct{ From, To string }
	rows, err = all.Query(t.Context(), `SELECT conrelid::regclass::text, confrelid::regclass::text FROM pg_constraint
		WHERE contype = 'f' AND connamespace = 'sgam'::regnamespace AND conrelid <> confrelid`)
	require.NoError(t, err)
	references, err := pgx.CollectRows(rows, pgx.RowToStructByPos[reference])
	require.NoError(t, err)
	require.Greater(t, len(references), 25)
	for _, r := range references {
		require.Less(t, turn[r.To], turn[r.From], "%s is there before what refers to it, %s", r.To, r.From)
	}
	var layout string
	require.NoError(t, all.QueryRow(t.Context(), "SELECT layout FROM sgam.ledger").Scan(&layout))
	require.Equal(t, layoutDistributed, layout)
}

// unfit finds what Citus refuses of tables: commands/create_distributed_table.c, commands/foreign_constraint.c,
// commands/policy.c and commands/trigger.c of its repository say so.
const unfit = `
	SELECT 'trigger ' || tgname FROM pg_trigger JOIN pg_class c ON c.oid = tgrelid WHERE c.relnamespace = 'sgam'::regnamespace AND NOT tgisinternal
	UNION ALL
	SELECT 'rule ' || rulename FROM pg_rewrite JOIN pg_class c ON c.oid = ev_class WHERE c.relnamespace = 'sgam'::regnamespace
	UNION ALL
	SELECT 'policy ' || polname FROM pg_policy JOIN pg_class c ON c.oid = polrelid WHERE c.relnamespace = 'sgam'::regnamespace
		AND concat(pg_get_expr(polqual, polrelid), pg_get_expr(polwithcheck, polrelid)) ~ 'SELECT'
	UNION ALL
	SELECT 'tenant ' || d.relname FROM (SELECT what::regclass AS oid, what::text AS relname FROM no_citus.told WHERE call = 'distributed') d
	LEFT JOIN pg_attribute a ON a.attrelid = d.oid AND a.attname = 'tenant_id' AND a.attnotnull AND a.atttypid = 'bigint'::regtype AND a.attnum = 1
	WHERE a.attrelid IS NULL
	UNION ALL
	SELECT 'index ' || i.indexrelid::regclass FROM no_citus.told d JOIN pg_index i ON i.indrelid = d.what
	JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attname = 'tenant_id'
	WHERE d.call = 'distributed' AND (i.indisunique OR i.indisexclusion) AND i.indkey[0] <> a.attnum
	UNION ALL
	SELECT 'reference ' || f.conname FROM pg_constraint f JOIN no_citus.told d ON d.what = f.conrelid LEFT JOIN no_citus.told e ON e.what = f.confrelid
	LEFT JOIN pg_attribute a ON a.attrelid = f.conrelid AND a.attname = 'tenant_id'
	LEFT JOIN pg_attribute b ON b.attrelid = f.confrelid AND b.attname = 'tenant_id'
	WHERE f.contype = 'f' AND (e.what IS NULL OR d.call = 'reference' AND e.call <> 'reference' OR
		d.call = 'distributed' AND e.call = 'distributed' AND (f.conkey[1] <> a.attnum OR f.confkey[1] <> b.attnum)
		OR d.call = 'distributed' AND e.call = 'distributed' AND (f.confupdtype <> 'a' OR f.confdeltype NOT IN ('a', 'c')))
	ORDER BY 1`

func TestTheDistributedTablesHaveNothingThatCitusRefuses(t *testing.T) {
	all := as(t, newDatabase(t, InitOptions{Distributed: new(true)}), "postgres")
	found := func(tx pgx.Tx) []string {
		rows, err := tx.Query(t.Context(), unfit)
		require.NoError(t, err)
		names, err := pgx.CollectRows(rows, pgx.RowTo[string])
		require.NoError(t, err)
		return names
	}
	for text, want := range map[string]string{
		"": "",
		"CREATE FUNCTION sgam.f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'; CREATE TRIGGER t AFTER INSERT ON sgam.facts EXECUTE FUNCTION sgam.f()": "trigger t",
		"CREATE RULE r AS ON INSERT TO sgam.facts DO ALSO NOTHING":                                                                    "rule r",
		"CREATE POLICY p ON sgam.lenses FOR SELECT USING (EXISTS (SELECT 1 FROM sgam.types))":                                         "policy p",
		"CREATE TABLE sgam.x (n bigint, tenant_id bigint); SELECT create_distributed_table('sgam.x', 'tenant_id')":                    "tenant sgam.x",
		"CREATE UNIQUE INDEX i ON sgam.facts (memory_id)":                                                                             "index sgam.i",
		"CREATE UNIQUE INDEX i ON sgam.facts (memory_id, tenant_id)":                                                                  "index sgam.i",
		"ALTER TABLE sgam.calls ADD CONSTRAINT e EXCLUDE (known_at WITH =)":                                                           "index sgam.e",
		"CREATE TABLE sgam.x (n bigint PRIMARY KEY); ALTER TABLE sgam.facts ADD CONSTRAINT f FOREIGN KEY (fact_id) REFERENCES sgam.x": "reference f",
		"ALTER TABLE sgam.directory ADD CONSTRAINT f FOREIGN KEY (tenant_id) REFERENCES sgam.tenants":                                 "reference f",
		"ALTER TABLE sgam.calls ADD CONSTRAINT f FOREIGN KEY (seq) REFERENCES sgam.tenants":                                           "reference f",
		"ALTER TABLE sgam.calls ADD CONSTRAINT f FOREIGN KEY (tenant_id) REFERENCES sgam.tenants ON DELETE SET NULL":                  "reference f",
	} {
		tx, err := all.Begin(t.Context())
		require.NoError(t, err)
		if text != "" {
			_, err = tx.Exec(t.Context(), text)
			require.NoError(t, err, text)
		}
		got := found(tx)
		require.NoError(t, tx.Rollback(t.Context()))
		if want == "" {
			require.Empty(t, got)
		} else {
			require.Equal(t, []string{want}, got, text)
		}
	}
}

func TestALedgerIsDistributedWhereCitusIsFound(t *testing.T) {
	for _, c := range []struct {
		why, version string
		opts         InitOptions
		layout       string
		err          error
	}{
		{"nothing is said", "13.2-1", InitOptions{}, layoutDistributed, nil},
		{"a newer one", "14.0-1", InitOptions{}, layoutDistributed, nil},
		{"it is asked for", "13.1-1", InitOptions{Distributed: new(true)}, layoutDistributed, nil},
		{"it is declined", "13.2-1", InitOptions{Distributed: new(false)}, layoutPlain, nil},
		{"partitions are asked for", "13.2-1", InitOptions{Partitions: 2}, layoutPartitioned, nil},
		{"there is none", "", InitOptions{}, layoutPlain, nil},
		{"there is none and it is asked for", "", InitOptions{Distributed: new(true)}, "", sgam.ErrUnsupported},
		{"it is too old", "13.0-1", InitOptions{}, "", sgam.ErrUnsupported},
		{"it is too old and declined", "12.1-1", InitOptions{Distributed: new(false)}, layoutPlain, nil},
		{"its version is no number", "devel", InitOptions{}, "", sgam.ErrUnsupported},
	} {
		name := blank(t)
		if c.version != "" {
			require.NoError(t, cluster(t).Do(t.Context(), name, standIn(c.version)...))
		}
		c.opts.Keys = secret{}
		err := Init(t.Context(), cluster(t).DSN(name, owner), c.opts)
		if c.err != nil {
			require.ErrorIs(t, err, c.err, c.why)
			continue
		}
		require.NoError(t, err, c.why)
		var layout string
		require.NoError(t, as(t, name, owner).QueryRow(t.Context(), "SELECT layout FROM sgam.ledger").Scan(&layout))
		require.Equal(t, c.layout, layout, c.why)
	}
}

// wire writes down the statements that a client sends, in the order in which the server executes them.
type wire struct {
	net.Conn
	log *heard
	in  []byte
	of  map[string]string // prepared statements
}

// heard is what all connections of a pool have sent, each connection in its order.
type heard struct {
	mu    sync.Mutex
	lines [][]string
}

func (w *wire) Write(b []byte) (int, error) {
	w.in = append(w.in, b...)
	if w.of == nil {
		w.of = map[string]string{}
		w.in = w.in[binary.BigEndian.Uint32(w.in):] // the first message has no letter
	}
	for len(w.in) >= 5 {
		end := 1 + int(binary.BigEndian.Uint32(w.in[1:]))
		if len(w.in) < end {
			break
		}
		w.take(w.in[0], w.in[5:end])
		w.in = w.in[end:]
	}
	return w.Conn.Write(b)
}

func (w *wire) take(letter byte, body []byte) {
	fields := bytes.SplitN(body, []byte{0}, 3)
	switch letter {
	case 'P':
		w.of[string(fields[0])] = string(fields[1])
	case 'B':
		w.note(w.of[string(fields[1])])
	case 'Q':
		w.note(string(fields[0]))
	}
}

func (w *wire) note(text string) {
	w.log.mu.Lock()
	defer w.log.mu.Unlock()
	last := len(w.log.lines) - 1
	w.log.lines[last] = append(w.log.lines[last], strings.Join(strings.Fields(bare(text)), " "))
}

// all is what was sent, connection by connection.
func (h *heard) all() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Concat(h.lines...)
}

// listening is a ledger over one connection, and what the server gets to execute there.
func listening(t *testing.T, name string) (*sgam.Ledger, *heard) {
	t.Helper()
	config, err := pgxpool.ParseConfig(home(t, name).DSN(name, application))
	require.NoError(t, err)
	config.MaxConns = 1
	log := &heard{}
	dial := config.ConnConfig.DialFunc
	config.ConnConfig.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		log.mu.Lock()
		defer log.mu.Unlock()
		log.lines = append(log.lines, nil)
		return &wire{Conn: conn, log: log}, err
	}
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	l, err := New(t.Context(), pool, &sgam.Options{Schemas: schemas(), Keys: secret{}, ClockTolerance: -1}, nil)
	require.NoError(t, err)
	return l, log
}

// listened runs a ledger's day and gives what the server got to execute.
func listened(t *testing.T, name string) []string {
	t.Helper()
	l, log := listening(t, name)
	of := tenant(t, l, "acme")
	high, low := 0.9, 0.1
	for i, d := range []sgam.MemoryDelta{
		assert("mira", "deadline", "2026-07-15", day(1)), assert("mira", "deadline", "2026-06-30", day(3)), assert("mira", "allergy", "nuts", day(1)),
		assert("mira", "email", "a", day(1)), assert("mira", "email", "b", day(1)),
	} {
		d.Confidence = &high
		if i == 4 {
			d.Confidence = &low
		}
		_, err := of.Apply(t.Context(), d.From(message(d.Attribute+string(d.Value), day(4))))
		require.NoError(t, err)
	}
	_, err := of.Current().Get(t.Context(), "mira", "deadline")
	require.NoError(t, err)
	for _, err := range of.Current().Facts(t.Context(), sgam.Filter{}) {
		require.NoError(t, err)
	}
	for err := range l.Verify(t.Context()) {
		require.NoError(t, err)
	}
	require.NoError(t, l.Close())
	return log.all()
}

// ofTenant is a statement about the rows of a tenant.
func ofTenant(t *testing.T, text string) bool {
	t.Helper()
	s := speak(t, text)
	m := inserted.FindStringSubmatch(s.text)
	return len(s.uses()) > 0 || m != nil && slices.Contains(s.owned, m[1])
}

func TestASpreadSessionSetsItsTenantWhereTheWorkersLearnOfIt(t *testing.T) {
	const propagate = "SET LOCAL citus.propagate_set_commands = 'local'"
	sent := listened(t, newDatabase(t, InitOptions{Distributed: new(true)}))
	literal := regexp.MustCompile(`^SET LOCAL sgam\.tenant_id = '-?[0-9]+';?$`)
	within, propagates, set, statements := false, false, false, 0
	for i, text := range sent {
		require.NotContains(t, text, "set_config", "a function's setting stays on the coordinator")
		switch {
		case strings.HasPrefix(text, "BEGIN"):
			require.False(t, within)
			within, propagates, set = true, false, false
			require.Equal(t, propagate, sent[i+1], "after %s", text)
		case text == propagate:
			require.True(t, within)
			propagates = true
		case strings.HasPrefix(text, "SET LOCAL sgam.tenant_id"):
			require.Regexp(t, literal, text)
			require.True(t, propagates)
			set = true
		case text == "COMMIT" || text == "ROLLBACK":
			within, propagates, set = false, false, false
		case ofTenant(t, text):
			statements++
			require.True(t, within && propagates && set, text)
		}
	}
	require.Greater(t, statements, 60)

	plain := listened(t, newDatabase(t, InitOptions{}))
	require.NotContains(t, plain, propagate)
	require.True(t, slices.ContainsFunc(plain, func(text string) bool { return strings.Contains(text, "set_config") }), "what is searched for is there in the plain layout")
}

func TestAConstraintIsNamedAsInTheLedger(t *testing.T) {
	for name, want := range map[string]string{
		"facts_pkey_102008": "facts_pkey", "segments_do_not_overlap_1020081": "segments_do_not_overlap", "facts_tenant_id_fkey1": "facts_tenant_id_fkey1",
		"segments_3_do_not_overlap": "segments_3_do_not_overlap", "": "",
	} {
		err := error(&stepError{1, failed("add_fact", &pgconn.PgError{Code: "23505", ConstraintName: name})})
		unsharded(err)
		f, ok := errors.AsType[*failure](err)
		require.True(t, ok)
		require.Equal(t, want, f.constraint)
	}
	// A session does it where the tables are spread, and nowhere else.
	for _, opts := range []InitOptions{{Distributed: new(true)}, {}} {
		name := two(t, opts)
		require.NoError(t, home(t, name).Do(t.Context(), name, "ALTER INDEX sgam.subjects_by_name RENAME TO subjects_by_name_102010"))
		t.Cleanup(func() {
			require.NoError(t, home(t, name).Do(context.Background(), name, "ALTER INDEX sgam.subjects_by_name_102010 RENAME TO subjects_by_name"))
		})
		pool, err := pgxpool.New(t.Context(), home(t, name).DSN(name, application))
		require.NoError(t, err)
		defer pool.Close()
		s := &store{pool: pool, spread: opts.Distributed != nil}
		err = s.once(t.Context(), func(c *session) error {
			c.begin(stBeginWrite)
			c.enter(1)
			c.add(nil, stAddSubject, 1, 99, "mira", []byte{0})
			return c.run(t.Context())
		})
		require.Equal(t, "23505", code(err))
		if s.spread {
			require.ErrorContains(t, err, "constraint subjects_by_name")
			require.NotContains(t, err.Error(), "_102010")
		} else {
			require.ErrorContains(t, err, "constraint subjects_by_name_102010")
		}
	}
}

// someOf are values to plan a statement with, by the types of its parameters.
var someOf = map[string]string{
	"bigint": "1", "text": "'a'", "bytea": `'\x0102'`, "boolean": "true", "double precision": "0.5", "bigint[]": "'{1,2}'", "text[]": "'{a,b}'",
	"bytea[]": `'{"\\x01","\\x02"}'`, "integer": "1",
}

// explained are the plans of all statements of requests.
func explained(t *testing.T, name string, settings ...string) map[string]string {
	t.Helper()
	conn := as(t, name, application)
	_, err := conn.Exec(t.Context(), strings.Join(append([]string{"BEGIN", setTenant("1")}, settings...), "; "))
	require.NoError(t, err)
	plans := map[string]string{}
	for _, st := range names {
		text := texts[st]
		if slices.Contains(elsewhere, st) || crossing[st] != "" || !regexp.MustCompile(`\b(SELECT|INSERT|UPDATE) `).MatchString(bare(text)) ||
			strings.HasPrefix(bare(text), "SET ") || strings.HasPrefix(st, "found_") {
			continue
		}
		_, err := conn.Exec(t.Context(), "DEALLOCATE ALL; PREPARE planned AS "+text)
		require.NoError(t, err, st)
		var types []string
		require.NoError(t, conn.QueryRow(t.Context(), "SELECT parameter_types::text[] FROM pg_prepared_statements WHERE name = 'planned'",
			pgx.QueryExecModeSimpleProtocol).Scan(&types))
		args := make([]string, len(types))
		for i, typ := range types {
			require.Contains(t, someOf, typ, st)
			args[i] = someOf[typ]
		}
		execute := "EXPLAIN (COSTS OFF) EXECUTE planned"
		if len(args) > 0 {
			execute += "(" + strings.Join(args, ", ") + ")"
		}
		rows, err := conn.Query(t.Context(), execute, pgx.QueryExecModeSimpleProtocol)
		require.NoError(t, err, st)
		steps, err := pgx.CollectRows(rows, pgx.RowTo[string])
		require.NoError(t, err, "%s: %s", st, execute)
		plans[st] = strings.Join(steps, "\n")
	}
	return plans
}

// notOneTask says why a plan is not of one task of Citus that one shard answers; empty when it is.
func notOneTask(plan string) string {
	switch tasks := regexp.MustCompile(`(?m)^ *Task Count: (\d+)$`).FindAllStringSubmatch(plan, -1); {
	case len(tasks) != 1:
		return "it has not one count of tasks"
	case tasks[0][1] != "1":
		return "it has several tasks"
	case strings.Contains(plan, "Distributed Subplan"):
		return "a part of it is planned by itself"
	case regexp.MustCompile(`INSERT/SELECT method: `).MatchString(plan):
		return "its rows go through the coordinator"
	}
	return ""
}

func TestPlansOfOneTaskAreToldFromOthers(t *testing.T) {
	const one = "Custom Scan (Citus Adaptive)\n  Task Count: 1\n  Tasks Shown: All\n  ->  Task\n        Node: host=localhost port=9701 dbname=x\n        ->  Index Scan"
	require.Empty(t, notOneTask(one))
	for why, plan := range map[string]string{
		"it has not one count of tasks":       "Index Scan using facts_pkey on facts",
		"it has several tasks":                strings.Replace(one, "Count: 1", "Count: 32", 1),
		"a part of it is planned by itself":   "Custom Scan (Citus Adaptive)\n  ->  Distributed Subplan 3_1\n" + one[1:],
		"its rows go through the coordinator": "Custom Scan (Citus INSERT ... SELECT)\n  INSERT/SELECT method: pull to coordinator\n  Task Count: 1",
	} {
		require.Equal(t, why, notOneTask(plan))
	}
}

// Without Citus no plan is of one task, and every statement has one: so the test on a cluster leaves none out.
func TestEveryStatementOfARequestCanBeExplained(t *testing.T) {
	plans := explained(t, two(t, InitOptions{Distributed: new(true)}))
	require.Greater(t, len(plans), 80)
	for name, plan := range plans {
		require.NotEmpty(t, plan, name)
		require.Equal(t, "it has not one count of tasks", notOneTask(plan), name)
	}
}
