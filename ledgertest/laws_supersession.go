package ledgertest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sgam-ledger/sgam"
)

// change is one call by which "new" takes the place of "old" in an attribute.
type change struct {
	attribute string
	call      func(b *bench, t *sgam.Tenant) error
}

// changes are the ways there are: a statement whose time is that of a stored episode, and a candidate that is accepted.
func changes() map[string]change {
	return map[string]change{
		"apply": {"x", func(b *bench, t *sgam.Tenant) error {
			d := say(sgam.Assert, "s", "x", `"new"`, at(2), "").FromID("e2")
			d.ValidFrom = nil
			_, err := t.Apply(b.Context(), d)
			return err
		}},
		"accept": {"asked", func(b *bench, t *sgam.Tenant) error {
			for h, err := range t.Held(b.Context(), sgam.Pending, sgam.Applied) {
				if err != nil {
					return err
				}
				_, err = t.Accept(b.Context(), h.Memory)
				return err
			}
			return errors.New("nothing is held")
		}},
	}
}

// supersessionIsOneTransaction lets each call of the port fail in turn, at each moment, for each way there is.
func supersessionIsOneTransaction(b *bench) {
	for name, c := range changes() {
		undone := 0
		for _, when := range []Moment{BeforeCall, AtDecision, AfterCall} {
			for n := 1; ; n++ {
				sound, faulty, f := displaceable(b)
				before := f.Calls()
				f.At(n, Fault{When: when, Do: func() error { return errInjected }})
				err := c.call(b, faulty)
				if f.Calls() < before+n {
					break // the call has no n-th call of the port
				}
				what := fmt.Sprintf("%s, call %d of the port fails at moment %d", name, n, when)
				if err != nil && !errors.Is(err, errInjected) {
					b.Errorf("%s: %v", what, err)
				}
				left := standing(b, sound, c.attribute)
				switch {
				case err == nil:
					b.same(what+": unharmed", "new", left)
				case when != AfterCall:
					b.same(what+": not done", "old", left)
				case left != "old":
					b.same(what+": done, and not told so", "new", left)
				}
				if left == "old" {
					undone++
				}
				b.clock.Advance(time.Second)
				b.ok(c.call(b, faulty))
				b.same(what+": sent again", "new", standing(b, sound, c.attribute))
			}
		}
		if undone < 3 {
			b.Errorf("%s: a fault left it undone only %d times: the faults do not strike", name, undone)
		}
	}
}

// displaceable is a tenant in which each of the changes can be made, and the same tenant behind an engine that can fail.
func displaceable(b *bench) (sound, faulty *sgam.Tenant, f *Faulty) {
	b.Helper()
	opts := b.options(1, Attribute{Name: "x"}, Attribute{Name: "asked", Policy: sgam.ConfirmFirst})
	l := b.open(b.fresh(b.TB), opts)
	sound = b.tenant(l, "t")
	b.apply(sound, say(sgam.Assert, "s", "x", `"old"`, at(0), "e1"), sgam.Applied)
	b.apply(sound, say(sgam.Assert, "s", "asked", `"old"`, at(0), "e1").With(func(d *sgam.MemoryDelta) {
		d.Episode.ID, d.EpisodeID, d.Episode.Kind = "sure", "sure", sgam.UserConfirmation
	}), sgam.Applied)
	b.apply(sound, say(sgam.Assert, "s", "asked", `"new"`, at(2), "e3"), sgam.Pending)
	b.ok(sound.Record(b.Context(), sgam.Episode{ID: "e2", Kind: sgam.Message, OccurredAt: at(2)}))
	b.clock.Advance(time.Hour)
	f = NewFaulty(l.Store())
	wrapped, err := sgam.New(b.Context(), f, opts)
	b.ok(err)
	return sound, b.tenant(wrapped, "t"), f
}

// standing tells what an attribute holds: "old" or "new" when all of it agrees, or what is mixed up.
func standing(b *bench, t *sgam.Tenant, attribute string) string {
	b.Helper()
	slot := sgam.Slot{Subject: "s", Attribute: attribute}
	var values, history []string
	for _, day := range []int{1, 3} {
		open := 0
		for x, err := range t.Believed(b.Context(), slot, at(day)) {
			b.ok(err)
			if x.Known.To == nil {
				open++
			}
		}
		f, err := t.ValidAt(at(day)).Get(b.Context(), "s", attribute)
		b.ok(err)
		values = append(values, fmt.Sprintf("%s %d", f.Value, open))
	}
	last := sgam.MemoryID{}
	for e, err := range t.History(b.Context(), slot) {
		b.ok(err)
		linked := e.Fact.Supersedes == last && len(e.Displaced) == len(history)
		history = append(history, fmt.Sprintf("%s %t", e.Fact.Value, linked))
		last = e.Fact.ID
	}
	got := strings.Join(values, ", ") + "; " + strings.Join(history, ", ")
	switch got {
	case `"old" 1, "old" 1; "old" true`:
		return "old"
	case `"old" 1, "new" 1; "old" true, "new" true`:
		return "new"
	}
	return got
}

