package migrate_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/migrate"
)

// BenchmarkRun measures a whole backfill of 20,000 facts, in facts a second.
func BenchmarkRun(b *testing.B) {
	for _, e := range everywhere() {
		b.Run(e.name, func(b *testing.B) {
			const facts = 20_000
			for range b.N {
				b.StopTimer()
				w := newWorld(b, e)
				for from := 0; from < facts; from += 1000 {
					var batch sgam.Batch
					for i := range 1000 {
						d := w.delta(fmt.Sprintf("s%d", from+i), "profile", fmt.Sprintf(`{"name":"name of %d","level":"%d"}`, (from+i)%3000, i%9), 1)
						batch.Deltas = append(batch.Deltas, d)
					}
					_, err := w.tenant.ApplyBatch(b.Context(), batch)
					require.NoError(b, err)
				}
				w.register(lens2)
				plan := w.draw()
				b.StartTimer()
				require.NoError(b, migrate.Run(b.Context(), w.Ledger, plan, nil))
				b.StopTimer()
				require.Equal(b, int64(facts), w.standing().Counts.Converted)
				require.NoError(b, w.Close())
				b.StartTimer()
			}
			b.ReportMetric(float64(facts)*float64(b.N)/b.Elapsed().Seconds(), "facts/s")
		})
	}
}
