package postgres

import (
	"context"
	"fmt"
	"regexp"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/internal/ritree"
)

// unbound are statements that belong to no tenant: of the database, of the registry, and of the directory of names.
var unbound = regexp.MustCompile(`\bsgam\.(ledger|registry|types|type_versions|attributes|version_attributes|attribute_names|lenses|directory|tenant_ids)\b`)

// owned finds the tables of tenants that a statement reads, with the names that it gives them.
var owned = regexp.MustCompile(`\b(?:FROM|JOIN|UPDATE) sgam\.(\w+) (?:AS )?(\w+)`)

// crossing are the statements that look at every tenant, each with the reason.
var crossing = map[string]string{
	"strangers": "it looks for rows of others, to see that there are none",
	"lens_user": "whether any tenant is at a version; a policy lets the registrar see epochs and nothing else",
}

func bare(text string) string { return regexp.MustCompile(`--[^\n]*`).ReplaceAllString(text, "") }

func TestEachStatementBindsTheTenantByEquality(t *testing.T) {
	checked := 0
	for name, text := range texts {
		if crossing[name] != "" {
			continue
		}
		for _, m := range owned.FindAllStringSubmatch(bare(text), -1) {
			if unbound.MatchString("sgam." + m[1]) {
				continue
			}
			checked++
			require.Regexp(t, `\b`+m[2]+`\.tenant_id = \$1\b`, text, "%s reads %s as %s without the tenant", name, m[1], m[2])
		}
		if m := regexp.MustCompile(`INSERT INTO sgam\.(\w+) (?:AS \w+ )?\((\w+)`).FindStringSubmatch(text); m != nil && !unbound.MatchString("sgam."+m[1]) {
			checked++
			require.Equal(t, "tenant_id", m[2], "%s", name)
			require.Regexp(t, `VALUES \(\$1\b|SELECT \w+\.tenant_id\b`, text, "%s", name)
		}
	}
	require.Greater(t, checked, 150)
}

// two is a ledger in which two tenants have said the same things about themselves.
func two(t *testing.T, opts InitOptions) string {
	t.Helper()
	return told(t, newDatabase(t, opts))
}

// told lets two tenants say the same things about themselves.
func told(t *testing.T, name string) string {
	t.Helper()
	ctx := t.Context()
	l := opened(t, name)
	for _, who := range []string{"acme", "zeta"} {
		of := tenant(t, l, who)
		apply := func(d sgam.MemoryDelta, want sgam.Outcome) {
			r, err := of.Apply(ctx, d)
			require.NoError(t, err)
			require.Equal(t, want, r.Outcome)
		}
		apply(assert("mira", "deadline", "2026-07-15", day(1)).From(message("e1", day(1))), sgam.Applied)
		apply(assert("mira", "deadline", "2026-06-30", day(3)).From(message("e2", day(3))), sgam.Applied)
		apply(assert("mira", "deadline", "2026-06-30", day(4)).From(message("e3", day(4))), sgam.Confirmed)
		apply(assert("mira", "allergy", "nuts", day(1)).From(message("e4", day(4))), sgam.Applied)
		high, low := 0.9, 0.1
		strong := assert("mira", "email", "a@example.org", day(1)).From(message("e5", day(4)))
		strong.Confidence = &high
		apply(strong, sgam.Applied)
		weak := assert("mira", "email", "b@example.org", day(1)).From(message("e6", day(4)))
		weak.Confidence = &low
		apply(weak, sgam.Disputed)
		apply(assert("mira", "consent", "yes", day(1)).From(message("e7", day(4))), sgam.Pending)
	}
	return name
}

// stripped is a statement without its tenant: every row is as good as any other to it.
func stripped(text string) string {
	return regexp.MustCompile(`\w+\.tenant_id = \$1\b`).ReplaceAllString(text, "$$1::bigint IS NOT NULL")
}

