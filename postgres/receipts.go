package postgres

import (
	"context"
	"slices"

	"github.com/sgam-ledger/sgam"
)

var (
	stReceiptFacts = named("receipt_facts")
	stDisplaced    = named("displaced")
	stConfirmed    = named("confirmed")
)

// pendingReceipt is the receipt of a fact that is still to be filled in.
type pendingReceipt struct {
	fact int64
	into *sgam.Receipt
}

// deeds are what facts displaced and confirmed when they were recorded, by their numbers.
type deeds struct {
	displaced map[int64][]sgam.Displacement
	confirmed map[int64][]sgam.MemoryID
}

// queueDeeds asks for the deeds of facts. By is left out of the displacements.
func (s *session) queueDeeds(owner int, facts []int64) *deeds {
	d := &deeds{map[int64][]sgam.Displacement{}, map[int64][]sgam.MemoryID{}}
	s.addFor(owner, func(p row) error {
		d.displaced[p.int(0)] = append(d.displaced[p.int(0)], p.from(1).Displacement())
		return nil
	}, stDisplaced, s.tenant, facts)
	s.addFor(owner, func(p row) error {
		if id := p.memory(1); !slices.Contains(d.confirmed[p.int(0)], id) {
			d.confirmed[p.int(0)] = append(d.confirmed[p.int(0)], id)
		}
		return nil
	}, stConfirmed, s.tenant, facts)
	return d
}

// lost are the regions that others lost to a fact.
func (d *deeds) lost(number int64, by sgam.MemoryID) []sgam.Displacement {
	list := d.displaced[number]
	for i := range list {
		list[i].By = by
	}
	return list
}

// finishReceipts fills in what recorded facts did. The parts of a fact follow it.
func (r *resolver) finishReceipts(ctx context.Context) error {
	if len(r.receipts) == 0 {
		return nil
	}
	var roots []int64
	for _, p := range r.receipts {
		roots = append(roots, p.fact)
	}
	type recorded struct {
		number int64
		id     sgam.MemoryID
	}
	facts, numbers := map[int64][]recorded{}, []int64{}
	r.ask(func(p row) error {
		root, number := p.int(0), p.int(1)
		facts[root] = append(facts[root], recorded{number, p.memory(2)})
		numbers = append(numbers, number)
		for _, pending := range r.receipts {
			if pending.fact == root {
				pending.fill(number, p)
			}
		}
		return nil
	}, stReceiptFacts, r.tenant, roots)
	if err := r.run(ctx); err != nil {
		return err
	}
	did := r.queueDeeds(r.owner, numbers)
	if err := r.run(ctx); err != nil {
		return err
	}
	for _, pending := range r.receipts {
		if len(facts[pending.fact]) == 0 {
			return damaged("fact %d", pending.fact)
		}
		for _, f := range facts[pending.fact] {
			pending.into.Displaced = append(pending.into.Displaced, did.lost(f.number, f.id)...)
			for _, id := range did.confirmed[f.number] {
				if !slices.Contains(pending.into.Confirms, id) {
					pending.into.Confirms = append(pending.into.Confirms, id)
				}
			}
		}
	}
	return nil
}

// fill takes the row of a receipt's fact, or of a part of it.
func (p *pendingReceipt) fill(number int64, r row) {
	if number != p.fact {
		p.into.Parts = append(p.into.Parts, r.memory(2))
		return
	}
	p.into.Memory = r.memory(2)
	r.from(3).Reach(p.into)
}
