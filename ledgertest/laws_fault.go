package ledgertest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/sgam-ledger/sgam"
)

func faultLaws() []law {
	return []law{
		{"all-or-nothing", "a call that fails, panics or is cancelled has done everything or nothing, and may be sent again", allOrNothing},
		{"cancelled-before", "a call under a context that is over does nothing", cancelledBefore},
		{"busy-with-deadline", "a writer that cannot have the lock gives up at its deadline, and has done nothing", busyWithDeadline},
		{"refusal-writes-nothing", "an error of the decision applies nothing", refusalWritesNothing},
	}
}

// errInjected is what a fault fails with.
var errInjected = errors.New("injected")

// supersession is one call that closes a fact, opens another, links them, stops a member, holds a candidate and brings
// episodes along.
func supersession() sgam.Batch {
	return sgam.Batch{Deltas: []sgam.MemoryDelta{
		say(sgam.Assert, "s", "x", `"new"`, at(2), "e2"), say(sgam.End, "s", "many", "", at(2), "e2"),
		say(sgam.Assert, "s", "asked", `"new"`, at(2), "e2"), say(sgam.Assert, "s", "nowhere", `"new"`, at(2), "e2"),
	}}
}

// faultBench is a tenant with something to displace, and the same tenant behind an engine that can go wrong.
func faultBench(b *bench) (sound, faulty *sgam.Tenant, f *Faulty) {
	b.Helper()
	opts := b.options(1, Attribute{Name: "x"}, Attribute{Name: "many", Many: true}, Attribute{Name: "asked", Policy: sgam.ConfirmFirst})
	l := b.open(b.fresh(b.TB), opts)
	sound = b.tenant(l, "t")
	b.apply(sound, say(sgam.Assert, "s", "x", `"old"`, at(1), "e1"), sgam.Applied)
	b.apply(sound, say(sgam.Assert, "s", "many", `"old"`, at(1), "e1"), sgam.Applied)
	b.clock.Advance(time.Hour)
	f = NewFaulty(l.Store())
	wrapped, err := sgam.New(b.Context(), f, opts)
	b.ok(err)
	return sound, b.tenant(wrapped, "t"), f
}

// traces tells what the ledger holds of the supersession: "old" or "new" everywhere, or what is mixed up.
func traces(b *bench, t *sgam.Tenant) string {
	b.Helper()
	ctx := b.Context()
	x, err := t.ValidAt(at(3)).Get(ctx, "s", "x")
	b.ok(err)
	_, gone := t.ValidAt(at(3)).Member(ctx, sgam.Slot{Subject: "s", Attribute: "many", Member: []byte(`"old"`)})
	_, episode := t.Episode(ctx, "e2")
	got := fmt.Sprintf("value %s, history %s, member gone %t, episode %t, held %s, outcomes %s", x.Value,
		counted(b, t.History(ctx, sgam.Slot{Subject: "s", Attribute: "x"})), errors.Is(gone, sgam.ErrAbsent), episode == nil,
		counted(b, t.Held(ctx)), counted(b, t.Outcomes(ctx)))
	switch got {
	case `value "old", history 1, member gone false, episode false, held 0, outcomes 2`:
		return "old"
	case `value "new", history 2, member gone true, episode true, held 1, outcomes 6`:
		return "new"
	}
	return got
}

func allOrNothing(b *bench) {
	for _, when := range []Moment{BeforeCall, AtDecision, AfterCall} {
		for _, kind := range []string{"error", "panic", "cancel"} {
			sound, faulty, f := faultBench(b)
			ctx, cancel := context.WithCancel(b.Context())
			f.AtWrite(1, Fault{When: when, Do: func() error {
				switch kind {
				case "panic":
					panic(errInjected)
				case "cancel":
					cancel()
					return nil
				}
				return errInjected
			}})
			what := fmt.Sprintf("%s at moment %d", kind, when)
			err := guarded(func() error {
				_, err := faulty.ApplyBatch(ctx, supersession())
				return err
			})
			cancel()
			if kind != "cancel" && !errors.Is(err, errInjected) {
				b.Errorf("%s: want the fault, got %v", what, err)
			}
			left := traces(b, sound)
			if left != "old" && left != "new" || when != AfterCall && err != nil && left != "old" || err == nil && left != "new" {
				b.Errorf("%s: %v, and it left %s", what, err, left)
			}
			// The same call again completes it, whatever the first one did.
			b.clock.Advance(time.Second)
			receipts, err := faulty.ApplyBatch(b.Context(), supersession())
			b.ok(err)
			want := map[string]string{"old": "applied applied pending rejected", "new": "duplicate duplicate duplicate rejected"}[left]
			var outcomes []string
			for _, r := range receipts {
				outcomes = append(outcomes, string(r.Outcome))
			}
			b.same(what+": sent again", want, strings.Join(outcomes, " "))
			if left == "old" {
				b.same(what+": afterwards", "new", traces(b, sound))
			}
		}
	}
}

