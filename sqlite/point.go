//go:build cgo

package sqlite

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/internal/columns"
)

var (
	stPointCurrent      = named("point_current")
	stPointCurrentForms = named("point_current_forms")
	stPointKnown        = named("point_known")
	stPointKnownForms   = named("point_known_forms")
	stFact              = named("fact")
	stMemoryID          = named("memory_id")
)

// point answers a point query of one slot in one statement.
func point(ctx context.Context, c *conn, tenant string, q *sgam.Query) (*sgam.Page, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	answer := &struct {
		page sgam.Page
		row  [1]sgam.Row
	}{page: sgam.Page{LastKnown: sgam.Beginning}}
	page := &answer.page
	found, err := pointRow(c, tenant, q, q.Slots[0], page, &answer.row[0])
	if err != nil {
		return nil, err
	}
	if found {
		page.Rows = answer.row[:]
	}
	return page, nil
}

// points answers a point query of several slots.
func (r *reader) points(tenant string) error {
	for _, key := range r.q.Slots {
		if err := r.ctx.Err(); err != nil {
			return err
		}
		var row sgam.Row
		found, err := pointRow(r.conn, tenant, r.q, key, r.page, &row)
		if err != nil {
			return err
		}
		if found {
			r.page.Rows = append(r.page.Rows, row)
		}
	}
	return nil
}

// pointRow reads what is believed of one slot at one point of the plane, and the tenant's last commit. With encodings,
// the page gets the epoch of the slot's memory type.
func pointRow(c *conn, tenant string, q *sgam.Query, key sgam.SlotKey, page *sgam.Page, row *sgam.Row) (found bool, err error) {
	p, err := c.queryPoint(tenant, q, key)
	if err != nil {
		return false, err
	}
	if p.next() {
		page.LastKnown = p.instant(0)
		page.Registry = p.int(1)
		if found = !p.null(2); found {
			row.Slot = key
			err = p.pointFact(row)
			if err == nil && q.Encodings {
				err = p.pointForms(page, row)
			}
		}
	}
	if cerr := p.close(); cerr != nil {
		return false, cerr
	}
	return found, err
}

func (c *conn) queryPoint(tenant string, q *sgam.Query, key sgam.SlotKey) (*running, error) {
	floor := sgam.Beginning
	if q.Now {
		floor = sgam.Forever
	}
	current, known := stPointCurrent, stPointKnown
	if q.Encodings {
		current, known = stPointCurrentForms, stPointKnownForms
	}
	if q.Known == sgam.Forever {
		return c.query(current, tenant, key.Subject, string(key.Scope), int64(key.Attribute), blob(key.Member), int64(q.Valid), int64(floor))
	}
	return c.query(known, tenant, key.Subject, string(key.Scope), int64(key.Attribute), blob(key.Member), int64(q.Valid), int64(floor),
		int64(q.Known))
}

// The columns of the point statements after those of the fact.
const (
	pointSegment = 2 + columns.OfFact
	pointEpoch   = pointSegment + 4
	pointForm    = pointEpoch + 5
)

// pointFact decodes the fact of a point statement with the bounds of its segment.
func (p *running) pointFact(row *sgam.Row) error {
	if err := p.from(2).Fact(row); err != nil {
		return err
	}
	row.Fact.Valid = p.span(pointSegment).Interval()
	row.Fact.Known = sgam.Interval{From: p.instant(pointSegment + 2).Time()}
	row.Number = p.int(pointSegment + 3)
	return nil
}

// pointForms decodes the epoch and the encodings of a point statement, whose rows are one fact's.
func (p *running) pointForms(page *sgam.Page, row *sgam.Row) error {
	if !p.null(pointEpoch + 1) {
		addEpoch(page, p.from(pointEpoch).Epoch())
	}
	for more := !p.null(pointForm); more; more = p.next() {
		e, err := p.from(pointForm).Form()
		if err != nil {
			return err
		}
		row.Encodings = append(row.Encodings, e)
	}
	if len(row.Encodings) > 1 {
		slices.SortFunc(row.Encodings, func(a, b sgam.Encoding) int {
			return cmp.Or(cmp.Compare(a.KnownFrom, b.KnownFrom), cmp.Compare(a.Version, b.Version))
		})
	}
	return nil
}

// rectangle is one stored segment.
type rectangle struct {
	valid, known             sgam.Span // known.To is Forever while it is believed
	fact, openedBy, closedBy int64
}

// rectangle decodes the seven columns of a segment.
func (p *running) rectangle() rectangle {
	g := rectangle{valid: p.span(0), known: sgam.Span{From: p.instant(2), To: sgam.Forever}, fact: p.int(4), openedBy: p.int(5), closedBy: p.int(6)}
	if !p.null(3) {
		g.known.To = p.instant(3)
	}
	return g
}

// row completes a segment with its fact. A view never looks past its own known time, so there the belief has no end.
func (r *reader) row(key sgam.SlotKey, g rectangle) (sgam.Row, error) {
	row, _, err := r.factRow(key, g.fact)
	if err != nil {
		return row, err
	}
	row.Fact.Valid, row.Fact.Known = g.valid.Interval(), sgam.Interval{From: g.known.From.Time()}
	if row.OpenedBy, err = r.memoryID(g.openedBy, g.fact, row.Fact.ID); err == nil {
		row.ClosedBy, err = r.memoryID(g.closedBy, g.fact, row.Fact.ID)
	}
	return row, err
}

// memoryID is the memory id of a fact number, none for 0; the id of one fact is known already.
func (r *reader) memoryID(number, have int64, id sgam.MemoryID) (sgam.MemoryID, error) {
	switch number {
	case 0:
		return sgam.MemoryID{}, nil
	case have:
		return id, nil
	}
	p, err := r.one(stMemoryID, r.tenant, number)
	if err != nil {
		return sgam.MemoryID{}, err
	}
	if p == nil {
		return sgam.MemoryID{}, damaged("fact %d", number)
	}
	return p.memory(0), nil
}

// factRow reads one fact without the bounds of any segment. The second result is how far it reached.
func (r *reader) factRow(key sgam.SlotKey, number int64) (sgam.Row, sgam.Span, error) {
	row := sgam.Row{Slot: key, Number: number}
	p, err := r.one(stFact, r.tenant, number)
	if err != nil {
		return row, sgam.Span{}, err
	}
	if p == nil {
		return row, sgam.Span{}, damaged("fact %d", number)
	}
	row.Target = p.memory(columns.OfFact)
	err = p.from(0).Fact(&row)
	return row, sgam.Span{From: p.instant(2), To: p.instant(4)}, err
}

// damaged says that a row is missing to which another one refers.
func damaged(format string, args ...any) error {
	return fmt.Errorf("sgam: sqlite: the file is damaged: there is no "+format, args...)
}
