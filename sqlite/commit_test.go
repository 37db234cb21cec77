//go:build cgo

package sqlite

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	sqlite3 "github.com/mattn/go-sqlite3"
	"github.com/stretchr/testify/require"

	"github.com/sgam-ledger/sgam"
)

// countdown is a context that ends after it has been looked at some times.
type countdown struct {
	context.Context
	left atomic.Int64
}

func (c *countdown) Err() error {
	if c.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

func TestCancellationBetweenAnyTwoStatementsLeavesNothing(t *testing.T) {
	ctx := context.Background()
	l := open(t, newPath(t), nil)
	acme := tenant(t, l, "acme")
	_, err := acme.Apply(ctx, assert("mira", "deadline", "2026-07-15", day(1)).From(message("e1", day(1))))
	require.NoError(t, err)
	d := assert("mira", "deadline", "2026-06-30", day(3)).From(message("e2", day(3)))
	cancelled := 0
	for n := int64(0); ; n++ {
		c := &countdown{Context: ctx}
		c.left.Store(n)
		r, err := acme.Apply(c, d)
		if err == nil {
			require.Equal(t, sgam.Applied, r.Outcome)
			break
		}
		require.ErrorIs(t, err, context.Canceled)
		cancelled++
		require.False(t, storeOf(t, l).writes.conn.inTransaction())
		f, err := acme.ValidAt(day(9)).Get(ctx, "mira", "deadline")
		require.NoError(t, err)
		require.JSONEq(t, `"2026-07-15"`, string(f.Value))
		require.Nil(t, f.Valid.To)
		_, err = acme.Episode(ctx, "e2")
		require.ErrorIs(t, err, sgam.ErrNotFound)
		for err := range l.Verify(ctx) {
			require.NoError(t, err)
		}
	}
	require.Greater(t, cancelled, 20, "every statement of a supersession was a chance")
	f, err := acme.ValidAt(day(9)).Get(ctx, "mira", "deadline")
	require.NoError(t, err)
	require.JSONEq(t, `"2026-06-30"`, string(f.Value))
}

func TestAStatementThatFailsLeavesNothing(t *testing.T) {
	ctx := context.Background()
	l := open(t, newPath(t), nil)
	acme := tenant(t, l, "acme")
	_, err := acme.Apply(ctx, assert("mira", "deadline", "2026-07-15", day(1)).From(message("e1", day(1))))
	require.NoError(t, err)
	d := assert("mira", "deadline", "2026-06-30", day(3)).From(message("e2", day(3)))
	failure := sqlite3.Error{Code: sqlite3.ErrFull}
	failed := 0
	for n := 0; ; n++ {
		at := 0
		hook(t, l, func(st *statement, run func() error) error {
			if st == stRollback || st == stCommit {
				return run()
			}
			if at++; at == n+1 {
				return failure
			}
			return run()
		})
		_, err := acme.Apply(ctx, d)
		if err == nil {
			break
		}
		require.ErrorIs(t, err, failure)
		failed++
		f, err := acme.ValidAt(day(9)).Get(ctx, "mira", "deadline")
		require.NoError(t, err)
		require.JSONEq(t, `"2026-07-15"`, string(f.Value))
	}
	require.Greater(t, failed, 20)
}

// lossy is a commit that goes wrong once.
type lossy struct {
	err     error
	reaches bool // it is stored all the same
	blind   bool // and cannot be looked up
	calls   int
}

func (x *lossy) around(st *statement, run func() error) error {
	switch {
	case st == stCallStored && x.blind:
		return sqlite3.Error{Code: sqlite3.ErrIoErr}
	case st != stCommit:
		return run()
	}
	if x.calls++; x.calls > 1 {
		return run()
	}
	if x.reaches {
		if err := run(); err != nil {
			return err
		}
	}
	return x.err
}

func TestACommitIsStoredOrNotOrUnknown(t *testing.T) {
	ctx := context.Background()
	broken := sqlite3.Error{Code: sqlite3.ErrIoErr, ExtendedCode: sqlite3.ErrIoErrWrite}
	unsynced := sqlite3.Error{Code: sqlite3.ErrIoErr, ExtendedCode: sqlite3.ErrIoErrFsync}
	for _, c := range []struct {
		name   string
		commit lossy
		err    error // of the call, nil when it is stored
		again  sgam.Outcome
	}{
		{"stored, and the answer is lost", lossy{err: broken, reaches: true}, nil, sgam.Duplicate},
		{"stored but not synced, and the answer is lost", lossy{err: unsynced, reaches: true}, nil, sgam.Duplicate},
		{"not stored", lossy{err: broken}, broken, sgam.Applied},
		{"not stored but perhaps in the log", lossy{err: unsynced}, sgam.ErrOutcomeUnknown, sgam.Applied},
		{"stored, and nobody can look", lossy{err: broken, reaches: true, blind: true}, sgam.ErrOutcomeUnknown, sgam.Duplicate},
		{"not stored, and nobody can look", lossy{err: broken, blind: true}, sgam.ErrOutcomeUnknown, sgam.Applied},
		{"locked for a moment", lossy{err: sqlite3.Error{Code: sqlite3.ErrBusy}}, nil, sgam.Duplicate},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := open(t, newPath(t), nil)
			acme := tenant(t, l, "acme")
			_, err := acme.Apply(ctx, assert("mira", "deadline", "2026-07-15", day(1)).From(message("e1", day(1))))
			require.NoError(t, err)
			d := assert("mira", "deadline", "2026-06-30", day(3)).From(message("e2", day(3)))
			hook(t, l, c.commit.around)
			r, err := acme.Apply(ctx, d)
			if c.err == nil {
				require.NoError(t, err)
				require.Equal(t, sgam.Applied, r.Outcome)
			} else {
				require.ErrorIs(t, err, c.err)
				require.Equal(t, errors.Is(c.err, sgam.ErrOutcomeUnknown), errors.Is(err, sgam.ErrOutcomeUnknown))
			}
			r, err = acme.Apply(ctx, d)
			require.NoError(t, err)
			require.Equal(t, c.again, r.Outcome)
			f, err := acme.ValidAt(day(9)).Get(ctx, "mira", "deadline")
			require.NoError(t, err)
			require.Equal(t, r.Memory, f.ID)
		})
	}
}

