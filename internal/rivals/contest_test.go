package rivals

import (
	"context"
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

	for _, row := range a.ServerRows() {
		sides, err := row.Open(t.Context(), nil)
		require.NoError(t, err)
		require.NoError(t, sides.Baseline.Run(t.Context(), 10))
		require.NoError(t, sides.Subject.Run(t.Context(), 10))
		require.NoError(t, sides.Close())
	}
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

func TestTheDriverAloneReadsWhatTheLedgerAnswers(t *testing.T) {
	t.Parallel()
	a := opened(t)
	require.NoError(t, a.Fill(t.Context(), ScaleOf(Brief), t.Logf))
	b, err := a.openBare(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, b.conn.Close(context.Background())) })
	l, ok := a.Postgres.(*ledger)
	require.True(t, ok)
	for slot := range int64(a.scale.Slots + 1) {
		fact, err := l.tenant.Current().Get(t.Context(), subject(slot), attribute)
		require.NoError(t, err)
		require.NoError(t, b.get(t.Context(), slot))
		require.Equal(t, scanned{
			id: fact.ID, supersedes: fact.Supersedes, op: string(fact.Op), retention: fact.RetentionPolicy, episode: fact.Episode,
			principal: fact.Principal, value: fact.Value, version: int64(fact.SchemaVersion), asserted: fact.Asserted.From,
			learned: fact.RecordedAt, valid: fact.Valid.From, known: fact.Known.From,
			number: b.row.number, digest: b.row.digest, registry: b.row.registry, lastKnown: b.row.lastKnown, validTo: b.row.validTo,
			assertedTo: b.row.assertedTo, assertedReach: b.row.assertedReach,
		}, b.row)
	}
	require.Error(t, b.get(t.Context(), int64(a.scale.Slots+1)), "a slot that nobody wrote")

	write, read, err := a.Trips(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, 2, write)
	require.EqualValues(t, 1, read)
}
