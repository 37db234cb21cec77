package ledgertest

import (
	"errors"
	"strconv"
	"time"

	"github.com/sgam-ledger/sgam"
)

func meaningLaws() []law {
	return []law{
		{"cells-one-value", "the answers are those of an array of cells in which each rule is written down plainly", func(b *bench) {
			l := b.ledger(Attribute{Name: "cell"})
			for seed := range uint64(30) {
				newCellRun(b, l, seed, Attribute{Name: "cell"}).play()
			}
		}},
		{"cells-many-values", "a set and its members bound each other's reach, and are replayed as they were recorded", func(b *bench) {
			l := b.ledger(Attribute{Name: "cell", Many: true})
			for seed := range uint64(30) {
				newCellRun(b, l, seed, Attribute{Name: "cell", Many: true}).play()
			}
		}},
		{"cells-by-strength", "a statement is disputed by exactly the facts in its reach that say otherwise and are surer, confirmations included", func(b *bench) {
			one := Attribute{Name: "cell", Policy: sgam.KeepHighestConfidence}
			many := Attribute{Name: "cells", Policy: sgam.KeepHighestConfidence, Many: true}
			l := b.ledger(one, many)
			for seed := range uint64(30) {
				newCellRun(b, l, seed, one).play()
				newCellRun(b, l, seed+1000, many).play()
			}
		}},
		{"newest-statement-wins", "with corrections and voids alone, the newest statement that covers an instant decides it", newestWins},
	}
}

func newestWins(b *bench) {
	l := b.ledger(Attribute{Name: "cell"})
	for seed := range uint64(30) {
		r := newCellRun(b, l, seed, Attribute{Name: "cell"})
		for range 25 {
			r.clock.Advance(time.Hour)
			f := r.statement()
			f.op = sgam.Void
			if f.value != "" {
				f.op = sgam.Correct
			}
			r.oracle.facts = append(r.oracle.facts, f)
			d := say(f.op, "s", "cell", f.value, cellStart(f.from), "e"+strconv.Itoa(len(r.oracle.facts)))
			if f.to < cellCount {
				d = d.Until(cellStart(f.to))
			}
			x, err := r.tenant.Apply(b.Context(), d)
			b.ok(err)
			r.calls = append(r.calls, x.Known)
		}
		for call, known := range r.calls {
			for cell := range cellCount {
				want := "unknown"
				if i := newest(r.oracle.facts, call+1, cell); i != nobody && r.oracle.facts[i].value == "" {
					want = "absent"
				} else if i != nobody {
					want = r.oracle.facts[i].value
				}
				f, err := r.tenant.ValidAt(cellStart(cell)).KnownAt(known).Get(b.Context(), "s", "cell")
				got := string(f.Value)
				if none, ok := errors.AsType[*sgam.NoValueError](err); ok {
					got = textOfReason(none.Reason)
				} else {
					b.ok(err)
				}
				if got != want {
					b.Fatalf("seed %d, cell %d after call %d: want %s, got %s", seed, cell, call, want, got)
				}
			}
		}
	}
}
