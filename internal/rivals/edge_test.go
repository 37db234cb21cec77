package rivals

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sgam-ledger/sgam"
)

func rectangle(from, to sgam.Instant, first, last int, value string) Rectangle {
	return Rectangle{Slot: 1, Valid: sgam.Span{From: from, To: to}, From: first, To: last, Value: value}
}

func TestHowARegionIsCutDoesNotMatter(t *testing.T) {
	t.Parallel()
	whole := []Rectangle{rectangle(0, 10, 1, 5, "a"), rectangle(0, 10, 5, standing, "b")}
	require.NoError(t, same(whole, []Rectangle{
		rectangle(0, 4, 1, 3, "a"), rectangle(4, 10, 1, 5, "a"), rectangle(0, 4, 3, 5, "a"), // in both directions
		rectangle(0, 7, 5, standing, "b"), rectangle(7, 10, 5, standing, "b"),
	}))
}

func TestWhatIsBelievedSomewhereElseIsFound(t *testing.T) {
	t.Parallel()
	held := []Rectangle{rectangle(0, 10, 1, 5, "a"), rectangle(3, 10, 5, standing, "b")}
	for name, other := range map[string][]Rectangle{
		"another value":          {rectangle(0, 10, 1, 5, "a"), rectangle(3, 10, 5, standing, "c")},
		"a microsecond later":    {rectangle(0, 10, 1, 5, "a"), rectangle(4, 10, 5, standing, "b")},
		"an operation later":     {rectangle(0, 10, 1, 6, "a"), rectangle(3, 10, 6, standing, "b")},
		"less":                   {rectangle(0, 10, 1, 5, "a")},
		"more":                   {rectangle(0, 10, 1, 5, "a"), rectangle(3, 10, 5, standing, "b"), rectangle(10, 11, 7, standing, "c")},
		"nothing":                nil,
		"something that is over": {rectangle(0, 10, 1, 5, "a"), rectangle(3, 10, 5, 9, "b")},
	} {
		require.ErrorIs(t, same(held, other), errDiffer, name)
		require.ErrorIs(t, same(other, held), errDiffer, name)
	}
	require.ErrorIs(t, same(held, append(held, held[1])), errOverlap)
}

func TestTheModelKeepsWhatAHistoryMeans(t *testing.T) {
	t.Parallel()
	m := newModel()
	for _, op := range []Operation{
		{Kind: Begin, Slot: 1, Valid: sgam.Span{From: 0, To: sgam.Forever}, Value: "a"},
		{Kind: Change, Slot: 1, Valid: sgam.Span{From: 10, To: sgam.Forever}, Value: "b"},
		{Kind: Void, Slot: 1, Valid: sgam.Span{From: 4, To: 6}},
		{Kind: Update, Slot: 1, Valid: sgam.Span{From: 5, To: 11}, Value: "c"},
		{Kind: Put, Slot: 1, Valid: sgam.Span{From: 3, To: 5}, Value: "d"},
	} {
		m.apply(op)
	}
	require.NoError(t, same([]Rectangle{
		rectangle(0, 10, 1, 3, "a"), rectangle(10, sgam.Forever, 1, 2, "a"),
		rectangle(10, sgam.Forever, 2, 4, "b"), rectangle(11, sgam.Forever, 4, standing, "b"),
		rectangle(0, 4, 3, 5, "a"), rectangle(6, 10, 3, 4, "a"), rectangle(6, 11, 4, standing, "c"),
		rectangle(0, 3, 5, standing, "a"), rectangle(3, 5, 5, standing, "d"),
	}, m.rectangles()))
	require.Equal(t, "a", m.at(1, 12, 1))
	require.Equal(t, "b", m.at(1, 12, 2))
	require.Empty(t, m.at(1, 5, 3))
	require.Equal(t, "c", m.at(1, 10, 4))
	require.Equal(t, "d", m.at(1, 4, 5))
	require.Empty(t, m.at(2, 4, 5))
}