// guarded turns a panic with an error into that error.
func guarded(do func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			var ok bool
			if err, ok = p.(error); !ok {
				panic(p)
			}
		}
	}()
	return do()
}

func cancelledBefore(b *bench) {
	sound, _, _ := faultBench(b)
	ctx, cancel := context.WithCancel(b.Context())
	cancel()
	_, err := sound.ApplyBatch(ctx, supersession())
	b.fails(context.Canceled, err)
	_, err = sound.Withdraw(ctx, sgam.Withdrawal{Episode: "e1"})
	b.fails(context.Canceled, err)
	_, err = sound.Current().Get(ctx, "s", "x")
	b.fails(context.Canceled, err)
	for _, err := range sound.Current().Facts(ctx, sgam.Filter{}) {
		b.fails(context.Canceled, err)
	}
	b.same("after four cancelled calls", "old", traces(b, sound))
}

// busyWithDeadline holds the tenant's lock in one write and lets another wait for it.
func busyWithDeadline(b *bench) {
	sound, faulty, f := faultBench(b)
	holding, release := make(chan struct{}), make(chan struct{})
	f.AtWrite(1, Fault{When: AtDecision, Do: func() error {
		close(holding)
		<-release
		return nil
	}})
	done := make(chan error)
	go func() {
		_, err := faulty.ApplyBatch(b.Context(), supersession())
		done <- err
	}()
	<-holding
	ctx, cancel := context.WithTimeout(b.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := sound.Apply(ctx, say(sgam.Assert, "s", "x", `"late"`, at(3), "e3"))
	if !errors.Is(err, sgam.ErrBusy) && !errors.Is(err, context.DeadlineExceeded) {
		b.Errorf("a write that waits beyond its deadline: want %q or %q, got %v", sgam.ErrBusy, context.DeadlineExceeded, err)
	}
	close(release)
	b.ok(<-done)
	b.same("after the one that held the lock", "new", traces(b, sound))
}

func refusalWritesNothing(b *bench) {
	t := b.tenant(b.ledger(Attribute{Name: "x"}), "t")
	first := at(1)
	d := say(sgam.Assert, "s", "x", "1", at(0), "e1")
	_, err := t.ApplyBatch(b.Context(), sgam.Batch{Deltas: []sgam.MemoryDelta{d}, KnownAt: &first})
	b.ok(err)
	_, err = t.ApplyBatch(b.Context(), sgam.Batch{
		Deltas: []sgam.MemoryDelta{say(sgam.Assert, "s", "x", "2", at(0), "e2")}, KnownAt: &first, Episodes: []sgam.Episode{{ID: "e3", Kind: sgam.File, OccurredAt: start}},
	})
	b.fails(sgam.ErrKnownTime, err)
	b.clock.Set(at(2))
	other := *d.Episode
	other.Text = "something else"
	if err := t.Record(b.Context(), other); !errors.Is(err, sgam.ErrRejected) {
		b.Errorf("another episode under a taken id: want %q, got %v", sgam.ErrRejected, err)
	}
	for _, id := range []string{"e2", "e3"} {
		_, err := t.Episode(b.Context(), id)
		b.fails(sgam.ErrNotFound, err)
	}
	b.same("history", "1", counted(b, t.History(b.Context(), sgam.Slot{Subject: "s", Attribute: "x"})))
	b.same("outcomes", "1", counted(b, t.Outcomes(b.Context())))
	e, err := t.Episode(b.Context(), "e1")
	b.ok(err)
	b.same("the episode's text", "", e.Text)
}
