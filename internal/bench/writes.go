package bench

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sgam-ledger/sgam"
)

func writeRows() []Row {
	return []Row{
		{Name: "apply", Title: "durable `Apply`, one caller", Baseline: "the same statements, driver alone", Bar: 1.3, Open: applyAgainstDriver},
		{Name: "apply-64", Title: "durable `Apply`, 64 callers", Baseline: "the same statements, driver alone, 64 calls a transaction", Bar: 1 / .6, Rate: true, Open: applyTogether},
		{Name: "correction", Title: "`Apply` of a retroactive correction", Baseline: "`Apply` of a change from now on", Bar: 2, Open: correctionAgainstChange},
		{Name: "apply-growth", Title: "`Apply`, large file, all subjects", Baseline: "small file", Bar: 1.3, Open: applyGrowth},
		{Name: "apply-growth-few", Title: "`Apply`, large file, 50 subjects", Baseline: "small file, 50 subjects", Bar: 1.3, Open: applyGrowthOfFew},
		{Name: "apply-large", Title: "`Apply`, large file, all subjects", Baseline: "the same statements there, driver alone", Bar: 1.3, Open: applyLarge},
		{Name: "apply-versions", Title: "`Apply` to a slot of many versions", Baseline: "a slot of few", Bar: 1.3, Open: applyVersions},
	}
}

// writing opens a copy of a file for one side of a row.
func (s *Sides) writing(ctx context.Context, f *Files, from *file) (*sgam.Tenant, Engine, error) {
	copied, err := f.copy(from)
	if err != nil {
		return nil, nil, err
	}
	s.add(copied.remove)
	return s.reading(ctx, copied)
}

// changes is a change of a slot at random for each i: from now on, as an episode of its own tells it.
func (f *file) changes(seed uint64) func(i int) sgam.MemoryDelta {
	next := f.endless(seed)
	return func(i int) sgam.MemoryDelta { return change(next(), i, sgam.Assert, day(deepFrom), nil) }
}

// corrections is a correction of the past of a slot at random for each i, of some days within what one fact holds.
func (f *file) corrections(seed uint64) func(i int) sgam.MemoryDelta {
	next := f.endless(seed)
	return func(i int) sgam.MemoryDelta {
		to := day(changedOn + 40)
		return change(next(), i, sgam.Correct, day(changedOn+20), &to)
	}
}

// change is the i-th statement of a series about a slot. Times move on with i, so that statements about one slot differ.
func change(at slot, i int, op sgam.Op, from time.Time, to *time.Time) sgam.MemoryDelta {
	from = from.Add(time.Duration(i) * time.Second)
	if to != nil {
		until := to.Add(time.Duration(i) * time.Second)
		to = &until
	}
	d := sgam.MemoryDelta{
		Op: op, Subject: at.subject, Attribute: attributes[at.attribute], ValidFrom: &from, ValidTo: to,
		Value: value(at.attribute, factsEach+i),
	}
	return d.From(episode(fmt.Sprintf("new-%d", i), from))
}

// applier submits a series of deltas.
type applier struct {
	tenant *sgam.Tenant
	next   func(i int) sgam.MemoryDelta
	ready  []sgam.MemoryDelta
	made   int
}

// apply is the side that submits a series of deltas one by one, over a copy of a file.
func (s *Sides) apply(ctx context.Context, f *Files, from *file, next func(i int) sgam.MemoryDelta) (Side, error) {
	t, _, err := s.writing(ctx, f, from)
	if err != nil {
		return Side{}, err
	}
	a := &applier{tenant: t, next: next}
	return Side{Ready: a.prepare, Run: a.run}, nil
}

func (a *applier) prepare(_ context.Context, n int) error {
	a.ready = a.ready[:0]
	for range n {
		a.ready = append(a.ready, a.next(a.made))
		a.made++
	}
	return nil
}

func (a *applier) run(ctx context.Context, n int) error {
	for _, d := range a.ready[:n] {
		if err := submit(ctx, a.tenant, d); err != nil {
			return err
		}
	}
	return nil
}

