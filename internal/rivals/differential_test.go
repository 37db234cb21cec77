package rivals

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/internal/pgtest"
)

// opened is an arena of empty tables.
func opened(t *testing.T) *Arena {
	t.Helper()
	pgtest.Long(t)
	a, err := Open(t.Context(), t.TempDir(), false)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, a.Close()) })
	return a
}

// The histories of the tests: few slots, few instants that are a microsecond apart, few values, so that portions meet in every
// way that they can, and repeat what holds.
const (
	slotsEach, cells = 3, 9
	operationsEach   = 25
)

// cell is an instant; the last one is the open end.
func cell(i int) sgam.Instant {
	if i == cells {
		return sgam.Forever
	}
	return instant(time.Date(2020, 2, 29, 23, 59, 59, 999_995_000, time.UTC)) + sgam.Instant(i)
}

// random is a history of portion updates, portion deletes and puts over slots of its own.
func random(r *rand.Rand, first int64) []Operation {
	ops := make([]Operation, 0, operationsEach)
	begun := map[int64]bool{}
	for range operationsEach {
		from := r.IntN(cells)
		op := Operation{
			Slot: first + r.Int64N(slotsEach), Valid: sgam.Span{From: cell(from), To: cell(from + 1 + r.IntN(cells-from))},
			Kind: []Kind{Update, Update, Put, Void}[r.IntN(4)], Value: fmt.Sprintf("v%d", r.IntN(4)),
		}
		if !begun[op.Slot] {
			op.Kind, begun[op.Slot] = Begin, true
		}
		ops = append(ops, op)
	}
	return ops
}

// loaded brings every keeper and the model through a history.
func loaded(ctx context.Context, a *Arena, m *model, ops []Operation) error {
	for _, op := range ops {
		m.apply(op)
	}
	for _, k := range a.Keepers() {
		if err := k.Load(ctx, ops); err != nil {
			return fmt.Errorf("%s: %w", k.Name(), err)
		}
	}
	return nil
}

func TestRandomHistoriesLeaveTheSameRectangles(t *testing.T) {
	t.Parallel()
	a, m := opened(t), newModel()
	seed := rand.Uint64()
	const histories = 40
	for i := range histories {
		ops := random(draws(seed+uint64(i)), int64(i*slotsEach))
		require.NoError(t, loaded(t.Context(), a, m, ops), "seed %d, history %d", seed, i)
		require.NoError(t, a.prove(t.Context(), m), "seed %d, history %d", seed, i)
	}
	for range 500 {
		slot, at, n := rand.Int64N(histories*slotsEach), cell(rand.IntN(cells)), 1+rand.IntN(m.n)
		for _, k := range a.Keepers() {
			have, err := k.ValidKnown(t.Context(), slot, at, n)
			require.NoError(t, err)
			require.Equal(t, m.at(slot, at, n), have, "%s, slot %d at %d, operation %d, seed %d", k.Name(), slot, at, n, seed)
			have, err = k.Valid(t.Context(), slot, at)
			require.NoError(t, err)
			require.Equal(t, m.at(slot, at, m.n), have, "%s, slot %d at %d, seed %d", k.Name(), slot, at, seed)
		}
	}
}

// A comparison that misses a microsecond would prove nothing.
func TestAPortionThatIsAMicrosecondOffIsFound(t *testing.T) {
	t.Parallel()
	a, m := opened(t), newModel()
	const slot = 1
	ops := []Operation{
		{Kind: Begin, Slot: slot, Valid: sgam.Span{From: cell(0), To: sgam.Forever}, Value: "a"},
		{Kind: Update, Slot: slot, Valid: sgam.Span{From: cell(2), To: cell(5)}, Value: "b"},
	}
	require.NoError(t, loaded(t.Context(), a, m, ops))
	require.NoError(t, a.prove(t.Context(), m))
	last := Operation{Kind: Void, Slot: slot, Valid: sgam.Span{From: cell(4), To: cell(7)}}
	m.apply(last)
	last.Valid.To++
	for _, k := range a.Keepers() {
		require.NoError(t, k.Load(t.Context(), []Operation{last}))
		have, err := k.Rectangles(t.Context())
		require.NoError(t, err)
		require.ErrorIs(t, same(m.rectangles(), have), errDiffer, k.Name())
		last := m.n - 1
		at, err := k.ValidKnown(t.Context(), slot, cell(7), last)
		require.NoError(t, err)
		require.Equal(t, "a", at, k.Name())
	}
}
