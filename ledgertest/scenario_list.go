package ledgertest

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/sgam-ledger/sgam"
)

// slotAnd reads a slot and, when one follows, the value that names its member.
func (q *reading) slotAnd(c *cursor) (sgam.Slot, error) {
	slot, err := c.slot()
	if err != nil || c.done() || c.peek() == "=>" || c.peek() == "at" {
		return slot, err
	}
	slot.Member, err = c.value()
	return slot, err
}

func (q *reading) point(c *cursor) error {
	slot, err := c.slot()
	q.kind = []string{"answer"}
	q.ask = func(r *run, v sgam.View) ([]row, error) {
		f, err := v.Get(r.ctx, slot.Subject, slot.Attribute)
		return r.answered(f, err)
	}
	return err
}

func (q *reading) member(c *cursor) error {
	slot, err := q.slotAnd(c)
	q.kind = []string{"answer"}
	q.ask = func(r *run, v sgam.View) ([]row, error) {
		f, err := v.Member(r.ctx, slot)
		return r.answered(f, err)
	}
	return err
}

func (q *reading) members(c *cursor) error {
	slot, err := c.slot()
	q.kind, q.ordered = []string{"answer"}, false
	q.ask = func(r *run, v sgam.View) ([]row, error) {
		var rows []row
		for f, err := range v.Members(r.ctx, slot.Subject, slot.Attribute) {
			one, err := r.answered(f, err)
			if err != nil {
				return nil, err
			}
			rows = append(rows, one...)
		}
		return rows, nil
	}
	return err
}

// filter reads of SUBJECTS, attributes NAMES, types NAMES, scopes NAMES and limit N.
func (c *cursor) filter() (sgam.Filter, error) {
	var f sgam.Filter
	var err error
	for err == nil {
		switch {
		case c.take("of"):
			f.Subjects, err = c.list()
		case c.take("attributes"):
			f.Attributes, err = c.list()
		case c.take("types"):
			f.Types, err = c.list()
		case c.take("scopes"):
			var names []string
			names, err = c.list()
			for _, name := range names {
				f.Scopes = append(f.Scopes, sgam.Scope(name))
			}
		case c.take("limit"):
			f.Limit, err = strconv.Atoi(c.word())
		default:
			return f, nil
		}
	}
	return f, err
}

func (q *reading) facts(c *cursor) error {
	f, err := c.filter()
	q.kind, q.ordered = []string{"slot", "answer"}, false
	q.ask = func(r *run, v sgam.View) ([]row, error) {
		return gather(v.Facts(r.ctx, f), func(f *sgam.Fact) row { return r.fact(f, nil) })
	}
	return err
}

func (q *reading) timeline(c *cursor) error {
	slot, err := q.slotAnd(c)
	q.kind = []string{"over", "answer"}
	q.ask = func(r *run, v sgam.View) ([]row, error) { return gather(v.Timeline(r.ctx, slot), r.stretch) }
	return err
}

func (r *run) stretch(s *sgam.Stretch) row {
	out := r.fact(s.Fact, s.Reason)
	out["over"] = textOfInterval(s.Valid)
	return out
}

func (q *reading) believed(c *cursor) error {
	slot, err := q.slotAnd(c)
	if err != nil {
		return err
	}
	if !c.take("at") {
		return errors.New("want at TIME, the valid instant")
	}
	at, err := c.time()
	q.kind = []string{"known", "answer"}
	q.ask = func(r *run, v sgam.View) ([]row, error) {
		slot := q.scoped(slot)
		return gather(r.tenant.Believed(r.ctx, slot, at), r.belief)
	}
	return err
}

// scoped is the slot in the reading's scope, for reads that have no view.
func (q *reading) scoped(slot sgam.Slot) sgam.Slot {
	if len(q.scopes) > 0 {
		slot.Scope = q.scopes[0]
	}
	return slot
}

func (r *run) belief(b *sgam.Belief) row {
	out := r.fact(&b.Fact, b.Reason)
	out["known"], out["closed"] = textOfInterval(b.Known), r.name(b.ClosedBy)
	return out
}

func (q *reading) history(c *cursor) error {
	slot, err := q.slotAnd(c)
	q.kind = []string{"op", "answer"}
	q.ask = func(r *run, _ sgam.View) ([]row, error) {
		return gather(r.tenant.History(r.ctx, q.scoped(slot)), r.entry)
	}
	return err
}

