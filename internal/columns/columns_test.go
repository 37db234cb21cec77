package columns_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/internal/columns"
)

// row is a row whose values are as Go has them.
type row []any

func (r row) Null(i int) bool { return r[i] == nil }

func (r row) Int(i int) int64 { n, _ := r[i].(int); return int64(n) }

func (r row) Flag(i int) bool { b, _ := r[i].(bool); return b }

func (r row) Text(i int) string { s, _ := r[i].(string); return s }

func (r row) Bytes(i int) []byte { b, _ := r[i].([]byte); return b }

func (r row) Float(i int) *float64 {
	f, ok := r[i].(float64)
	if !ok {
		return nil
	}
	return &f
}

// of are columns that do not begin a row, so that a decoder that forgets where they begin is found out.
func of(values ...any) columns.Columns {
	return columns.Columns{Cells: append(row{"what stands before", 7}, values...), First: 2}
}

var (
	one   = sgam.MemoryID{1, 2, 3}
	other = sgam.MemoryID{4, 5, 6}
	key   = sgam.SlotKey{Scope: "work", Subject: "mira", Attribute: 9, Member: "\xff\x00"}
)

func at(us int) time.Time { return sgam.Instant(us).Time() }

func span(from, to int) sgam.Span { return sgam.Span{From: sgam.Instant(from), To: sgam.Instant(to)} }

// with is a list of values of which one is another.
func with(values []any, i int, value any) []any {
	out := append([]any{}, values...)
	out[i] = value
	return out
}

func TestASlotHasFourColumns(t *testing.T) {
	t.Parallel()
	require.Equal(t, key, of("work", "mira", 9, []byte("\xff\x00")).Slot())
}

func TestAFactAsReadsShowIt(t *testing.T) {
	t.Parallel()
	values := []any{
		one[:], "assert", 10, 20, 15, 5, 0.5, 3, "short", `{"intent":"m"}`, nil, []byte(`"x"`), "e1", "ann", other[:], 4,
	}
	require.Len(t, values, columns.OfFact)
	confidence := 0.5
	got := sgam.Row{Slot: key, Number: 8}
	require.NoError(t, of(values...).Fact(&got))
	require.Equal(t, sgam.Row{Slot: key, Number: 8, Value: 4, Fact: sgam.Fact{
		ID: one, Op: sgam.Assert, Asserted: span(10, 20).Interval(), RecordedAt: at(5), Confidence: &confidence, SchemaVersion: 3,
		RetentionPolicy: "short", Provenance: sgam.Provenance{Intent: "m"}, Value: []byte(`"x"`), Episode: "e1", Principal: "ann",
		Supersedes: other, Scope: "work", Subject: "mira",
	}}, got)

	var erased sgam.Row
	require.NoError(t, of(with(with(values, 9, nil), 10, 3)...).Fact(&erased))
	require.True(t, erased.Erased)
	require.Zero(t, erased.Fact.Provenance)
	require.ErrorContains(t, of(with(values, 9, "{")...).Fact(&erased), "provenance of memory "+one.String())
}

// logged are the columns of a fact as the planner sees it.
var logged = []any{8, one[:], "end", 10, nil, 4, 5, 6, 7, 0.5, "e1", "message"}

func theLogged() sgam.LoggedFact {
	confidence := 0.5
	return sgam.LoggedFact{
		Number: 8, ID: one, Slot: key, Op: sgam.End, Asserted: sgam.Span{From: 10, To: sgam.Forever}, Value: 4, KnownAt: 5, PartOf: 6,
		Target: 7, Confidence: &confidence, Episode: "e1", Kind: "message",
	}
}

func TestAFactAsThePlannerSeesIt(t *testing.T) {
	t.Parallel()
	require.Equal(t, theLogged(), of(logged...).Logged(key))
	require.Nil(t, of(with(logged, 9, nil)...).Logged(key).Confidence)
}

func TestAnOpenSegmentHasItsFactBehindIt(t *testing.T) {
	t.Parallel()
	require.Equal(t, sgam.OpenSegment{Valid: span(1, 2), KnownFrom: 3, FirstOpen: 4, LastOpen: 5, Fact: theLogged()},
		of(append([]any{1, 2, 3, 4, 5}, logged...)...).Open(key))
}

func TestAnEpisodeHasElevenColumns(t *testing.T) {
	t.Parallel()
	require.Equal(t, sgam.Episode{
		ID: "e1", Kind: "message", SourceID: "s", OccurredAt: at(4), Session: "se", Thread: "th", Sequence: 7, Actor: "ann", Text: "hello",
		Body: []byte("{}"), Metadata: []byte("[]"),
	}, of("e1", "message", "s", 4, "se", "th", 7, "ann", "hello", []byte("{}"), []byte("[]")).Episode())
}

func TestAnEncodingMayHavePlacesThatWereFilledIn(t *testing.T) {
	t.Parallel()
	values := []any{2, []byte("1"), "lens", 5, true, `["/a"]`}
	got, err := of(values...).Form()
	require.NoError(t, err)
	want := sgam.Encoding{Version: 2, Value: []byte("1"), Lens: "lens", KnownFrom: 5, Lossy: true, Defaulted: []string{"/a"}}
	require.Equal(t, want, got)
	got, err = of(with(values, 5, nil)...).Form()
	require.NoError(t, err)
	want.Defaulted = nil
	require.Equal(t, want, got)
	_, err = of(with(values, 5, "{")...).Form()
	require.ErrorContains(t, err, "filled in")
}

