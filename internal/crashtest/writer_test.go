//go:build cgo && unix

package crashtest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/sqlite"
)

// writing tells a child to write facts of its own numbering, every other one about a subject that all writers share.
type writing struct {
	Path   string
	Name   string        // of the writer; its numbers are its own
	First  int           // number
	Writes int           // how many, 0 for no end
	Shared int           // subjects that all writers write about
	Skew   time.Duration // of the writer's clock
}

// ack is one acknowledged write.
type ack struct {
	Number  int
	Receipt sgam.Receipt
	Took    time.Duration
}

// patience is how long a call may wait for the others.
const patience = 30 * time.Second

// delta is the writer's statement of a number. All statements about a subject begin at the same time, so that each
// displaces exactly the one before it.
func (w writing) delta(number int) sgam.MemoryDelta {
	subject := "of " + w.Name
	if number%2 == 1 {
		subject = sharedSubject(number / 2 % w.Shared)
	}
	name := fmt.Sprintf("%s %d", w.Name, number)
	return say(name, sgam.Assert, subject, "deadline", name, 0)
}

func sharedSubject(n int) string { return fmt.Sprintf("shared %d", n) }

// openNow opens a ledger under the machine's clock, or one that is ahead of it.
func openNow(ctx context.Context, path string, skew time.Duration) (*sgam.Ledger, *sgam.Tenant, error) {
	l, err := sqlite.Open(ctx, path, &sgam.Options{
		Schemas: schemas(),
		Clock:   func() time.Time { return time.Now().Add(skew) },
	})
	if err != nil {
		return nil, nil, err
	}
	acme, err := l.Tenant("acme")
	return l, acme, err
}

// write writes, and tells each acknowledgement before it goes on.
func write(ctx context.Context, args writing, up *parent) error {
	l, acme, err := openNow(ctx, args.Path, args.Skew)
	if err != nil {
		return err
	}
	if err := up.start(); err != nil {
		return err
	}
	for n := args.First; args.Writes == 0 || n < args.First+args.Writes; n++ {
		if err := args.one(ctx, acme, n, up); err != nil {
			return err
		}
	}
	return l.Close()
}

func (w writing) one(ctx context.Context, acme *sgam.Tenant, n int, up *parent) error {
	bounded, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	began := time.Now()
	r, err := acme.Apply(bounded, w.delta(n))
	if err != nil {
		return fmt.Errorf("write %d: %w", n, err)
	}
	return up.say(ack{n, r, time.Since(began)})
}

// openTest opens a ledger in the test itself.
func openTest(t *testing.T, path string) (*sgam.Ledger, *sgam.Tenant) {
	t.Helper()
	l, acme, err := openNow(t.Context(), path, 0)
	require.NoError(t, err)
	return l, acme
}

// historyOf is the chain of facts about a subject, which must be a simple path: each displaced the one before it. What only
// confirmed the fact that held is no link of it.
func historyOf(t *testing.T, acme *sgam.Tenant, subject string) []sgam.Fact {
	t.Helper()
	var chain []sgam.Fact
	before := sgam.MemoryID{}
	for e, err := range acme.History(t.Context(), sgam.Slot{Subject: subject, Attribute: "deadline"}) {
		require.NoError(t, err)
		if len(e.Confirms) > 0 {
			require.True(t, e.Fact.Supersedes.IsZero())
			require.Equal(t, []sgam.MemoryID{before}, e.Confirms)
			continue
		}
		require.Equal(t, before, e.Fact.Supersedes, "fact %d about %q does not displace the one before it", len(chain), subject)
		before = e.Fact.ID
		chain = append(chain, e.Fact)
	}
	return chain
}

// requireIncreasingTimes requires that the known times of the tenant's calls strictly increase in the order in which
// they were numbered, and returns how many calls there were.
func requireIncreasingTimes(t *testing.T, path string) int {
	t.Helper()
	db := openRaw(t, path)
	defer func() { require.NoError(t, db.Close()) }()
	rows, err := db.QueryContext(t.Context(), "SELECT known_at FROM calls ORDER BY tenant_id, seq")
	require.NoError(t, err)
	defer func() { require.NoError(t, rows.Close()) }()
	calls, last := 0, int64(sgam.Beginning)
	for rows.Next() {
		var known int64
		require.NoError(t, rows.Scan(&known))
		require.Greater(t, known, last, "call %d", calls+1)
		calls, last = calls+1, known
	}
	require.NoError(t, rows.Err())
	return calls
}

// requireStored requires that every acknowledged write is there, under its memory id and at its known time.
func requireStored(t *testing.T, acme *sgam.Tenant, w writing, acks []ack) {
	t.Helper()
	for _, a := range acks {
		require.Equal(t, sgam.Applied, a.Receipt.Outcome, "%s %d", w.Name, a.Number)
		again, err := acme.Apply(t.Context(), w.delta(a.Number))
		require.NoError(t, err)
		require.Equal(t, sgam.Duplicate, again.Outcome, "%s %d was acknowledged and is lost", w.Name, a.Number)
		require.Equal(t, a.Receipt.Memory, again.Memory)
		require.True(t, a.Receipt.Known.Equal(again.Known))
	}
}
