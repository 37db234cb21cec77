package postgres

import (
	"fmt"
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
