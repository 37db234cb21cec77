package ledgertest

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sgam-ledger/sgam"
)

// arrivalOrder says the same open-ended things in several orders.
func arrivalOrder(b *bench) {
	for seed := range uint64(12) {
		rnd := random(seed, 5)
		var said []sgam.MemoryDelta
		for i := range 7 {
			from := randomDay(1 + i)
			d := say(sgam.Assert, "s", "x", fmt.Sprint(rnd.IntN(3)), from, fmt.Sprint("e", i))
			if rnd.IntN(4) == 0 {
				d = say(sgam.End, "s", "x", "", from, fmt.Sprint("e", i))
			}
			said = append(said, d)
		}
		l := b.ledger(Attribute{Name: "x"})
		var want string
		for order := range 6 {
			t := b.tenant(l, fmt.Sprint("order ", order))
			for _, i := range rnd.Perm(len(said)) {
				b.clock.Advance(time.Second)
				_, err := t.Apply(b.Context(), said[i])
				b.ok(err)
			}
			got := valuesByDay(b, t, sgam.Slot{Subject: "s", Attribute: "x"})
			if order == 0 {
				want = got
			}
			b.same(fmt.Sprintf("seed %d, order %d", seed, order), want, got)
		}
	}
}

// foldedCalls plays random histories once as they are, and once with every call cut into calls of one statement.
func foldedCalls(b *bench) {
	for seed := range uint64(9) {
		whole, err := newPlayer(b.Context(), b.fresh(b.TB), seed)
		b.ok(err)
		b.Cleanup(func() { whole.close(b.TB) })
		cut, err := newPlayer(b.Context(), b.fresh(b.TB), seed)
		b.ok(err)
		b.Cleanup(func() { cut.close(b.TB) })
		script := randomHistory(seed, 60)
		for number, a := range script {
			a.together, a.reopen, a.preview, a.deltas = false, false, false, bringing(script, number)
			_, err := whole.play(number, a)
			b.ok(err)
			for i := range max(1, len(a.deltas)) {
				one := a
				if one.deltas != nil {
					one.deltas = a.deltas[i : i+1]
				}
				if i > 0 {
					one.advance = 0
				}
				_, err := cut.playAt(place{number, i}, one)
				b.ok(err)
			}
			want, got := cut.standing(b, a), whole.standing(b, a)
			if at, differ := firstDifference(want, got); differ {
				b.Fatalf("seed %d, after step %d (%s):\n  one by one %s\n  in one call %s\n%s", seed, number, a.text(), lineAt(want, at),
					lineAt(got, at), toldSoFar(script[:number+1], a.tenant))
			}
		}
	}
}

// bringing are the statements of a step, each with its episode and a key: cut apart, none can lean on what another brings
// along, and an equal one would be a redelivery.
func bringing(script history, number int) []draft {
	a := script[number]
	deltas := slices.Clone(a.deltas)
	for i := range deltas {
		deltas[i].IdempotencyKey = fmt.Sprintf("%d.%d", number, i)
		for _, other := range script {
			for _, d := range other.deltas {
				if other.tenant == a.tenant && d.Episode != nil && d.EpisodeID == deltas[i].EpisodeID {
					deltas[i].Episode = d.Episode
				}
			}
		}
	}
	return slices.DeleteFunc(deltas, func(d draft) bool { return d.Episode == nil })
}

// standing is what is believed now in every slot that a step speaks of, without the times of recording, and what is held.
func (p *player) standing(b *bench, a act) []string {
	b.Helper()
	t := b.tenant(p.l, a.tenant)
	var out []string
	for _, d := range a.deltas {
		slot := sgam.Slot{Scope: d.Scope, Subject: d.Subject, Attribute: d.Attribute}
		attribute := randomAttributes[slices.IndexFunc(randomAttributes, func(x Attribute) bool {
			return x.Name == d.Attribute || slices.Contains(x.Aliases, d.Attribute)
		})]
		for _, member := range append([]string{""}, membersOf(attribute)...) {
			slot.Member = json.RawMessage(member)
			for day := range randomDays + 1 {
				f, err := t.ValidAt(randomDay(day)).In(d.Scope).Member(b.Context(), slot)
				text, id := answer(f, err), f.ID
				if none, ok := errors.AsType[*sgam.NoValueError](err); ok && none.By != nil {
					id = none.By.ID
				}
				name := p.names[id]
				if name == "" || strings.Contains(name, "(") { // named for its time of recording
					name = "a part"
				}
				out = append(out, fmt.Sprintf("%s %s on day %d: %s", slot.Attribute, member, day, strings.Replace(text, id.String(), name, 1)))
			}
		}
	}
	for h, err := range t.Held(b.Context(), sgam.Pending, sgam.Disputed) {
		b.ok(err)
		out = append(out, fmt.Sprintf("%s %s", h.Status, p.names[h.Memory]))
	}
	return out
}

