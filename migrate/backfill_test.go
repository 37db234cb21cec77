package migrate_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/ledgertest"
	"github.com/sgam-ledger/sgam/migrate"
)

// whole checks that each fact that has to be converted has one encoding, and that nothing else has any.
func (w *world) whole() {
	w.Helper()
	n := 0
	for v, err := range w.tenant.Values(w.Context(), "contact", 0) {
		require.NoError(w, err)
		want := 1
		if v.Attribute == "fax" {
			want = 0
		}
		require.Len(w, v.Encodings, want, "fact %d", v.Number)
		n++
	}
	require.NotZero(w, n)
}

func TestABatchThatFailsAnywhereIsResumed(t *testing.T) {
	for _, e := range everywhere() {
		t.Run(e.name, func(t *testing.T) {
			for _, when := range []ledgertest.Moment{ledgertest.BeforeCall, ledgertest.AtDecision, ledgertest.AfterCall} {
				for write := 1; write <= 6; write++ {
					t.Run(fmt.Sprintf("moment %d of write %d", when, write), func(t *testing.T) {
						w := newWorld(t, e)
						w.fill(100)
						w.register(lens2)
						plan := w.draw()
						w.faulty.AtWrite(write, ledgertest.Fault{When: when, Do: func() error { return errPlanned }})
						opts := &migrate.RunOptions{Holder: "me", BatchSize: 20}
						require.ErrorIs(t, migrate.Run(t.Context(), w.Ledger, plan, opts), errPlanned)
						require.NoError(t, migrate.Run(t.Context(), w.Ledger, plan, opts))
						w.whole()
						counts := w.standing().Counts
						require.Equal(t, int64(100), counts.Looked, "nothing is counted twice")
						require.Equal(t, int64(80), counts.Converted)
						w.verify()
					})
				}
			}
		})
	}
}

func TestAReadThatFailsIsResumed(t *testing.T) {
	for _, e := range everywhere() {
		t.Run(e.name, func(t *testing.T) {
			for call := 1; call <= 6; call++ {
				w := newWorld(t, e)
				w.fill(60)
				w.register(lens2)
				plan := w.draw()
				w.faulty.At(call, ledgertest.Fault{When: ledgertest.BeforeCall, Do: func() error { return errPlanned }})
				opts := &migrate.RunOptions{Holder: "me", BatchSize: 10}
				if err := migrate.Run(t.Context(), w.Ledger, plan, opts); err != nil {
					require.ErrorIs(t, err, errPlanned)
					require.NoError(t, migrate.Run(t.Context(), w.Ledger, plan, opts))
				}
				w.whole()
			}
		})
	}
}

func TestACancelledRunLeavesNothingBehindAndGoesOn(t *testing.T) {
	for _, e := range everywhere() {
		t.Run(e.name, func(t *testing.T) {
			w := newWorld(t, e)
			w.fill(200)
			w.register(lens2)
			plan := w.draw()
			before := goleak.IgnoreCurrent()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			batches := 0
			err := migrate.Run(ctx, w.Ledger, plan, &migrate.RunOptions{BatchSize: 20, Progress: func(p migrate.Progress) {
				if batches++; batches == 3 {
					cancel()
				}
			}})
			require.ErrorIs(t, err, context.Canceled)
			goleak.VerifyNone(t, before)
			m := w.standing()
			require.Equal(t, migrate.Expanding, m.State)
			require.Equal(t, int64(60), m.Counts.Looked)
			// The lease was given back: another runner goes on at once.
			require.NoError(t, migrate.Run(t.Context(), w.Ledger, plan, &migrate.RunOptions{Holder: "other", BatchSize: 20}))
			w.whole()
			require.Equal(t, int64(200), w.standing().Counts.Looked)
		})
	}
}

func TestProgressCountsDownToTheEnd(t *testing.T) {
	w := newWorld(t, inMemory)
	w.fill(100)
	w.register(lens2)
	var seen []migrate.Progress
	require.NoError(t, migrate.Run(t.Context(), w.Ledger, w.draw(), &migrate.RunOptions{BatchSize: 30, Progress: func(p migrate.Progress) {
		seen = append(seen, p)
	}}))
	require.Len(t, seen, 4)
	for i, p := range seen {
		require.Equal(t, int64(100), p.Total)
		require.Equal(t, min(int64(30*(i+1)), 100), p.Done)
		require.True(t, i == 0 || p.Cursor < seen[i-1].Cursor)
	}
	require.Equal(t, migrate.Dual, seen[3].State)
	require.Equal(t, int64(1), seen[3].Cursor)
}

