package ledgertest

import (
	"errors"
	"fmt"
	"time"

	"github.com/sgam-ledger/sgam"
)

// everyCall makes every call that a handle has, and tells the error of each.
func everyCall(b *bench, l *sgam.Ledger, t *sgam.Tenant) map[string]error {
	ctx := b.Context()
	slot := sgam.Slot{Subject: "s", Attribute: "x"}
	d := say(sgam.Assert, "s", "x", "9", at(9), "e9")
	errs := map[string]error{}
	keep := func(what string, err error) { errs[what] = err }
	_, err := l.Tenant("t")
	keep("Tenant", err)
	_, err = l.Types(ctx)
	keep("Types", err)
	_, err = t.Apply(ctx, d)
	keep("Apply", err)
	_, err = t.ApplyBatch(ctx, sgam.Batch{Deltas: []sgam.MemoryDelta{d}})
	keep("ApplyBatch", err)
	_, err = t.Preview(ctx, sgam.Batch{Deltas: []sgam.MemoryDelta{d}})
	keep("Preview", err)
	keep("Record", t.Record(ctx, *d.Episode))
	_, err = t.Withdraw(ctx, sgam.Withdrawal{Episode: "e9"})
	keep("Withdraw", err)
	_, err = t.Accept(ctx, sgam.MemoryID{1})
	keep("Accept", err)
	_, err = t.Decline(ctx, sgam.MemoryID{1})
	keep("Decline", err)
	_, err = t.Current().Get(ctx, "s", "x")
	keep("Get", err)
	_, err = t.Current().Member(ctx, slot)
	keep("Member", err)
	_, err = t.Current().Explain(ctx, slot)
	keep("Explain", err)
	_, err = t.Memory(ctx, sgam.MemoryID{1})
	keep("Memory", err)
	_, err = t.Episode(ctx, "e1")
	keep("Episode", err)
	keep("Tenants", firstError(l.Tenants(ctx)))
	keep("Members", firstError(t.Current().Members(ctx, "s", "x")))
	keep("Facts", firstError(t.Current().Facts(ctx, sgam.Filter{})))
	keep("Timeline", firstError(t.Current().Timeline(ctx, slot)))
	keep("Believed", firstError(t.Believed(ctx, slot, at(1))))
	keep("History", firstError(t.History(ctx, slot)))
	keep("Diff", firstError(t.Diff(ctx, at(0), at(1), sgam.Filter{})))
	keep("Outcomes", firstError(t.Outcomes(ctx)))
	keep("Held", firstError(t.Held(ctx)))
	for err := range l.Verify(ctx) {
		keep("Verify", err)
	}
	return errs
}

// firstError is the error that a list ends in, if it does.
func firstError[T any](seq func(func(T, error) bool)) error {
	for _, err := range seq {
		if err != nil {
			return err
		}
	}
	return nil
}

var writing = []string{"Apply", "ApplyBatch", "Record", "Withdraw", "Accept", "Decline"}

func closedLedger(b *bench) {
	place := b.fresh(b.TB)
	opts := b.options(1, Attribute{Name: "x"})
	l := b.open(place, opts)
	t := b.tenant(l, "t")
	b.apply(t, say(sgam.Assert, "s", "x", "1", at(0), "e1"), sgam.Applied)
	for what, err := range everyCall(b, l, t) {
		if errors.Is(err, sgam.ErrClosed) {
			b.Errorf("%s says that an open ledger is closed", what)
		}
	}
	b.ok(l.Close())
	calls := everyCall(b, l, t)
	calls["Close"] = l.Close()
	calls["Verify"] = firstOf(l, b)
	for what, err := range calls {
		if !errors.Is(err, sgam.ErrClosed) {
			b.Errorf("%s of a closed ledger: want %q, got %v", what, sgam.ErrClosed, err)
		}
	}
	l = b.open(place, opts)
	f, err := b.tenant(l, "t").ValidAt(at(1)).Get(b.Context(), "s", "x")
	b.ok(err)
	b.same("value after opening again", "1", string(f.Value))
}

func firstOf(l *sgam.Ledger, b *bench) error {
	for err := range l.Verify(b.Context()) {
		return err
	}
	return nil
}

func readOnlyLedger(b *bench) {
	place := b.fresh(b.TB)
	opts := b.options(1, Attribute{Name: "x"})
	b.apply(b.tenant(b.open(place, opts), "t"), say(sgam.Assert, "s", "x", "1", at(0), "e1"), sgam.Applied)
	only := *opts
	only.ReadOnly = true
	l := b.open(place, &only)
	t := b.tenant(l, "t")
	calls := everyCall(b, l, t)
	for _, what := range writing {
		b.fails(sgam.ErrReadOnly, calls[what])
	}
	for _, what := range []string{"Get", "Facts", "Timeline", "History", "Diff", "Outcomes", "Preview"} {
		if calls[what] != nil {
			b.Errorf("%s of a ledger opened for reading: %v", what, calls[what])
		}
	}
	b.fails(sgam.ErrReadOnly, l.Register(b.Context(), NewSchemas().Next("new", Attribute{Name: "new"})))

	bare := *opts
	bare.Schemas = nil
	l = b.open(place, &bare)
	calls = everyCall(b, l, b.tenant(l, "t"))
	for _, what := range writing {
		b.fails(sgam.ErrNoSchemas, calls[what])
	}
	f, err := b.tenant(l, "t").Current().Get(b.Context(), "s", "x")
	b.ok(err)
	b.same("value without schemas", "1", string(f.Value))
}

func previewWritesNothing(b *bench) {
	t := b.tenant(b.ledger(randomAttributes...), "t")
	b.apply(t, say(sgam.Assert, "mira", "plain", "1", at(0), "e1"), sgam.Applied)
	trace := func() string {
		p := &player{ctx: b.Context(), names: map[sgam.MemoryID]string{}, known: map[string][]time.Time{}, episodes: map[string][]string{"t": {"e1", "e2"}}}
		s := &surveyor{player: p, t: t}
		s.known["t"] = []time.Time{start}
		s.ask()
		b.ok(s.err)
		return fmt.Sprint(s.lines)
	}
	before := trace()
	for _, d := range []sgam.MemoryDelta{
		say(sgam.Assert, "mira", "plain", "2", at(0), "e2"), say(sgam.End, "mira", "plain", "", at(0), "e2"),
		say(sgam.Assert, "mira", "asked", "2", at(0), "e2"), say(sgam.Assert, "mira", "nowhere", "2", at(0), "e2"),
		say(sgam.Assert, "mira", "set.many", "1", at(0), "e2"),
	} {
		receipts, err := t.Preview(b.Context(), sgam.Batch{Deltas: []sgam.MemoryDelta{d}, Episodes: []sgam.Episode{*d.Episode}})
		b.ok(err)
		if after := trace(); after != before {
			b.Errorf("the preview of %s %s (%s) left a trace", d.Op, d.Attribute, receipts[0].Outcome)
		}
		again, err := t.Preview(b.Context(), sgam.Batch{Deltas: []sgam.MemoryDelta{d}})
		b.ok(err)
		b.same("the same preview again", string(receipts[0].Outcome), string(again[0].Outcome))
	}
	r := b.apply(t, say(sgam.Assert, "mira", "plain", "2", at(0), "e2"), sgam.Applied)
	if r.Supersedes.IsZero() {
		b.Error("what was previewed cannot be applied")
	}
	if trace() == before {
		b.Error("a write leaves no trace: the check sees nothing")
	}
}
