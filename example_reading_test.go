package sgam_test

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/sgam-ledger/sgam"
)

func ExampleView_Get_noValue() {
	clock := day(1)
	acme, done := newTenant(&clock)
	defer done()

	must(acme.Apply(ctx, HomeCity.Assert("mira", "Porto", day(1)).From(said("e1", 1))))
	clock = day(5)
	must(acme.Apply(ctx, HomeCity.End("mira", day(5)).From(said("e2", 5))))

	for _, subject := range []string{"mira", "tom"} {
		_, err := acme.Current().Get(ctx, subject, "home_city")
		switch none, ok := errors.AsType[*sgam.NoValueError](err); {
		case errors.Is(err, sgam.ErrAbsent) && ok:
			fmt.Println(subject, "has none: said in", none.By.Episode)
		case errors.Is(err, sgam.ErrUnknown):
			fmt.Println(subject, "never told us")
		default:
			panic(err)
		}
	}
	// Output:
	// mira has none: said in e2
	// tom never told us
}

func ExampleView_KnownAt() {
	clock := day(1)
	acme, done := newTenant(&clock)
	defer done()

	receipt := must(acme.Apply(ctx, HomeCity.Assert("mira", "Porto", day(1)).From(said("e1", 1))))
	token := receipt.Known

	clock = day(9)
	must(acme.Apply(ctx, HomeCity.Assert("mira", "Lyon", day(9)).From(said("e2", 9))))

	// Whoever holds the token reads the ledger as it was when the receipt was written.
	fmt.Println(must(HomeCity.Get(ctx, acme.KnownAt(token), "mira")).V)
	fmt.Println(must(HomeCity.Get(ctx, acme.Current(), "mira")).V)
	// Output:
	// Porto
	// Lyon
}

func ExampleView_Timeline() {
	clock := day(1)
	acme, done := newTenant(&clock)
	defer done()

	must(acme.Apply(ctx, HomeCity.Assert("mira", "Porto", day(1)).Until(day(4)).From(said("e1", 1))))
	must(acme.Apply(ctx, HomeCity.Assert("mira", "Lyon", day(8)).From(said("e2", 2))))
	must(acme.Apply(ctx, HomeCity.End("mira", day(20)).From(said("e3", 3))))

	for s, err := range acme.Current().Timeline(ctx, sgam.Slot{Subject: "mira", Attribute: "home_city"}) {
		switch {
		case err != nil:
			panic(err)
		case s.Reason != nil:
			fmt.Println(s.Valid.From.Format(time.DateOnly), s.Reason)
		default:
			fmt.Println(s.Valid.From.Format(time.DateOnly), string(s.Fact.Value))
		}
	}
	// Output:
	// 2026-06-01 "Porto"
	// 2026-06-04 sgam: unknown
	// 2026-06-08 "Lyon"
	// 2026-06-20 sgam: absent
}

func ExampleTenant_Believed() {
	clock := day(1)
	acme, done := newTenant(&clock)
	defer done()

	must(acme.Apply(ctx, HomeCity.Assert("mira", "Porto", day(1)).From(said("e1", 1))))
	clock = day(9)
	must(acme.Apply(ctx, HomeCity.Assert("mira", "Lyon", day(5)).From(said("e2", 9))))

	slot := sgam.Slot{Subject: "mira", Attribute: "home_city"}
	for b, err := range acme.Believed(ctx, slot, day(7)) {
		if err != nil {
			panic(err)
		}
		fmt.Println("from", b.Known.From.Format(time.DateOnly), "we believed", string(b.Fact.Value))
	}
	// Output:
	// from 2026-06-01 we believed "Porto"
	// from 2026-06-09 we believed "Lyon"
}

func ExampleTenant_History() {
	clock := day(1)
	acme, done := newTenant(&clock)
	defer done()

	must(acme.Apply(ctx, HomeCity.Assert("mira", "Porto", day(1)).From(said("e1", 1))))
	clock = day(2)
	must(acme.Apply(ctx, HomeCity.Assert("mira", "Porto", day(2)).From(said("e2", 2))))
	clock = day(9)
	must(acme.Apply(ctx, HomeCity.Correct("mira", "Braga", day(1)).Until(day(3)).From(said("e3", 9))))

	for e, err := range acme.History(ctx, sgam.Slot{Subject: "mira", Attribute: "home_city"}) {
		if err != nil {
			panic(err)
		}
		fmt.Println(e.Fact.Episode, e.Fact.Op, string(e.Fact.Value), "displaced", len(e.Displaced), "confirmed", len(e.Confirms))
	}
	// Output:
	// e1 assert "Porto" displaced 0 confirmed 0
	// e2 assert "Porto" displaced 0 confirmed 1
	// e3 correct "Braga" displaced 1 confirmed 0
}

