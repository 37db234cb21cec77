package ritree

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sgam-ledger/sgam"
)

// last is the end of all known intervals that are drawn here.
func last(t *testing.T) sgam.Instant {
	t.Helper()
	k, err := sgam.InstantOf(time.Date(9998, 12, 31, 23, 59, 59, 999_999_000, time.UTC))
	require.NoError(t, err)
	return k
}

// intervals draws known intervals of all lengths.
func intervals(end sgam.Instant) *rapid.Generator[sgam.Span] {
	return rapid.Custom(func(t *rapid.T) sgam.Span {
		from := sgam.Instant(rapid.Int64Range(int64(sgam.Beginning), int64(end)-1).Draw(t, "from"))
		length := rapid.Int64Range(1, 1<<rapid.IntRange(0, 58).Draw(t, "bits")).Draw(t, "length")
		return sgam.Span{From: from, To: min(from+sgam.Instant(length), end)}
	})
}

func TestEveryInstantOfAKnownIntervalLeadsToItsForkNode(t *testing.T) {
	t.Parallel()
	spans := intervals(last(t))
	rapid.Check(t, func(t *rapid.T) {
		known := spans.Draw(t, "known")
		node := Fork(known.From, known.To)
		at := sgam.Instant(rapid.Int64Range(int64(known.From), int64(known.To)-1).Draw(t, "at"))
		for _, k := range []sgam.Instant{known.From, at, known.To - 1} {
			require.Contains(t, At(k), node, "at %d", k)
			level := Level(node)
			require.Equal(t, node, int64(tick(k))&(-2*level)|level, "as SQL finds it at %d", k)
		}
	})
}

func TestAForkNodeIsInItsInterval(t *testing.T) {
	t.Parallel()
	spans := intervals(last(t))
	rapid.Check(t, func(t *rapid.T) {
		known := spans.Draw(t, "known")
		node := Fork(known.From, known.To)
		require.LessOrEqual(t, int64(tick(known.From)), node)
		require.Less(t, node, int64(tick(known.To)))
	})
}

func TestNoOtherNumberOfTheIntervalHasTheLevelOfItsForkNode(t *testing.T) {
	t.Parallel()
	end := last(t)
	rapid.Check(t, func(t *rapid.T) {
		from := sgam.Instant(rapid.Int64Range(int64(sgam.Beginning), int64(end)-1000).Draw(t, "from"))
		to := from + sgam.Instant(rapid.Int64Range(1, 1000).Draw(t, "length"))
		node := Fork(from, to)
		for k := from; k < to; k++ {
			if at := int64(tick(k)); at != node {
				require.Less(t, Level(at), Level(node), "%d of [%d, %d)", at, tick(from), tick(to))
			}
		}
	})
}

func TestAReadLooksAtOneNodeALevel(t *testing.T) {
	t.Parallel()
	end := last(t)
	rapid.Check(t, func(t *rapid.T) {
		k := sgam.Instant(rapid.Int64Range(int64(sgam.Beginning), int64(end)).Draw(t, "known"))
		nodes := At(k)
		require.Equal(t, Open(), nodes[:1])
		require.Contains(t, nodes, int64(tick(k)), "an instant is the node of a segment that was believed for one microsecond")
		for i, node := range nodes[1:] {
			require.Equal(t, int64(1)<<i, Level(node))
		}
	})
}

func TestTheTreeReachesFromTheBeginningToTheEndOfTime(t *testing.T) {
	t.Parallel()
	end := last(t)
	require.EqualValues(t, 1, Fork(sgam.Beginning, sgam.Beginning+1))
	require.EqualValues(t, 2, Fork(sgam.Beginning, sgam.Beginning+2))
	root := Fork(sgam.Beginning, end)
	require.Contains(t, At(sgam.Beginning), root)
	require.Contains(t, At(end-1), root)
	require.Less(t, Level(root), int64(1)<<(levels-1), "there is no level above")
}