// callers submits the deltas from 64 goroutines, each of which waits for its receipt.
func (a *applier) callers(ctx context.Context, n int) error {
	const callers = 64
	var at atomic.Int64
	var first error
	var once sync.Once
	var all sync.WaitGroup
	for range callers {
		all.Go(func() {
			for {
				i := int(at.Add(1)) - 1
				if i >= n {
					return
				}
				if err := submit(ctx, a.tenant, a.ready[i]); err != nil {
					once.Do(func() { first = err })
					return
				}
			}
		})
	}
	all.Wait()
	return first
}

func applyAgainstDriver(ctx context.Context, f *Files) (*Sides, error) {
	small, err := f.small(ctx)
	if err != nil {
		return nil, err
	}
	return f.applyAgainst(ctx, small)
}

func applyLarge(ctx context.Context, f *Files) (*Sides, error) {
	large, err := f.large(ctx)
	if err != nil {
		return nil, err
	}
	return f.applyAgainst(ctx, large)
}

// applyAgainst holds changes of a file against what the engine runs for them.
func (f *Files) applyAgainst(ctx context.Context, of *file) (*Sides, error) {
	s := &Sides{}
	p, err := s.replay(ctx, f, of)
	if err != nil {
		return nil, s.after(err)
	}
	s.Baseline = each(p.one)
	s.Baseline.Ready = p.ready
	s.Subject, err = s.apply(ctx, f, of, of.changes(3))
	return s, s.after(err)
}

// replay records and replays changes of a file.
func (s *Sides) replay(ctx context.Context, f *Files, from *file) (*player, error) {
	t, err := s.record(ctx, f, from, from.changes(3))
	if err != nil {
		return nil, err
	}
	return s.play(ctx, f, from, t)
}

func applyTogether(ctx context.Context, f *Files) (*Sides, error) {
	small, err := f.small(ctx)
	if err != nil {
		return nil, err
	}
	s := &Sides{}
	p, err := s.replay(ctx, f, small)
	if err != nil {
		return nil, s.after(err)
	}
	s.Baseline = Side{Ready: p.ready, Run: func(_ context.Context, n int) error { return p.together(n, 64) }}
	t, _, err := s.writing(ctx, f, small)
	if err != nil {
		return nil, s.after(err)
	}
	a := &applier{tenant: t, next: small.changes(3)}
	s.Subject = Side{Ready: a.prepare, Run: a.callers}
	return s, nil
}

func correctionAgainstChange(ctx context.Context, f *Files) (*Sides, error) {
	small, err := f.small(ctx)
	if err != nil {
		return nil, err
	}
	return f.applyBoth(ctx, small, small.changes(3), small, small.corrections(3))
}

func applyGrowth(ctx context.Context, f *Files) (*Sides, error) {
	small, large, err := f.both(ctx)
	if err != nil {
		return nil, err
	}
	return f.applyBoth(ctx, small, small.changes(3), large, large.changes(3))
}

func applyGrowthOfFew(ctx context.Context, f *Files) (*Sides, error) {
	small, large, err := f.both(ctx)
	if err != nil {
		return nil, err
	}
	return f.applyBoth(ctx, small, small.some().changes(3), large, large.some().changes(3))
}

func applyVersions(ctx context.Context, f *Files) (*Sides, error) {
	file, err := f.deep(ctx)
	if err != nil {
		return nil, err
	}
	from := deepKnown(f.scale.Versions)
	// So many slots that each stays one of few versions, and so few that all are as near as the one.
	return f.applyBoth(ctx, file, func(i int) sgam.MemoryDelta {
		return change(slot{file.subjects[i%few], deepAttribute}, i, sgam.Assert, from, nil)
	}, file, func(i int) sgam.MemoryDelta {
		return change(slot{deepSubject, deepAttribute}, i, sgam.Assert, from, nil)
	})
}

// applyBoth holds the calls of one series against those of another.
func (f *Files) applyBoth(ctx context.Context, one *file, baseline func(int) sgam.MemoryDelta, other *file, subject func(int) sgam.MemoryDelta) (*Sides, error) {
	s := &Sides{}
	var err error
	if s.Baseline, err = s.apply(ctx, f, one, baseline); err == nil {
		s.Subject, err = s.apply(ctx, f, other, subject)
	}
	if err != nil {
		return nil, s.after(err)
	}
	return s, nil
}
