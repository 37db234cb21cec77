package callpage_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/internal/callpage"
)

// most is how many facts, and how many made values, a page has.
const most = 10_000

// take adds a call that is known at ten times its number.
func take(p *callpage.Page, seq, fact int64, limit int) {
	p.Take(sgam.StoredCall{Seq: seq, Change: sgam.Change{Known: sgam.Instant(10 * seq)}}, fact, limit)
}

// pageOf is a page with the calls 4 to 6, which brought a fact each.
func pageOf(t *testing.T) *callpage.Page {
	t.Helper()
	p := &callpage.Page{Before: 3}
	for seq := int64(4); seq <= 6; seq++ {
		take(p, seq, seq, 3)
	}
	require.False(t, p.More)
	require.Len(t, p.Calls, 3)
	return p
}

func TestCallsAreFoundByNumberAndByKnownTime(t *testing.T) {
	t.Parallel()
	p := pageOf(t)
	require.Equal(t, []int64{4, 6, 3, 6}, []int64{p.First(), p.Until(), p.Before, p.Newest()})
	require.EqualValues(t, 60, p.KnownUntil())
	for i := range p.Calls {
		require.Same(t, &p.Calls[i].Change, p.At(p.Calls[i].Seq))
		at, err := p.KnownAt(p.Calls[i].Change.Known)
		require.NoError(t, err)
		require.Same(t, &p.Calls[i].Change, at)
	}
	for _, known := range []sgam.Instant{30, 41, 61} {
		_, err := p.KnownAt(known)
		require.ErrorContains(t, err, "damaged")
	}
}

func TestAPageHasABoundedNumberOfCalls(t *testing.T) {
	t.Parallel()
	p := pageOf(t)
	take(p, 7, 7, 3)
	require.True(t, p.More)
	require.EqualValues(t, 6, p.Until())
}

func TestAPageHasABoundedNumberOfFacts(t *testing.T) {
	t.Parallel()
	var full callpage.Page
	take(&full, 1, most-1, 100)
	take(&full, 2, most, 100)
	require.False(t, full.More)
	take(&full, 3, most+1, 100)
	require.True(t, full.More)
	take(&full, 4, most+1, 100)
	require.EqualValues(t, 2, full.Until(), "nothing comes after a call that was left")
	require.EqualValues(t, most, full.Newest())

	single := callpage.Page{Before: 5}
	take(&single, 1, 2*most, 100)
	require.Len(t, single.Calls, 1, "a call is never divided")
	take(&single, 2, 2*most, 100)
	require.Len(t, single.Calls, 1)
	require.True(t, single.More)
}

func TestAPageEndsBeforeTheCallThatHasTooManyMadeValues(t *testing.T) {
	t.Parallel()
	p := pageOf(t)
	forming := func(known sgam.Instant, times int) {
		for range times {
			at, err := p.Forming(known)
			require.NoError(t, err)
			require.NotNil(t, at)
			at.Encodings = append(at.Encodings, sgam.NewEncoding{})
		}
	}
	forming(40, most+1)
	require.Len(t, p.Calls, 3, "the first call stays, however many it has")
	for range 2 {
		at, err := p.Forming(50)
		require.NoError(t, err)
		require.Nil(t, at)
	}
	require.True(t, p.More)
	require.EqualValues(t, 4, p.Until())
	require.EqualValues(t, 4, p.Newest())
	at, err := p.Forming(60)
	require.NoError(t, err)
	require.Nil(t, at, "nor what comes after it")
}

func TestACallKeepsAllOfItsMadeValues(t *testing.T) {
	t.Parallel()
	p := pageOf(t)
	for n := range 2 * most {
		at, err := p.Forming(50)
		require.NoError(t, err)
		require.NotNil(t, at, "value %d", n)
		at.Encodings = append(at.Encodings, sgam.NewEncoding{})
	}
	require.Len(t, p.Calls, 3)
	at, err := p.Forming(60)
	require.NoError(t, err)
	require.Nil(t, at)
	require.EqualValues(t, 5, p.Until())
	_, err = pageOf(t).Forming(41)
	require.ErrorContains(t, err, "damaged")
}

func TestAnErasedCallIsUnsupported(t *testing.T) {
	t.Parallel()
	require.ErrorIs(t, callpage.Erased("fact 7"), sgam.ErrUnsupported)
	require.ErrorContains(t, callpage.Erased("fact 7"), "fact 7")
}
