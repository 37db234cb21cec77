package ledgertest

import (
	"fmt"
	"time"

	"github.com/sgam-ledger/sgam"
)

func timeLaws() []law {
	return []law{
		{"clock-moves", "known time strictly increases, whatever the clock does and across a restart: it orders everything", clockMoves},
		{"answers-never-change", "after a commit at k, the answer about any known time up to k is fixed for ever", answersNeverChange},
		{"clock-behind", "a clock that fell far behind must not date what is said now into the past", clockBehind},
		{"clock-jump", "one bad reading of the clock must not push a tenant's time years ahead", clockJump},
		{"view-is-pinned", "everything that one view answers belongs together", viewIsPinned},
		{"read-your-writes", "a write that was acknowledged before a view was made is visible in it, also through another handle", readYourWrites},
		{"instants-not-texts", "times are instants: their zone, their spelling and the machine's zone decide nothing", instantsNotTexts},
		{"microseconds", "times are cut to microseconds towards minus infinity, and what is empty then is refused", microseconds},
		{"every-pair-of-bounds", "a missing bound is the open end, never the other bound, and never today", everyPairOfBounds},
	}
}

func clockMoves(b *bench) {
	opts := b.options(1, Attribute{Name: "x"})
	opts.ClockTolerance = -1
	place := b.fresh(b.TB)
	l := b.open(place, opts)
	rnd := random(1, 3)
	jumps := []time.Duration{0, 0, time.Microsecond, time.Nanosecond, -time.Hour, time.Hour, -24 * time.Hour, 24 * time.Hour}
	last := map[string]time.Time{}
	for i := range 120 {
		b.clock.Advance(jumps[rnd.IntN(len(jumps))])
		if i%17 == 16 {
			b.ok(l.Close())
			l = b.open(place, opts)
		}
		name := []string{"a", "b"}[i%2]
		r := b.apply(b.tenant(l, name), say(sgam.Assert, "s", "x", fmt.Sprint(i), at(i), fmt.Sprint("e", i)), sgam.Applied)
		if !r.Known.After(last[name]) {
			b.Fatalf("write %d: known time %s is not after %s", i, textOf(r.Known), textOf(last[name]))
		}
		if want := b.clock.Now().Truncate(time.Microsecond); want.After(last[name]) && !r.Known.Equal(want) {
			b.Fatalf("write %d: known time is %s where the clock says %s", i, textOf(r.Known), textOf(want))
		} else if !want.After(last[name]) && !r.Known.Equal(last[name].Add(time.Microsecond)) {
			b.Fatalf("write %d: known time is %s, not a microsecond after %s", i, textOf(r.Known), textOf(last[name]))
		}
		last[name] = r.Known
	}
}

// answersNeverChange plays a random history, notes answers after each step, and asks for all of them again later.
func answersNeverChange(b *bench) {
	for seed := range uint64(3) {
		p, err := newPlayer(b.Context(), b.fresh(b.TB), seed)
		b.ok(err)
		b.Cleanup(func() { p.close(b.TB) })
		rnd := random(seed, 4)
		type noted struct {
			step           int
			tenant, answer string
			valid, known   time.Time
			slot           sgam.Slot
		}
		var notes []noted
		ask := func(n *noted) string {
			s := &surveyor{player: p, t: b.tenant(p.l, n.tenant)}
			answer := s.point(s.t.ValidAt(n.valid).KnownAt(n.known).In(n.slot.Scope).Member(b.Context(), n.slot))
			b.ok(s.err)
			return answer
		}
		for step, a := range randomHistory(seed, 60) {
			_, err := p.play(step, a)
			b.ok(err)
			if known := p.known[a.tenant]; len(known) > 0 {
				for range 4 {
					attribute := pick(rnd, randomAttributes)
					n := noted{step: step, tenant: a.tenant, valid: randomDay(rnd.IntN(randomDays)), known: pick(rnd, known), slot: sgam.Slot{
						Subject: pick(rnd, randomSubjects), Attribute: attribute.Name, Scope: pick(rnd, randomScopes),
					}}
					if members := membersOf(attribute); members != nil {
						n.slot.Member = []byte(pick(rnd, members))
					}
					n.answer = ask(&n)
					notes = append(notes, n)
				}
			}
			for i := range notes {
				if step%10 != 9 && i%7 != step%7 {
					continue
				}
				if now := ask(&notes[i]); now != notes[i].answer {
					b.Fatalf("seed %d, after step %d: what step %d was told about %+v has changed:\n  then %s\n  now  %s", seed, step,
						notes[i].step, notes[i].slot, notes[i].answer, now)
				}
			}
		}
	}
}

