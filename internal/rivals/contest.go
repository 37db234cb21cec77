package rivals

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/internal/bench"
)

// Contest is one thing that all keepers do, measured in turn.
type Contest struct {
	Name  string
	Title string // what is done
	Sides []bench.Side
	Bars  []Bar
}

// Bar holds one keeper against another, by their places in the list of keepers.
type Bar struct {
	Subject, Baseline int
	// Most is the largest ratio of the subject's time to the baseline's that is good enough. Rate says that it is told as a
	// share of the baseline's rate.
	Most float64
	Rate bool
}

// The places in the list of keepers.
const (
	onSQLite = iota
	onPostgres
	onPeriods
	onMariaDB
)

// fiveTimes are the bars of writes: both engines do at least five for one of periods.
var fiveTimes = []Bar{{onPostgres, onPeriods, 1. / 5, true}, {onSQLite, onPeriods, 1. / 5, true}}

// noSlower is the bar of reads in the plane, which go over the same kind of socket to either server.
var noSlower = []Bar{{onPostgres, onMariaDB, 1, false}}

// Contests are all of them, in the order in which they have to be run: what reads comes before what writes.
func (a *Arena) Contests() []Contest {
	var all []Contest
	add := func(name, title string, side func(Keeper) bench.Side, bars []Bar) {
		c := Contest{Name: name, Title: title, Bars: bars}
		for _, k := range a.Keepers() {
			c.Sides = append(c.Sides, side(k))
		}
		all = append(all, c)
	}
	add("current", "Current", a.current(ordinary), nil)
	add("valid", "Valid", a.valid(ordinary), nil)
	add("valid-known", "Valid + Known", a.validKnown(ordinary), noSlower)
	add("hot-current", "Current, the hot slot", a.current(onlyHot), nil)
	add("hot-valid", "Valid, the hot slot", a.valid(onlyHot), nil)
	add("hot-valid-known", "Valid + Known, the hot slot", a.validKnown(onlyHot), noSlower)
	writers := map[Keeper]*writer{}
	for _, k := range a.Keepers() {
		writers[k] = &writer{keeper: k, from: a.story.now(), rand: draws(5), slots: int64(a.scale.Slots)}
	}
	write := func(of func(*writer) Operation) func(Keeper) bench.Side {
		return func(k Keeper) bench.Side { return writers[k].each(of) }
	}
	add("change", "forward change", write((*writer).change), fiveTimes)
	add("correction", "correction", write((*writer).correction), fiveTimes)
	add("hot-change", "forward change, the hot slot", write((*writer).hotChange), fiveTimes)
	add("hot-correction", "correction, the hot slot", write((*writer).hotCorrection), fiveTimes)
	add("change-64", "forward change, 64 callers", func(k Keeper) bench.Side { return writers[k].together() }, fiveTimes)
	return all
}

// ordinary is a slot at random.
func ordinary(s Scale, r *rand.Rand) int64 { return 1 + r.Int64N(int64(s.Slots)) }

func onlyHot(Scale, *rand.Rand) int64 { return hot }

type choice func(Scale, *rand.Rand) int64

// reading makes a side of a question about slots and points at random, the same ones for each keeper. A point is an operation and a
// valid time before it.
func (a *Arena) reading(which choice, ask func(ctx context.Context, slot int64, valid sgam.Instant, n int) error) bench.Side {
	r := draws(3)
	return bench.Side{Run: func(ctx context.Context, times int) error {
		for range times {
			slot, valid, n := a.point(r, which)
			if err := ask(ctx, slot, valid, n); err != nil {
				return err
			}
		}
		return nil
	}}
}

func (a *Arena) point(r *rand.Rand, which choice) (slot int64, valid sgam.Instant, n int) {
	n = 1 + r.IntN(a.story.n)
	return which(a.scale, r), instant(knownAt(r.IntN(n))), n
}