// tables are the tables that a tenant owns.
func tables(t *testing.T, conn *pgx.Conn) []string {
	t.Helper()
	rows, err := conn.Query(t.Context(), `SELECT c.relname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'tenant_id'
		WHERE c.relnamespace = 'sgam'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relname !~ '^directory|_[0-9]+$' ORDER BY 1`)
	require.NoError(t, err)
	found, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	require.Len(t, found, 21)
	return found
}

func TestATransactionSeesNoRowOfAnotherTenant(t *testing.T) {
	for _, opts := range []InitOptions{{}, {Partitions: 8}, {Distributed: new(true)}} {
		t.Run(layoutName(opts), func(t *testing.T) { seesNoOther(t, two(t, opts)) })
	}
}

// layoutName is the name of a layout.
func layoutName(opts InitOptions) string {
	if opts.Distributed != nil && *opts.Distributed {
		return "distributed"
	}
	return fmt.Sprintf("%d partitions", opts.Partitions)
}

// setTenant are the statements that make a transaction one of a tenant, on every server.
func setTenant(tenant string) string {
	return "SET LOCAL citus.propagate_set_commands = 'local'; SET LOCAL sgam.tenant_id = '" + tenant + "'"
}

// seesNoOther looks into every table of a ledger in which two tenants have spoken.
func seesNoOther(t *testing.T, name string) {
	t.Helper()
	app, all := as(t, name, application), as(t, name, owner)
	filled := 0
	for _, table := range tables(t, all) {
		count := func(conn *pgx.Conn, tenant string) (rows, tenants int) {
			tx, err := conn.Begin(t.Context())
			require.NoError(t, err)
			defer func() { require.NoError(t, tx.Rollback(context.Background())) }()
			if tenant != "" {
				_, err = tx.Exec(t.Context(), setTenant(tenant))
				require.NoError(t, err)
			}
			err = tx.QueryRow(t.Context(), "SELECT count(*), count(DISTINCT tenant_id) FROM sgam."+table).Scan(&rows, &tenants)
			require.NoError(t, err)
			return rows, tenants
		}
		rows, tenants := count(all, "")
		own, one := count(app, "1")
		none, _ := count(app, "")
		require.Zero(t, none, "%s without a tenant", table)
		if rows == 0 {
			continue
		}
		filled++
		require.GreaterOrEqual(t, tenants, 2, "%s has rows of both", table)
		require.Equal(t, 1, one, "%s", table)
		require.Positive(t, own, "%s", table)
		require.Less(t, own, rows, "%s", table)
	}
	require.Greater(t, filled, 14)
}

