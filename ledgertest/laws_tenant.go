package ledgertest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/sgam-ledger/sgam"
)

func tenantLaws() []law {
	return []law{
		{"tenant-bytes", "tenants that differ in one byte, one case, one accent, a wildcard or a trailing space are strangers", tenantBytes},
		{"tenant-ids", "an id resolves inside its own tenant only: whoever guesses one learns nothing", tenantIDs},
		{"tenant-in-delta", "a model cannot write into another tenant by naming it", tenantInDelta},
		{"tenant-list", "operators see every tenant once, in byte order, a tenant that was only asked about never", tenantList},
		{"tenants-at-once", "writers of many tenants at once never end up in each other's ledgers", tenantsAtOnce},
		{"names-are-bytes", "scopes, subjects and episodes are compared byte by byte, as tenants are", namesAreBytes},
	}
}

// neighbours are names that something careless would take for the given one.
func neighbours(name string) []string {
	out := []string{
		name + " ", " " + name, name + "\u00a0", name + "\u200b", name + ".", name + "/", name + "%", name + "_", name + "*", name + "-corp",
		name + "'", name + "\"", name + ";--", "%", "_", "*", name[:len(name)-1], name[1:], strings.ToUpper(name), strings.ToLower(name),
		strings.ToUpper(name[:1]) + name[1:], strings.ReplaceAll(name, "a", "á"), strings.ReplaceAll(name, "a", "a\u0301"),
		strings.ReplaceAll(name, "a", "а"), strings.ReplaceAll(name, "e", "é"), strings.ReplaceAll(name, "e", "ё"), strings.ReplaceAll(name, "s", "ß"),
		strings.ReplaceAll(name, "s", "ſ"), strings.ReplaceAll(name, "i", "ı"), strings.ReplaceAll(name, "i", "İ"), strings.ReplaceAll(name, "k", "K"),
		strings.ReplaceAll(name, "-", "_"), strings.ReplaceAll(name, "_", "-"), strings.ReplaceAll(name, "-", "."), strings.ReplaceAll(name, "-", ""),
		strings.ReplaceAll(name, "0", "O"), strings.ReplaceAll(name, "l", "1"), strings.ReplaceAll(name, "l", "I"), name + name, "0" + name,
		strings.Repeat(name, 30),
	}
	for i := range len(name) {
		if name[i] < 0x7e {
			out = append(out, name[:i]+string(name[i]+1)+name[i+1:])
		}
		out = append(out, name[:i]+"_"+name[i+1:], name[:i]+"%"+name[i+1:], name[:i]+"?"+name[i+1:])
	}
	out = slices.DeleteFunc(out, func(s string) bool { return s == name || s == "" || !utf8.ValidString(s) })
	slices.Sort(out)
	return slices.Compact(out)
}

// tenantBytes writes into one tenant and asks its neighbours, one after the other, by every way there is.
func tenantBytes(b *bench) {
	names, pairs := []string{"acme-kilo_0", "ab", "a", "Straße", "agent-skills", "таблица"}, 0
	l := b.ledger(Attribute{Name: "x"}, Attribute{Name: "many", Many: true}, Attribute{Name: "asked", Policy: sgam.ConfirmFirst})
	none := nothing(b)
	for _, name := range names {
		t := b.tenant(l, name)
		b.apply(t, say(sgam.Assert, "s", "x", `"secret"`, at(0), "e1"), sgam.Applied)
		b.apply(t, say(sgam.Assert, "s", "many", `"secret"`, at(0), "e2"), sgam.Applied)
		b.apply(t, say(sgam.Assert, "s", "asked", `"secret"`, at(0), "e3"), sgam.Pending)
		b.apply(t, say(sgam.Assert, "", "x", `"secret"`, at(0), "e4"), sgam.Rejected)
		if everything(b, t) == none {
			b.Fatalf("tenant %q cannot read what it wrote", name)
		}
		for _, other := range neighbours(name) {
			if slices.Contains(names, other) {
				continue
			}
			pairs++
			if got := everything(b, b.tenant(l, other)); got != none {
				b.Errorf("tenant %q sees of %q:\n%s", other, name, got)
			}
		}
	}
	if pairs < 200 {
		b.Fatalf("only %d pairs of names", pairs)
	}
}

