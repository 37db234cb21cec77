package ledgertest

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/sgam-ledger/sgam"
)

func storeLaws() []law {
	return []law{
		{"tag-is-identity", "an attribute is its tag: a rename keeps every fact, and another attribute never inherits them", tagIsIdentity},
		{"newest-version-writes", "a name or an attribute that the newest version does not have is read and never written, by a program that was open before too", newestVersionWrites},
		{"absence-of-one-member", "an absence of one member is never told as one of the whole attribute", absenceOfOneMember},
		{"withdrawn-candidates", "a withdrawal declines what its source left pending, says so, and twice is a duplicate", withdrawnCandidates},
		{"registry", "a frozen version never changes, versions have no gaps, and a name means one attribute", registry},
		{"acked-is-stored", "what was acknowledged is there after the ledger was closed and opened again", ackedIsStored},
		{"read-inside-a-loop", "a list holds no connection while the caller's loop runs: it may read and write there", readInsideALoop},
		{"break-out-of-a-loop", "a caller may leave a list early, as often as it likes", breakOutOfALoop},
		{"long-lists", "a list of many pages has everything once, in order, whatever is written while it is read", longLists},
		{"closed", "a closed ledger says so, and does nothing", closedLedger},
		{"read-only", "a ledger opened for reading cannot be written, and one without schemas cannot judge", readOnlyLedger},
		{"preview-writes-nothing", "a preview says what a call would do and leaves no trace", previewWritesNothing},
		{"arrival-order", "for open-ended assertions and ends of distinct starts, the final values do not depend on the order of arrival", arrivalOrder},
		{"lists-are-the-points", "a timeline has no gaps and joins what is equal, and what it and a list of beliefs say is what point reads say", listsAreThePoints},
		{"one-call-is-its-steps", "statements that are folded in one call leave what they leave one by one", foldedCalls},
		{"strangers-are-untouched", "a statement changes nothing outside its slot and its reach", strangersAreUntouched},
	}
}

func tagIsIdentity(b *bench) {
	place := b.fresh(b.TB)
	schemas := NewSchemas(Attribute{Type: "person", Name: "city", Tag: 1}, Attribute{Type: "person", Name: "job", Tag: 2})
	opts := b.options(1)
	opts.Schemas = schemas
	l := b.open(place, opts)
	b.apply(b.tenant(l, "t"), say(sgam.Assert, "s", "city", `"Rome"`, at(0), "e1"), sgam.Applied)
	doc := schemas.Next("person", Attribute{Name: "town", Tag: 1, Aliases: []string{"city"}}, Attribute{Name: "post", Tag: 3}, Attribute{Name: "job", Tag: 2})
	b.ok(l.Register(b.Context(), doc))
	b.ok(l.Register(b.Context(), doc))
	again := b.open(place, opts)
	for _, l := range []*sgam.Ledger{l, again} {
		t := b.tenant(l, "t")
		for _, name := range []string{"town", "city"} {
			f, err := t.Current().Get(b.Context(), "s", name)
			b.ok(err)
			b.same("value by "+name, `"Rome"`, string(f.Value))
			b.same("name of the attribute", "town", f.Attribute)
			b.same("version of the value", "1", fmt.Sprint(f.SchemaVersion))
		}
		_, err := t.Current().Get(b.Context(), "s", "post")
		b.fails(sgam.ErrUnknown, err)
	}
	r := b.apply(b.tenant(again, "t"), say(sgam.Assert, "s", "town", `"Oslo"`, at(1), "e2"), sgam.Applied)
	if r.Supersedes.IsZero() {
		b.Error("a value under the new name does not supersede one under the old")
	}
	types, err := again.Types(b.Context())
	b.ok(err)
	if len(types) != 2 || types[0].Version != 1 || types[1].Version != 2 {
		b.Fatalf("want two versions in order, got %d", len(types))
	}
	first, second := types[0].IDs, types[1].IDs
	if first[0] != second[0] || first[1] != second[2] || slices.Contains(first, second[1]) {
		b.Errorf("ids do not follow the tags: %v, then %v", first, second)
	}
}

