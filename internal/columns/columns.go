// Package columns decodes what engines store, from columns that their statements have in the same order.
package columns

import (
	"encoding/json"
	"fmt"

	"github.com/sgam-ledger/sgam"
)

// Cells are the values of one row, by the number of the column. NULL is the zero value. What they return is the caller's to
// keep.
type Cells interface {
	Null(i int) bool
	Int(i int) int64
	Flag(i int) bool
	Float(i int) *float64 // nil for NULL
	Text(i int) string
	Bytes(i int) []byte // nil when there are none
}

// Columns are those of a row from the first on.
type Columns struct {
	Cells Cells
	First int
}

func (c Columns) null(i int) bool            { return c.Cells.Null(c.First + i) }
func (c Columns) int(i int) int64            { return c.Cells.Int(c.First + i) }
func (c Columns) number(i int) int           { return int(c.int(i)) }
func (c Columns) text(i int) string          { return c.Cells.Text(c.First + i) }
func (c Columns) bytes(i int) []byte         { return c.Cells.Bytes(c.First + i) }
func (c Columns) digest(i int) string        { return string(c.bytes(i)) }
func (c Columns) instant(i int) sgam.Instant { return sgam.Instant(c.int(i)) }

// span is the half-open interval of two columns. An end that is NULL is open.
func (c Columns) span(i int) sgam.Span {
	s := sgam.Span{From: c.instant(i), To: sgam.Forever}
	if !c.null(i + 1) {
		s.To = c.instant(i + 1)
	}
	return s
}

func (c Columns) memory(i int) (id sgam.MemoryID) {
	copy(id[:], c.bytes(i))
	return id
}

// Slot is a slot, in four columns.
func (c Columns) Slot() sgam.SlotKey {
	return sgam.SlotKey{Scope: sgam.Scope(c.text(0)), Subject: c.text(1), Attribute: sgam.AttributeID(c.int(2)), Member: c.digest(3)}
}

// OfFact is how many columns a fact has as reads show it.
const OfFact = 16

// Fact is a fact as reads show it. The row has its slot already.
func (c Columns) Fact(into *sgam.Row) error {
	f := &into.Fact
	f.ID, f.Op, f.Asserted = c.memory(0), sgam.Op(c.text(1)), c.span(2).Interval()
	f.RecordedAt, f.Confidence, f.SchemaVersion = c.instant(5).Time(), c.Cells.Float(c.First+6), c.number(7)
	f.RetentionPolicy, into.Erased = c.text(8), !c.null(10)
	f.Value, f.Episode, f.Principal, f.Supersedes = c.bytes(11), c.text(12), c.text(13), c.memory(14)
	f.Scope, f.Subject, into.Value = into.Slot.Scope, into.Slot.Subject, c.int(15)
	return c.provenance(9, f.ID, &f.Provenance)
}

func (c Columns) provenance(i int, of sgam.MemoryID, into *sgam.Provenance) error {
	if c.null(i) {
		return nil
	}
	if err := json.Unmarshal([]byte(c.text(i)), into); err != nil {
		return fmt.Errorf("sgam: provenance of memory %s: %w", of, err)
	}
	return nil
}

// Logged is a fact as the planner sees it, in twelve columns.
func (c Columns) Logged(key sgam.SlotKey) sgam.LoggedFact {
	return sgam.LoggedFact{
		Number: c.int(0), ID: c.memory(1), Slot: key, Op: sgam.Op(c.text(2)), Asserted: c.span(3), Value: c.int(5),
		KnownAt: c.instant(6), PartOf: c.int(7), Target: c.int(8), Confidence: c.Cells.Float(c.First + 9),
		Episode: c.text(10), Kind: sgam.EpisodeKind(c.text(11)),
	}
}

// Open is an open segment, in seventeen columns.
func (c Columns) Open(key sgam.SlotKey) sgam.OpenSegment {
	return sgam.OpenSegment{
		Valid: c.span(0), KnownFrom: c.instant(2), FirstOpen: c.instant(3), LastOpen: c.instant(4),
		Fact: Columns{c.Cells, c.First + 5}.Logged(key),
	}
}

// Episode is an episode, in eleven columns.
func (c Columns) Episode() sgam.Episode {
	return sgam.Episode{
		ID: c.text(0), Kind: sgam.EpisodeKind(c.text(1)), SourceID: c.text(2), OccurredAt: c.instant(3).Time(),
		Session: c.text(4), Thread: c.text(5), Sequence: c.int(6), Actor: c.text(7), Text: c.text(8),
		Body: c.bytes(9), Metadata: c.bytes(10),
	}
}

// Form is an encoding, in six columns.
func (c Columns) Form() (sgam.Encoding, error) {
	e := sgam.Encoding{
		Version: c.number(0), Value: c.bytes(1), Lens: c.text(2), KnownFrom: c.instant(3), Lossy: c.Cells.Flag(c.First + 4),
	}
	if c.null(5) {
		return e, nil
	}
	if err := json.Unmarshal([]byte(c.text(5)), &e.Defaulted); err != nil {
		return e, fmt.Errorf("sgam: places that a lens filled in: %w", err)
	}
	return e, nil
}

// Epoch is an epoch, in five columns.
func (c Columns) Epoch() sgam.Epoch {
	return sgam.Epoch{Type: c.text(0), KnownFrom: c.instant(1), Read: c.number(2), Write: c.number(3), Second: c.number(4)}
}

// Type is a version of a memory type without its attributes, in nine columns.
func (c Columns) Type() sgam.StoredType {
	t := sgam.StoredType{TypeDocument: sgam.TypeDocument{
		Type: c.text(0), Version: c.number(1), Draft: c.Cells.Flag(c.First + 2), JSON: c.bytes(3), Hash: c.text(4), Semantic: c.text(5),
	}, Revision: c.int(6)}
	if !c.null(8) {
		t.Lens = &sgam.LensDocument{JSON: c.bytes(7), Hash: c.text(8)}
	}
	return t
}