func clockBehind(b *bench) {
	for _, c := range []struct {
		tolerance, behind time.Duration
		refused           bool
	}{
		{0, 10 * time.Second, false}, {0, 10*time.Second + time.Microsecond, true}, {time.Hour, time.Hour, false},
		{time.Hour, time.Hour + time.Second, true}, {-1, 1000 * time.Hour, false},
	} {
		b.clock = nil
		opts := b.options(1, Attribute{Name: "x"})
		opts.ClockTolerance = c.tolerance
		t := b.tenant(b.open(b.fresh(b.TB), opts), "t")
		b.apply(t, say(sgam.Assert, "s", "x", "1", start, "e1"), sgam.Applied)
		b.clock.Advance(-c.behind)
		_, err := t.Apply(b.Context(), say(sgam.Assert, "s", "x", "2", start, "e2"))
		if c.refused {
			b.fails(sgam.ErrClockBehind, err)
			b.clock.Advance(c.behind)
		} else {
			b.ok(err)
		}
		want := "2"
		if c.refused {
			want = "1"
		}
		f, err := t.Current().Get(b.Context(), "s", "x")
		b.ok(err)
		b.same(fmt.Sprintf("value, %s behind with tolerance %s", c.behind, c.tolerance), want, string(f.Value))
	}
}

func clockJump(b *bench) {
	opts := b.options(1, Attribute{Name: "x"})
	opts.MaxForwardJump = 24 * time.Hour
	t := b.tenant(b.open(b.fresh(b.TB), opts), "t")
	first := b.apply(t, say(sgam.Assert, "s", "x", "1", start, "e1"), sgam.Applied)
	b.clock.Advance(24 * time.Hour)
	second := b.apply(t, say(sgam.Assert, "s", "x", "2", start, "e2"), sgam.Applied)
	b.clock.Advance(24*time.Hour + time.Microsecond)
	late := say(sgam.Assert, "s", "x", "3", start, "e3")
	_, err := t.Apply(b.Context(), late)
	b.fails(sgam.ErrClockJump, err)
	_, err = t.Withdraw(b.Context(), sgam.Withdrawal{Memory: first.Memory})
	b.fails(sgam.ErrClockJump, err)
	b.same("after the refusal", `2 by `+second.Memory.String()+" over "+textOfInterval(sgam.Interval{From: start}), answer(t.Current().Get(b.Context(), "s", "x")))
	_, err = t.Withdraw(b.Context(), sgam.Withdrawal{Memory: first.Memory, AcceptClock: true})
	b.ok(err)
	b.apply(t, late, sgam.Applied)

	opts = b.options(1)
	opts.MaxForwardJump = -1
	_, err = b.fresh(b.TB)(b.Context(), opts)
	if err == nil {
		b.Error("a negative MaxForwardJump is accepted")
	}
}