func registry(b *bench) {
	place := b.fresh(b.TB)
	opts := b.options(1, Attribute{Type: "a", Name: "x"}, Attribute{Type: "b", Name: "y"})
	l := b.open(place, opts)
	types := func() string {
		types, err := l.Types(b.Context())
		b.ok(err)
		var out []string
		for _, t := range types {
			out = append(out, fmt.Sprintf("%s@%d%v", t.Type, t.Version, t.IDs))
		}
		return strings.Join(out, " ")
	}
	before := types()
	other := NewSchemas(Attribute{Type: "a", Name: "x", Value: "string"})
	drift, err := other.Declared()
	b.ok(err)
	b.fails(sgam.ErrSchemaDrift, l.Register(b.Context(), drift[0]))
	gap := other.Next("a", Attribute{Name: "x"})
	gap.Version = 3
	b.fails(sgam.ErrSchemaGap, l.Register(b.Context(), gap))
	taken := NewSchemas(Attribute{Type: "c", Name: "z", Aliases: []string{"x"}})
	docs, err := taken.Declared()
	b.ok(err)
	if err := l.Register(b.Context(), docs[0]); err == nil {
		b.Error("one name may mean two attributes")
	}
	b.same("registry after refusals", before, types())

	opts.Schemas = other
	if _, err := place(b.Context(), opts); !errors.Is(err, sgam.ErrSchemaDrift) {
		b.Errorf("open with another schema of the same version: want %q, got %v", sgam.ErrSchemaDrift, err)
	}
	b.same("registry after a failed open", before, types())
}

func ackedIsStored(b *bench) {
	p, err := newPlayer(b.Context(), b.fresh(b.TB), 7)
	b.ok(err)
	b.Cleanup(func() { p.close(b.TB) })
	for step, a := range randomHistory(7, 40) {
		a.reopen = false
		_, err := p.play(step, a)
		b.ok(err)
	}
	before, err := p.survey()
	b.ok(err)
	b.ok(p.l.Close())
	p.l, err = p.place(b.Context(), &p.opts)
	b.ok(err)
	after, err := p.survey()
	b.ok(err)
	if i, differ := firstDifference(before, after); differ {
		b.Errorf("after closing and opening:\n  before %s\n  after  %s", lineAt(before, i), lineAt(after, i))
	}
}

// filled is a tenant with so many subjects and so many facts in one slot.
func filled(b *bench, n int) *sgam.Tenant {
	b.Helper()
	t := b.tenant(b.ledger(Attribute{Name: "x"}, Attribute{Name: "many", Many: true}), "t")
	var batch sgam.Batch
	for i := range n {
		batch.Deltas = append(batch.Deltas, say(sgam.Assert, fmt.Sprintf("s%04d", i), "x", "1", at(0), fmt.Sprint("e", i)))
		batch.Deltas = append(batch.Deltas, say(sgam.Assert, "one", "x", fmt.Sprint(i), at(i), fmt.Sprint("f", i)))
		batch.Deltas = append(batch.Deltas, say(sgam.Assert, "one", "many", fmt.Sprint(i), at(0), fmt.Sprint("g", i)))
	}
	for part := range slices.Chunk(batch.Deltas, 300) {
		b.clock.Advance(time.Second)
		receipts, err := t.ApplyBatch(b.Context(), sgam.Batch{Deltas: part})
		b.ok(err)
		for _, r := range receipts {
			b.ok(r.Err())
		}
	}
	return t
}

func readInsideALoop(b *bench) {
	t := filled(b, 20)
	ctx, cancel := context.WithTimeout(b.Context(), 30*time.Second)
	defer cancel()
	n := 0
	for f, err := range t.ValidAt(at(0)).Facts(ctx, sgam.Filter{}) {
		b.ok(err)
		for _, err := range t.Current().Timeline(ctx, sgam.Slot{Subject: "one", Attribute: "x"}) {
			b.ok(err)
			_, err := t.ValidAt(at(0)).Get(ctx, f.Subject, "x")
			b.ok(err)
			break
		}
		_, err = t.Apply(ctx, say(sgam.Assert, f.Subject, "x", `"new"`, at(30), fmt.Sprint("w", n)))
		b.ok(err)
		n++
	}
	b.same("facts seen", "41", fmt.Sprint(n))
}

