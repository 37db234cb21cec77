//go:build cgo && unix

package crashtest

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/sgam-ledger/sgam"
)

// redelivering tells a child to deliver the same statement from many goroutines at once.
type redelivering struct {
	Path  string
	Times int
	Key   string // the idempotency key, empty to let it be derived
}

func redeliver(ctx context.Context, args redelivering, up *parent) error {
	l, acme, err := openNow(ctx, args.Path, 0)
	if err != nil {
		return err
	}
	if err := up.start(); err != nil {
		return err
	}
	receipts := make([]sgam.Receipt, args.Times)
	var delivering errgroup.Group
	for i := range receipts {
		delivering.Go(func() (err error) {
			d := writing{Name: "the only one", Shared: 1}.delta(1)
			d.IdempotencyKey = args.Key
			receipts[i], err = acme.Apply(ctx, d)
			return err
		})
	}
	if err := delivering.Wait(); err != nil {
		return err
	}
	if err := up.say(receipts); err != nil {
		return err
	}
	return l.Close()
}

func TestAHundredDeliveriesAtOnceAreOneFact(t *testing.T) {
	for name, key := range map[string]string{"a derived key": "", "a given key": "delivery 1"} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "a.db")
			const processes, each = 4, 25
			running := make([]*process, processes)
			for i := range running {
				running[i] = start(t, "redeliverer", redelivering{Path: path, Times: each, Key: key})
				running[i].ready()
			}
			for _, p := range running {
				p.tell("go")
			}
			outcomes := map[sgam.Outcome]int{}
			facts := map[sgam.MemoryID]int{}
			for _, p := range running {
				var receipts []sgam.Receipt
				p.expect(&receipts)
				p.end()
				for _, r := range receipts {
					outcomes[r.Outcome]++
					facts[r.Memory]++
				}
			}
			require.Equal(t, map[sgam.Outcome]int{sgam.Applied: 1, sgam.Duplicate: processes*each - 1}, outcomes)
			require.Len(t, facts, 1, "all speak of the same fact")
			l, acme := openTest(t, path)
			require.Len(t, historyOf(t, acme, sharedSubject(0)), 1)
			require.Equal(t, 1, requireIncreasingTimes(t, path), "a duplicate is no call")
			prove(t, l, path)
			require.NoError(t, l.Close())
		})
	}
}

// found waits for its turn, opens a ledger that may not be there yet, and writes.
func found(ctx context.Context, args writing, up *parent) error {
	if err := up.start(); err != nil {
		return err
	}
	l, acme, err := openNow(ctx, args.Path, 0)
	if err != nil {
		return fmt.Errorf("open: %w", err)
	}
	if err := args.one(ctx, acme, 0, up); err != nil {
		return err
	}
	return l.Close()
}

// TestManyProcessesCreateOneLedger lets processes open the same missing file at once. One creates it, and all of them
// are at home in it.
func TestManyProcessesCreateOneLedger(t *testing.T) {
	for n := range few(3, 20) {
		path := filepath.Join(t.TempDir(), "a.db")
		const founders = 6
		running := make([]*process, founders)
		jobs := make([]writing, founders)
		for i := range running {
			jobs[i] = writing{Path: path, Name: fmt.Sprintf("founder %d", i), Shared: 1}
			running[i] = start(t, "founder", jobs[i])
			running[i].ready()
		}
		for _, p := range running {
			p.tell("go")
		}
		acks := make([]ack, founders)
		for i, p := range running {
			p.expect(&acks[i])
			p.end()
		}
		l, acme := openTest(t, path)
		for i := range jobs {
			requireStored(t, acme, jobs[i], acks[i:i+1])
		}
		require.Equal(t, founders, requireIncreasingTimes(t, path), "ledger %d", n)
		prove(t, l, path)
		require.NoError(t, l.Close())
	}
}