// listsAreThePoints compares what the two axes list with point reads along them.
func listsAreThePoints(b *bench) {
	l := b.ledger(Attribute{Name: "cell"})
	for seed := range uint64(10) {
		r := newCellRun(b, l, seed, Attribute{Name: "cell"})
		r.play()
		slot := sgam.Slot{Subject: "s", Attribute: "cell"}
		value := func(valid, known time.Time) string {
			text, _, _ := strings.Cut(answer(r.tenant.ValidAt(valid).KnownAt(known).Get(b.Context(), "s", "cell")), " by ")
			return text
		}
		for _, known := range r.calls {
			last, end, first := "unknown", time.Time{}, true
			for s, err := range r.tenant.KnownAt(known).Timeline(b.Context(), slot) {
				b.ok(err)
				var text string
				if s.Reason != nil {
					text = textOfReason(s.Reason)
				} else {
					text = string(s.Fact.Value)
				}
				b.same("at the start of a stretch", text, value(s.Valid.From, known))
				if !first && (!s.Valid.From.Equal(end) || text == last) {
					b.Errorf("seed %d: the stretch %s of %s follows one of %s that ends at %s", seed, textOfInterval(s.Valid), text, last, textOf(end))
				}
				if last, first = text, false; s.Valid.To == nil {
					b.same("in the last stretch", text, value(cellStart(cellCount), known))
					end = time.Time{}
					continue
				}
				end = *s.Valid.To
				b.same("at the end of a stretch", text, value(end.Add(-time.Microsecond), known))
			}
			if !first && !end.IsZero() {
				b.same("after the last stretch", "unknown", value(end, known))
			}
		}
		for cell := range cellCount {
			at := cellStart(cell)
			believed := map[string]string{}
			for x, err := range r.tenant.Believed(b.Context(), slot, at) {
				b.ok(err)
				for _, known := range r.calls {
					if x.Known.Contains(known) {
						believed[textOf(known)] = x.Fact.ID.String()
					}
				}
			}
			for _, known := range r.calls {
				text, by, _ := strings.Cut(answer(r.tenant.ValidAt(at).KnownAt(known).Get(b.Context(), "s", "cell")), " by ")
				by, _, _ = strings.Cut(by, " over ")
				if believed[textOf(known)] != by {
					b.Errorf("seed %d, cell %d: %s is read at %s by %q, and believed was %q", seed, cell, text, textOf(known), by, believed[textOf(known)])
				}
			}
		}
	}
}

// valuesByDay are the values of a slot on each day, without their sources.
func valuesByDay(b *bench, t *sgam.Tenant, slot sgam.Slot) string {
	b.Helper()
	var out []string
	for day := range randomDays + 1 {
		f, err := t.ValidAt(randomDay(day)).Member(b.Context(), slot)
		text, _, _ := strings.Cut(answer(f, err), " by ")
		out = append(out, text)
	}
	return strings.Join(out, " ")
}

// strangersAreUntouched compares, after each statement of a random history, every slot that it does not name and every
// day that it does not reach.
func strangersAreUntouched(b *bench) {
	slots := []sgam.Slot{
		{Subject: "s", Attribute: "x"}, {Subject: "s", Attribute: "y"}, {Subject: "S", Attribute: "x"}, {Subject: "s", Attribute: "x", Scope: "s1"},
		{Subject: "s", Attribute: "m", Member: json.RawMessage("1")}, {Subject: "s", Attribute: "m", Member: json.RawMessage(`"1"`)},
	}
	for seed := range uint64(6) {
		rnd := random(seed, 6)
		t := b.tenant(b.ledger(Attribute{Name: "x"}, Attribute{Name: "y"}, Attribute{Name: "m", Many: true}), "t")
		look := func() map[string]string {
			seen := map[string]string{}
			for i, s := range slots {
				for day := range randomDays + 1 {
					f, err := t.ValidAt(randomDay(day)).In(s.Scope).Member(b.Context(), s)
					text, _, _ := strings.Cut(answer(f, err), " over ") // bounds do move when a neighbour is cut
					seen[fmt.Sprint(i, " on day ", day)] = text
				}
			}
			return seen
		}
		before := look()
		for i := range 40 {
			b.clock.Advance(time.Minute)
			which := rnd.IntN(len(slots))
			s := slots[which]
			op := pick(rnd, []sgam.Op{sgam.Assert, sgam.Correct, sgam.End, sgam.Void})
			d := say(op, s.Subject, s.Attribute, "", randomDay(rnd.IntN(randomDays)), fmt.Sprint("e", i))
			d.Scope = s.Scope
			switch {
			case s.Member != nil:
				d.Value = s.Member
			case op == sgam.Assert || op == sgam.Correct:
				d.Value = json.RawMessage(fmt.Sprint(rnd.IntN(3)))
			}
			if rnd.IntN(2) == 0 {
				d = d.Until(randomDay(randomDays))
			}
			r, err := t.Apply(b.Context(), d)
			b.ok(err)
			after := look()
			for at, was := range before {
				var slot, day int
				if _, err := fmt.Sscanf(at, "%d on day %d", &slot, &day); err != nil {
					b.Fatal(err)
				}
				inside := r.Reach != nil && r.Reach.Contains(randomDay(day))
				if (slot != which || !inside) && after[at] != was {
					b.Errorf("seed %d, %s of slot %d over %s changed slot %d on day %d:\n  before %s\n  after  %s", seed, op, which,
						textOfInterval(*r.Reach), slot, day, was, after[at])
				}
			}
			before = after
		}
	}
}