func (a *Arena) current(which choice) func(Keeper) bench.Side {
	return func(k Keeper) bench.Side {
		return a.reading(which, func(ctx context.Context, slot int64, _ sgam.Instant, _ int) error {
			value, err := k.Current(ctx, slot)
			if err == nil && value == "" {
				err = fmt.Errorf("%s: slot %d has no value now", k.Name(), slot)
			}
			return err
		})
	}
}

func (a *Arena) valid(which choice) func(Keeper) bench.Side {
	return func(k Keeper) bench.Side {
		return a.reading(which, func(ctx context.Context, slot int64, valid sgam.Instant, _ int) error {
			_, err := k.Valid(ctx, slot, valid)
			return err
		})
	}
}

func (a *Arena) validKnown(which choice) func(Keeper) bench.Side {
	return func(k Keeper) bench.Side {
		return a.reading(which, func(ctx context.Context, slot int64, valid sgam.Instant, n int) error {
			_, err := k.ValidKnown(ctx, slot, valid, n)
			return err
		})
	}
}

// writer goes on with the history of one keeper. All writers go on in the same way.
type writer struct {
	keeper Keeper
	from   sgam.Instant // when the history ended
	rand   *rand.Rand
	slots  int64
	made   int64
	ready  []Operation
}

const minute, month = sgam.Instant(time.Minute / time.Microsecond), 30 * 24 * 60 * minute

// on is the next operation of a slot, about a time that no other is about.
func (w *writer) on(kind Kind, slot int64, valid sgam.Span) Operation {
	return Operation{Kind: kind, Slot: slot, Valid: valid, Value: fmt.Sprintf("City of Writer %d", w.made)}
}

// forward is a change from now on. Valid time goes on with each, from a month after the end of the history.
func (w *writer) forward(slot int64) Operation {
	w.made++
	return w.on(Change, slot, sgam.Span{From: w.from + month + sgam.Instant(w.made)*1000, To: sgam.Forever})
}

// backward corrects a minute of that month, in all of which there is a value.
func (w *writer) backward(slot int64) Operation {
	w.made++
	from := w.from + sgam.Instant(w.rand.Int64N(int64(month-minute)))
	return w.on(Correct, slot, sgam.Span{From: from, To: from + minute})
}

func (w *writer) some() int64 { return 1 + w.rand.Int64N(w.slots) }

func (w *writer) change() Operation        { return w.forward(w.some()) }
func (w *writer) correction() Operation    { return w.backward(w.some()) }
func (w *writer) hotChange() Operation     { return w.forward(hot) }
func (w *writer) hotCorrection() Operation { return w.backward(hot) }

// each writes one operation after the other.
func (w *writer) each(of func(*writer) Operation) bench.Side {
	prepare := func(_ context.Context, n int) error {
		w.ready = w.ready[:0]
		for range n {
			w.ready = append(w.ready, of(w))
		}
		return nil
	}
	return bench.Side{Ready: prepare, Run: func(ctx context.Context, n int) error {
		for _, op := range w.ready[:n] {
			if err := w.keeper.Write(ctx, op); err != nil {
				return fmt.Errorf("%s: %w", w.keeper.Name(), err)
			}
		}
		return nil
	}}
}

// together writes changes from as many callers as there are connections. No two are about one slot at a time: each caller has slots
// of its own.
func (w *writer) together() bench.Side {
	some := min(callers, w.slots)
	prepare := func(_ context.Context, n int) error {
		w.ready = w.ready[:0]
		for i := range int64(n) {
			w.ready = append(w.ready, w.forward(1+i%(w.slots/some*some)))
		}
		return nil
	}
	return bench.Side{Ready: prepare, Run: func(ctx context.Context, n int) error {
		var all errgroup.Group
		for caller := range int(some) {
			all.Go(func() error {
				for i := caller; i < n; i += int(some) {
					if err := w.keeper.Write(ctx, w.ready[i]); err != nil {
						return fmt.Errorf("%s: %w", w.keeper.Name(), err)
					}
				}
				return nil
			})
		}
		return all.Wait()
	}}
}
