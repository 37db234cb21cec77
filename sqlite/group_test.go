//go:build cgo

package sqlite

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	sqlite3 "github.com/mattn/go-sqlite3"
	"github.com/stretchr/testify/require"

	"github.com/sgam-ledger/sgam"
)

// hook puts a function around every statement of the writer.
func hook(tb testing.TB, l *sgam.Ledger, around func(st *statement, run func() error) error) *store {
	tb.Helper()
	s := storeOf(tb, l)
	s.writes.around, s.writes.conn.around = around, around
	return s
}

// gate holds the first commit until as many calls wait as the test wants.
type gate struct {
	store       *store
	want        atomic.Int64 // 0 lets everything pass
	commits     atomic.Int64
	whenAllWait func()
}

func (g *gate) pass(st *statement, run func() error) error {
	if st != stCommit {
		return run()
	}
	g.commits.Add(1)
	if want := g.want.Swap(0); want > 0 {
		g.awaitWaiting(int(want))
		if g.whenAllWait != nil {
			g.whenAllWait()
		}
	}
	return run()
}

// awaitWaiting returns when exactly n calls are in the queue.
func (g *gate) awaitWaiting(n int) {
	for {
		g.store.writes.mu.Lock()
		waiting := len(g.store.writes.waiting)
		g.store.writes.mu.Unlock()
		if waiting == n {
			return
		}
		runtime.Gosched()
	}
}

// together runs calls that share a commit, behind one that goes first.
func together(t *testing.T, g *gate, n int, first func(), call func(i int)) {
	t.Helper()
	g.commits.Store(0)
	g.want.Store(int64(n))
	var wg sync.WaitGroup
	wg.Go(first)
	for g.want.Load() != 0 {
		runtime.Gosched() // until the first call is at its commit
	}
	for i := range n {
		wg.Go(func() { call(i) })
	}
	wg.Wait()
}

func TestCallsThatWaitShareACommit(t *testing.T) {
	ctx := context.Background()
	l := open(t, newPath(t), nil)
	g := &gate{}
	g.store = hook(t, l, g.pass)
	acme, other := tenant(t, l, "acme"), tenant(t, l, "other")
	const n = 40
	receipts := make([]sgam.Receipt, n)
	together(t, g, n, func() {
		_, err := acme.Apply(ctx, assert("first", "deadline", "x", day(1)).From(message("e", day(1))))
		require.NoError(t, err)
	}, func(i int) {
		who := acme
		if i%4 == 0 {
			who = other
		}
		var err error
		receipts[i], err = who.Apply(ctx, assert("mira", "deadline", fmt.Sprint(i), day(1).Add(time.Duration(i)*time.Hour)).From(message(fmt.Sprint("e", i), day(1))))
		require.NoError(t, err)
	})
	require.EqualValues(t, 2, g.commits.Load())
	for _, who := range []*sgam.Tenant{acme, other} {
		seen := map[time.Time]bool{}
		for i, r := range receipts {
			require.Equal(t, sgam.Applied, r.Outcome)
			if (who == other) == (i%4 == 0) {
				require.False(t, seen[r.Known], "each call has a known time of its own")
				seen[r.Known] = true
			}
		}
	}
	f, err := acme.ValidAt(day(9)).Get(ctx, "mira", "deadline")
	require.NoError(t, err)
	require.JSONEq(t, `"39"`, string(f.Value))
}

func TestALoneCallWaitsForNobody(t *testing.T) {
	ctx := context.Background()
	l := open(t, newPath(t), nil)
	g := &gate{}
	g.store = hook(t, l, g.pass)
	acme := tenant(t, l, "acme")
	for i := range 5 {
		_, err := acme.Apply(ctx, assert("mira", "deadline", fmt.Sprint(i), day(1+i)).From(message(fmt.Sprint("e", i), day(1))))
		require.NoError(t, err)
	}
	require.EqualValues(t, 5, g.commits.Load())
}