// everything is the answer of every read method about what tenantBytes writes.
func everything(b *bench, t *sgam.Tenant) string {
	ctx := b.Context()
	var out []string
	tell := func(what, answer string) { out = append(out, what+": "+answer) }
	slot, member := sgam.Slot{Subject: "s", Attribute: "x"}, sgam.Slot{Subject: "s", Attribute: "many", Member: []byte(`"secret"`)}
	for what, v := range map[string]sgam.View{
		"current": t.Current(), "valid": t.ValidAt(at(1)), "known": t.KnownAt(at(1)), "both": t.ValidAt(at(1)).KnownAt(at(1)), "scopes": t.Current().In("", "s1"),
	} {
		tell(what+" get", answer(v.Get(ctx, "s", "x")))
		tell(what+" member", answer(v.Member(ctx, member)))
		tell(what+" members", counted(b, v.Members(ctx, "s", "many")))
		tell(what+" facts", counted(b, v.Facts(ctx, sgam.Filter{})))
		tell(what+" facts of", counted(b, v.Facts(ctx, sgam.Filter{Subjects: []string{"s"}, Attributes: []string{"x"}, Types: []string{"observed"}})))
		tell(what+" timeline", counted(b, v.In("").Timeline(ctx, slot)))
		e, err := v.In("").Explain(ctx, slot)
		b.ok(err)
		tell(what+" explain", fmt.Sprint(e.Now.Fact != nil, len(e.Was), e.Source != nil, len(e.Replaced)))
	}
	tell("believed", counted(b, t.Believed(ctx, slot, at(1))))
	tell("history", counted(b, t.History(ctx, slot)))
	tell("history of a member", counted(b, t.History(ctx, member)))
	tell("diff", counted(b, t.Diff(ctx, at(-1), at(1), sgam.Filter{})))
	tell("outcomes", counted(b, t.Outcomes(ctx)))
	tell("held", counted(b, t.Held(ctx)))
	for _, id := range []string{"e1", "e2", "e3"} {
		_, err := t.Episode(ctx, id)
		tell("episode", fmt.Sprint(errors.Is(err, sgam.ErrNotFound)))
	}
	findings := 0
	for err := range t.Verify(ctx) {
		b.Errorf("%v", err)
		findings++
	}
	tell("verify", fmt.Sprint(findings))
	slices.Sort(out)
	return strings.Join(out, "\n")
}

// nothing is what a tenant that was never written answers.
func nothing(b *bench) string {
	return everything(b, b.tenant(NewLedger(b.TB, b.options(1, Attribute{Name: "x"}, Attribute{Name: "many", Many: true}, Attribute{Name: "asked"})), "t"))
}

// counted is how many items a list has.
func counted[T any](b *bench, seq func(func(T, error) bool)) string {
	b.Helper()
	n := 0
	for _, err := range seq {
		b.ok(err)
		n++
	}
	return fmt.Sprint(n)
}

func tenantIDs(b *bench) {
	l := b.ledger(Attribute{Name: "x"}, Attribute{Name: "asked", Policy: sgam.ConfirmFirst})
	a, other := b.tenant(l, "a"), b.tenant(l, "b")
	fact := b.apply(a, say(sgam.Assert, "s", "x", "1", at(0), "e1"), sgam.Applied)
	held := b.apply(a, say(sgam.Assert, "s", "asked", "1", at(0), "e2"), sgam.Pending)
	b.apply(other, say(sgam.Assert, "s", "x", "2", at(0), "f1"), sgam.Applied)
	ctx := b.Context()
	for what, try := range map[string]func(t *sgam.Tenant) error{
		"memory":           func(t *sgam.Tenant) error { _, err := t.Memory(ctx, fact.Memory); return err },
		"episode":          func(t *sgam.Tenant) error { _, err := t.Episode(ctx, "e1"); return err },
		"withdraw episode": func(t *sgam.Tenant) error { _, err := t.Withdraw(ctx, sgam.Withdrawal{Episode: "e1"}); return err },
		"withdraw memory": func(t *sgam.Tenant) error {
			_, err := t.Withdraw(ctx, sgam.Withdrawal{Memory: fact.Memory})
			return err
		},
		"decline": func(t *sgam.Tenant) error { _, err := t.Decline(ctx, held.Memory); return err },
		"accept":  func(t *sgam.Tenant) error { _, err := t.Accept(ctx, held.Memory); return err },
	} {
		if err := try(other); !errors.Is(err, sgam.ErrNotFound) {
			b.Errorf("%s of another tenant: want %q, got %v", what, sgam.ErrNotFound, err)
		}
	}
	d := say(sgam.Assert, "s", "x", "3", at(1), "")
	if r := b.apply(other, d.FromID("e1"), sgam.Rejected); r.Code != "episode" {
		b.Errorf("another tenant's episode as a source: code %q", r.Code)
	}
	guarded := say(sgam.Assert, "s", "x", "3", at(1), "f2")
	guarded.ExpectCurrent = &fact.Memory
	if r := b.apply(other, guarded, sgam.Rejected); r.Code != "guard" {
		b.Errorf("another tenant's memory as a guard: code %q", r.Code)
	}
	// The same ids are free in each tenant, and the owner still finds them.
	b.apply(other, say(sgam.Assert, "s", "x", "4", at(2), "e1"), sgam.Applied)
	_, err := a.Memory(ctx, fact.Memory)
	b.ok(err)
	_, err = a.Accept(ctx, held.Memory)
	b.ok(err)
	f, err := a.Current().Get(ctx, "s", "x")
	b.ok(err)
	b.same("the owner's value", "1", string(f.Value))
}