func TestALiveLeaseKeepsOtherRunnersAway(t *testing.T) {
	for _, e := range everywhere() {
		t.Run(e.name, func(t *testing.T) {
			w := newWorld(t, e)
			w.fill(60)
			w.register(lens2)
			plan := w.draw()
			var refused error
			other := &migrate.RunOptions{Holder: "other", BatchSize: 10}
			err := migrate.Run(t.Context(), w.Ledger, plan, &migrate.RunOptions{Holder: "me", BatchSize: 10, Progress: func(p migrate.Progress) {
				if refused == nil {
					refused = migrate.Run(t.Context(), w.Ledger, plan, other)
				}
			}})
			require.NoError(t, err)
			held, ok := errors.AsType[*migrate.LeaseError](refused)
			require.True(t, ok, "%v", refused)
			require.Equal(t, "me", held.Holder)
			require.True(t, held.Until.After(w.clock.Now()))
			require.ErrorIs(t, refused, migrate.ErrLeased)
			w.whole()
		})
	}
}

func TestTakingOverFencesTheRunnerBefore(t *testing.T) {
	for _, e := range everywhere() {
		t.Run(e.name, func(t *testing.T) {
			w := newWorld(t, e)
			w.fill(60)
			w.register(lens2)
			plan := w.draw()
			took := false
			err := migrate.Run(t.Context(), w.Ledger, plan, &migrate.RunOptions{Holder: "me", BatchSize: 10, Progress: func(p migrate.Progress) {
				if !took {
					took = true
					ctx, cancel := context.WithCancel(t.Context())
					stop := func(migrate.Progress) { cancel() }
					err := migrate.Run(ctx, w.Ledger, plan, &migrate.RunOptions{Holder: "other", BatchSize: 10, TakeOver: true, Progress: stop})
					require.ErrorIs(t, err, context.Canceled)
				}
			}})
			require.ErrorIs(t, err, migrate.ErrFenced)
			require.Equal(t, int64(2), w.standing().Fence)
			require.Equal(t, int64(20), w.standing().Counts.Looked, "the fenced one wrote nothing more")
			require.NoError(t, migrate.Run(t.Context(), w.Ledger, plan, &migrate.RunOptions{Holder: "third", BatchSize: 10}))
			w.whole()
		})
	}
}

func TestALeaseEndsByKnownTime(t *testing.T) {
	w := newWorld(t, inMemory)
	w.fill(60)
	w.register(lens2)
	plan := w.draw()
	// The first runner dies: it cannot give its lease back either.
	for n := 2; n <= 3; n++ {
		w.faulty.AtWrite(n, ledgertest.Fault{When: ledgertest.BeforeCall, Do: func() error { return errPlanned }})
	}
	err := migrate.Run(t.Context(), w.Ledger, plan, &migrate.RunOptions{Holder: "me", Lease: time.Hour})
	require.ErrorIs(t, err, errPlanned)
	other := &migrate.RunOptions{Holder: "other"}
	require.ErrorIs(t, migrate.Run(t.Context(), w.Ledger, plan, other), migrate.ErrLeased)
	w.clock.Advance(2 * time.Hour)
	require.NoError(t, migrate.Run(t.Context(), w.Ledger, plan, other))
	w.whole()
}

func TestTwoRunnersAtOnceDoTheWorkOnce(t *testing.T) {
	for _, e := range everywhere() {
		t.Run(e.name, func(t *testing.T) {
			w := newWorld(t, e)
			w.fill(300)
			w.register(lens2)
			plan := w.draw()
			var group sync.WaitGroup
			errs := make([]error, 4)
			for i := range errs {
				group.Go(func() {
					errs[i] = migrate.Run(t.Context(), w.Ledger, plan, &migrate.RunOptions{
						Holder: fmt.Sprint(i), BatchSize: 10, TakeOver: i%2 == 0,
					})
				})
			}
			group.Wait()
			for _, err := range errs {
				if err != nil {
					require.True(t, errors.Is(err, migrate.ErrFenced) || errors.Is(err, migrate.ErrLeased), "%v", err)
				}
			}
			require.Equal(t, migrate.Dual, w.standing().State)
			w.whole()
			require.Equal(t, int64(300), w.standing().Counts.Looked)
		})
	}
}

