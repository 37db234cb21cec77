package ledgertest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/sgam-ledger/sgam"
)

// copyLaws are about calls that are told as they were recorded, and recorded again elsewhere.
func copyLaws() []law {
	return []law{
		{"copies-say-the-same", "a copy of a ledger, made in two parts, answers every question in the same words and goes on as the original would", copiesSayTheSame},
		{"copies-keep-versions", "epochs, further forms, quarantine, drafts, lenses and the records of migrations go along with a copy", copiesKeepVersions},
		{"copies-take-no-other-history", "a call is recorded once and in its place: a repeat changes nothing, a gap or another call in its place is refused", copiesTakeNoOther},
		{"copies-are-read-in-pages", "calls are told in order and once each, from any known time on, whatever fits on a page", callsInPages},
	}
}

// copyAll is a copy of everything that the target lacks, some calls at a time.
func copyAll(ctx context.Context, from, to *sgam.Ledger) error {
	types, err := from.Types(ctx)
	if err != nil {
		return err
	}
	for i := range types {
		if err := to.AdoptType(ctx, types[i].TypeDocument); err != nil {
			return err
		}
	}
	for name, err := range from.Tenants(ctx) {
		if err != nil {
			return err
		}
		if err := copyTenant(ctx, from, to, name); err != nil {
			return fmt.Errorf("tenant %q: %w", name, err)
		}
	}
	return nil
}

func copyTenant(ctx context.Context, from, to *sgam.Ledger, name string) error {
	source, err := from.Tenant(name)
	if err != nil {
		return err
	}
	target, err := to.Tenant(name)
	if err != nil {
		return err
	}
	last, err := target.LastKnown(ctx)
	if err != nil {
		return err
	}
	var run []*sgam.StoredCall
	for call, err := range source.Calls(ctx, last) {
		if err != nil {
			return err
		}
		if run = append(run, call); len(run) == 7 {
			if err := target.Adopt(ctx, run); err != nil {
				return err
			}
			run = nil
		}
	}
	return target.Adopt(ctx, run)
}

func copiesSayTheSame(b *bench) {
	Copies(b.TB, 1, 40, b.fresh(b.TB), InMemory(nil), copyAll)
	Copies(b.TB, 2, 40, InMemory(nil), b.fresh(b.TB), copyAll)
}

// copiedFrom makes a copy and requires it to hold the same.
func (b *bench) copiedFrom(l *sgam.Ledger, to Place, schemas *Schemas) *sgam.Ledger {
	b.Helper()
	opts := b.options(9)
	opts.Schemas = schemas
	other := b.open(withOneKey(to), opts)
	b.ok(copyAll(b.Context(), l, other))
	b.holdTheSame(l, other)
	return other
}

func (b *bench) holdTheSame(l, other *sgam.Ledger) {
	b.Helper()
	want, err := portrait(b.Context(), l)
	b.ok(err)
	got, err := portrait(b.Context(), other)
	b.ok(err)
	if at, differ := firstDifference(want, got); differ {
		b.Errorf("the original has %s\n  the copy has %s", lineAt(want, at), lineAt(got, at))
	}
}

func copiesKeepVersions(b *bench) {
	for _, between := range []func() (from, to Place){
		func() (Place, Place) { return b.fresh(b.TB), InMemory(nil) },
		func() (Place, Place) { return InMemory(nil), b.fresh(b.TB) },
	} {
		from, to := between()
		migratedAndCopied(&bench{TB: b.TB, fresh: func(testing.TB) Place { return withOneKey(from) }}, to)
	}
}

func migratedAndCopied(b *bench, to Place) {
	s := newShop(b)
	b.apply(s.t, inVersion(1, "dan", "total", "10", at(0), "d1"), sgam.Applied)
	s.begin(2, 2, 1) // before anything has its form in version 2, so that an equal value gets a number of its own
	b.apply(s.t, inVersion(2, "dan", "amount", `{"currency":"","value":10}`, at(1), "d2"), sgam.Applied)
	b.apply(s.t, inVersion(1, "dan", "total", "10", at(2), "d3"), sgam.Confirmed)
	s.begin(1, 1, 0)
	b.apply(s.t, inVersion(1, "bob", "total", "13", at(0), "e2"), sgam.Applied)
	b.apply(s.t, inVersion(1, "bob", "total", "14", at(1), "e3"), sgam.Applied)
	s.begin(1, 1, 2)
	b.apply(s.t, inVersion(2, "cid", "amount", `{"currency":"EUR","value":20}`, at(0), "e4"), sgam.Applied)
	b.apply(s.t, inVersion(1, "cid", "total", "13", at(1), "e5"), sgam.Applied)
	record := func(state string) {
		b.Helper()
		b.ok(s.t.Migrate(b.Context(), "order", func(step *sgam.MigrationStep) (*sgam.MigrationWrite, error) {
			return &sgam.MigrationWrite{Record: &sgam.MigrationRecord{Type: "order", Serial: 1, State: state, Body: []byte(`{"n":1}`)}}, nil
		}))
	}
	record("started")
	other := b.copiedFrom(s.l, to, s.schemas)
	done, refused := s.backfill()
	b.same("backfilled and refused", "3 2", fmt.Sprint(done, refused))
	s.clock.Advance(time.Hour)
	record("done")
	s.begin(2, 2, 0)
	b.apply(s.t, inVersion(2, "bob", "amount", `{"currency":"","value":14}`, at(2), "e6"), sgam.Confirmed)
	b.ok(copyAll(b.Context(), s.l, other)) // the copy goes on
	b.holdTheSame(s.l, other)
	t := b.tenant(other, "acme")
	for _, subject := range []string{"ann", "bob", "cid"} {
		for version := range 3 {
			for day := range 3 {
				b.same(fmt.Sprintf("%s in version %d on day %d", subject, version, day), s.shown(s.t.ValidAt(at(day)), version, subject),
					s.shown(t.ValidAt(at(day)), version, subject))
			}
		}
	}
	waiting := 0
	for q, err := range t.Quarantine(b.Context(), "order", 2) {
		b.ok(err)
		waiting++
		b.same("rule and place", "domain /value", q.Rule+" "+q.Pointer)
	}
	b.same("facts in quarantine", "2", fmt.Sprint(waiting))
	b.apply(t, inVersion(2, "ann", "amount", `{"currency":"","value":10}`, at(4), "e7"), sgam.Confirmed)
	b.apply(t, inVersion(2, "bob", "amount", `{"currency":"","value":14}`, at(2), "e6"), sgam.Duplicate)
}