func TestACallThatFailsWhileWritingTakesNobodyAlong(t *testing.T) {
	ctx := context.Background()
	l := open(t, newPath(t), nil)
	g := &gate{}
	facts := 0
	full := sqlite3.Error{Code: sqlite3.ErrFull}
	g.store = hook(t, l, func(st *statement, run func() error) error {
		if st == stAddFact {
			if facts++; facts == 7 {
				return full
			}
		}
		return g.pass(st, run)
	})
	acme := tenant(t, l, "acme")
	const n = 12
	failed := atomic.Int64{}
	together(t, g, n, func() {
		_, err := acme.Apply(ctx, assert("first", "deadline", "x", day(1)).From(message("e", day(1))))
		require.NoError(t, err)
	}, func(i int) {
		r, err := acme.Apply(ctx, assert(fmt.Sprint("s", i), "deadline", "x", day(1)).From(message(fmt.Sprint("e", i), day(1))))
		if err != nil {
			require.ErrorIs(t, err, full)
			failed.Add(1)
			return
		}
		require.Equal(t, sgam.Applied, r.Outcome)
	})
	require.EqualValues(t, 1, failed.Load())
	count := 0
	for _, err := range acme.ValidAt(day(2)).Facts(ctx, sgam.Filter{}) {
		require.NoError(t, err)
		count++
	}
	require.Equal(t, n, count, "the first and all but the one that failed")
	for o, err := range acme.Outcomes(ctx) {
		require.NoError(t, err)
		require.Equal(t, sgam.Applied, o.Outcome)
	}
}

func TestAPanicInADecisionBelongsToItsCaller(t *testing.T) {
	ctx := context.Background()
	l := open(t, newPath(t), nil)
	g := &gate{}
	g.store = hook(t, l, g.pass)
	acme := tenant(t, l, "acme")
	together(t, g, 6, func() {
		_, err := acme.Apply(ctx, assert("first", "deadline", "x", day(1)).From(message("e", day(1))))
		require.NoError(t, err)
	}, func(i int) {
		if i == 3 {
			require.PanicsWithValue(t, "a bug", func() {
				_ = g.store.Write(ctx, tenantID(t, g.store), &sgam.Call{}, func(*sgam.Snapshot) (*sgam.Change, error) { panic("a bug") })
			})
			return
		}
		r, err := acme.Apply(ctx, assert(fmt.Sprint("s", i), "deadline", "x", day(1)).From(message(fmt.Sprint("e", i), day(1))))
		require.NoError(t, err)
		require.Equal(t, sgam.Applied, r.Outcome)
	})
	require.EqualValues(t, 2, g.commits.Load())
}

func TestAPanicInTheEngineEndsOneCallOnly(t *testing.T) {
	ctx := context.Background()
	l := open(t, newPath(t), nil)
	armed := true
	hook(t, l, func(st *statement, run func() error) error {
		if st == stOpenSegment && armed {
			armed = false
			panic("a bug")
		}
		return run()
	})
	acme := tenant(t, l, "acme")
	d := assert("mira", "deadline", "x", day(1)).From(message("e", day(1)))
	require.PanicsWithValue(t, "a bug", func() { _, _ = acme.Apply(ctx, d) })
	r, err := acme.Apply(ctx, d)
	require.NoError(t, err)
	require.Equal(t, sgam.Applied, r.Outcome)
}

func TestADecisionThatRefusesWritesNothing(t *testing.T) {
	ctx := context.Background()
	l := open(t, newPath(t), nil)
	g := &gate{}
	g.store = hook(t, l, g.pass)
	refused := errors.New("no")
	for _, result := range []error{nil, refused} {
		err := g.store.Write(ctx, tenantID(t, g.store), &sgam.Call{}, func(*sgam.Snapshot) (*sgam.Change, error) { return nil, result })
		require.ErrorIs(t, err, result)
	}
	require.Zero(t, g.commits.Load())
	require.False(t, g.store.writes.conn.inTransaction())
}

