package postgres

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
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
	for _, name := range names {
		require.True(t, used[name], "%s has no user", name)
	}
}

func TestANameThatIsNotThereIsNoticedAtOnce(t *testing.T) {
	require.Panics(t, func() { named("nothing") })
	require.Equal(t, texts["point"], named("point").text)
}

// Plans are made while a ledger is empty and kept while it grows: a plan must reach each row by the whole of a key even
// where the planner knows nothing.
func TestPlansOfAnEmptyLedgerSeekByTheWholeKey(t *testing.T) {
	// A database that was in use before may have statistics of its own.
	name := blank(t)
	require.NoError(t, Init(t.Context(), cluster(t).DSN(name, owner), InitOptions{Keys: secret{}, Role: application}))
	conn := as(t, name, application)
	plan := func(text, args string) string {
		_, err := conn.Exec(t.Context(), "SET plan_cache_mode = force_generic_plan; DEALLOCATE ALL; PREPARE planned AS "+text)
		require.NoError(t, err)
		rows, err := conn.Query(t.Context(), "EXPLAIN EXECUTE planned("+args+")", pgx.QueryExecModeSimpleProtocol)
		require.NoError(t, err)
		var steps []string
		for rows.Next() {
			var step string
			require.NoError(t, rows.Scan(&step))
			steps = append(steps, step)
		}
		require.NoError(t, rows.Err())
		return strings.Join(steps, "\n")
	}
	for name, c := range map[string]struct {
		args string
		want []string
	}{
		"point": {`1, 'a', '', 1, '', 1, 1, 1, '{0}'`, []string{
			"(tenant_id = $1) AND (name = $2)", "(scope = $3)", "(slot_id = s.slot_id) AND (node = k.node) AND (valid_from <=",
			"(tenant_id = $1) AND (fact_id = c.fact_id)", "(tenant_id = $1) AND (episode_id = f.episode_id)", "(principal_id = f.principal_id)",
		}},
		"open_segments": {`1, 'a', '', 1, '', '', 1, 2`, []string{
			"(slot_id = s.slot_id) AND (node = 0) AND (valid_from <= $7)", "(slot_id = s.slot_id) AND (node = 0) AND (valid_from > $7) AND (valid_from < $8)",
			"Scan using segments_open_by_fact", "Scan Backward using segments_open_by_fact",
		}},
		"standing":        {`1, 'a', '', 1, '', 1`, []string{"(node = 0) AND (valid_from IS NOT NULL) AND (valid_from > $6)"}},
		"outcomes_by_key": {`1, '{}'`, []string{"Index Cond: ((tenant_id = $1) AND (key = (unnest($2))))"}},
		"episode_refs":    {`1, '{}'`, []string{"Index Cond: ((tenant_id = $1) AND (name = (unnest($2))))"}},
		"principals":      {`1, '{}'`, []string{"Index Cond: ((tenant_id = $1) AND (name = (unnest($2))))"}},
		"numbers":         {`1, 'a', '', 1, '', '{}'`, []string{"(slot_id = s.slot_id) AND (digest = (unnest($6)))"}},
	} {
		steps := plan(texts[name], c.args)
		require.NotContains(t, steps, "Seq Scan on segments", name)
		require.NotContains(t, steps, "Seq Scan on facts", name)
		for _, want := range c.want {
			require.Contains(t, steps, want, "%s:\n%s", name, steps)
		}
	}
}

// A list of keys is sought key by key. As a condition "= ANY" the planner may take it for one that costs more than reading the
// tenant's rows, and where it knows nothing yet it does.
func TestAListOfKeysIsSoughtKeyByKey(t *testing.T) {
	sought := regexp.MustCompile(`(?:(\$\d+)::\w+\[\] IS NULL OR )?\b\w+\.(name|key|digest|memory_id|fact_id|slot_id) = ANY`)
	found := func(text string) (bad []string) {
		for _, m := range sought.FindAllStringSubmatch(text, -1) {
			if m[1] == "" {
				bad = append(bad, m[0])
			}
		}
		return bad
	}
	for name, text := range texts {
		if owned.MatchString(text) && strings.Contains(text, "tenant_id") {
			if slices.Contains([]string{"newest_epochs"}, name) {
				continue // the names are of memory types, of which there are few
			}
			require.Empty(t, found(text), name)
		}
	}
	require.Len(t, found("SELECT 1 FROM sgam.facts f WHERE f.tenant_id = $1 AND f.fact_id = ANY ($2::bigint[])"), 1)
	require.Empty(t, found("AND ($6::text[] IS NULL OR u.name = ANY ($6))"))
}
