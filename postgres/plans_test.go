package postgres

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/sgam-ledger/sgam"
)

// A statement that is planned anew for each tenant costs more to plan than to run.
func TestAStatementHasOnePlanForAllTenants(t *testing.T) {
	for _, opts := range []InitOptions{{}, {Partitions: 8}} {
		t.Run(fmt.Sprint(opts.Partitions), func(t *testing.T) {
			name := newDatabase(t, opts)
			config, err := pgxpool.ParseConfig(cluster(t).DSN(name, application))
			require.NoError(t, err)
			config.MaxConns = 1
			pool, err := pgxpool.NewWithConfig(t.Context(), config)
			require.NoError(t, err)
			t.Cleanup(pool.Close)
			l, err := New(t.Context(), pool, &sgam.Options{Schemas: schemas(), Keys: secret{}, ClockTolerance: -1}, nil)
			require.NoError(t, err)
			const rounds = 8 // more than the five that the server plans anew before it compares
			for i := range rounds {
				acme := tenant(t, l, fmt.Sprint("acme", i))
				_, err := acme.Apply(t.Context(), assert("mira", "deadline", "1", day(1)).From(message("e1", day(1))))
				require.NoError(t, err)
				_, err = acme.Current().Get(t.Context(), "mira", "deadline")
				require.NoError(t, err)
			}
			for _, statement := range []string{"point", "open_segments", "add_fact"} {
				var kept, anew int
				require.NoError(t, pool.QueryRow(t.Context(), "SELECT generic_plans, custom_plans FROM pg_prepared_statements WHERE name = $1",
					"sgam_"+statement).Scan(&kept, &anew), statement)
				require.GreaterOrEqual(t, kept, rounds, statement)
				require.Zero(t, anew, statement)
			}
			var mode, jit string
			require.NoError(t, pool.QueryRow(t.Context(), "SELECT current_setting('plan_cache_mode'), current_setting('jit')").Scan(&mode, &jit))
			require.Equal(t, []string{"auto", "on"}, []string{mode, jit}, "nothing of it is left on the connection")
			require.NoError(t, l.Close())
		})
	}
}

// Where the planner knows nothing yet it must still reach rows by the whole of a key: a plan is made early and kept.
func TestNoStatementWalksOverATenant(t *testing.T) {
	for _, opts := range []InitOptions{{}, {Partitions: 4}} {
		name := blank(t)
		opts.Keys, opts.Role = secret{}, application
		require.NoError(t, Init(t.Context(), cluster(t).DSN(name, owner), opts))
		plans := explained(t, name, "SET LOCAL plan_cache_mode = force_generic_plan")
		require.Greater(t, len(plans), 100)
		delete(plans, "call_migrations") // a tenant has few migrations
		for statement, plan := range plans {
			if bad := walks(plan); len(bad) > 0 {
				t.Errorf("%s walks:\n%s", statement, plan)
			}
		}
	}
	require.Len(t, walks("  ->  Seq Scan on facts f\n        Filter: (tenant_id = $1)"), 1)
	require.Len(t, walks("  ->  Seq Scan on facts_3 f_3\n        Filter: (tenant_id = $1)"), 1)
	require.Len(t, walks("  ->  Bitmap Index Scan on episodes_by_name\n        Index Cond: (tenant_id = $1)"), 1)
	require.Empty(t, walks("  ->  Seq Scan on types y\n  ->  Index Scan using slots_pkey on slots s\n        Index Cond: ((tenant_id = $1) AND (slot_id > $2))"))
}

// walks are the steps of a plan that read all rows of a tenant, or of all tenants.
func walks(plan string) (steps []string) {
	whole := regexp.MustCompile(`Seq Scan on (\w+?)(_\d+)? `)
	few := []string{"ledger", "registry", "types", "type_versions", "attributes", "version_attributes", "attribute_names", "lenses"}
	own := regexp.MustCompile(`Scan using tenants(_\d+)?_pkey on `) // there the tenant is the whole key
	before := ""
	for _, step := range strings.Split(plan, "\n") {
		table := whole.FindStringSubmatch(step + " ")
		if table != nil && !slices.Contains(few, table[1]) || strings.HasSuffix(step, "Index Cond: (tenant_id = $1)") && !own.MatchString(before) {
			steps = append(steps, step)
		}
		before = step
	}
	return steps
}