func TestWhatIsFoundButCannotBeMadeDurableIsUnknown(t *testing.T) {
	ctx := context.Background()
	path := newPath(t)
	l := open(t, path, nil)
	acme := tenant(t, l, "acme")
	_, err := acme.Apply(ctx, assert("mira", "deadline", "2026-07-15", day(1)).From(message("e1", day(1))))
	require.NoError(t, err)
	old, err := connect(path, reading)
	require.NoError(t, err)
	require.NoError(t, old.exec(stBeginRead))
	_, err = old.one(stClock, "acme")
	require.NoError(t, err)

	lost := lossy{err: sqlite3.Error{Code: sqlite3.ErrIoErr, ExtendedCode: sqlite3.ErrIoErrFsync}, reaches: true}
	hook(t, l, lost.around)
	d := assert("mira", "deadline", "2026-06-30", day(3)).From(message("e2", day(3)))
	_, err = acme.Apply(ctx, d)
	require.ErrorIs(t, err, sgam.ErrOutcomeUnknown)
	require.NoError(t, old.close())
	r, err := acme.Apply(ctx, d)
	require.NoError(t, err)
	require.Equal(t, sgam.Duplicate, r.Outcome)
}

func TestATransactionThatEndedByItselfIsNoticed(t *testing.T) {
	ctx := context.Background()
	l := open(t, newPath(t), nil)
	s := storeOf(t, l)
	armed := true
	hook(t, l, func(st *statement, run func() error) error {
		err := run()
		if st == stAddOutcome && armed {
			armed = false
			_, err = s.writes.conn.raw.Exec("ROLLBACK", nil)
		}
		return err
	})
	acme := tenant(t, l, "acme")
	d := assert("mira", "deadline", "x", day(1)).From(message("e", day(1)))
	_, err := acme.Apply(ctx, d)
	require.Error(t, err)
	r, err := acme.Apply(ctx, d)
	require.NoError(t, err)
	require.Equal(t, sgam.Applied, r.Outcome)
}