func TestPauseStopsARunBeforeItsNextBatch(t *testing.T) {
	for _, e := range everywhere() {
		t.Run(e.name, func(t *testing.T) {
			w := newWorld(t, e)
			w.fill(60)
			w.register(lens2)
			plan := w.draw()
			paused := false
			opts := &migrate.RunOptions{BatchSize: 10, Progress: func(migrate.Progress) {
				if !paused {
					paused = true
					require.NoError(t, migrate.Pause(t.Context(), w.Ledger, target))
				}
			}}
			require.ErrorIs(t, migrate.Run(t.Context(), w.Ledger, plan, opts), migrate.ErrPaused)
			require.Equal(t, int64(10), w.standing().Counts.Looked)
			require.ErrorIs(t, migrate.Run(t.Context(), w.Ledger, plan, opts), migrate.ErrPaused)
			// In a pause every write still gets both forms.
			w.say("mira", "profile", `{"name":"Mira","level":"3"}`, 1)
			require.JSONEq(t, `{"full_name":"Mira","level":3}`, string(w.get(w.tenant.Current().AtVersion("contact", 2), "mira", "profile").Value))
			require.NoError(t, migrate.Resume(t.Context(), w.Ledger, target))
			require.NoError(t, migrate.Run(t.Context(), w.Ledger, plan, opts), "nobody holds a lease")
			w.whole()
			w.verify()
		})
	}
}

func TestAWriterFasterThanTheBackfillDoesNotKeepItFromEnding(t *testing.T) {
	for _, e := range everywhere() {
		t.Run(e.name, func(t *testing.T) {
			w := newWorld(t, e)
			w.fill(60)
			w.register(lens2)
			plan := w.draw()
			written := 0
			// Ten statements come with every fact that the backfill handles.
			require.NoError(t, migrate.Run(t.Context(), w.Ledger, plan, &migrate.RunOptions{BatchSize: 1, Progress: func(migrate.Progress) {
				for range 10 {
					w.say(fmt.Sprintf("w%d", written%7), "profile", fmt.Sprintf(`{"name":"%d"}`, written), 1)
					written++
				}
			}}))
			require.Equal(t, int64(60), w.standing().Counts.Looked)
			require.Equal(t, 600, written)
			w.whole()
			w.verify()
			w.cutover()
		})
	}
}

func TestWhatIsEndedAndSaidDuringTheBackfillArrives(t *testing.T) {
	for _, e := range everywhere() {
		t.Run(e.name, func(t *testing.T) {
			w := newWorld(t, e)
			for i := range 25 {
				w.say(fmt.Sprintf("k%d", i), "profile", fmt.Sprintf(`{"name":"before %d"}`, i), 1)
			}
			w.register(lens2)
			plan := w.draw()
			i := 0
			require.NoError(t, migrate.Run(t.Context(), w.Ledger, plan, &migrate.RunOptions{BatchSize: 1, Progress: func(migrate.Progress) {
				if i == 25 {
					return
				}
				subject := fmt.Sprintf("k%d", i)
				void := w.delta(subject, "profile", "", 0)
				void.Op, void.Value = sgam.Void, nil
				r, err := w.tenant.Apply(t.Context(), void)
				require.NoError(t, err)
				require.NoError(t, r.Err())
				if i%2 == 0 {
					w.say(subject, "profile", fmt.Sprintf(`{"name":"after %d"}`, i), 1)
				} else {
					w.say(subject, "profile", fmt.Sprintf(`{"full_name":"after %d"}`, i), 2)
				}
				i++
			}}))
			require.Equal(t, 25, i)
			w.verify()
			w.cutover()
			arrived := 0
			for i := range 25 {
				f := w.get(w.tenant.Current(), fmt.Sprintf("k%d", i), "profile")
				if string(f.Value) == fmt.Sprintf(`{"full_name":"after %d"}`, i) {
					arrived++
				}
			}
			require.Equal(t, 25, arrived)
		})
	}
}

func TestARollbackEndsTheRunThatIsUnderWay(t *testing.T) {
	for _, e := range everywhere() {
		t.Run(e.name, func(t *testing.T) {
			w := newWorld(t, e)
			w.fill(60)
			w.register(lens2)
			once := sync.OnceFunc(func() { require.NoError(t, migrate.Rollback(t.Context(), w.Ledger, target, false)) })
			opts := &migrate.RunOptions{BatchSize: 10, Progress: func(migrate.Progress) { once() }}
			require.ErrorIs(t, migrate.Run(t.Context(), w.Ledger, w.draw(), opts), migrate.ErrFenced)
			require.Equal(t, migrate.RolledBack, w.standing().State)
			require.Equal(t, int64(10), w.standing().Counts.Looked)

			// The next migration finds what the first one made, and does not make it again.
			plan := w.draw()
			w.run(plan)
			require.Equal(t, int64(2), w.standing().Serial)
			require.Equal(t, migrate.Counts{Looked: 60, Converted: 40, Encoded: 8, Removed: 12}, w.standing().Counts)
			w.whole()
			w.verify()
		})
	}
}
