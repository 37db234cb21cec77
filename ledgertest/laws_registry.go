package ledgertest

import (
	"fmt"

	"github.com/sgam-ledger/sgam"
)

func newestVersionWrites(b *bench) {
	place := b.fresh(b.TB)
	schemas := NewSchemas(Attribute{Type: "person", Name: "city", Tag: 1}, Attribute{Type: "person", Name: "job", Tag: 2})
	opts := b.options(1)
	opts.Schemas = schemas
	early := b.open(place, opts)
	b.apply(b.tenant(early, "t"), say(sgam.Assert, "s", "job", `"baker"`, at(0), "e1"), sgam.Applied)
	late := b.open(place, opts)
	b.ok(late.Register(b.Context(), schemas.Next("person", Attribute{Name: "town", Tag: 1, Value: "string"})))
	for name, l := range map[string]*sgam.Ledger{"that registered it": late, "that was open before": early} {
		t := b.tenant(l, "t")
		for _, gone := range []string{"city", "job"} {
			r := b.apply(t, say(sgam.Assert, "s", gone, `"x"`, at(1), "e of "+gone), sgam.Rejected)
			b.same(name+": code for "+gone, "schema_version", r.Code)
		}
		r := b.apply(t, say(sgam.Assert, "s", "town", `7`, at(1), "e3"), sgam.Rejected)
		b.same(name+": the rules are the newest", "schema", r.Code)
		f, err := t.Current().Get(b.Context(), "s", "job")
		b.ok(err)
		b.same(name+": what was said is read", `"baker"`, string(f.Value))
	}
	versioned := say(sgam.Assert, "s", "town", `"Rome"`, at(2), "e4")
	versioned.SchemaVersion = 2
	b.apply(b.tenant(early, "t"), versioned, sgam.Applied)
}

func absenceOfOneMember(b *bench) {
	t := b.tenant(b.ledger(Attribute{Name: "allergy", Many: true}), "t")
	b.apply(t, say(sgam.End, "mira", "allergy", `"nuts"`, at(0), "e1"), sgam.Applied)
	n := 0
	for d, err := range t.Diff(b.Context(), at(-1000), at(1000), sgam.Filter{}) {
		b.ok(err)
		n++
		b.same("member of the difference", `"nuts"`, string(d.Slot.Member))
	}
	b.same("differences", "1", fmt.Sprint(n))
	f, err := t.Current().Member(b.Context(), sgam.Slot{Subject: "mira", Attribute: "allergy", Member: []byte(`"nuts"`)})
	b.fails(sgam.ErrAbsent, err)
	b.same("value of an absence", "", string(f.Value))
	_, err = t.Current().Member(b.Context(), sgam.Slot{Subject: "mira", Attribute: "allergy", Member: []byte(`"eggs"`)})
	b.fails(sgam.ErrUnknown, err)
}

func withdrawnCandidates(b *bench) {
	t := b.tenant(b.ledger(Attribute{Name: "address", Policy: sgam.ConfirmFirst}), "t")
	b.apply(t, say(sgam.Assert, "s", "address", `"a"`, at(0), "e1"), sgam.Pending)
	r, err := t.Withdraw(b.Context(), sgam.Withdrawal{Episode: "e1"})
	b.ok(err)
	b.same("outcome", "applied", string(r.Outcome))
	b.same("declined", "1", fmt.Sprint(len(r.DeclinedPending)))
	declined := 0
	for o, err := range t.Outcomes(b.Context(), sgam.Declined) {
		b.ok(err)
		declined++
		b.same("candidate", r.DeclinedPending[0].String(), o.Memory.String())
	}
	b.same("declined outcomes", "1", fmt.Sprint(declined))
	r, err = t.Withdraw(b.Context(), sgam.Withdrawal{Episode: "e1"})
	b.ok(err)
	b.same("the second time", "duplicate", string(r.Outcome))
	_, err = t.Withdraw(b.Context(), sgam.Withdrawal{Episode: "e2"})
	b.fails(sgam.ErrNotFound, err)
}