func TestAnUnknownCommitIsUnknownToAllWhoSharedIt(t *testing.T) {
	ctx := context.Background()
	l := open(t, newPath(t), nil)
	g := &gate{}
	unsynced := sqlite3.Error{Code: sqlite3.ErrIoErr, ExtendedCode: sqlite3.ErrIoErrFsync}
	g.store = hook(t, l, func(st *statement, run func() error) error {
		if st == stCommit && g.commits.Load() == 1 {
			g.commits.Add(1)
			return unsynced
		}
		return g.pass(st, run)
	})
	acme := tenant(t, l, "acme")
	d := func(i int) sgam.MemoryDelta {
		// Two calls of each content: the second of them is answered by what the first has not stored yet.
		return assert(fmt.Sprint("s", i/2), "deadline", "x", day(1)).From(message(fmt.Sprint("e", i/2), day(1)))
	}
	together(t, g, 6, func() {
		_, err := acme.Apply(ctx, assert("first", "deadline", "x", day(1)).From(message("e", day(1))))
		require.NoError(t, err)
	}, func(i int) {
		_, err := acme.Apply(ctx, d(i))
		require.ErrorIs(t, err, sgam.ErrOutcomeUnknown)
	})
	r, err := acme.Apply(ctx, d(0))
	require.NoError(t, err)
	require.Equal(t, sgam.Applied, r.Outcome)
}

func TestALostRegistrationIsLookedUp(t *testing.T) {
	ctx := context.Background()
	for _, reaches := range []bool{true, false} {
		l := open(t, newPath(t), nil)
		lost := lossy{err: sqlite3.Error{Code: sqlite3.ErrIoErr, ExtendedCode: sqlite3.ErrIoErrFsync}, reaches: reaches}
		hook(t, l, lost.around)
		doc := sgam.TypeDocument{Type: "place", Version: 1, JSON: []byte("{}"), Hash: "p", Semantic: "p"}
		err := l.Register(ctx, doc)
		if reaches {
			require.NoError(t, err)
		} else {
			require.ErrorIs(t, err, sgam.ErrOutcomeUnknown)
		}
		require.NoError(t, l.Register(ctx, doc))
		types, err := l.Types(ctx)
		require.NoError(t, err)
		require.Len(t, types, 2)
	}
}

// waits counts how often a lock had to be waited for.
type waits struct {
	tenants []string
	last    int
}

func (*waits) Decided(string, string, sgam.Outcome, string)    {}
func (*waits) Read(string, sgam.QueryKind, int, time.Duration) {}
func (*waits) Refused(string, error)                           {}
func (w *waits) Retried(tenant string, attempt int, err error) {
	w.tenants, w.last = append(w.tenants, tenant), attempt
}

func TestALockedFileIsWaitedForAsLongAsTheCallerWaits(t *testing.T) {
	ctx := context.Background()
	path := newPath(t)
	seen := &waits{}
	l := open(t, path, &sgam.Options{Observe: seen})
	acme := tenant(t, l, "acme")
	other, err := connect(path, writing)
	require.NoError(t, err)
	defer func() { require.NoError(t, other.close()) }()
	d := assert("mira", "deadline", "x", day(1)).From(message("e", day(1)))

	require.NoError(t, other.exec(stBeginWrite))
	short, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
	defer cancel()
	_, err = acme.Apply(short, d)
	require.ErrorIs(t, err, sgam.ErrBusy)
	require.ErrorIs(t, err, context.DeadlineExceeded)

	gone, leave := context.WithCancel(ctx)
	tries := 0
	hook(t, l, func(st *statement, run func() error) error {
		if tries++; st == stBeginWrite && tries == 2 {
			leave()
		}
		return run()
	})
	_, err = acme.Apply(gone, d)
	require.ErrorIs(t, err, context.Canceled)
	require.NotErrorIs(t, err, sgam.ErrBusy)

	tries = 0
	hook(t, l, func(st *statement, run func() error) error {
		if tries++; st == stBeginWrite && tries == 3 {
			require.NoError(t, other.exec(stRollback))
		}
		return run()
	})
	r, err := acme.Apply(ctx, d)
	require.NoError(t, err)
	require.Equal(t, sgam.Applied, r.Outcome)
	require.GreaterOrEqual(t, tries, 3)
	require.Equal(t, 2, seen.last, "the attempts that found the lock taken are reported")
	require.Equal(t, "acme", seen.tenants[0])
	n := len(seen.tenants)
	_, err = acme.Apply(ctx, assert("mira", "deadline", "y", day(2)).From(message("e2", day(2))))
	require.NoError(t, err)
	require.Len(t, seen.tenants, n, "and nothing when the lock is free")
}
