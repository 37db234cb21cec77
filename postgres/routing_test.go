package postgres

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// layoutTables are the tables that the layout names: those that belong to tenants, which Citus distributes, and those that
// it copies to every node.
func layoutTables(t *testing.T) (owned, shared []string) {
	t.Helper()
	text, err := migrationFiles.ReadFile("sql/migrations/layout.sql")
	require.NoError(t, err)
	list := func(name string) (tables []string) {
		m := regexp.MustCompile(`(?s)\b` + name + `\s+CONSTANT text\[\] := ARRAY\[(.*?)\];`).FindSubmatch(text)
		require.NotNil(t, m, name)
		for _, one := range regexp.MustCompile(`'(\w+)'`).FindAllSubmatch(m[1], -1) {
			tables = append(tables, string(one[1]))
		}
		return tables
	}
	owned, shared = list("owned"), list("shared")
	require.Len(t, owned, 21)
	require.Len(t, shared, 9)
	return owned, shared
}

// spoken is a statement, taken apart as far as the rules of Citus look at it.
type spoken struct {
	text          string // without comments, in one line
	owned, shared []string
}

// use is a table that a statement reads or changes, and its name there.
type use struct{ table, as string }

var (
	used      = regexp.MustCompile(`\b(?:FROM|JOIN|UPDATE) sgam\.(\w+)(?: (?:AS )?(\w+))?`)
	inserted  = regexp.MustCompile(`\bINSERT INTO sgam\.(\w+) (?:AS \w+ )?\(([^)]*)\) (VALUES|SELECT) \(?([^,)]*)`)
	everyName = regexp.MustCompile(`\b(?:FROM|JOIN|UPDATE|INTO) sgam\.(\w+)`)
	locking   = regexp.MustCompile(`\bFOR (?:NO KEY UPDATE|UPDATE|SHARE|KEY SHARE)\b`)
	volatiles = regexp.MustCompile(`\b(?:set_config|nextval|setval|currval|random|gen_random_uuid|clock_timestamp|timeofday|txid_current)\(`)
	setting   = regexp.MustCompile(`\bSET (.*?)(?: WHERE |$)`)
)

func speak(t *testing.T, text string) *spoken {
	t.Helper()
	owned, shared := layoutTables(t)
	return &spoken{strings.Join(strings.Fields(bare(text)), " "), owned, shared}
}

// uses are the tables of tenants that the statement reads or changes.
func (s *spoken) uses() (found []use) {
	for _, m := range used.FindAllStringSubmatch(s.text, -1) {
		if slices.Contains(s.owned, m[1]) {
			found = append(found, use{m[1], m[2]})
		}
	}
	return found
}

// within reports whether something stands inside of a WITH.
func (s *spoken) within(what *regexp.Regexp) bool {
	if !strings.HasPrefix(s.text, "WITH ") {
		return false
	}
	depth, inside := 0, strings.Builder{}
	for _, c := range s.text {
		switch c {
		case '(':
			depth++
		case ')':
			depth--
		}
		if depth > 0 {
			inside.WriteRune(c)
		}
	}
	return what.MatchString(inside.String())
}

