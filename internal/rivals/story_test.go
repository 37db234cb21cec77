package rivals

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sgam-ledger/sgam"
)

func TestAHistoryIsAsLongAsItIsSaidToBe(t *testing.T) {
	t.Parallel()
	scale := ScaleOf(Brief)
	s := tell(scale)
	require.GreaterOrEqual(t, len(s.rectangles()), scale.Rectangles)
	require.Less(t, len(s.rectangles()), scale.Rectangles+scale.Versions)
	require.Equal(t, s.ops, tell(scale).ops, "the same for all that are compared")
	count := map[Kind]int{}
	versions := 0
	before := newModel()
	for _, op := range s.ops {
		count[op.Kind]++
		require.Less(t, op.Valid.From, op.Valid.To)
		if op.Slot == hot {
			versions++
		}
		if op.Kind == Correct || op.Kind == Void {
			require.True(t, covers(before.slots[op.Slot], op.Valid), "there is a value in all of the portion")
		}
		before.apply(op)
	}
	require.Equal(t, scale.Versions+1, versions)
	require.Equal(t, scale.Slots+1, count[Begin])
	require.Greater(t, count[Change], count[Correct])
	require.Greater(t, count[Correct], count[Void])
	require.Positive(t, count[Void])
	require.Zero(t, count[Update]+count[Put], "they are for the random histories")
}

func covers(stand []Rectangle, valid sgam.Span) bool {
	for _, r := range stand {
		if r.Valid.Contains(valid.From) {
			valid.From = min(r.Valid.To, valid.To)
		}
	}
	return valid.From == valid.To
}