func ExampleTenant_Diff() {
	clock := day(1)
	acme, done := newTenant(&clock)
	defer done()

	before := must(acme.Apply(ctx, HomeCity.Assert("mira", "Porto", day(1)).From(said("e1", 1))))
	clock = day(9)
	after := must(acme.Apply(ctx, HomeCity.Correct("mira", "Braga", day(1)).Until(day(3)).From(said("e2", 9))))

	for d, err := range acme.Diff(ctx, before.Known, after.Known, sgam.Filter{Subjects: []string{"mira"}}) {
		if err != nil {
			panic(err)
		}
		fmt.Println(d.Valid.From.Format(time.DateOnly), "to", d.Valid.To.Format(time.DateOnly))
		fmt.Println(string(d.Before.Fact.Value), "became", string(d.After.Fact.Value))
		fmt.Println("because of the correction:", d.Cause == after.Memory)
	}
	// Output:
	// 2026-06-01 to 2026-06-03
	// "Porto" became "Braga"
	// because of the correction: true
}

func ExampleView_Explain() {
	clock := day(1)
	acme, done := newTenant(&clock)
	defer done()

	must(acme.As("agent-7").Apply(ctx, Deadline.Assert("mira", sgam.DateOf(day(15)), day(1)).From(said("e1", 1))))
	clock = day(3)
	must(acme.As("agent-7").Apply(ctx, Deadline.Assert("mira", sgam.DateOf(day(30)), day(3)).From(said("e2", 3))))

	x := must(acme.Current().Explain(ctx, sgam.Slot{Subject: "mira", Attribute: "passport_deadline"}))
	fmt.Println("is:", string(x.Now.Fact.Value))
	fmt.Println("was:", len(x.Was), "values")
	fmt.Println("said in:", x.Source.ID, x.Source.Kind)
	fmt.Println("written by:", x.Principal)
	fmt.Println("replaced:", len(x.Replaced), "fact,", x.Replaced[0].How)
	fmt.Println("kept as:", x.RetentionPolicy)
	// Output:
	// is: "2026-06-30"
	// was: 2 values
	// said in: e2 message
	// written by: agent-7
	// replaced: 1 fact, ended
	// kept as: identity_documents
}

func ExampleView_Facts() {
	clock := day(1)
	acme, done := newTenant(&clock)
	defer done()

	must(acme.Apply(ctx, HomeCity.Assert("mira", "Porto", day(1)).From(said("e1", 1))))
	must(acme.Apply(ctx, HomeCity.Assert("tom", "Oslo", day(1)).From(said("e2", 1))))
	must(acme.Apply(ctx, ShoeSize.Assert("tom", 44, day(1)).From(said("e3", 1)).With(func(d *sgam.MemoryDelta) {
		confidence := 0.7
		d.Confidence = &confidence
	})))

	for f, err := range acme.Current().Facts(ctx, sgam.Filter{Subjects: []string{"tom"}}) {
		if err != nil {
			panic(err)
		}
		fmt.Println(f.Subject, f.Attribute, string(f.Value))
	}
	// Unordered output:
	// tom home_city "Oslo"
	// tom shoe_size 44
}

func ExampleView_Members() {
	clock := day(1)
	acme, done := newTenant(&clock)
	defer done()

	must(acme.Apply(ctx, Allergy.Assert("mira", "penicillin", day(1)).From(said("e1", 1))))
	must(acme.Apply(ctx, Allergy.Assert("mira", "nuts", day(2)).From(said("e2", 2))))
	clock = day(9)
	must(acme.Apply(ctx, Allergy.EndMember("mira", "nuts", day(9)).From(said("e3", 9))))

	for _, when := range []time.Time{day(5), day(10)} {
		var names []string
		for a, err := range Allergy.Members(ctx, acme.ValidAt(when), "mira") {
			if err != nil {
				panic(err)
			}
			names = append(names, a.V)
		}
		slices.Sort(names)
		fmt.Println(names)
	}

	// Of somebody who has none, somebody has to say so: End without a member.
	must(acme.Apply(ctx, Allergy.End("tom", day(9)).From(said("e4", 9))))
	for _, err := range acme.Current().Members(ctx, "tom", "allergy") {
		fmt.Println(errors.Is(err, sgam.ErrAbsent))
	}
	// Output:
	// [nuts penicillin]
	// [penicillin]
	// true
}

func ExampleView_In() {
	clock := day(1)
	acme, done := newTenant(&clock)
	defer done()

	private := func(d *sgam.MemoryDelta) { d.Scope = "session-7" }
	must(acme.Apply(ctx, HomeCity.Assert("mira", "Porto", day(1)).From(said("e1", 1))))
	must(acme.Apply(ctx, HomeCity.Assert("mira", "a hotel", day(1)).From(said("e2", 1)).With(private)))

	fmt.Println(must(HomeCity.Get(ctx, acme.Current(), "mira")).V)
	fmt.Println(must(HomeCity.Get(ctx, acme.Current().In("session-7", ""), "mira")).V)
	fmt.Println(must(HomeCity.Get(ctx, acme.Current().In("session-8", ""), "mira")).V)
	// Output:
	// Porto
	// a hotel
	// Porto
}

func ExampleLedger_Verify() {
	clock := day(1)
	acme, done := newTenant(&clock)
	defer done()

	must(acme.Apply(ctx, HomeCity.Assert("mira", "Porto", day(1)).From(said("e1", 1))))
	must(acme.Apply(ctx, HomeCity.Correct("mira", "Braga", day(1)).Until(day(3)).From(said("e2", 1))))

	findings := 0
	for err := range acme.Verify(ctx) {
		fmt.Println(err)
		findings++
	}
	fmt.Println(findings, "findings")
	// Output:
	// 0 findings
}
