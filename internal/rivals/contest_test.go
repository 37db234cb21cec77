package rivals

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sgam-ledger/sgam"
)

func TestEverySideOfEveryContestRuns(t *testing.T) {
	t.Parallel()
	a := opened(t)
	require.NoError(t, a.Fill(t.Context(), ScaleOf(Brief), t.Logf))
	other := tell(a.scale)
	for slot := range int64(a.scale.Slots + 1) {
		other.next(Operation{Kind: Correct, Slot: slot, Valid: sgam.Span{From: other.now() - 1, To: sgam.Forever}})
	}
	require.ErrorIs(t, a.prove(t.Context(), other.model), errDiffer, "a history that is not theirs is noticed")
	right := a.story
	a.story = other
	require.ErrorContains(t, a.answer(t.Context()), "was written", "and so are its answers")
	a.story = right

	const n = 70
	for _, c := range a.Contests() {
		require.Len(t, c.Sides, len(a.Keepers()), c.Name)
		for _, side := range c.Sides {
			if side.Ready != nil {
				require.NoError(t, side.Ready(t.Context(), n), c.Name)
			}
			require.NoError(t, side.Run(t.Context(), n), c.Name)
		}
	}
	// What the four wrote is the same, too.
	written := 0
	r := draws(6)
	for range 200 {
		slot, valid := int64(r.IntN(a.scale.Slots+1)), a.story.now()+month*2/200*sgam.Instant(r.IntN(200))
		want, err := a.SQLite.Valid(t.Context(), slot, valid)
		require.NoError(t, err)
		if want != a.story.last(slot).Value {
			written++
		}
		for _, k := range a.Keepers() {
			have, err := k.Valid(t.Context(), slot, valid)
			require.NoError(t, err)
			require.Equal(t, want, have, "%s, slot %d at %d", k.Name(), slot, valid)
		}
	}
	require.Positive(t, written)
	for _, k := range a.Keepers() {
		size, err := k.Size(t.Context())
		require.NoError(t, err)
		require.Positive(t, size.Rectangles, k.Name())
		require.GreaterOrEqual(t, size.All, size.Rectangles, k.Name())
	}
}