func TestWhoGivesUpWhileWaitingIsNotWritten(t *testing.T) {
	ctx := context.Background()
	for _, c := range []struct {
		name string
		end  error
		want []error
	}{
		{"cancelled", context.Canceled, []error{context.Canceled}},
		{"late", context.DeadlineExceeded, []error{context.DeadlineExceeded, sgam.ErrBusy}},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := open(t, newPath(t), nil)
			g := &gate{}
			g.store = hook(t, l, g.pass)
			acme := tenant(t, l, "acme")
			waiting := &ending{Context: ctx, done: make(chan struct{}), err: c.end}
			g.whenAllWait = func() {
				close(waiting.done)
				g.awaitWaiting(0)
			}
			together(t, g, 1, func() {
				_, err := acme.Apply(ctx, assert("first", "deadline", "x", day(1)).From(message("e", day(1))))
				require.NoError(t, err)
			}, func(int) {
				_, err := acme.Apply(waiting, assert("a", "deadline", "x", day(1)).From(message("a", day(1))))
				for _, want := range c.want {
					require.ErrorIs(t, err, want)
				}
			})
			_, err := acme.ValidAt(day(2)).Get(ctx, "a", "deadline")
			require.ErrorIs(t, err, sgam.ErrUnknown)
			_, err = acme.ValidAt(day(2)).Get(ctx, "first", "deadline")
			require.NoError(t, err)
		})
	}
}

// ending is a context that ends when the test says so.
type ending struct {
	context.Context
	done chan struct{}
	err  error
}

func (e *ending) Done() <-chan struct{} { return e.done }

func (e *ending) Err() error {
	select {
	case <-e.done:
		return e.err
	default:
		return nil
	}
}

func TestManyWritersLeaveOneOrder(t *testing.T) {
	ctx := context.Background()
	l := open(t, newPath(t), nil)
	acme := tenant(t, l, "acme")
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			for i := range 25 {
				at := day(1).Add(time.Duration(25*w+i) * time.Minute)
				_, err := acme.Apply(ctx, assert(fmt.Sprint("s", i%3), "deadline", fmt.Sprint(w, i), at).From(message(fmt.Sprint(w, "-", i), at)))
				require.NoError(t, err)
			}
		})
	}
	wg.Wait()
	last, n := time.Time{}, 0
	for o, err := range acme.Outcomes(ctx) {
		require.NoError(t, err)
		require.True(t, o.Known.After(last), "one known time a call")
		last = o.Known
		n++
	}
	require.Equal(t, 200, n)
	for i := range 3 {
		// For open-ended assertions with distinct starts the final values do not depend on the order of arrival.
		f, err := acme.ValidAt(day(9)).Get(ctx, fmt.Sprint("s", i), "deadline")
		require.NoError(t, err)
		require.JSONEq(t, fmt.Sprintf("%q", fmt.Sprint(7, 24-(24-i)%3)), string(f.Value))
	}
}

func TestCloseWaitsForWritesAndRefusesLaterOnes(t *testing.T) {
	ctx := context.Background()
	path := newPath(t)
	l, err := Open(ctx, path, &sgam.Options{Schemas: plain{}})
	require.NoError(t, err)
	closing := make(chan error, 1)
	hook(t, l, func(st *statement, run func() error) error {
		if st == stCommit {
			go func() { closing <- l.Close() }()
			for !storeOf(t, l).writes.isClosed() {
				runtime.Gosched()
			}
		}
		return run()
	})
	acme := tenant(t, l, "acme")
	_, err = acme.Apply(ctx, assert("mira", "deadline", "x", day(1)).From(message("e", day(1))))
	require.NoError(t, err)
	require.NoError(t, <-closing)
	_, err = acme.Apply(ctx, assert("mira", "deadline", "y", day(2)).From(message("f", day(1))))
	require.ErrorIs(t, err, sgam.ErrClosed)
	f, err := tenant(t, open(t, path, nil), "acme").ValidAt(day(3)).Get(ctx, "mira", "deadline")
	require.NoError(t, err)
	require.JSONEq(t, `"x"`, string(f.Value))
}
