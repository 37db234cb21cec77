//go:build cgo

package sqlite

import (
	"context"
	"database/sql/driver"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEveryStatementHasAUser(t *testing.T) {
	used := map[string]bool{}
	sources, err := filepath.Glob("*.go")
	require.NoError(t, err)
	for _, source := range sources {
		content, err := os.ReadFile(source)
		require.NoError(t, err)
		for _, m := range regexp.MustCompile(`(?:named\(|texts\[)"(\w+)"`).FindAllStringSubmatch(string(content), -1) {
			used[m[1]] = true
		}
	}
	require.Greater(t, len(used), 80)
	for name := range texts {
		require.True(t, used[name], "%s has no user", name)
	}
}

func TestANameThatIsNotThereIsNoticedAtOnce(t *testing.T) {
	require.Panics(t, func() { named("nothing") })
	require.Equal(t, texts["point_current"], named("point_current").text)
}

func TestParametersAreHiddenFromThePlanner(t *testing.T) {
	bare := regexp.MustCompile(`[^+]\?\d|\?[^\d]`)
	comment := regexp.MustCompile(`--.*`)
	for name, text := range texts {
		require.NotRegexp(t, bare, comment.ReplaceAllString(text, ""), "%s: SQLite compiles it anew at each execution", name)
	}
	require.Regexp(t, bare, "a = ?1", "the rule finds what it forbids")
}

// plan is SQLite's plan of a statement.
func plan(t *testing.T, c *conn, st *statement) []string {
	t.Helper()
	rows, err := c.raw.Query("EXPLAIN QUERY PLAN "+st.text, make([]driver.Value, 24))
	require.NoError(t, err, st.name)
	var steps []string
	row := make([]driver.Value, 4)
	for err = rows.Next(row); err == nil; err = rows.Next(row) {
		steps = append(steps, fmt.Sprint(row[3]))
	}
	require.ErrorIs(t, err, io.EOF)
	require.NoError(t, rows.Close())
	return steps
}

// whole are the statements that read a small table from end to end.
var whole = []string{"versions", "schema_objects", "schema_text", "settings", "types_in_order"}

func TestNoStatementScansATable(t *testing.T) {
	s, err := current.open(context.Background(), newPath(t), nil)
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Close()) }()
	planned := 0
	for _, name := range names {
		st := named(name)
		// The plan of an insert shows how children of a missing parent would be looked for; there are none to look for.
		text := strings.TrimLeft(regexp.MustCompile(`--.*\n`).ReplaceAllString(st.text, ""), " \n")
		if slices.Contains(whole, st.name) || strings.HasPrefix(text, "INSERT") || !regexp.MustCompile("^(SELECT|WITH|UPDATE|DELETE)").MatchString(text) {
			continue
		}
		planned++
		for _, step := range plan(t, s.writes.conn, st) {
			if strings.HasPrefix(step, "SCAN nodes") || strings.HasPrefix(step, "SCAN CONSTANT ROW") {
				continue // the levels of one slot
			}
			require.False(t, strings.HasPrefix(step, "SCAN"), "%s: %s", st.name, step)
			require.NotContains(t, step, "AUTOMATIC", "%s", st.name)
			require.NotContains(t, step, "(tenant_id=?)", "%s walks over a whole tenant", st.name)
		}
	}
	require.Greater(t, planned, 50)
	require.Contains(t, plan(t, s.writes.conn, &statement{name: "a scan", text: "SELECT op FROM facts WHERE confidence = 1"}), "SCAN facts",
		"a scan would be noticed")
	require.Contains(t, plan(t, s.writes.conn, &statement{name: "a walk", text: "SELECT op FROM facts WHERE tenant_id = +?1 AND confidence = 1"}),
		"SEARCH facts USING PRIMARY KEY (tenant_id=?)", "and so would a walk")
}

func TestSeeksUseTheWholeKey(t *testing.T) {
	s, err := current.open(context.Background(), newPath(t), nil)
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Close()) }()
	for name, want := range map[string][]string{
		"point_current": {
			"SEARCH g USING PRIMARY KEY (tenant_id=? AND slot_id=? AND node=? AND valid_from=?)",
			"SEARCH x USING PRIMARY KEY (tenant_id=? AND slot_id=? AND node=? AND valid_from<?)",
		},
		"point_known": {
			"SEARCH g USING PRIMARY KEY (tenant_id=? AND slot_id=? AND node=? AND valid_from=?)",
			"SEARCH c USING PRIMARY KEY (tenant_id=? AND slot_id=? AND node=? AND valid_from=?)",
			"SEARCH x USING PRIMARY KEY (tenant_id=? AND slot_id=? AND node=? AND valid_from<?)",
		},
		"point_current_forms": {
			"SEARCH h USING PRIMARY KEY (tenant_id=? AND type_id=? AND known_from=?)",
			"SEARCH m USING PRIMARY KEY (tenant_id=? AND fact_id=?)",
		},
		"point_known_forms": {
			"SEARCH h USING PRIMARY KEY (tenant_id=? AND type_id=? AND known_from=?)",
			"SEARCH m USING PRIMARY KEY (tenant_id=? AND fact_id=?)",
		},
		"segment_at":      {"SEARCH g USING PRIMARY KEY (tenant_id=? AND slot_id=? AND node=? AND valid_from=?)"},
		"timeline_open":   {"SEARCH segments USING PRIMARY KEY (tenant_id=? AND slot_id=? AND node=? AND valid_from>?)"},
		"timeline_known":  {"SEARCH g USING PRIMARY KEY (tenant_id=? AND slot_id=? AND node=? AND valid_from>?)"},
		"outcome_by_key":  {"SEARCH o USING INDEX outcomes_by_key (tenant_id=? AND key=?)"},
		"touched_by_fact": {"SEARCH f USING PRIMARY KEY (tenant_id=? AND fact_id>? AND fact_id<?)"},
		"outcomes":        {"SEARCH o USING PRIMARY KEY (tenant_id=? AND (seq,ordinal)>(?,?))"},
		"slots_of_scope":  {"SEARCH slots USING INDEX sqlite_autoindex_slots_2 (tenant_id=? AND scope=? AND (subject_id,attribute_id,member)>(?,?,?))"},
		"standing": {
			"SEARCH g USING PRIMARY KEY (tenant_id=? AND slot_id=? AND node=? AND valid_from>?)",
			"SEARCH p USING COVERING INDEX points_live (tenant_id=? AND slot_id=? AND valid_from>?)",
		},
		"open_segments": {
			"SEARCH g USING PRIMARY KEY (tenant_id=? AND slot_id=? AND node=? AND valid_from>? AND valid_from<?)",
			"SEARCH x USING COVERING INDEX segments_open_by_fact (tenant_id=? AND fact_id=?)",
		},
		"kill_points":  {"SEARCH points USING INDEX points_live (tenant_id=? AND slot_id=? AND valid_from>? AND valid_from<?)"},
		"raise_points": {"SEARCH points USING PRIMARY KEY (tenant_id=? AND slot_id=? AND number=? AND valid_from>? AND valid_from<?)"},
	} {
		steps := plan(t, s.writes.conn, named(name))
		for _, step := range want {
			require.Contains(t, strings.Join(steps, "\n"), step, name)
		}
	}
}
