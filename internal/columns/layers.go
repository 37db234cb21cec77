package columns

import "github.com/sgam-ledger/sgam"

// The derived layers of a slot, as they are stored.

// Segment is a segment, in seven columns.
func (c Columns) Segment() sgam.StoredSegment {
	return sgam.StoredSegment{Valid: c.span(0), Known: c.span(2), Fact: c.int(4), OpenedBy: c.int(5), ClosedBy: c.int(6)}
}

// Confirmation is a confirmation, in six columns.
func (c Columns) Confirmation() sgam.StoredConfirmation {
	return sgam.StoredConfirmation{Valid: c.span(0), Known: c.span(2), New: c.int(4), Old: c.int(5)}
}

// Supersession is a supersession, in six columns.
func (c Columns) Supersession() sgam.StoredSupersession {
	return sgam.StoredSupersession{New: c.int(0), Old: c.int(1), How: sgam.How(c.text(2)), Valid: c.span(3), KnownAt: c.instant(5)}
}

// Point is an assertion point, in four columns.
func (c Columns) Point() sgam.StoredPoint {
	return sgam.StoredPoint{Point: sgam.Point{At: c.instant(0), Number: c.int(1), Facts: c.int(2)}, Live: c.Cells.Flag(c.First + 3)}
}