func breakOutOfALoop(b *bench) {
	t := filled(b, 20)
	ctx, cancel := context.WithTimeout(b.Context(), 30*time.Second)
	defer cancel()
	slot := sgam.Slot{Subject: "one", Attribute: "x"}
	for range 60 {
		leave(b, t.Current().Facts(ctx, sgam.Filter{}))
		leave(b, t.Current().Members(ctx, "one", "many"))
		leave(b, t.Current().Timeline(ctx, slot))
		leave(b, t.Believed(ctx, slot, at(1)))
		leave(b, t.History(ctx, slot))
		leave(b, t.Diff(ctx, at(-1), at(1), sgam.Filter{}))
		leave(b, t.Outcomes(ctx))
	}
	b.same("facts afterwards", "41", counted(b, t.ValidAt(at(0)).Facts(ctx, sgam.Filter{})))
	b.same("facts with a limit", "3", counted(b, t.ValidAt(at(0)).Facts(ctx, sgam.Filter{Limit: 3})))
	b.same("differences with a limit", "3", counted(b, t.Diff(ctx, at(-1), at(1), sgam.Filter{Limit: 3})))
}

// leave takes the first item of a list and goes.
func leave[T any](b *bench, seq iter.Seq2[T, error]) {
	b.Helper()
	for _, err := range seq {
		b.ok(err)
		return
	}
	b.Error("a list that should have items is empty")
}

func longLists(b *bench) {
	const n = 600
	t := filled(b, n)
	slot := sgam.Slot{Subject: "one", Attribute: "x"}
	v := t.ValidAt(at(0))
	seen := map[string]int{}
	step := 0
	for f, err := range v.Facts(b.Context(), sgam.Filter{Attributes: []string{"x"}}) {
		b.ok(err)
		seen[f.Subject]++
		if step++; step%200 == 0 {
			// Written behind the reader and before it: the view is pinned, and sees neither.
			b.clock.Advance(time.Second)
			b.apply(t, say(sgam.Assert, "a", "x", "1", at(0), fmt.Sprint("a", step)), outcomeOf(step == 200))
			b.apply(t, say(sgam.Assert, "zz", "x", "1", at(0), fmt.Sprint("z", step)), outcomeOf(step == 200))
		}
	}
	for subject, times := range seen {
		if times != 1 || subject == "a" || subject == "zz" {
			b.Errorf("subject %q is listed %d times", subject, times)
		}
	}
	b.same("subjects", fmt.Sprint(n+1), fmt.Sprint(len(seen)))
	b.same("members", fmt.Sprint(n), counted(b, v.Members(b.Context(), "one", "many")))
	var last time.Time
	stretches := 0
	for s, err := range v.Timeline(b.Context(), slot) {
		b.ok(err)
		if stretches > 0 && !s.Valid.From.Equal(last) {
			b.Fatalf("stretch %d begins at %s, the one before ended at %s", stretches, textOf(s.Valid.From), textOf(last))
		}
		if s.Valid.To != nil {
			last = *s.Valid.To
		}
		stretches++
	}
	b.same("stretches", fmt.Sprint(n), fmt.Sprint(stretches))
	entries := 0
	for e, err := range t.History(b.Context(), slot) {
		b.ok(err)
		b.same("history in order", fmt.Sprint(entries), string(e.Fact.Value))
		entries++
	}
	b.same("history", fmt.Sprint(n), fmt.Sprint(entries))
	b.same("outcomes", fmt.Sprint(3*n+6), counted(b, t.Outcomes(b.Context())))
	b.same("differences", fmt.Sprint(3*n+2), counted(b, t.Diff(b.Context(), at(-1), at(1), sgam.Filter{})))
}

// outcomeOf is applied for the first of equal statements, confirmed for the others.
func outcomeOf(first bool) sgam.Outcome {
	if first {
		return sgam.Applied
	}
	return sgam.Confirmed
}
