//go:build cgo

package sqlite

import (
	"context"
	"errors"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sgam-ledger/sgam"
)

// storedCalls are the calls of a tenant.
func storedCalls(t *testing.T, from *sgam.Tenant) []*sgam.StoredCall {
	t.Helper()
	var calls []*sgam.StoredCall
	for call, err := range from.Calls(context.Background(), sgam.Beginning) {
		require.NoError(t, err)
		calls = append(calls, call)
	}
	return calls
}

// stated makes so many calls about a few subjects.
func stated(t *testing.T, from *sgam.Tenant, n int) {
	t.Helper()
	for i := range n {
		d := assert("s"+strconv.Itoa(i%5), "deadline", strconv.Itoa(i), day(1))
		_, err := from.Apply(context.Background(), d.From(message("e"+strconv.Itoa(i), day(1))))
		require.NoError(t, err)
	}
}

func TestARunOfCallsSharesACommit(t *testing.T) {
	ctx := context.Background()
	source := tenant(t, open(t, newPath(t), nil), "acme")
	stated(t, source, 3*most)
	l := open(t, newPath(t), nil)
	commits := 0
	hook(t, l, func(st *statement, run func() error) error {
		if st == stCommit {
			commits++
		}
		return run()
	})
	target := tenant(t, l, "acme")
	require.NoError(t, target.Adopt(ctx, storedCalls(t, source)))
	require.Equal(t, 1, commits)
	require.Len(t, storedCalls(t, target), 3*most)
}

func TestARunEndsWithItsFirstFailure(t *testing.T) {
	ctx := context.Background()
	source := tenant(t, open(t, newPath(t), nil), "acme")
	stated(t, source, 9)
	calls := storedCalls(t, source)
	broken := *calls[4]
	broken.Change.Episodes, broken.Change.Digests = nil, nil // its fact names an episode that is not stored
	t.Run("a change that cannot be written", func(t *testing.T) {
		target := tenant(t, open(t, newPath(t), nil), "acme")
		run := append(append(append([]*sgam.StoredCall{}, calls[:4]...), &broken), calls[5:]...)
		err := target.Adopt(ctx, run)
		require.ErrorContains(t, err, "episode")
		require.Len(t, storedCalls(t, target), 4, "what came before is stored, and nothing after it")
		require.NoError(t, target.Adopt(ctx, calls))
		require.Len(t, storedCalls(t, target), 9)
	})
	t.Run("a call of its own that is called off", func(t *testing.T) {
		l := open(t, newPath(t), nil)
		off, cancel := context.WithCancel(ctx)
		hook(t, l, func(st *statement, run func() error) error {
			if st == stCommit {
				cancel()
			}
			return run()
		})
		target := tenant(t, l, "acme")
		require.NoError(t, target.Adopt(off, calls), "the commit was on its way")
		require.ErrorIs(t, target.Adopt(off, calls), context.Canceled)
		require.Len(t, storedCalls(t, target), 9)
	})
	t.Run("a decision that panics", func(t *testing.T) {
		s := storeOf(t, open(t, newPath(t), nil))
		fine := func(*sgam.Snapshot) (*sgam.Change, error) { return nil, nil }
		require.PanicsWithValue(t, "no", func() {
			_ = s.WriteRun(ctx, sgam.TenantID{}, []sgam.RunCall{
				{Call: &sgam.Call{}, Decide: fine}, {Call: &sgam.Call{}, Decide: func(*sgam.Snapshot) (*sgam.Change, error) { panic("no") }},
			})
		})
		failed := errors.New("not this one")
		err := s.WriteRun(ctx, sgam.TenantID{}, []sgam.RunCall{
			{Call: &sgam.Call{}, Decide: func(*sgam.Snapshot) (*sgam.Change, error) { return nil, failed }}, {Call: &sgam.Call{}, Decide: fine},
		})
		require.ErrorIs(t, err, failed)
	})
}

func TestARunNeedsALedgerThatIsOpenForWriting(t *testing.T) {
	ctx := context.Background()
	path := newPath(t)
	closed(t, path)
	s, err := current.open(ctx, path, &sgam.Options{ReadOnly: true})
	require.NoError(t, err)
	require.ErrorIs(t, s.WriteRun(ctx, sgam.TenantID{}, nil), sgam.ErrReadOnly)
	require.NoError(t, s.Close())
	s, err = current.open(ctx, path, nil)
	require.NoError(t, err)
	require.NoError(t, s.Close())
	require.ErrorIs(t, s.WriteRun(ctx, sgam.TenantID{}, nil), sgam.ErrClosed)
}
