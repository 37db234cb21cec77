//go:build cgo

package sqlite

import (
	"context"
	"database/sql"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sgam-ledger/sgam"
)

// described are the tables of docs/format.md with their columns, and the page as far as it is about the file.
func described(t *testing.T) (map[string][]string, string) {
	t.Helper()
	content, err := os.ReadFile("../docs/format.md")
	require.NoError(t, err)
	page, _, found := strings.Cut(string(content), "\n## In PostgreSQL\n")
	require.True(t, found)
	tables := map[string][]string{}
	table := ""
	for line := range strings.Lines(page) {
		line = strings.TrimSpace(line)
		if name, ok := strings.CutPrefix(line, "### "); ok {
			table = name
		}
		if m := regexp.MustCompile("^\\| `([a-z_]+)` \\| .+ \\|$").FindStringSubmatch(line); m != nil {
			tables[table] = append(tables[table], m[1])
		}
	}
	return tables, page
}

func TestThePageOfTheFormatDescribesEveryColumn(t *testing.T) {
	ctx := context.Background()
	tables, _ := described(t)
	path := newPath(t)
	closed(t, path)
	db := sql.OpenDB(connector{"file:" + path})
	defer func() { require.NoError(t, db.Close()) }()
	rows, err := db.QueryContext(ctx, "SELECT m.name, c.name FROM sqlite_schema m JOIN pragma_table_info(m.name) c WHERE m.type = 'table' ORDER BY m.rowid, c.cid")
	require.NoError(t, err)
	defer func() { require.NoError(t, rows.Close()) }()
	real := map[string][]string{}
	for rows.Next() {
		var table, column string
		require.NoError(t, rows.Scan(&table, &column))
		real[table] = append(real[table], column)
	}
	require.NoError(t, rows.Err())
	require.Greater(t, len(real), 20)
	require.Equal(t, real, tables)
}

func TestTheQuestionsOfThePageAreAnswered(t *testing.T) {
	ctx := context.Background()
	_, page := described(t)
	path := newPath(t)
	l := open(t, path, nil)
	acme := tenant(t, l, "acme").As("agent-7")
	early, late := day(1), day(3)
	for _, b := range []sgam.Batch{
		{KnownAt: &early, Deltas: []sgam.MemoryDelta{assert("mira", "deadline", "2026-07-15", early).From(message("e1", early))}},
		{KnownAt: &late, Deltas: []sgam.MemoryDelta{assert("mira", "deadline", "2026-06-30", late).From(message("e2", late))}},
	} {
		_, err := acme.ApplyBatch(ctx, b)
		require.NoError(t, err)
	}
	db := sql.OpenDB(connector{"file:" + path})
	defer func() { require.NoError(t, db.Close()) }()
	questions := regexp.MustCompile("(?s)```sql\n(.*?)```").FindAllStringSubmatch(page, -1)
	require.Len(t, questions, 3)

	var op, value, episode, from string
	var to sql.NullString
	now := strings.ReplaceAll(questions[0][1], "unixepoch('now')", "unixepoch('2026-06-09')")
	require.NotEqual(t, questions[0][1], now)
	require.NoError(t, db.QueryRowContext(ctx, now).Scan(&op, &value, &episode, &from, &to))
	require.Equal(t, []string{"assert", `"2026-06-30"`, "e2", "2026-06-03 00:00:00"}, []string{op, value, episode, from})
	require.False(t, to.Valid)

	require.NoError(t, db.QueryRowContext(ctx, questions[1][1]).Scan(&value))
	require.Equal(t, `"2026-07-15"`, value)

	rows, err := db.QueryContext(ctx, questions[2][1])
	require.NoError(t, err)
	defer func() { require.NoError(t, rows.Close()) }()
	var log []string
	for rows.Next() {
		var known, principal string
		require.NoError(t, rows.Scan(&known, &op, &value, &principal))
		log = append(log, known+" "+op+" "+value+" "+principal)
	}
	require.NoError(t, rows.Err())
	require.Equal(t, []string{`2026-06-01 00:00:00 assert "2026-07-15" agent-7`, `2026-06-03 00:00:00 assert "2026-06-30" agent-7`}, log)
}
