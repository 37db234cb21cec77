package ledgertest

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/sgam-ledger/sgam"
)

func togetherLaws() []law {
	return []law{
		{"two-writers", "writers of one slot never leave two open facts or a fork of what supersedes what", twoWriters},
		{"group-commit-is-invisible", "what many callers leave at once is what some order of single callers leaves, receipts included", groupCommit},
		{"delivered-at-once", "one delivery that arrives many times at once is one fact", deliveredAtOnce},
		{"guards-hold-together", "of many writers that expect the same current fact one succeeds", guardsTogether},
	}
}

// concurrent applies deltas from several goroutines over two handles of one place, and returns the receipts in the
// order of the deltas.
func (b *bench) concurrent(deltas []sgam.MemoryDelta) (*sgam.Tenant, []sgam.Receipt) {
	b.Helper()
	place := b.fresh(b.TB)
	opts := b.options(1, Attribute{Name: "x"}, Attribute{Name: "many", Many: true})
	opts.ClockTolerance = -1
	b.clock.Tick(time.Millisecond)
	handles := []*sgam.Tenant{b.tenant(b.open(place, opts), "t"), b.tenant(b.open(place, opts), "t")}
	receipts := make([]sgam.Receipt, len(deltas))
	errs := make([]error, len(deltas))
	const workers = 8
	var wait sync.WaitGroup
	for w := range workers {
		wait.Go(func() {
			for i := w; i < len(deltas); i += workers {
				receipts[i], errs[i] = handles[w%2].Apply(b.Context(), deltas[i])
			}
		})
	}
	wait.Wait()
	for _, err := range errs {
		b.ok(err)
	}
	return handles[0], receipts
}

func twoWriters(b *bench) {
	var deltas []sgam.MemoryDelta
	for i := range 80 {
		deltas = append(deltas, say(sgam.Assert, "s", "x", fmt.Sprint(i), at(0), fmt.Sprint("e", i)))
	}
	t, receipts := b.concurrent(deltas)
	slices.SortFunc(receipts, func(x, y sgam.Receipt) int { return x.Known.Compare(y.Known) })
	last := sgam.Receipt{}
	for i, r := range receipts {
		if r.Outcome != sgam.Applied || r.Supersedes != last.Memory || !r.Known.After(last.Known) {
			b.Fatalf("write %d of %d in order of known time: %s, supersedes %s where %s stood, at %s after %s", i, len(receipts), r.Outcome,
				r.Supersedes, last.Memory, textOf(r.Known), textOf(last.Known))
		}
		last = r
	}
	n := 0
	for s, err := range t.Current().Timeline(b.Context(), sgam.Slot{Subject: "s", Attribute: "x"}) {
		b.ok(err)
		n++
		if s.Fact == nil || s.Fact.ID != last.Memory {
			b.Error("the last write does not hold")
		}
	}
	b.same("open stretches", "1", fmt.Sprint(n))
	b.same("history", "80", counted(b, t.History(b.Context(), sgam.Slot{Subject: "s", Attribute: "x"})))
}

func groupCommit(b *bench) {
	var deltas []sgam.MemoryDelta
	for i := range 120 {
		op := []sgam.Op{sgam.Assert, sgam.Correct, sgam.End, sgam.Assert}[i%4]
		value := fmt.Sprint(i % 5)
		if op == sgam.End {
			value = ""
		}
		attribute := "x"
		if i%3 == 0 {
			attribute = "many"
		}
		d := say(op, fmt.Sprint("s", i%4), attribute, value, randomDay(1+i*7%randomDays), fmt.Sprint("e", i))
		if i%5 == 0 {
			d = d.Until(randomDay(randomDays + 1))
		}
		deltas = append(deltas, d)
	}
	t, receipts := b.concurrent(deltas)
	order := make([]int, len(deltas))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(x, y int) int { return receipts[x].Known.Compare(receipts[y].Known) })
	serial := b.tenant(NewLedger(b.TB, b.options(2, Attribute{Name: "x"}, Attribute{Name: "many", Many: true})), "t")
	one := &player{ctx: b.Context(), names: map[sgam.MemoryID]string{}, ids: map[place]sgam.MemoryID{}, known: map[string][]time.Time{}}
	two := &player{ctx: b.Context(), names: map[sgam.MemoryID]string{}, ids: map[place]sgam.MemoryID{}, known: map[string][]time.Time{}}
	for _, i := range order {
		again, err := serial.ApplyBatch(b.Context(), sgam.Batch{Deltas: deltas[i : i+1], KnownAt: &receipts[i].Known})
		b.ok(err)
		one.learn(place{act: i}, "t", receipts[i:i+1])
		two.learn(place{act: i}, "t", again)
		want, err := two.receipts(serial, again, false)
		b.ok(err)
		got, err := one.receipts(t, receipts[i:i+1], false)
		b.ok(err)
		b.same(fmt.Sprintf("receipt of delta %d", i), want[0], got[0])
		if b.Failed() {
			return
		}
	}
	for i := range 4 {
		for _, slot := range []sgam.Slot{
			{Subject: fmt.Sprint("s", i), Attribute: "x"}, {Subject: fmt.Sprint("s", i), Attribute: "many"},
			{Subject: fmt.Sprint("s", i), Attribute: "many", Member: json.RawMessage("0")}, {Subject: fmt.Sprint("s", i), Attribute: "many", Member: json.RawMessage("3")},
		} {
			b.same("values of "+slot.Subject+" "+slot.Attribute, valuesByDay(b, serial, slot), valuesByDay(b, t, slot))
		}
	}
}

func deliveredAtOnce(b *bench) {
	one := say(sgam.Assert, "s", "x", "1", at(0), "e1")
	t, receipts := b.concurrent(slices.Repeat([]sgam.MemoryDelta{one}, 60))
	outcomes := map[sgam.Outcome]int{}
	for _, r := range receipts {
		outcomes[r.Outcome]++
		if r.Memory != receipts[0].Memory || !r.Known.Equal(receipts[0].Known) {
			b.Errorf("one delivery has the memories %s and %s", r.Memory, receipts[0].Memory)
		}
	}
	b.same("applied", "1", fmt.Sprint(outcomes[sgam.Applied]))
	b.same("duplicates", "59", fmt.Sprint(outcomes[sgam.Duplicate]))
	b.same("history", "1", counted(b, t.History(b.Context(), sgam.Slot{Subject: "s", Attribute: "x"})))
	b.same("outcomes", "1", counted(b, t.Outcomes(b.Context())))
}

func guardsTogether(b *bench) {
	var deltas []sgam.MemoryDelta
	for i := range 40 {
		d := say(sgam.Assert, "s", "x", fmt.Sprint(i), at(0), fmt.Sprint("e", i))
		d.ExpectCurrent = &sgam.MemoryID{}
		deltas = append(deltas, d)
	}
	_, receipts := b.concurrent(deltas)
	applied := 0
	for _, r := range receipts {
		switch {
		case r.Outcome == sgam.Applied:
			applied++
		case r.Outcome != sgam.Rejected || !errors.Is(r.Err(), sgam.ErrRejected) || r.Code != "guard":
			b.Errorf("want applied or rejected by the guard, got %s %s", r.Outcome, r.Code)
		}
	}
	b.same("applied", "1", fmt.Sprint(applied))
}
