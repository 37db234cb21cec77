package postgres

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/internal/pgtest"
)

// A server that is stopped in the middle of its load, as a failing machine stops, has everything that was acknowledged.
func TestACrashLosesNothingThatWasAcknowledged(t *testing.T) {
	pgtest.Long(t)
	const rounds = 20
	c, err := pgtest.Start(t.Context(), true)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Stop()) })
	require.NoError(t, c.Do(t.Context(), "postgres", "CREATE ROLE "+application+" LOGIN", "CREATE DATABASE crashing"))
	require.NoError(t, Init(t.Context(), c.DSN("crashing", "postgres"), InitOptions{Keys: secret{}, Role: application}))
	dsn := c.DSN("crashing", application)
	opts := &sgam.Options{Schemas: schemas(), Keys: secret{}, ClockTolerance: -1}

	const writers = 4
	acknowledged := make([]map[string]sgam.MemoryID, writers)
	for i := range acknowledged {
		acknowledged[i] = map[string]sgam.MemoryID{}
	}
	for round := range rounds {
		l, err := Open(t.Context(), dsn, opts)
		require.NoError(t, err)
		var wait sync.WaitGroup
		begun := make(chan struct{}, writers)
		stop := make(chan struct{})
		for w := range writers {
			wait.Go(func() {
				of := tenant(t, l, fmt.Sprint("tenant", w%2))
				for n := 0; ; n++ {
					select {
					case <-stop:
						return
					default:
					}
					id := fmt.Sprintf("e%d-%d-%d", w, round, n)
					r, err := of.Apply(t.Context(), assert("s"+fmt.Sprint(n%3), "deadline", id, day(1).Add(time.Duration(n)*time.Hour)).From(message(id, day(1))))
					if err != nil {
						return
					}
					acknowledged[w][id] = r.Memory
					if n == 10+round {
						begun <- struct{}{}
					}
				}
			})
		}
		<-begun
		require.NoError(t, c.Crash())
		close(stop)
		require.NoError(t, c.Up(t.Context()))
		wait.Wait()
		require.NoError(t, l.Close())

		l, err = Open(t.Context(), dsn, opts)
		require.NoError(t, err)
		for w := range writers {
			of := tenant(t, l, fmt.Sprint("tenant", w%2))
			for id, memory := range acknowledged[w] {
				e, err := of.Memory(t.Context(), memory)
				require.NoError(t, err, id)
				require.Equal(t, id, e.Fact.Episode)
			}
		}
		for err := range l.Verify(t.Context()) {
			require.NoError(t, err)
		}
		require.NoError(t, l.Close())
	}
	require.NotEmpty(t, acknowledged[0])
}
