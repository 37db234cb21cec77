package sgam_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sgam-ledger/sgam"
)

func ExampleTenant_Apply() {
	clock := day(1)
	acme, done := newTenant(&clock)
	defer done()

	first := must(acme.As("agent-7").Apply(ctx, HomeCity.Assert("mira", "Porto", day(1)).From(said("e1", 1))))
	clock = day(10)
	moved := must(acme.As("agent-7").Apply(ctx, HomeCity.Assert("mira", "Lyon", day(8)).From(said("e2", 10))))
	fmt.Println(moved.Outcome, "by", moved.Principal, "at", moved.Known.Format(time.DateOnly))
	fmt.Println("supersedes the first:", moved.Supersedes == first.Memory)
	for _, lost := range moved.Displaced {
		fmt.Println(lost.How, "from", lost.Valid.From.Format(time.DateOnly))
	}
	f := must(acme.Current().Get(ctx, "mira", "home_city"))
	fmt.Println(string(f.Value), "since", f.Valid.From.Format(time.DateOnly), "said in", f.Episode)
	// Output:
	// applied by agent-7 at 2026-06-10
	// supersedes the first: true
	// ended from 2026-06-08
	// "Lyon" since 2026-06-08 said in e2
}

func ExampleTenant_Apply_lateNews() {
	clock := day(10)
	acme, done := newTenant(&clock)
	defer done()

	must(acme.Apply(ctx, HomeCity.Assert("mira", "Lyon", day(8)).From(said("e1", 10))))
	late := must(acme.Apply(ctx, HomeCity.Assert("mira", "Porto", day(1)).From(said("e2", 10))))
	fmt.Println("reaches to", late.Reach.To.Format(time.DateOnly))
	now := must(HomeCity.Get(ctx, acme.Current(), "mira"))
	then := must(HomeCity.Get(ctx, acme.ValidAt(day(2)), "mira"))
	fmt.Println(now.V, "now,", then.V, "before")
	// Output:
	// reaches to 2026-06-08
	// Lyon now, Porto before
}

func ExampleTenant_Apply_idempotency() {
	clock := day(1)
	acme, done := newTenant(&clock)
	defer done()

	delta := HomeCity.Assert("mira", "Porto", day(1)).From(said("e1", 1))
	first := must(acme.Apply(ctx, delta))
	again := must(acme.Apply(ctx, delta))
	fmt.Println(again.Outcome, "of what was", again.Earlier, first.Memory == again.Memory)

	// A key of one's own insists on the payload that it was used with.
	keyed := func(d *sgam.MemoryDelta) { d.IdempotencyKey = "order-17" }
	must(acme.Apply(ctx, HomeCity.Assert("mira", "Lyon", day(8)).From(said("e2", 1)).With(keyed)))
	other := must(acme.Apply(ctx, HomeCity.Assert("mira", "Paris", day(8)).From(said("e2", 1)).With(keyed)))
	fmt.Println(other.Outcome, errors.Is(other.Err(), sgam.ErrIdempotencyMismatch))
	// Output:
	// duplicate of what was applied true
	// rejected true
}

func ExampleReceipt_Err() {
	clock := day(1)
	acme, done := newTenant(&clock)
	defer done()

	delta := sgam.MemoryDelta{Op: sgam.Assert, Subject: "mira", Attribute: "passport_deadline", Value: json.RawMessage(`"soon"`)}
	receipt := must(acme.Apply(ctx, delta.From(said("e1", 1))))
	if fault, ok := errors.AsType[*sgam.FieldError](receipt.Err()); ok {
		fmt.Println(receipt.Code, fault.Field, fault.Rule)
	}
	// Output:
	// schema value format
}

func ExampleTenant_Decode() {
	clock := day(1)
	acme, done := newTenant(&clock)
	defer done()

	answer := `{"op": "assert", "subject": "mira", "attribute": "home_city", "value": "Porto",
		"valid_from": "2026-06-01T08:00+01:00", "source_episode_id": "e1", "confidence": 0.8,
		"provenance": {"evidence": "I live in Porto now", "contradicts": "an older address"}}`
	deltas := must(acme.Decode(strings.NewReader(answer)))
	receipts := must(acme.ApplyBatch(ctx, sgam.Batch{Episodes: []sgam.Episode{said("e1", 1)}, Deltas: deltas}))
	fmt.Println(receipts[0].Outcome)

	_, err := acme.Decode(strings.NewReader(`{"op": "assert", "subject": "mira", "valid_from": "2026-06-01T08:00"}`))
	fmt.Println(err)
	// Output:
	// applied
	// deltas/0/valid_from: format: want a time with an offset such as 2026-06-03T10:00:00Z, or a date
}

func ExampleTenant_ApplyBatch() {
	clock := day(1)
	acme, done := newTenant(&clock)
	defer done()

	batch := sgam.Batch{
		Episodes: []sgam.Episode{said("e1", 1)},
		Deltas: []sgam.MemoryDelta{
			HomeCity.Assert("mira", "Porto", day(1)).FromID("e1"),
			{Op: sgam.Assert, Subject: "mira", Attribute: "home_city", Value: json.RawMessage(`7`), EpisodeID: "e1"},
		},
		AllOrNothing: true,
	}
	all := must(acme.ApplyBatch(ctx, batch))
	fmt.Println("all or nothing:", all[0].Outcome, all[1].Outcome)

	batch.AllOrNothing = false
	each := must(acme.ApplyBatch(ctx, batch))
	fmt.Println("each by itself:", each[0].Outcome, each[1].Outcome)
	// Output:
	// all or nothing: rejected rejected
	// each by itself: applied rejected
}

