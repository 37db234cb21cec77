package postgres

import (
	"context"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/internal/columns"
	"github.com/sgam-ledger/sgam/internal/cursor"
)

var (
	stHistory         = named("history")
	stMemory          = named("memory")
	stLogPosition     = named("log_position")
	stTouchedByFact   = named("touched_by_fact")
	stTouchedWithout  = named("touched_without_fact")
	stSlotsInOrder    = named("slots_in_order")
	stSegmentsOf      = named("segments_of_slots")
	stConfirmationsOf = named("confirmations_of_slots")
	stSupersessionsOf = named("supersessions_of_slots")
	stPointsOf        = named("points_of_slots")
)

// history lists every fact of a slot in the order in which they were recorded.
func (r *reader) history(ctx context.Context) error {
	after, err := cursor.Parse(r.q.After, []int64{0}, 0)
	if err != nil {
		return err
	}
	key := r.q.Slots[0]
	var found []listed
	r.add(func(p row) error {
		row, err := p.recorded()
		found = append(found, listed{row, cursor.At(row.Number)})
		return err
	}, stHistory, r.tenant, key.Subject, string(key.Scope), int64(key.Attribute), blob(key.Member), after.Numbers[0], r.limit()+1)
	if err := r.run(ctx); err != nil {
		return err
	}
	r.fill(found)
	return r.deeds(ctx)
}

// memory finds one fact by its memory id.
func (r *reader) memory(ctx context.Context) error {
	r.add(func(p row) error {
		row, err := p.recorded()
		r.page.Rows = []sgam.Row{row}
		return err
	}, stMemory, r.tenant, r.q.Memory)
	if err := r.run(ctx); err != nil {
		return err
	}
	return r.deeds(ctx)
}

// recorded decodes a fact as it was recorded: valid as far as it reached, known from then on.
func (r row) recorded() (sgam.Row, error) {
	row := sgam.Row{Slot: r.slot(0), Number: r.int(4), Target: r.memory(5 + columns.OfFact)}
	err := r.from(5).Fact(&row)
	row.Fact.Valid = sgam.Span{From: r.instant(7), To: r.instant(9)}.Interval()
	row.Fact.Known = sgam.Interval{From: row.Fact.RecordedAt}
	return row, err
}

// deeds adds what the facts of the page displaced and confirmed.
func (r *reader) deeds(ctx context.Context) error {
	numbers := make([]int64, len(r.page.Rows))
	for i := range r.page.Rows {
		numbers[i] = r.page.Rows[i].Number
	}
	if len(numbers) == 0 {
		return nil
	}
	did := r.queueDeeds(0, numbers)
	if err := r.run(ctx); err != nil {
		return err
	}
	for i := range r.page.Rows {
		row := &r.page.Rows[i]
		row.Displaced, row.Confirmed = did.lost(row.Number, row.Fact.ID), did.confirmed[row.Number]
	}
	return nil
}

// touched lists the slots that were written in (since, known], in the order in which they were first written then.
// Those that a call reached without a fact of their own there come last.
func (r *reader) touched(ctx context.Context) error {
	after, err := cursor.Parse(r.q.After, []int64{0, 0, 0}, 0)
	if err != nil {
		return err
	}
	type position struct{ fact, seq int64 }
	var first, last position
	r.add(func(p row) error { first = position{p.int(0), p.int(1)}; return nil }, stLogPosition, r.tenant, r.q.Since)
	r.add(func(p row) error { last = position{p.int(0), p.int(1)}; return nil }, stLogPosition, r.tenant, r.known())
	if err := r.run(ctx); err != nil {
		return err
	}
	var subjects, scopes []string
	var attributes []int64
	if len(r.q.Subjects) > 0 {
		subjects = r.q.Subjects
	}
	for _, id := range r.q.Attributes {
		attributes = append(attributes, int64(id))
	}
	for _, s := range r.q.Scopes {
		scopes = append(scopes, string(s))
	}
	facts := max(after.Numbers[0], first.fact)
	call, slot := after.Numbers[1], after.Numbers[2]
	if call <= first.seq {
		call, slot = first.seq, int64(sgam.Forever)
	}
	r.add(func(p row) error {
		facts = p.int(0)
		r.page.Slots = append(r.page.Slots, p.slot(1))
		return nil
	}, stTouchedByFact, r.tenant, facts, last.fact, first.fact, r.limit(), subjects, attributes, scopes)
	if err := r.run(ctx); err != nil {
		return err
	}
	if left := r.limit() - len(r.page.Slots); left > 0 {
		facts = last.fact
		found := 0
		r.add(func(p row) error {
			found++
			call, slot = p.int(0), p.int(1)
			r.page.Slots = append(r.page.Slots, p.slot(2))
			return nil
		}, stTouchedWithout, r.tenant, call, last.seq, slot, first.fact, last.fact, first.seq, left, subjects, attributes, scopes)
		if err := r.run(ctx); err != nil || found < left {
			return err
		}
	}
	r.page.Next = cursor.At(facts, call, slot).String()
	return nil
}

// slotsOfDump is how many slots a page has with all their layers.
const slotsOfDump = 64

// dumps lists slots with all their layers.
func (r *reader) dumps(ctx context.Context) error {
	after, err := cursor.Parse(r.q.After, []int64{0}, 0)
	if err != nil {
		return err
	}
	n := min(r.limit(), slotsOfDump)
	var logs slotLogs
	more := false
	r.add(func(p row) error {
		if more = len(logs.ids) == n; !more {
			logs.add(p.int(0), p.int(5), p.slot(1))
		}
		return nil
	}, stSlotsInOrder, r.tenant, after.Numbers[0], n+1)
	if err := r.run(ctx); err != nil || len(logs.ids) == 0 {
		return err
	}
	at := map[int64]*sgam.SlotDump{}
	r.page.Dumps = make([]sgam.SlotDump, len(logs.ids))
	for i, id := range logs.ids {
		at[id] = &r.page.Dumps[i]
	}
	r.queueLogs(0, &logs)
	r.queueLayers(logs.ids, at)
	if err := r.run(ctx); err != nil {
		return err
	}
	for i, log := range logs.list {
		r.page.Dumps[i].SlotLog = *log
	}
	if more {
		r.page.Next = cursor.At(logs.ids[n-1]).String()
	}
	return nil
}

// queueLayers asks for the derived layers of slots.
func (r *reader) queueLayers(ids []int64, at map[int64]*sgam.SlotDump) {
	for _, layer := range []struct {
		of  *statement
		add func(*sgam.SlotDump, columns.Columns)
	}{
		{stSegmentsOf, func(d *sgam.SlotDump, c columns.Columns) { d.Segments = append(d.Segments, c.Segment()) }},
		{stConfirmationsOf, func(d *sgam.SlotDump, c columns.Columns) { d.Confirmations = append(d.Confirmations, c.Confirmation()) }},
		{stSupersessionsOf, func(d *sgam.SlotDump, c columns.Columns) { d.Supersessions = append(d.Supersessions, c.Supersession()) }},
		{stPointsOf, func(d *sgam.SlotDump, c columns.Columns) { d.Points = append(d.Points, c.Point()) }},
	} {
		r.add(func(p row) error { layer.add(at[p.int(0)], p.from(1)); return nil }, layer.of, r.tenant, ids)
	}
}
