package postgres

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// formatPage is docs/format.md: the tables of the file with their columns, and what it says of PostgreSQL.
func formatPage(t *testing.T) (file map[string][]string, here string) {
	t.Helper()
	content, err := os.ReadFile("../docs/format.md")
	require.NoError(t, err)
	page, here, found := strings.Cut(string(content), "\n## In PostgreSQL\n")
	require.True(t, found)
	file = map[string][]string{}
	table := ""
	for line := range strings.Lines(page) {
		line = strings.TrimSpace(line)
		if name, ok := strings.CutPrefix(line, "### "); ok {
			table = name
		}
		if m := regexp.MustCompile("^\\| `([a-z_]+)` \\| .+ \\|$").FindStringSubmatch(line); m != nil {
			file[table] = append(file[table], m[1])
		}
	}
	return file, here
}

func TestThePageOfTheFormatSaysWhatDiffersHere(t *testing.T) {
	file, here := formatPage(t)
	all := as(t, newDatabase(t, InitOptions{}), owner)
	rows, err := all.Query(t.Context(), `SELECT c.relname, a.attname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0
		WHERE c.relnamespace = 'sgam'::regnamespace AND c.relkind = 'r'`)
	require.NoError(t, err)
	type column struct{ Table, Name string }
	columns, err := pgx.CollectRows(rows, pgx.RowToStructByPos[column])
	require.NoError(t, err)
	require.Greater(t, len(columns), 180)
	differing := 0
	for _, c := range columns {
		if slices.Contains(file[c.Table], c.Name) {
			continue
		}
		differing++
		require.True(t, slices.ContainsFunc(strings.Split(here, "\n"), func(line string) bool {
			return strings.HasPrefix(line, "|") && strings.Contains(line, "`"+c.Table+"`") && strings.Contains(line, "`"+c.Name+"`")
		}), "%s.%s is told of nowhere", c.Table, c.Name)
	}
	require.Greater(t, differing, 8)

	rows, err = all.Query(t.Context(), "SELECT DISTINCT polname FROM pg_policy WHERE polname NOT IN ('all_rows', 'begins_as_draft')")
	require.NoError(t, err)
	policies, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	require.Greater(t, len(policies), 5)
	for _, name := range append(policies, "segments_do_not_overlap") {
		require.Contains(t, here, "`"+name+"`")
	}
}

func TestTheQuestionOfThePageIsAnsweredHere(t *testing.T) {
	_, here := formatPage(t)
	questions := regexp.MustCompile("(?s)```sql\n(.*?)```").FindAllStringSubmatch(here, -1)
	require.Len(t, questions, 1)
	app := as(t, two(t, InitOptions{}), application)
	var answers []string
	for _, text := range strings.SplitAfter(bare(questions[0][1]), ";") {
		rows, err := app.Query(t.Context(), strings.TrimSpace(text))
		require.NoError(t, err)
		for rows.Next() {
			values, err := rows.Values()
			require.NoError(t, err)
			require.Len(t, values, 3)
			value, ok := values[1].(string)
			require.True(t, ok)
			answers = append(answers, value)
		}
		require.NoError(t, rows.Err())
	}
	require.Equal(t, []string{`"2026-07-15"`, `"2026-06-30"`, `"nuts"`, `"a@example.org"`}, answers)
}