func viewIsPinned(b *bench) {
	t := b.tenant(b.ledger(Attribute{Name: "x"}, Attribute{Name: "y"}), "t")
	b.apply(t, say(sgam.Assert, "s", "x", "1", at(0), "e1"), sgam.Applied)
	v := t.Current()
	if valid, known := v.Pinned(); !valid.IsZero() || !known.IsZero() {
		b.Errorf("pinned before the first read: %s, %s", valid, known)
	}
	b.clock.Advance(time.Hour)
	second := b.apply(t, say(sgam.Assert, "s", "x", "2", at(0), "e2"), sgam.Applied)
	b.clock.Advance(time.Hour)
	f, err := v.Get(b.Context(), "s", "x")
	b.ok(err)
	b.same("made before a write and read after it", "2", string(f.Value))
	valid, known := v.Pinned()
	b.same("pinned valid time", textOf(start.Add(2*time.Hour)), textOf(valid))
	b.same("pinned known time", textOf(second.Known), textOf(known))

	b.clock.Advance(time.Hour)
	third := b.apply(t, say(sgam.Assert, "s", "x", "3", at(0), "e3"), sgam.Applied)
	b.apply(t, say(sgam.Assert, "s", "y", "4", at(0), "e4"), sgam.Applied)
	b.clock.Advance(1000 * time.Hour)
	f, err = v.In("").Get(b.Context(), "s", "x")
	b.ok(err)
	b.same("the same view after another write", "2", string(f.Value))
	_, err = v.Get(b.Context(), "s", "y")
	b.fails(sgam.ErrUnknown, err)
	for one, err := range v.Facts(b.Context(), sgam.Filter{}) {
		b.ok(err)
		b.same("the view's list", "2", string(one.Value))
	}

	// The clock may stand behind the last commit: now is never before what is known.
	b.clock.Set(third.Known.Add(-5 * time.Second))
	now := t.Current()
	_, err = now.Get(b.Context(), "s", "y")
	b.ok(err)
	valid, known = now.Pinned()
	if valid.Before(known) {
		b.Errorf("now is %s, before the last commit at %s", textOf(valid), textOf(known))
	}

	// A known time that has not come yet is answered at the last commit, and says so.
	ahead := t.ValidAt(at(0)).KnownAt(at(365))
	_, err = ahead.Get(b.Context(), "s", "x")
	b.ok(err)
	_, pinned := ahead.Pinned()
	b.same("a known time beyond the last commit", textOf(known), textOf(pinned))
	past := t.ValidAt(at(0)).KnownAt(second.Known)
	f, err = past.Get(b.Context(), "s", "x")
	b.ok(err)
	b.same("a receipt's known time as a token", "2", string(f.Value))
}

func readYourWrites(b *bench) {
	place := b.fresh(b.TB)
	opts := b.options(1, Attribute{Name: "x"})
	here, there := b.tenant(b.open(place, opts), "t"), b.tenant(b.open(place, opts), "t")
	for i := range 40 {
		b.clock.Advance(time.Second)
		writer, reader := here, there
		if i%2 == 1 {
			writer, reader = there, here
		}
		b.apply(writer, say(sgam.Assert, "s", "x", fmt.Sprint(i), at(i), fmt.Sprint("e", i)), sgam.Applied)
		for _, t := range []*sgam.Tenant{writer, reader} {
			f, err := t.ValidAt(at(i)).Get(b.Context(), "s", "x")
			b.ok(err)
			b.same("the value just written", fmt.Sprint(i), string(f.Value))
		}
	}
}

func instantsNotTexts(b *bench) {
	t := b.tenant(b.ledger(Attribute{Name: "x"}), "t")
	// As texts these sort otherwise than as instants, in every pair.
	zones := []*time.Location{time.UTC, time.FixedZone("", 14*3600), time.FixedZone("", -12*3600), time.FixedZone("", 5*3600+45*60), time.Local}
	for i := range 20 {
		moment := at(0).Add(time.Duration(i) * 41 * time.Minute).In(zones[i%len(zones)])
		b.apply(t, say(sgam.Assert, "s", "x", fmt.Sprint(i), moment, fmt.Sprint("e", i)), sgam.Applied)
	}
	for i := range 20 {
		moment := at(0).Add(time.Duration(i) * 41 * time.Minute)
		for k := range zones {
			f, err := t.ValidAt(moment.In(zones[k])).Get(b.Context(), "s", "x")
			b.ok(err)
			b.same("the value at an instant", fmt.Sprint(i), string(f.Value))
			for _, shown := range []time.Time{f.Valid.From, f.Asserted.From, f.Known.From, f.RecordedAt} {
				if shown.Location() != time.UTC {
					b.Fatalf("a time is shown in %s", shown.Location())
				}
			}
		}
		_, err := t.ValidAt(at(0).Add(-time.Microsecond)).Get(b.Context(), "s", "x")
		b.fails(sgam.ErrUnknown, err)
	}
	// An hour that a clock shows twice is two hours.
	t2 := b.tenant(b.ledger(Attribute{Name: "x"}), "t")
	summer, winter := time.FixedZone("CEST", 2*3600), time.FixedZone("CET", 3600)
	once, again := time.Date(2026, 10, 25, 2, 30, 0, 0, summer), time.Date(2026, 10, 25, 2, 30, 0, 0, winter)
	b.apply(t2, say(sgam.Assert, "s", "x", "1", again, "e1"), sgam.Applied)
	b.apply(t2, say(sgam.Assert, "s", "x", "2", once, "e2"), sgam.Applied)
	f, err := t2.ValidAt(again.Add(-time.Microsecond)).Get(b.Context(), "s", "x")
	b.ok(err)
	b.same("the first of two equal wall clock times", "2", string(f.Value))
	b.same("its bounds", textOfInterval(sgam.Interval{From: once, To: &again}), textOfInterval(f.Valid))
}