func correctionKeepsHistory(b *bench) {
	for _, op := range []sgam.Op{sgam.Assert, sgam.Correct} {
		t := b.tenant(b.ledger(Attribute{Name: "passport_deadline"}), "t")
		first := b.apply(t, say(sgam.Assert, "mira", "passport_deadline", `"2026-07-15"`, at(0), "e1"), sgam.Applied)
		b.clock.Advance(time.Hour)
		second := b.apply(t, say(op, "mira", "passport_deadline", `"2026-06-30"`, at(0), "e2"), sgam.Applied)
		var got []string
		for e, err := range t.History(b.Context(), sgam.Slot{Subject: "mira", Attribute: "passport_deadline"}) {
			b.ok(err)
			line := fmt.Sprintf("%s %s from %s over %s", e.Fact.ID, e.Fact.Value, e.Fact.Episode, e.Fact.Supersedes)
			for _, d := range e.Displaced {
				line += fmt.Sprintf(" taking %s by %s", d.Memory, d.By)
			}
			got = append(got, line)
		}
		b.same("history after "+string(op), fmt.Sprintf("%s \"2026-07-15\" from e1 over none\n%s \"2026-06-30\" from e2 over %s taking %s by %s",
			first.Memory, second.Memory, first.Memory, first.Memory, second.Memory), strings.Join(got, "\n"))
		f, err := t.Current().Get(b.Context(), "mira", "passport_deadline")
		b.ok(err)
		b.same("what holds", second.Memory.String(), f.ID.String())
		e, err := t.Memory(b.Context(), first.Memory)
		b.ok(err)
		b.same("the corrected memory is still found by its id", `"2026-07-15"`, string(e.Fact.Value))
	}
}

// together submits the deltas of each writer in order, all writers at once over four handles of one place.
func (b *bench) together(writers [][]sgam.MemoryDelta) (*sgam.Tenant, []sgam.Receipt) {
	b.Helper()
	place := b.fresh(b.TB)
	opts := b.options(1, Attribute{Name: "x"})
	opts.ClockTolerance = -1
	b.clock.Tick(time.Millisecond)
	var handles []*sgam.Tenant
	for range 4 {
		handles = append(handles, b.tenant(b.open(place, opts), "t"))
	}
	receipts := make([][]sgam.Receipt, len(writers))
	errs := make([]error, len(writers))
	begin := make(chan struct{})
	var wait sync.WaitGroup
	for w, deltas := range writers {
		wait.Go(func() {
			<-begin
			for _, d := range deltas {
				r, err := handles[w%len(handles)].Apply(b.Context(), d)
				if err != nil {
					errs[w] = err
					return
				}
				receipts[w] = append(receipts[w], r)
			}
		})
	}
	close(begin)
	wait.Wait()
	b.ok(errors.Join(errs...))
	all := slices.Concat(receipts...)
	slices.SortFunc(all, func(x, y sgam.Receipt) int { return x.Known.Compare(y.Known) })
	return handles[0], all
}

func sixteenWriters(b *bench) {
	const each = 5
	writers := make([][]sgam.MemoryDelta, 16)
	for w := range writers {
		for i := range each {
			writers[w] = append(writers[w], say(sgam.Assert, "s", "x", fmt.Sprint(w*each+i), at(0), fmt.Sprintf("e%d-%d", w, i)))
		}
	}
	t, receipts := b.together(writers)
	b.same("receipts", fmt.Sprint(16*each), fmt.Sprint(len(receipts)))
	slot := sgam.Slot{Subject: "s", Attribute: "x"}
	i, last := 0, sgam.MemoryID{}
	for e, err := range t.History(b.Context(), slot) {
		b.ok(err)
		if i == len(receipts) {
			b.Fatal("more is in the history than was written")
		}
		r := receipts[i]
		if r.Outcome != sgam.Applied || r.Memory != e.Fact.ID || r.Supersedes != last || e.Fact.Supersedes != last {
			b.Fatalf("link %d: %s %s supersedes %s, stored as %s supersedes %s, where %s stood", i, r.Outcome, r.Memory, r.Supersedes,
				e.Fact.ID, e.Fact.Supersedes, last)
		}
		i, last = i+1, e.Fact.ID
	}
	b.same("links of the chain", fmt.Sprint(16*each), fmt.Sprint(i))
	standing := 0
	for x, err := range t.Believed(b.Context(), slot, at(1)) {
		b.ok(err)
		if x.Known.To == nil {
			standing++
			b.same("what stands", last.String(), x.Fact.ID.String())
		}
	}
	b.same("beliefs that stand", "1", fmt.Sprint(standing))
}

// equalAtOnce lets many writers say the same, each because of something that it saw itself.
func equalAtOnce(b *bench) {
	const n = 48
	writers := make([][]sgam.MemoryDelta, n)
	for w := range writers {
		writers[w] = []sgam.MemoryDelta{say(sgam.Assert, "s", "x", `"tea"`, at(0), fmt.Sprint("e", w))}
	}
	t, receipts := b.together(writers)
	owner := receipts[0]
	b.same("the first of them", string(sgam.Applied), string(owner.Outcome))
	for _, r := range receipts[1:] {
		if r.Outcome != sgam.Confirmed || !slices.Equal(r.Confirms, []sgam.MemoryID{owner.Memory}) {
			b.Errorf("a later one is %s and confirms %v, where %s is the owner", r.Outcome, r.Confirms, owner.Memory)
		}
	}
	sources := map[string]bool{}
	for e, err := range t.History(b.Context(), sgam.Slot{Subject: "s", Attribute: "x"}) {
		b.ok(err)
		sources[e.Fact.Episode] = true
		if confirms := e.Fact.ID != owner.Memory; confirms != slices.Contains(e.Confirms, owner.Memory) {
			b.Errorf("the statement of %q is stored as confirming %v", e.Fact.Episode, e.Confirms)
		}
		_, err = t.Episode(b.Context(), e.Fact.Episode)
		b.ok(err)
	}
	b.same("sources that are recorded", fmt.Sprint(n), fmt.Sprint(len(sources)))
	for s, err := range t.Current().Timeline(b.Context(), sgam.Slot{Subject: "s", Attribute: "x"}) {
		b.ok(err)
		b.same("owner of the value", owner.Memory.String()+" over "+textOfInterval(sgam.Interval{From: at(0)}), s.Fact.ID.String()+" over "+textOfInterval(s.Valid))
	}
}
