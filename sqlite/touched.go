//go:build cgo

package sqlite

import (
	"slices"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/internal/cursor"
)

var (
	stFactBefore     = named("fact_before")
	stTouchedByFact  = named("touched_by_fact")
	stTouchedWithout = named("touched_without_fact")
)

// touched lists the slots that were written in (since, known], in the order in which they were first written then.
// Those that a call reached without a fact of their own there come last.
func (r *reader) touched() error {
	after, err := cursor.Parse(r.q.After, []int64{0, 0, 0}, 0)
	if err != nil {
		return err
	}
	first, err := r.before(r.q.Since)
	if err != nil {
		return err
	}
	last, err := r.before(r.known())
	if err != nil {
		return err
	}
	facts := max(after.Numbers[0], first.fact)
	call, slot := after.Numbers[1], after.Numbers[2]
	if call <= first.seq {
		call, slot = first.seq, int64(sgam.Forever)
	}
	// A page looks at a bounded number of slots, however few of them pass the lists.
	for budget := 4 * r.limit(); budget > 0; {
		looked := 0
		see := func(p *running) error {
			looked++
			return r.touch(p.int(1))
		}
		n := int64(min(budget, r.limit()-len(r.page.Slots)))
		if facts < last.fact {
			err = r.each(func(p *running) error {
				facts = p.int(0)
				return see(p)
			}, stTouchedByFact, r.tenant, facts, last.fact, first.fact, n)
			if looked == 0 {
				facts = last.fact
			}
		} else {
			err = r.each(func(p *running) error {
				call, slot = p.int(0), p.int(1)
				return see(p)
			}, stTouchedWithout, r.tenant, call, last.seq, first.seq, first.fact, last.fact, slot, n)
			if looked == 0 {
				return err
			}
		}
		if err != nil {
			return err
		}
		budget -= looked
		if len(r.page.Slots) == r.limit() {
			break
		}
	}
	r.page.Next = cursor.At(facts, call, slot).String()
	return nil
}

// position is a place in the log: the last fact and the last call at a known time.
type position struct{ fact, seq int64 }

func (r *reader) before(known sgam.Instant) (position, error) {
	p, err := r.one(stFactBefore, r.tenant, int64(known))
	if err != nil || p == nil {
		return position{}, err
	}
	return position{p.int(0), p.int(1)}, nil
}

// touch appends a slot if it passes the query's lists.
func (r *reader) touch(id int64) error {
	key, err := r.slotKey(id)
	if err != nil {
		return err
	}
	if passes(r.q.Subjects, key.Subject) && passes(r.q.Attributes, key.Attribute) && passes(r.q.Scopes, key.Scope) {
		r.page.Slots = append(r.page.Slots, key)
	}
	return nil
}

// passes reports whether a list filters nothing, or names a thing.
func passes[T comparable](list []T, x T) bool { return len(list) == 0 || slices.Contains(list, x) }
