//go:build cgo

package sqlite

import (
	"slices"

	"github.com/sgam-ledger/sgam"
)

var (
	stOutcomeByKey = named("outcome_by_key")
	stReceiptFact  = named("receipt_fact")
	stParts        = named("parts")
)

// outcome finds an earlier outcome by its idempotency key, nil when there is none. Its receipt is rebuilt from the rows,
// as it stands now.
func (r *resolver) outcome(key string) (*sgam.StoredOutcome, error) {
	p, err := r.one(stOutcomeByKey, r.tenant, blob(key))
	if err != nil || p == nil {
		return nil, err
	}
	found, number := p.from(0).StoredOutcome()
	if number == 0 && !found.Receipt.Memory.IsZero() {
		c, err := r.candidate(found.Receipt.Memory)
		if err != nil {
			return nil, err
		}
		if c != nil {
			found.Receipt.Outcome, found.Receipt.LostTo, number = c.Status, c.LostTo, c.fact
		}
	}
	if number == 0 {
		return found, nil
	}
	return found, r.receipt(number, &found.Receipt)
}

// recorded is a fact whose displacements and confirmations belong to a receipt.
type recorded struct {
	number, slot int64
	id           sgam.MemoryID
}

// receipt fills in what a recorded fact did.
func (r *resolver) receipt(number int64, into *sgam.Receipt) error {
	p, err := r.one(stReceiptFact, r.tenant, number)
	if err != nil {
		return err
	}
	if p == nil {
		return damaged("fact %d", number)
	}
	known := p.instant(5)
	into.Memory = p.memory(0)
	p.from(2).Reach(into)
	facts := []recorded{{number, p.int(1), into.Memory}}
	err = r.each(func(p *running) error {
		part := recorded{p.int(0), p.int(2), p.memory(1)}
		facts = append(facts, part)
		into.Parts = append(into.Parts, part.id)
		return nil
	}, stParts, r.tenant, number, int64(known))
	if err != nil {
		return err
	}
	for _, f := range facts {
		displaced, err := r.displaced(f.slot, f.number, f.id)
		if err != nil {
			return err
		}
		into.Displaced = append(into.Displaced, displaced...)
		confirmed, err := r.confirmed(f.slot, f.number, known)
		if err != nil {
			return err
		}
		for _, id := range confirmed {
			if !slices.Contains(into.Confirms, id) {
				into.Confirms = append(into.Confirms, id)
			}
		}
	}
	return nil
}