func ExampleTenant_Preview() {
	clock := day(1)
	acme, done := newTenant(&clock)
	defer done()

	must(acme.Apply(ctx, HomeCity.Assert("mira", "Porto", day(1)).From(said("e1", 1))))

	plan := must(acme.Preview(ctx, sgam.Batch{Deltas: []sgam.MemoryDelta{
		HomeCity.Correct("mira", "Braga", day(1)).From(said("e2", 1)),
	}}))
	fmt.Println("would be", plan[0].Outcome, "and have", plan[0].Displaced[0].How, "a fact")
	fmt.Println("it is still", must(HomeCity.Get(ctx, acme.Current(), "mira")).V)
	// Output:
	// would be applied and have replaced a fact
	// it is still Porto
}

func ExampleMemoryDelta_With() {
	clock := day(1)
	acme, done := newTenant(&clock)
	defer done()

	first := must(acme.Apply(ctx, HomeCity.Assert("mira", "Porto", day(1)).From(said("e1", 1))))
	unless := func(current sgam.MemoryID) func(*sgam.MemoryDelta) {
		return func(d *sgam.MemoryDelta) { d.ExpectCurrent = &current }
	}
	// Two agents read Porto; each wants to replace what it saw, and nothing else.
	one := must(acme.Apply(ctx, HomeCity.Assert("mira", "Lyon", day(2)).From(said("e2", 2)).With(unless(first.Memory))))
	two := must(acme.Apply(ctx, HomeCity.Assert("mira", "Nice", day(2)).From(said("e3", 2)).With(unless(first.Memory))))
	fmt.Println(one.Outcome, two.Outcome, two.Code)
	// Output:
	// applied rejected guard
}

func ExampleTenant_Accept() {
	clock := day(1)
	acme, done := newTenant(&clock)
	defer done()

	candidate := must(acme.Apply(ctx, IBAN.Assert("mira", "PT50 0002", day(1)).From(said("e1", 1))))
	fmt.Println(candidate.Outcome)
	other := must(acme.Apply(ctx, IBAN.Assert("mira", "XX00 6666", day(1)).From(said("e2", 1))))

	clock = day(2)
	accepted := must(acme.As("mira").Accept(ctx, candidate.Memory))
	declined := must(acme.As("mira").Decline(ctx, other.Memory))
	fmt.Println(accepted.Outcome, declined.Outcome)
	fmt.Println(must(IBAN.Get(ctx, acme.Current(), "mira")).V)
	// Output:
	// pending
	// applied declined
	// PT50 0002
}

func ExampleTenant_Held() {
	clock := day(1)
	acme, done := newTenant(&clock)
	defer done()

	sure := func(c float64) func(*sgam.MemoryDelta) {
		return func(d *sgam.MemoryDelta) { d.Confidence = &c }
	}
	strong := must(acme.Apply(ctx, ShoeSize.Assert("mira", 38, day(1)).From(said("e1", 1)).With(sure(0.9))))
	must(acme.Apply(ctx, ShoeSize.Assert("mira", 41, day(1)).From(said("e2", 1)).With(sure(0.4))))

	for h, err := range acme.Held(ctx, sgam.Disputed) {
		if err != nil {
			panic(err)
		}
		fmt.Println(h.Status, string(h.Delta.Value), "lost to the first:", slices.Contains(h.LostTo, strong.Memory))
	}
	// Output:
	// disputed 41 lost to the first: true
}

func ExampleTenant_Withdraw() {
	clock := day(1)
	acme, done := newTenant(&clock)
	defer done()

	must(acme.Apply(ctx, HomeCity.Assert("mira", "Porto", day(1)).From(said("e1", 1))))
	poisoned := must(acme.Apply(ctx, HomeCity.Assert("mira", "Atlantis", day(2)).From(said("e2", 2))))
	clock = day(9)
	receipt := must(acme.Withdraw(ctx, sgam.Withdrawal{Episode: "e2", Reason: "the message was forged"}))

	now := must(HomeCity.Get(ctx, acme.Current(), "mira"))
	fmt.Println(receipt.Outcome, "to", len(receipt.Withdrawn), "fact: we believe", now.V)
	then := must(HomeCity.Get(ctx, acme.ValidAt(day(5)).KnownAt(poisoned.Known), "mira"))
	fmt.Println("until then we believed", then.V)
	// Output:
	// applied to 1 fact: we believe Porto
	// until then we believed Atlantis
}

func ExampleTenant_Outcomes() {
	clock := day(1)
	acme, done := newTenant(&clock)
	defer done()

	must(acme.As("agent-7").Apply(ctx, HomeCity.Assert("mira", "Porto", day(1)).From(said("e1", 1))))
	must(acme.As("agent-7").Apply(ctx, sgam.MemoryDelta{
		Op: sgam.Assert, Subject: "mira", Attribute: "home_town", Value: json.RawMessage(`"Porto"`),
	}.From(said("e2", 1))))

	for o, err := range acme.Outcomes(ctx, sgam.Rejected) {
		if err != nil {
			panic(err)
		}
		fmt.Println(o.Outcome, o.Code, o.Pointer, "by", o.Principal)
	}
	// Output:
	// rejected unknown_attribute /attribute by agent-7
}
