package postgres

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/ledgertest"
)

// engine is the store of a ledger.
func engine(t *testing.T, l *sgam.Ledger) *store {
	t.Helper()
	s, ok := l.Store().(*store)
	require.True(t, ok)
	return s
}

func TestACallCostsTwoRoundTrips(t *testing.T) {
	s := engine(t, opened(t, newDatabase(t, InitOptions{})))
	call := func(seq int64) int {
		tx := &transaction{store: s, queue: &queue{}, tenant: "acme", batch: []*request{{
			ctx: t.Context(), tenant: "acme", call: &sgam.Call{Principal: "p", Keys: []string{"k"}, Episodes: []string{"e"}},
			decide: func(snapshot *sgam.Snapshot) (*sgam.Change, error) {
				require.Equal(t, seq-1, snapshot.LastSeq)
				return &sgam.Change{Known: snapshot.LastKnown + 1, Outcomes: []sgam.NewOutcome{{Outcome: sgam.Rejected}}}, nil
			},
		}}}
		require.NoError(t, tx.run())
		require.NoError(t, tx.batch[0].err)
		return tx.session.trips
	}
	require.Greater(t, call(1), 2, "the first call of a tenant has to find out that it is")
	require.Equal(t, 2, call(2))
	require.Equal(t, 2, call(3))
}

// flaky are the first attempts of calls that fail in passing.
type flaky struct {
	mu      sync.Mutex
	retried int
}

func (f *flaky) Decided(string, string, sgam.Outcome, string)    {}
func (f *flaky) Read(string, sgam.QueryKind, int, time.Duration) {}
func (f *flaky) Refused(string, error)                           {}
func (f *flaky) Retried(_ string, _ int, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.retried++
}

func TestALostConnectionIsNoLostCall(t *testing.T) {
	name := newDatabase(t, InitOptions{})
	told := &flaky{}
	l, err := at(t, name, nil)(t.Context(), &sgam.Options{Schemas: schemas(), ClockTolerance: -1, Observe: told})
	require.NoError(t, err)
	ledgertest.Proven(t, l)
	acme := tenant(t, l, "acme")
	for i := range 5 {
		// Whatever the pool holds is cut off on the server's side, and the pool does not know.
		require.NoError(t, cluster(t).Do(t.Context(), "postgres",
			"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '"+name+"'"))
		r, err := acme.Apply(t.Context(), assert("mira", "deadline", fmt.Sprint(i), day(i+1)).From(message(fmt.Sprint("e", i), day(i+1))))
		require.NoError(t, err)
		require.Equal(t, sgam.Applied, r.Outcome)
	}
	require.Positive(t, told.retried)
}

// A commit whose answer is lost is looked up: what is stored is a success, what is not stored is tried again.
func TestACommitWithoutAnAnswerIsLookedUp(t *testing.T) {
	s := engine(t, opened(t, newDatabase(t, InitOptions{})))
	write := func(known sgam.Instant) *transaction {
		tx := &transaction{store: s, queue: &queue{}, tenant: "acme", batch: []*request{{
			ctx: t.Context(), tenant: "acme", call: &sgam.Call{Principal: "p"},
			decide: func(*sgam.Snapshot) (*sgam.Change, error) {
				return &sgam.Change{Known: known, Outcomes: []sgam.NewOutcome{{Outcome: sgam.Rejected}}}, nil
			},
		}}}
		require.NoError(t, tx.run())
		return tx
	}
	for _, known := range []sgam.Instant{10, 20} { // the first one begins the tenant
		tx := write(known)
		stored, err := tx.lookUp(t.Context())
		require.NoError(t, err)
		require.True(t, stored)
		tx.state.lastKnown++
		stored, err = tx.lookUp(t.Context())
		require.NoError(t, err)
		require.False(t, stored, "another call is not this one")
	}
	absent := &transaction{store: s, tenant: "nobody yet", fresh: true, state: newTenantState(99)}
	stored, err := absent.lookUp(t.Context())
	require.NoError(t, err)
	require.False(t, stored)
}

func TestALockThatIsHeldIsWaitedForAsLongAsTheCallerDoes(t *testing.T) {
	name := newDatabase(t, InitOptions{})
	acme := tenant(t, opened(t, name), "acme")
	_, err := acme.Apply(t.Context(), assert("mira", "deadline", "1", day(1)).From(message("e1", day(1))))
	require.NoError(t, err)
	holder, err := as(t, name, owner).Begin(t.Context())
	require.NoError(t, err)
	_, err = holder.Exec(t.Context(), "SELECT FROM sgam.tenants FOR UPDATE")
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err = acme.Apply(ctx, assert("mira", "deadline", "2", day(2)).From(message("e2", day(2))))
	require.ErrorIs(t, err, sgam.ErrBusy)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.NoError(t, holder.Rollback(t.Context()))
	r, err := acme.Apply(t.Context(), assert("mira", "deadline", "3", day(3)).From(message("e3", day(3))))
	require.NoError(t, err)
	require.Equal(t, sgam.Applied, r.Outcome)
}