func copiesTakeNoOther(b *bench) {
	from, to := b.open(InMemory(nil), b.options(1, Attribute{Name: "x"})), b.open(withMemoryKey(b.fresh(b.TB)), b.options(2, Attribute{Name: "x"}))
	source, target := b.tenant(from, "t"), b.tenant(to, "t")
	for i := range 5 {
		b.clock.Advance(time.Hour)
		b.apply(source, say(sgam.Assert, "s", "x", fmt.Sprint(i), at(i), fmt.Sprint("e", i)), sgam.Applied)
	}
	var calls []*sgam.StoredCall
	for call, err := range source.Calls(b.Context(), sgam.Beginning) {
		b.ok(err)
		calls = append(calls, call)
	}
	b.fails(sgam.ErrCallGap, target.Adopt(b.Context(), calls[1:3]))
	b.ok(target.Adopt(b.Context(), calls[:3]))
	b.ok(target.Adopt(b.Context(), calls[:4])) // three of them again
	b.clock.Advance(time.Hour)
	b.apply(target, say(sgam.Assert, "s", "x", "9", at(9), "else"), sgam.Applied)
	err := target.Adopt(b.Context(), calls[4:])
	b.fails(sgam.ErrOtherHistory, err)
	if errors.Is(err, sgam.ErrCallGap) {
		b.Errorf("another call in its place is told as a gap: %v", err)
	}
	unknown := *calls[4]
	unknown.Attributes = map[sgam.AttributeID]string{}
	if err := target.Adopt(b.Context(), []*sgam.StoredCall{&unknown}); err == nil {
		b.Error("a call about an attribute that is not registered was recorded")
	}
	seqs := ""
	for call, err := range target.Calls(b.Context(), sgam.Beginning) {
		b.ok(err)
		seqs += fmt.Sprint(call.Seq, " ", len(call.Change.Facts), ";")
	}
	b.same("calls and their facts", "1 1;2 1;3 1;4 1;5 1;", seqs)
}

// withMemoryKey opens a place with the key of a ledger in memory.
func withMemoryKey(p Place) Place {
	return func(ctx context.Context, opts *sgam.Options) (*sgam.Ledger, error) {
		own := *opts
		own.Keys = keyOf{NewStore(nil).DigestKey()}
		return p(ctx, &own)
	}
}

type keyOf struct{ key []byte }

func (k keyOf) Key(context.Context, string, bool) ([]byte, error) { return k.key, nil }

func callsInPages(b *bench) {
	l := b.ledger(Attribute{Name: "x"})
	t := b.tenant(l, "t")
	const many = 600
	for i := range many {
		b.clock.Advance(time.Second)
		b.apply(t.As(fmt.Sprint("p", i%3)), say(sgam.Assert, fmt.Sprint("s", i%7), "x", fmt.Sprint(i), at(i), fmt.Sprint("e", i)), sgam.Applied)
	}
	read := func(after sgam.Instant) (seqs []int64, known sgam.Instant) {
		for call, err := range t.Calls(b.Context(), after) {
			b.ok(err)
			if f := call.Change.Facts; len(f) != 1 || f[0].Number != call.Seq || len(call.Change.Outcomes) != 1 || len(call.Change.Episodes) != 1 ||
				call.Change.Episodes[0].ID != fmt.Sprint("e", call.Seq-1) || call.Principal != fmt.Sprint("p", (call.Seq-1)%3) {
				b.Fatalf("call %d has other content", call.Seq)
			}
			seqs = append(seqs, call.Seq)
			if call.Seq == many/2 {
				known = call.Change.Known
			}
		}
		return seqs, known
	}
	all, half := read(sgam.Beginning)
	rest, _ := read(half)
	for i, seq := range append(all, rest...) {
		want := int64(i) + 1
		if i >= many {
			want -= many / 2
		}
		if seq != want {
			b.Fatalf("call %d where call %d was due", seq, want)
		}
	}
	b.same("calls, and those from the middle on", "600 300", fmt.Sprint(len(all), len(rest)))
	last, err := t.LastKnown(b.Context())
	b.ok(err)
	none, _ := read(last)
	b.same("calls after the last one", "0", fmt.Sprint(len(none)))
}
