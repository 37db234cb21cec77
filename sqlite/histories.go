//go:build cgo

package sqlite

import (
	"database/sql/driver"
	"slices"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/internal/cursor"
)

var (
	stSlotOfKey     = named("slot_of_key")
	stTimelineOpen  = named("timeline_open")
	stTimelineKnown = named("timeline_known")
	stBelieved      = named("believed")
	stHistory       = named("history")
	stMemory        = named("memory")
	stDisplaced     = named("displaced")
	stConfirmed     = named("confirmed")
	stSlotKey       = named("slot_key")
)

// slot is the number and the levels of a slot. The number is 0 when nothing was ever said about it.
func (r *reader) slot(key sgam.SlotKey) (id, levels int64, err error) {
	p, err := r.one(stSlotOfKey, r.tenant, key.Subject, string(key.Scope), int64(key.Attribute), blob(key.Member))
	if err != nil || p == nil {
		return 0, 0, err
	}
	return p.int(0), p.int(1), nil
}

// timeline lists the segments of a slot that were believed at the known time.
func (r *reader) timeline() error {
	after, err := cursor.Parse(r.q.After, []int64{int64(sgam.Beginning) - 1}, 0)
	if err != nil {
		return err
	}
	key := r.q.Slots[0]
	id, levels, err := r.slot(key)
	if err != nil || id == 0 {
		return err
	}
	st, args := stTimelineOpen, []driver.Value{r.tenant, id, after.Numbers[0], int64(r.limit()) + 1}
	if r.known() < r.page.LastKnown {
		st, args = stTimelineKnown, append(args, levels, int64(r.known()))
	}
	found, err := r.rectangles(st, args...)
	if err != nil {
		return err
	}
	for i, g := range found {
		if i == r.limit() {
			r.page.Next = cursor.At(int64(found[i-1].valid.From)).String()
			break
		}
		row, err := r.row(key, g)
		if err != nil {
			return err
		}
		r.page.Rows = append(r.page.Rows, row)
	}
	return nil
}

// believed lists the segments that ever covered one valid instant, in order of known time.
func (r *reader) believed() error {
	after, err := cursor.Parse(r.q.After, []int64{int64(sgam.Beginning) - 1}, 0)
	if err != nil {
		return err
	}
	key := r.q.Slots[0]
	id, _, err := r.slot(key)
	if err != nil || id == 0 {
		return err
	}
	found, err := r.rectangles(stBelieved, r.tenant, id, int64(r.valid()), after.Numbers[0], int64(r.limit())+1)
	if err != nil {
		return err
	}
	for i, g := range found {
		if i == r.limit() {
			r.page.Next = cursor.At(int64(found[i-1].known.From)).String()
			break
		}
		row, err := r.row(key, g)
		if err != nil {
			return err
		}
		row.Fact.Known = g.known.Interval()
		r.page.Rows = append(r.page.Rows, row)
	}
	return nil
}

func (s *session) rectangles(st *statement, args ...driver.Value) ([]rectangle, error) {
	var found []rectangle
	err := s.each(func(p *running) error {
		found = append(found, p.rectangle())
		return nil
	}, st, args...)
	return found, err
}

// history lists every fact of a slot in the order in which they were recorded.
func (r *reader) history() error {
	after, err := cursor.Parse(r.q.After, []int64{0}, 0)
	if err != nil {
		return err
	}
	key := r.q.Slots[0]
	id, _, err := r.slot(key)
	if err != nil || id == 0 {
		return err
	}
	var facts []int64
	err = r.each(func(p *running) error {
		facts = append(facts, p.int(0))
		return nil
	}, stHistory, r.tenant, id, after.Numbers[0], int64(r.limit())+1)
	if err != nil {
		return err
	}
	for i, number := range facts {
		if i == r.limit() {
			r.page.Next = cursor.At(facts[i-1]).String()
			break
		}
		row, err := r.historyRow(key, id, number)
		if err != nil {
			return err
		}
		r.page.Rows = append(r.page.Rows, row)
	}
	return nil
}

// memoryRow finds one fact by its memory id.
func (r *reader) memoryRow() error {
	p, err := r.one(stMemory, r.tenant, r.q.Memory[:])
	if err != nil || p == nil {
		return err
	}
	number, slot := p.int(0), p.int(1)
	key, err := r.slotKey(slot)
	if err != nil {
		return err
	}
	row, err := r.historyRow(key, slot, number)
	if err != nil {
		return err
	}
	r.page.Rows = []sgam.Row{row}
	return nil
}

// slotKey is the slot of a number, as the ledger names it.
func (s *session) slotKey(id int64) (sgam.SlotKey, error) {
	p, err := s.one(stSlotKey, s.tenant, id)
	if err != nil {
		return sgam.SlotKey{}, err
	}
	if p == nil {
		return sgam.SlotKey{}, damaged("slot %d", id)
	}
	return p.from(0).Slot(), nil
}

// historyRow is a fact as it was recorded: valid as far as it reached, known from then on, with what it displaced and
// confirmed.
func (r *reader) historyRow(key sgam.SlotKey, slot, number int64) (sgam.Row, error) {
	row, reach, err := r.factRow(key, number)
	if err != nil {
		return row, err
	}
	row.Fact.Valid = reach.Interval()
	row.Fact.Known = sgam.Interval{From: row.Fact.RecordedAt}
	if row.Displaced, err = r.displaced(slot, number, row.Fact.ID); err != nil {
		return row, err
	}
	row.Confirmed, err = r.confirmed(slot, number, sgam.Instant(row.Fact.RecordedAt.UnixMicro()))
	return row, err
}

// displaced lists the regions that other facts of the slot lost to a fact.
func (s *session) displaced(slot, number int64, by sgam.MemoryID) ([]sgam.Displacement, error) {
	var lost []sgam.Displacement
	err := s.each(func(p *running) error {
		d := p.from(0).Displacement()
		d.By = by
		lost = append(lost, d)
		return nil
	}, stDisplaced, s.tenant, slot, number)
	return lost, err
}

// confirmed lists the facts of the slot that already said the same when a fact was recorded.
func (s *session) confirmed(slot, number int64, recorded sgam.Instant) ([]sgam.MemoryID, error) {
	var ids []sgam.MemoryID
	err := s.each(func(p *running) error {
		if id := p.memory(0); !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
		return nil
	}, stConfirmed, s.tenant, slot, number, int64(recorded))
	return ids, err
}
