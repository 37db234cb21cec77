package postgres

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sgam-ledger/sgam"
)

func TestAReadLooksWhereASegmentWasPut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		instant := rapid.Int64Range(int64(sgam.Beginning), 253_000_000_000_000_000)
		from := instant.Draw(t, "from")
		to := from + rapid.Int64Range(1, 1<<rapid.IntRange(1, 57).Draw(t, "bits")).Draw(t, "length")
		node := forkNode(sgam.Instant(from), sgam.Instant(to))
		require.NotZero(t, levelOf(node))
		for _, known := range []int64{from, to - 1, from + (to-from)/2} {
			require.True(t, slices.Contains(nodesAt(sgam.Instant(known)), node), "at %d", known)
		}
		for _, known := range []int64{from - 1, to} {
			if known < int64(sgam.Beginning) {
				continue // there is nothing before the beginning
			}
			at := int64(tick(sgam.Instant(known)))
			require.NotEqual(t, node, at, "outside of the interval there is no such instant")
		}
	})
}