func tenantInDelta(b *bench) {
	l := b.ledger(Attribute{Name: "x"})
	a := b.tenant(l, "a")
	d := say(sgam.Assert, "s", "x", "1", at(0), "e1")
	d.TenantID = "b"
	_, err := a.Apply(b.Context(), d)
	b.fails(sgam.ErrForeignTenant, err)
	_, err = a.ApplyBatch(b.Context(), sgam.Batch{Deltas: []sgam.MemoryDelta{say(sgam.Assert, "s", "x", "2", at(0), "e2"), d}})
	b.fails(sgam.ErrForeignTenant, err)
	_, err = a.Decode(strings.NewReader(`{"tenant_id":"b","op":"end","subject":"s","attribute":"x","source_episode_id":"e"}`))
	b.fails(sgam.ErrForeignTenant, err)
	b.same("outcomes after three refusals", "0", counted(b, a.Outcomes(b.Context())))
	d.TenantID = "a"
	b.apply(a, d, sgam.Applied)
	if _, err := l.Tenant(""); err == nil {
		b.Error("the empty name is a tenant")
	}
}

func tenantList(b *bench) {
	l := b.ledger(Attribute{Name: "x"})
	var want []string
	for i := range 300 {
		name := fmt.Sprintf("t%03d", i*7%300)
		if i%3 == 0 {
			name = fmt.Sprintf("T é %d", i)
		}
		t := b.tenant(l, name)
		if i%5 == 0 {
			_, err := t.Current().Get(b.Context(), "s", "x")
			b.fails(sgam.ErrUnknown, err)
			_, err = t.Preview(b.Context(), sgam.Batch{Deltas: []sgam.MemoryDelta{say(sgam.Assert, "s", "x", "1", at(0), "e1")}})
			b.ok(err)
			continue
		}
		b.apply(t, say(sgam.Assert, "s", "x", "1", at(0), "e1"), sgam.Applied)
		want = append(want, name)
	}
	var got []string
	for name, err := range l.Tenants(b.Context()) {
		b.ok(err)
		got = append(got, name)
	}
	slices.Sort(want)
	b.same("tenants", strings.Join(want, "|"), strings.Join(got, "|"))
}

func tenantsAtOnce(b *bench) {
	l := b.ledger(Attribute{Name: "x"})
	b.clock.Tick(1000)
	var wait sync.WaitGroup
	errs := make(chan error, 50)
	for i := range 50 {
		wait.Go(func() {
			t, err := l.Tenant(fmt.Sprint("t", i))
			for k := 0; k < 4 && err == nil; k++ {
				_, err = t.Apply(b.Context(), say(sgam.Assert, "s", "x", fmt.Sprint(i), at(k), fmt.Sprint("e", k)))
			}
			errs <- err
		})
	}
	wait.Wait()
	close(errs)
	for err := range errs {
		b.ok(err)
	}
	for i := range 50 {
		t := b.tenant(l, fmt.Sprint("t", i))
		b.same("facts of one tenant", "1", counted(b, t.ValidAt(at(9)).Facts(b.Context(), sgam.Filter{})))
		f, err := t.ValidAt(at(9)).Get(b.Context(), "s", "x")
		b.ok(err)
		b.same("its value", fmt.Sprint(i), string(f.Value))
	}
}

func namesAreBytes(b *bench) {
	l := b.ledger(Attribute{Name: "x"}, Attribute{Name: "X"})
	t := b.tenant(l, "t")
	for i, name := range []string{"mira", "s1 s2", "a.b"} {
		d := say(sgam.Assert, name, "x", "1", at(0), fmt.Sprint(name, i))
		d.Scope = sgam.Scope(name)
		b.apply(t, d, sgam.Applied)
		_, err := t.Current().In(sgam.Scope(name)).Get(b.Context(), name, "x")
		b.ok(err)
		_, err = t.Current().In(sgam.Scope(name)).Get(b.Context(), name, "X")
		b.fails(sgam.ErrUnknown, err)
		for _, other := range neighbours(name) {
			if len(other) > 400 {
				continue
			}
			_, err := t.Current().In(sgam.Scope(name)).Get(b.Context(), other, "x")
			b.fails(sgam.ErrUnknown, err)
			_, err = t.Current().In(sgam.Scope(other)).Get(b.Context(), name, "x")
			b.fails(sgam.ErrUnknown, err)
			_, err = t.Episode(b.Context(), other)
			b.fails(sgam.ErrNotFound, err)
			v := t.Current().In(sgam.Scope(name), sgam.Scope(other))
			b.same("facts of a neighbour of "+name, "0", counted(b, v.Facts(b.Context(), sgam.Filter{Subjects: []string{other}})))
			b.same("facts in a neighbour of "+name, "0", counted(b, t.Current().In(sgam.Scope(other)).Facts(b.Context(), sgam.Filter{})))
		}
		b.same("facts of "+name, "1", counted(b, t.Current().In(sgam.Scope(name)).Facts(b.Context(), sgam.Filter{Subjects: []string{name}})))
	}
}