func TestTheRegistryAndItsEpochs(t *testing.T) {
	t.Parallel()
	require.Equal(t, sgam.Epoch{Type: "passport", KnownFrom: 1, Read: 2, Write: 3, Second: 4}, of("passport", 1, 2, 3, 4).Epoch())
	values := []any{"passport", 2, true, []byte("{}"), "h", "s", 7, []byte("[]"), "l"}
	want := sgam.StoredType{TypeDocument: sgam.TypeDocument{
		Type: "passport", Version: 2, Draft: true, JSON: []byte("{}"), Hash: "h", Semantic: "s",
		Lens: &sgam.LensDocument{JSON: []byte("[]"), Hash: "l"},
	}, Revision: 7}
	require.Equal(t, want, of(values...).Type())
	want.Lens = nil
	require.Equal(t, want, of(with(with(values, 7, nil), 8, nil)...).Type())
}

func TestAnOutcomeIsListedAndFoundAgain(t *testing.T) {
	t.Parallel()
	require.Equal(t, sgam.OutcomeRecord{
		Ordinal: 1, Known: at(2), Outcome: sgam.Applied, Memory: one, Code: "c", Pointer: "/p", Op: sgam.Assert, Attribute: "a", Principal: "ann",
	}, of(99, 1, 2, "applied", one[:], "c", "/p", "assert", "a", "ann").OutcomeRecord())

	found, fact := of("applied", []byte("\xff"), 8, one[:], "c", true, 5, "ann").StoredOutcome()
	require.EqualValues(t, 8, fact)
	require.Equal(t, &sgam.StoredOutcome{Payload: "\xff", Receipt: sgam.Receipt{
		Outcome: sgam.Applied, Memory: one, Code: "c", Assumed: true, Known: at(5), Principal: "ann",
	}}, found)
}

func TestAReceiptTellsWhatWasCutOff(t *testing.T) {
	t.Parallel()
	var whole, cut sgam.Receipt
	of(10, 20, 20, 5, other[:]).Reach(&whole)
	reach := span(10, 20).Interval()
	require.Equal(t, sgam.Receipt{Known: at(5), Supersedes: other, Reach: &reach}, whole)
	of(10, nil, 20, 5, nil).Reach(&cut)
	rest := sgam.Span{From: 20, To: sgam.Forever}.Interval()
	require.Equal(t, sgam.Receipt{Known: at(5), Reach: &reach, Clipped: &rest}, cut)
	require.Equal(t, sgam.Displacement{Memory: one, How: sgam.Split, Valid: span(1, 2).Interval()},
		of(one[:], "split", 1, 2).Displacement())
}

func TestAFactAsItsCallBroughtIt(t *testing.T) {
	t.Parallel()
	values := append(append([]any{}, logged...), 15, 1, 3, 2, "short", `{"intent":"m"}`, nil, []byte(`"x"`), "ann")
	got, erased, err := of(values...).NewFact(key)
	require.NoError(t, err)
	require.False(t, erased)
	require.Equal(t, sgam.NewFact{
		LoggedFact: theLogged(), Ordinal: 1, SchemaVersion: 3, Supersedes: 2, Retention: "short", Encoded: []byte(`"x"`), Principal: "ann",
		Reach: span(10, 15), Provenance: sgam.Provenance{Intent: "m"},
	}, got)
	_, erased, err = of(with(values, 18, 3)...).NewFact(key)
	require.NoError(t, err)
	require.True(t, erased)
	_, _, err = of(with(values, 17, "{")...).NewFact(key)
	require.ErrorContains(t, err, "provenance")
}

func TestAnOutcomeAsItsCallDecidedIt(t *testing.T) {
	t.Parallel()
	values := []any{99, 1, "accepted", []byte("k"), []byte("p"), []byte("d"), 8, one[:], "c", "/p", "assert", "a", true, "ann", "applied", 7}
	want := sgam.NewOutcome{
		Ordinal: 1, Outcome: "accepted", Key: "k", Payload: "p", Digest: "d", Fact: 8, Memory: one, Code: "c", Pointer: "/p", Op: sgam.Assert,
		Attribute: "a", Assumed: true, Principal: "ann",
	}
	var settling, plain sgam.Change
	of(values...).Outcome(&settling)
	require.Equal(t, sgam.Change{
		Outcomes: []sgam.NewOutcome{want}, Settled: []sgam.SettledCandidate{{Memory: one, Status: sgam.Applied, Fact: 7}},
	}, settling)
	of(with(values, 14, nil)...).Outcome(&plain)
	require.Equal(t, sgam.Change{Outcomes: []sgam.NewOutcome{want}}, plain)
	require.Equal(t, sgam.Quarantined{Fact: 1, Version: 2, Rule: "r", Pointer: "/p"}, of(1, 2, "r", "/p").Quarantined())
}

func TestTheLayersOfASlot(t *testing.T) {
	t.Parallel()
	require.Equal(t, sgam.StoredSegment{Valid: span(1, 2), Known: span(3, 4), Fact: 5, OpenedBy: 6, ClosedBy: 7}, of(1, 2, 3, 4, 5, 6, 7).Segment())
	require.Equal(t, sgam.StoredSegment{Valid: span(1, 2), Known: sgam.Span{From: 3, To: sgam.Forever}, Fact: 5, OpenedBy: 6},
		of(1, 2, 3, nil, 5, 6, nil).Segment(), "one that is still believed")
	require.Equal(t, sgam.StoredConfirmation{Valid: span(1, 2), Known: span(3, 4), New: 5, Old: 6}, of(1, 2, 3, 4, 5, 6).Confirmation())
	require.Equal(t, sgam.StoredSupersession{New: 1, Old: 2, How: sgam.Split, Valid: span(3, 4), KnownAt: 5}, of(1, 2, "split", 3, 4, 5).Supersession())
	require.Equal(t, sgam.StoredPoint{Point: sgam.Point{At: 1, Number: 2, Facts: 3}, Live: true}, of(1, 2, 3, true).Point())
}