func microseconds(b *bench) {
	t := b.tenant(b.ledger(Attribute{Name: "x"}), "t")
	for i, c := range []struct{ given, kept time.Time }{
		{time.Date(2026, 1, 1, 0, 0, 0, 999, time.UTC), time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)},
		{time.Date(2026, 1, 1, 0, 0, 0, 1999, time.UTC), time.Date(2026, 1, 1, 0, 0, 0, 1000, time.UTC)},
		{time.Date(1960, 1, 1, 0, 0, 0, 999, time.UTC), time.Date(1960, 1, 1, 0, 0, 0, 0, time.UTC)},
		{time.Date(1, 1, 1, 0, 0, 0, 1, time.UTC), time.Time{}},
		{time.Date(9998, 12, 31, 23, 59, 59, 999999999, time.UTC), time.Date(9998, 12, 31, 23, 59, 59, 999999000, time.UTC)},
	} {
		subject := fmt.Sprint("s", i)
		b.apply(t, say(sgam.Correct, subject, "x", "1", c.given, fmt.Sprint("e", i)), sgam.Applied)
		f, err := t.ValidAt(c.given).Get(b.Context(), subject, "x")
		b.ok(err)
		b.same("valid_from", textOfInterval(sgam.Interval{From: c.kept}), textOfInterval(f.Valid))
	}
	from := time.Date(2026, 1, 1, 0, 0, 0, 1000, time.UTC)
	for i, to := range []time.Time{from, from.Add(-time.Hour), from.Add(999 * time.Nanosecond)} {
		r := b.apply(t, say(sgam.Correct, "t", "x", "1", from, fmt.Sprint("f", i)).Until(to), sgam.Rejected)
		b.fails(sgam.ErrEmptyInterval, r.Err())
	}
	b.apply(t, say(sgam.Correct, "t", "x", "1", from, "g").Until(from.Add(time.Microsecond)), sgam.Applied)
	for i, out := range []time.Time{time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(0, 12, 31, 0, 0, 0, 0, time.UTC), time.Date(300000, 1, 1, 0, 0, 0, 0, time.UTC)} {
		r := b.apply(t, say(sgam.Correct, "u", "x", "1", out, fmt.Sprint("h", i)), sgam.Rejected)
		b.same("the fault", "valid_from range", r.Faults[0].Field+" "+r.Faults[0].Rule)
		if _, err := t.ValidAt(out).Get(b.Context(), "s0", "x"); err == nil {
			b.Errorf("the year %d can be asked about", out.Year())
		}
	}
}

func everyPairOfBounds(b *bench) {
	t := b.tenant(b.ledger(Attribute{Name: "x"}), "t")
	occurred, to, open := start, at(3), time.Time{}
	given := at(1)
	for i, c := range []struct {
		from, to *time.Time
		want     string
		assumed  bool
	}{
		{nil, nil, textOfInterval(sgam.Interval{From: occurred}), true},
		{nil, &to, textOfInterval(sgam.Interval{From: occurred, To: &to}), true},
		{&given, nil, textOfInterval(sgam.Interval{From: given}), false},
		{&given, &to, textOfInterval(sgam.Interval{From: given, To: &to}), false},
		{&open, nil, textOfInterval(sgam.Interval{}), false},
		{&open, &to, textOfInterval(sgam.Interval{To: &to}), false},
	} {
		for k, op := range []sgam.Op{sgam.Assert, sgam.Correct, sgam.End, sgam.Void} {
			value := "1"
			if op == sgam.End || op == sgam.Void {
				value = ""
			}
			d := say(op, fmt.Sprintf("s%d-%d", i, k), "x", value, start, fmt.Sprintf("e%d-%d", i, k))
			d.ValidFrom, d.ValidTo = c.from, c.to
			r := b.apply(t, d, sgam.Applied)
			b.same(fmt.Sprintf("reach of %s, case %d", op, i), c.want, textOfInterval(*r.Reach))
			if r.Assumed != c.assumed {
				b.Errorf("%s, case %d: assumed is %t", op, i, r.Assumed)
			}
		}
	}
}