// entry writes an entry of a history as a row: what it states, and what that did to others.
func (r *run) entry(e *sgam.Entry) row {
	out := r.fact(&e.Fact, nil)
	if e.Fact.Op == sgam.Withdraw {
		delete(out, "answer")
	}
	var confirms []string
	for _, id := range e.Confirms {
		confirms = append(confirms, r.name(id))
	}
	out["displaces"], out["confirms"], out["withdraws"] = r.displacements(e.Displaced), joined(confirms), r.name(e.Withdraws)
	out["reach"] = out["over"]
	return out
}

func (q *reading) diff(c *cursor) error {
	k1, err := c.time()
	if err != nil {
		return err
	}
	k2, err := c.time()
	if err != nil {
		return err
	}
	f, err := c.filter()
	q.kind, q.ordered = []string{"slot", "over", "before", "after"}, false
	q.ask = func(r *run, _ sgam.View) ([]row, error) {
		return gather(r.tenant.Diff(r.ctx, k1, k2, f), func(d *sgam.Difference) row {
			out := row{
				"slot": textOfSlot(d.Slot), "in": string(d.Slot.Scope), "over": textOfInterval(d.Valid), "cause": r.name(d.Cause),
				"before": r.stretch(&d.Before)["answer"], "after": r.stretch(&d.After)["answer"],
			}
			if d.Slot.Member != nil {
				out["member"] = textOfValue(d.Slot.Member)
			}
			return out
		})
	}
	return err
}

// table lists every rectangle that was ever believed of a slot, joined where neighbours are of the same fact and the
// same known time, in order of known time and valid time.
func (q *reading) table(c *cursor) error {
	slot, err := q.slotAnd(c)
	q.kind = []string{"over", "known", "answer"}
	q.ask = func(r *run, _ sgam.View) ([]row, error) {
		slot := q.scoped(slot)
		bounds, err := r.bounds(slot)
		if err != nil {
			return nil, err
		}
		var all []sgam.Belief
		var open []int // of the cell before
		for i, from := range bounds {
			var next []int
			for b, err := range r.tenant.Believed(r.ctx, slot, from) {
				if err != nil {
					return nil, err
				}
				b.Fact.Valid = sgam.Interval{From: from}
				if i+1 < len(bounds) {
					b.Fact.Valid.To = &bounds[i+1]
				}
				grown := slices.IndexFunc(open, func(k int) bool {
					return all[k].Fact.ID == b.Fact.ID && textOfInterval(all[k].Known) == textOfInterval(b.Known)
				})
				if grown >= 0 {
					all[open[grown]].Fact.Valid.To = b.Fact.Valid.To
					next = append(next, open[grown])
					continue
				}
				next = append(next, len(all))
				all = append(all, b)
			}
			open = next
		}
		slices.SortFunc(all, func(a, b sgam.Belief) int {
			return cmp.Or(a.Known.From.Compare(b.Known.From), a.Fact.Valid.From.Compare(b.Fact.Valid.From))
		})
		var rows []row
		for i := range all {
			rows = append(rows, r.belief(&all[i]))
		}
		return rows, nil
	}
	return err
}

// bounds are the instants at which a belief about a slot can begin or end, the open start first.
func (r *run) bounds(slot sgam.Slot) ([]time.Time, error) {
	bounds := []time.Time{{}}
	set := slot
	set.Member = nil
	for _, s := range []sgam.Slot{slot, set} {
		for e, err := range r.tenant.History(r.ctx, s) {
			if err != nil {
				return nil, err
			}
			bounds = append(bounds, e.Fact.Asserted.From)
			if to := e.Fact.Asserted.To; to != nil {
				bounds = append(bounds, *to)
			}
		}
	}
	slices.SortFunc(bounds, time.Time.Compare)
	return slices.CompactFunc(bounds, time.Time.Equal), nil
}

// explain answers with one row for each question: the answer, its source, then its timeline.
func (q *reading) explain(c *cursor) error {
	slot, err := q.slotAnd(c)
	q.kind = []string{"answer"}
	q.ask = func(r *run, v sgam.View) ([]row, error) {
		e, err := v.Explain(r.ctx, slot)
		if err != nil {
			return nil, err
		}
		out := r.stretch(&e.Now)
		out["principal"], out["retention"], out["displaces"] = e.Principal, e.RetentionPolicy, r.displacements(e.Replaced)
		if e.Source != nil {
			out["from"] = e.Source.ID
		}
		out["parts"] = strconv.Itoa(len(e.Was))
		return []row{out}, nil
	}
	return err
}