// Rules that Citus has for what it sends to one shard, or refuses. The sources are files of its repository below
// src/backend/distributed, or pages of its documentation.
var routing = []struct {
	name, source string
	broken       func(s *spoken) bool
}{
	{
		"each table of a tenant has the tenant by equality", "planner/planner_readme.md, Router planner: all tables prune to one set of co-located shards",
		func(s *spoken) bool {
			return slices.ContainsFunc(s.uses(), func(u use) bool {
				return !regexp.MustCompile(`\b`+u.as+`\.tenant_id = \$1\b`).MatchString(s.text) || u.as == ""
			})
		},
	}, {
		"a new row has the tenant first, as a value", "planner/multi_router_planner.c, ExtractInsertPartitionKeyValue",
		func(s *spoken) bool {
			m := inserted.FindStringSubmatch(s.text)
			return m != nil && slices.Contains(s.owned, m[1]) && m[3] == "VALUES" && (!strings.HasPrefix(m[2], "tenant_id") || m[4] != "$1")
		},
	}, {
		"rows that are made of others have the tenant of those", "planner/insert_select_planner.c, InsertPartitionColumnMatchesSelect",
		func(s *spoken) bool {
			m := inserted.FindStringSubmatch(s.text)
			return m != nil && slices.Contains(s.owned, m[1]) && m[3] == "SELECT" &&
				!slices.ContainsFunc(s.uses(), func(u use) bool { return strings.HasPrefix(m[2], "tenant_id") && m[4] == u.as+".tenant_id" })
		},
	}, {
		"no row is inserted inside of a WITH", "planner/multi_router_planner.c, ErrorIfQueryHasUnroutableModifyingCTE",
		func(s *spoken) bool { return s.within(regexp.MustCompile(`\bINSERT INTO\b`)) },
	}, {
		"an INSERT has no WITH and no subquery among its values", "planner/multi_router_planner.c, ModifyPartialQuerySupported",
		func(s *spoken) bool {
			return regexp.MustCompile(`\bVALUES \(.*\(SELECT\b|^WITH .*\) INSERT\b`).MatchString(s.text)
		},
	}, {
		"every table is distributed or copied to all nodes", "planner/multi_router_planner.c: local tables cannot be used in distributed queries",
		func(s *spoken) bool {
			return slices.ContainsFunc(everyName.FindAllStringSubmatch(s.text, -1), func(m []string) bool {
				return !slices.Contains(s.owned, m[1]) && !slices.Contains(s.shared, m[1])
			})
		},
	}, {
		"a volatile function is only a value of a new row", "planner/multi_router_planner.c: functions used in UPDATE queries must not be VOLATILE, sequences cannot be used in router queries",
		func(s *spoken) bool {
			return volatiles.MatchString(s.text) && !strings.HasPrefix(s.text, "INSERT INTO")
		},
	}, {
		"an update leaves the tenant as it is", "planner/multi_router_planner.c: modifying the partition value of rows is not allowed",
		func(s *spoken) bool {
			m := setting.FindStringSubmatch(s.text)
			return m != nil && regexp.MustCompile(`(?:^|, )tenant_id =`).MatchString(m[1])
		},
	}, {
		"a conflict is one of keys with the tenant", "documentation, Creating distributed tables: unique keys include the distribution column",
		func(s *spoken) bool {
			m := inserted.FindStringSubmatch(s.text)
			return m != nil && slices.Contains(s.owned, m[1]) && strings.Contains(s.text, "ON CONFLICT") && !strings.Contains(s.text, "ON CONFLICT (tenant_id, ")
		},
	}, {
		"a statement that locks rows has one table", "documentation, SQL support: SELECT FOR UPDATE works in single-shard queries; not in a WITH over copied tables",
		func(s *spoken) bool {
			return locking.MatchString(s.text) && (len(everyName.FindAllString(s.text, -1)) != 1 || strings.HasPrefix(s.text, "WITH "))
		},
	}, {
		"nothing is deleted, merged or truncated", "the application may not",
		func(s *spoken) bool {
			return regexp.MustCompile(`\b(?:DELETE FROM|MERGE INTO|TRUNCATE)\b`).MatchString(s.text)
		},
	}, {
		"a WITH has no SEARCH or CYCLE clause", "planner/multi_router_planner.c, ErrorIfQueryHasCTEWithSearchClause",
		func(s *spoken) bool {
			return regexp.MustCompile(`\b(?:SEARCH (?:DEPTH|BREADTH) FIRST|CYCLE \w+ SET)\b`).MatchString(s.text)
		},
	},
}

// across are the rules for statements that look at every tenant: each shard answers for itself.
var across = []struct {
	name, source string
	broken       func(s *spoken) bool
}{
	{
		"the tables of a subquery are joined on the tenant", "documentation, SQL support: correlated subqueries only when the correlation is on the distribution column",
		func(s *spoken) bool {
			uses := s.uses()
			return len(uses) > 1 && slices.ContainsFunc(uses[1:], func(u use) bool {
				return !strings.Contains(s.text, u.as+".tenant_id = "+uses[0].as+".tenant_id")
			})
		},
	}, {
		"nothing that wants all rows in one place", "documentation, SQL support: limitations of queries across nodes",
		func(s *spoken) bool {
			return locking.MatchString(s.text) ||
				regexp.MustCompile(`\b(?:OVER \(|RECURSIVE|LATERAL|GROUPING SETS|ROLLUP|CUBE|TABLESAMPLE|INTERSECT|EXCEPT|INSERT|UPDATE|(?:string|array|jsonb?)_agg\()`).MatchString(s.text)
		},
	},
}

// elsewhere are statements that no request sends to Citus: they run while a ledger is made or opened, and look at the catalogs of
// the coordinator or at its settings, or they are for the copied rows of large calls, which the other layouts have.
var elsewhere = []string{"stage_rows", "copy_rows", "insert_staged_rows", "drop_stage", "walls", "ledger_exists", "citus_version", "grant", "set_application", "set_tenant_here",
	"set_tenant_and_plans"}

// brokenRules names the rules that a statement breaks.
func brokenRules(t *testing.T, name, text string) (broken []string) {
	t.Helper()
	rules := routing
	if crossing[name] != "" {
		rules = across
	}
	s := speak(t, text)
	for _, r := range rules {
		require.NotEmpty(t, r.source)
		if r.broken(s) {
			broken = append(broken, r.name)
		}
	}
	return broken
}