func TestAStatementThatForgetsTheTenantSeesNoRowOfAnother(t *testing.T) {
	name := two(t, InitOptions{})
	app, all := as(t, name, application), as(t, name, owner)
	const many = 1 << 30
	ask := func(conn *pgx.Conn, text string, args ...any) (rows int) {
		tx, err := conn.Begin(t.Context())
		require.NoError(t, err)
		defer func() { require.NoError(t, tx.Rollback(context.Background())) }()
		_, err = tx.Exec(t.Context(), "SET LOCAL sgam.tenant_id = '1'")
		require.NoError(t, err)
		found, err := tx.Query(t.Context(), text, args...)
		require.NoError(t, err)
		for found.Next() {
			rows++
		}
		if sqlState(found.Err()) == "21000" {
			return many // a part of the statement that should have found one row found several
		}
		require.NoError(t, found.Err())
		return rows
	}
	const never, forever = int64(sgam.Beginning), int64(sgam.Forever)
	names, none := []string{"e1", "e2", "e3"}, []int64(nil)
	for statement, args := range map[string][]any{
		"principals": {[]string{""}}, "episode_refs": {names}, "timeline": {"mira", "", int64(1), []byte{}, never, forever - 1, 100, ritree.Open()},
		"history": {"mira", "", int64(1), []byte{}, int64(0), 100}, "believed": {"mira", "", int64(1), []byte{}, day(9).UnixMicro(), never, 100},
		"facts_of_scope": {"", int64(0), int64(0), []byte{}, day(9).UnixMicro(), forever - 1, none, 100, ritree.Open()},
		"outcomes":       {int64(0), int64(-1), 100, []string(nil)}, "candidates": {int64(0), int64(-1), 100, []string(nil)},
		"slots_in_order": {int64(0), 100}, "facts_of_slots": {[]int64{1, 2, 3}}, "open_of_slots": {[]int64{1, 2, 3}},
		"segments_of_slots": {[]int64{1, 2, 3}}, "supersessions_of_slots": {[]int64{1, 2, 3}}, "points_of_slots": {[]int64{1, 2, 3}},
		"confirmations_of_slots": {[]int64{1, 2, 3}}, "epochs": {}, "calls_after": {never, 100}, "call_facts": {int64(0), int64(100)},
		"receipt_facts": {[]int64{1, 2}}, "displaced": {[]int64{1, 2, 3}}, "confirmed": {[]int64{1, 2, 3}}, "clock": {}, "tenant": {},
	} {
		args = append([]any{int64(1)}, args...)
		own := ask(app, texts[statement], args...)
		require.Positive(t, own, statement)
		text := stripped(texts[statement])
		require.NotEqual(t, texts[statement], text, statement)
		require.Equal(t, own, ask(app, text, args...), "%s leaks without its tenant", statement)
		require.Greater(t, ask(all, text, args...), own, "%s: without the wall it would be seen", statement)
	}
}

func TestOpeningTriesTheWall(t *testing.T) {
	name := newDatabase(t, InitOptions{})
	c := cluster(t)
	opts := &sgam.Options{Keys: secret{}}
	for _, role := range []string{owner, "postgres"} {
		_, err := Open(t.Context(), c.DSN(name, role), opts)
		require.ErrorIs(t, err, ErrNoWall, role)
		l, err := OpenWith(t.Context(), c.DSN(name, role), opts, &Options{NoWall: true})
		require.NoError(t, err, role)
		require.NoError(t, l.Close())
	}
	l, err := Open(t.Context(), c.DSN(name, application), opts)
	require.NoError(t, err)
	require.NoError(t, l.Close())
	require.NoError(t, c.Do(t.Context(), name, "ALTER TABLE sgam.facts DISABLE ROW LEVEL SECURITY"))
	_, err = Open(t.Context(), c.DSN(name, application), opts)
	require.ErrorIs(t, err, ErrNoWall)
	require.NoError(t, c.Do(t.Context(), name, "ALTER TABLE sgam.facts ENABLE ROW LEVEL SECURITY", "CREATE POLICY hole ON sgam.tenants FOR SELECT USING (true)"))
	_, err = Open(t.Context(), c.DSN(name, application), opts)
	require.ErrorIs(t, err, ErrNoWall, "the row of tenant 0 is seen")
	require.NoError(t, c.Do(t.Context(), name, "DROP POLICY hole ON sgam.tenants"))
	_, err = Open(t.Context(), c.DSN(name, application)+" synchronous_commit=off", opts)
	require.ErrorIs(t, err, ErrNotDurable)
}

func TestWhatTheServerSaysOfValuesStaysThere(t *testing.T) {
	name := two(t, InitOptions{})
	app := as(t, name, application)
	_, err := app.Exec(t.Context(), "SET sgam.tenant_id = '1'")
	require.NoError(t, err)
	_, err = app.Exec(t.Context(), "INSERT INTO sgam.subjects VALUES (1, 99, 'mira', '\\x00')")
	require.ErrorContains(t, err, "duplicate key")
	told := failed("add_subject", err)
	require.Equal(t, "23505", code(told))
	require.Contains(t, told.Error(), "subjects_by_name")
	require.NotContains(t, told.Error(), "mira")
	require.Empty(t, sqlState(told), "the driver's error is not inside")
	require.Equal(t, "23505", sqlState(err), "where it is inside it is found")
}