func (q *reading) memory(c *cursor) error {
	label, err := c.name()
	q.kind = []string{"slot", "op", "answer"}
	q.ask = func(r *run, _ sgam.View) ([]row, error) {
		id, err := r.memory(label)
		if err != nil {
			return nil, unusable{err}
		}
		e, err := r.tenant.Memory(r.ctx, id)
		if err != nil {
			return nil, err
		}
		return []row{r.entry(&e)}, nil
	}
	return err
}

func (q *reading) episode(c *cursor) error {
	name, err := c.name()
	q.kind = []string{"outcome"}
	q.ask = func(r *run, _ sgam.View) ([]row, error) {
		e, err := r.tenant.Episode(r.ctx, name)
		if err != nil {
			return nil, err
		}
		return []row{{"outcome": string(e.Kind), "recorded": textOf(e.OccurredAt), "from": e.SourceID}}, nil
	}
	return err
}

// statuses takes the outcomes that a list is narrowed to.
func (c *cursor) statuses() []sgam.Outcome {
	var out []sgam.Outcome
	for !c.done() && c.peek() != "=>" {
		out = append(out, sgam.Outcome(c.word()))
	}
	return out
}

func (q *reading) outcomes(c *cursor) error {
	statuses := c.statuses()
	q.kind = []string{"outcome", "code", "op"}
	q.ask = func(r *run, _ sgam.View) ([]row, error) {
		return gather(r.tenant.Outcomes(r.ctx, statuses...), func(o *sgam.OutcomeRecord) row {
			out := row{
				"outcome": string(o.Outcome), "op": string(o.Op), "by": r.name(o.Memory), "at": cmp.Or(o.Pointer, "nothing"),
				"principal": o.Principal, "recorded": textOf(o.Known), "ordinal": strconv.Itoa(o.Ordinal), "attribute": o.Attribute,
			}
			if o.Code != "" {
				out["code"] = o.Code
			}
			return out
		})
	}
	return nil
}

func (q *reading) held(c *cursor) error {
	statuses := c.statuses()
	q.kind = []string{"outcome", "slot", "op"}
	q.ask = func(r *run, _ sgam.View) ([]row, error) {
		return gather(r.tenant.Held(r.ctx, statuses...), func(h *sgam.HeldCandidate) row {
			var lost []string
			for _, id := range h.LostTo {
				lost = append(lost, r.name(id))
			}
			return row{
				"outcome": string(h.Status), "slot": textOfSlot(sgam.Slot{Subject: h.Delta.Subject, Attribute: h.Delta.Attribute}),
				"op": string(h.Delta.Op), "by": r.name(h.Memory), "lost": joined(lost), "principal": h.Principal,
				"recorded": textOf(h.Known), "in": string(h.Delta.Scope),
			}
		})
	}
	return nil
}

// pinned shows the two times of a view, after a first read that it makes.
func (q *reading) pinned(c *cursor) error {
	slot, err := c.slot()
	q.ask = func(r *run, v sgam.View) ([]row, error) {
		if _, err := r.answered(v.Get(r.ctx, slot.Subject, slot.Attribute)); err != nil {
			return nil, err
		}
		valid, known := v.Pinned()
		return []row{{"valid": textOf(valid), "recorded": textOf(known)}}, nil
	}
	return err
}

func (q *reading) tenants(*cursor) error {
	q.kind = []string{"tenant"}
	q.ask = func(r *run, _ sgam.View) ([]row, error) {
		return gather(r.l.Tenants(r.ctx), func(name *string) row { return row{"tenant": *name} })
	}
	return nil
}

// verify lets the ledger prove itself.
func (q *reading) verify(*cursor) error {
	q.kind = []string{"answer"}
	q.ask = func(r *run, _ sgam.View) ([]row, error) {
		var rows []row
		for err := range r.l.Verify(r.ctx) {
			if _, found := errors.AsType[*sgam.VerifyError](err); !found {
				return nil, err
			}
			rows = append(rows, row{"answer": err.Error()})
		}
		return rows, nil
	}
	return nil
}