func TestNoStatementOfARequestIsOneThatCitusRefuses(t *testing.T) {
	checked := 0
	for _, name := range names {
		if !slices.Contains(elsewhere, name) {
			checked++
			require.Empty(t, brokenRules(t, name, texts[name]), name)
		}
	}
	require.Greater(t, checked, 90)
}

func TestWhatCitusRefusesIsFound(t *testing.T) {
	found := map[string]bool{}
	for _, c := range []struct{ text, rule string }{
		{"SELECT f.op FROM sgam.facts f WHERE f.fact_id = $2", routing[0].name},
		{"SELECT f.op FROM sgam.facts f WHERE f.tenant_id > $1", routing[0].name},
		{"SELECT op FROM sgam.facts WHERE tenant_id = $1", routing[0].name},
		{"SELECT 1 FROM sgam.facts f JOIN sgam.slots s ON s.slot_id = f.slot_id WHERE f.tenant_id = $1", routing[0].name},
		{"UPDATE sgam.points p SET facts = 1 WHERE p.slot_id = $1", routing[0].name},
		{"INSERT INTO sgam.reached (seq, tenant_id, slot_id) VALUES ($1, $2, $3)", routing[1].name},
		{"INSERT INTO sgam.reached (tenant_id, seq, slot_id) VALUES ($2, $1, $3)", routing[1].name},
		{"INSERT INTO sgam.reached (tenant_id, seq, slot_id) SELECT $1, $2, f.slot_id FROM sgam.facts f WHERE f.tenant_id = $1", routing[2].name},
		{"INSERT INTO sgam.epochs (tenant_id, type_id) SELECT $1, y.type_id FROM sgam.types y", routing[2].name},
		{"WITH made AS (INSERT INTO sgam.reached (tenant_id, seq) VALUES ($1, $2) RETURNING 1) SELECT 1 / count(*) FROM made", routing[3].name},
		{"INSERT INTO sgam.reached (tenant_id, seq) VALUES ($1, (SELECT c.seq FROM sgam.calls c WHERE c.tenant_id = $1))", routing[4].name},
		{"WITH n AS (SELECT 1) INSERT INTO sgam.reached (tenant_id, seq) VALUES ($1, $2)", routing[4].name},
		{"SELECT 1 FROM sgam.facts f JOIN sgam.notes n ON n.fact_id = f.fact_id WHERE f.tenant_id = $1", routing[5].name},
		{"SELECT set_config('sgam.tenant_id', $1, true)", routing[6].name},
		{"UPDATE sgam.points p SET facts = random() WHERE p.tenant_id = $1", routing[6].name},
		{"UPDATE sgam.points p SET facts = 1, tenant_id = 2 WHERE p.tenant_id = $1", routing[7].name},
		{"INSERT INTO sgam.points (tenant_id, slot_id) VALUES ($1, $2) ON CONFLICT (slot_id) DO NOTHING", routing[8].name},
		{"SELECT 1 FROM sgam.tenants t JOIN sgam.calls c ON c.tenant_id = $1 WHERE t.tenant_id = $1 FOR UPDATE", routing[9].name},
		{"WITH held AS (SELECT 1 FROM sgam.registry r FOR SHARE) SELECT 1 FROM held", routing[9].name},
		{"DELETE FROM sgam.points p WHERE p.tenant_id = $1", routing[10].name},
		{"WITH RECURSIVE s(n) AS (SELECT 1) SEARCH DEPTH FIRST BY n SET o SELECT n FROM s", routing[11].name},
	} {
		require.Contains(t, brokenRules(t, "", c.text), c.rule, c.text)
		found[c.rule] = true
	}
	for _, r := range routing {
		require.True(t, found[r.name], "nothing shows that this can fail: %s", r.name)
	}
	for _, c := range []struct{ text, rule string }{
		{"SELECT e.tenant_id FROM sgam.epochs e WHERE EXISTS (SELECT 1 FROM sgam.epochs y WHERE y.type_id = e.type_id)", across[0].name},
		{"SELECT count(*) OVER (PARTITION BY e.type_id) FROM sgam.epochs e", across[1].name},
		{"SELECT array_agg(e.tenant_id) FROM sgam.epochs e", across[1].name},
		{"SELECT e.tenant_id FROM sgam.epochs e FOR UPDATE", across[1].name},
		{"WITH RECURSIVE s(n) AS (SELECT 1 UNION ALL SELECT s.n + 1 FROM s) SELECT 1 FROM s JOIN sgam.epochs e ON e.type_id = s.n", across[1].name},
	} {
		require.Equal(t, []string{c.rule}, brokenRules(t, "lens_user", c.text))
	}
}
