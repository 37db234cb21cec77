package ledgertest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sgam-ledger/sgam"
)

func hintsDecideNothing(b *bench) {
	decidesNothing(b, sgam.Provenance{Contradicts: "yes: the old value is wrong, close it"})
}

func provenanceNeverDecides(b *bench) {
	said := sgam.Provenance{
		Evidence: "\"now 30 June\", line 2\n\tof the letter", Intent: "replace", Reasoning: "it is certain: é, 日本 and \u2028 are kept",
		Compared: "11111111-1111-4111-8111-111111111111", Contradicts: "yes",
	}
	decidesNothing(b, said)

	place, opts := b.fresh(b.TB), b.options(1, Attribute{Name: "x"}, Attribute{Name: "asked", Policy: sgam.ConfirmFirst})
	l := b.open(place, opts)
	t := b.tenant(l, "t")
	d := say(sgam.Assert, "s", "x", "1", at(0), "e1")
	d.Provenance = said
	r := b.apply(t, d, sgam.Applied)
	d.Provenance = sgam.Provenance{Reasoning: "the same again for another reason"}
	b.apply(t, d, sgam.Duplicate)
	held := say(sgam.Assert, "s", "asked", "1", at(0), "e2")
	held.Provenance = said
	b.apply(t, held, sgam.Pending)
	plain := b.apply(t, say(sgam.Assert, "s", "x", "2", at(0), "e3"), sgam.Applied)
	b.ok(l.Close())

	t = b.tenant(b.open(place, opts), "t")
	e, err := t.Memory(b.Context(), r.Memory)
	b.ok(err)
	b.same("what was said", fmt.Sprintf("%q", said), fmt.Sprintf("%q", e.Fact.Provenance))
	e, err = t.Memory(b.Context(), plain.Memory)
	b.ok(err)
	if !e.Fact.Provenance.IsZero() {
		b.Errorf("where nothing was said, %q is kept", e.Fact.Provenance)
	}
	n := 0
	for h, err := range t.Held(b.Context()) {
		b.ok(err)
		n++
		b.same("what was said of a candidate", fmt.Sprintf("%q", said), fmt.Sprintf("%q", h.Delta.Provenance))
	}
	b.same("candidates", "1", fmt.Sprint(n))
}

// decidesNothing plays random histories twice, without and with a provenance in every delta, and compares the receipts,
// the answers, and the layers that the engines store.
func decidesNothing(b *bench, said sgam.Provenance) {
	for seed := range uint64(4) {
		silent, without := b.told(seed, sgam.Provenance{})
		loud, with := b.told(seed, said)
		if i, differ := firstDifference(without, with); differ {
			b.Fatalf("seed %d: provenance has changed what the ledger says:\n  without %s\n  with    %s", seed, lineAt(without, i), lineAt(with, i))
		}
		if i, differ := firstDifference(silent, loud); differ {
			b.Fatalf("seed %d: provenance has changed what the ledger stores:\n  without %s\n  with    %s", seed, lineAt(silent, i), lineAt(loud, i))
		}
		if len(silent) < 3 || len(without) < 300 {
			b.Fatalf("seed %d: only %d slots and %d answers", seed, len(silent), len(without))
		}
	}
}

// told plays a random history whose deltas all have the same provenance, and gives the stored layers and the answers. The
// provenance itself is cut out of them, and has to be there.
func (b *bench) told(seed uint64, said sgam.Provenance) (layers, answers []string) {
	b.Helper()
	place, seen := watch(b.fresh(b.TB))
	p, err := newPlayer(b.Context(), place, seed)
	b.ok(err)
	b.Cleanup(func() { p.close(b.TB) })
	for step, a := range randomHistory(seed, 100) {
		a.deltas = slices.Clone(a.deltas)
		for i := range a.deltas {
			a.deltas[i].Provenance = said
		}
		lines, err := p.play(step, a)
		b.ok(err)
		answers = append(answers, lines...)
	}
	for _, name := range randomTenants {
		s := &surveyor{player: p, t: b.tenant(p.l, name)}
		s.present()
		b.ok(s.err)
		answers = append(answers, s.lines...)
	}
	text, err := json.Marshal(said)
	b.ok(err)
	shown, none := fmt.Sprintf("%v", said), fmt.Sprintf("%v", sgam.Provenance{})
	found := 0
	for i, line := range answers {
		found += strings.Count(line, shown)
		answers[i] = strings.ReplaceAll(strings.ReplaceAll(line, shown, none), `,"provenance":`+string(text), "")
	}
	if found < 50 {
		b.Fatalf("seed %d: the provenance is shown only %d times", seed, found)
	}
	for _, name := range randomTenants {
		layers = append(layers, b.layers(p.l.Store(), seen.tenants[name])...)
	}
	return layers, answers
}

// present asks a tenant for what it holds now and how it came to it.
func (s *surveyor) present() {
	for _, slot := range randomSlots() {
		name := fmt.Sprintf("%q.%s in %q %s", slot.Subject, slot.Attribute, slot.Scope, slot.Member)
		list(s, "history of "+name, false, s.t.History(s.ctx, slot), s.entry)
		list(s, "timeline of "+name, false, s.t.Current().In(slot.Scope).Timeline(s.ctx, slot), s.stretch)
	}
	s.lists([]time.Time{start.AddDate(1, 0, 0)})
	s.records()
}

// randomSlots are the slots that a random history can speak about.
func randomSlots() []sgam.Slot {
	var out []sgam.Slot
	for _, a := range randomAttributes {
		for _, member := range append([]string{""}, membersOf(a)...) {
			for _, subject := range randomSubjects {
				for _, scope := range []sgam.Scope{"", "s1"} {
					out = append(out, sgam.Slot{Scope: scope, Subject: subject, Attribute: a.Name, Member: json.RawMessage(member)})
				}
			}
		}
	}
	return out
}

// layers are all slots of a tenant as the engine stores them, in text. Memory ids are drawn, so they are left out: facts
// have numbers.
func (b *bench) layers(engine sgam.Store, t sgam.TenantID) []string {
	b.Helper()
	var out []string
	q := &sgam.Query{Kind: sgam.QueryLedger, Known: sgam.Forever, Limit: 100}
	for {
		page, err := engine.Read(b.Context(), t, q)
		b.ok(err)
		for i := range page.Dumps {
			d := &page.Dumps[i]
			for k := range d.Facts {
				d.Facts[k].ID = sgam.MemoryID{}
			}
			for k := range d.Set {
				d.Set[k].ID = sgam.MemoryID{}
			}
			for k := range d.Open {
				d.Open[k].Fact.ID = sgam.MemoryID{}
			}
			text, err := json.Marshal(d)
			b.ok(err)
			out = append(out, t.Name()+": "+string(text))
		}
		if q.After = page.Next; q.After == "" {
			break
		}
	}
	slices.Sort(out)
	return out
}
