//go:build cgo && unix

package crashtest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/sqlite"
)

// watching tells a child to hold on to snapshots of a ledger while others write.
type watching struct{ Path string }

// watch looks at its snapshots whenever it is told to: one of the ledger's views, and one transaction of SQLite, which
// keeps the write-ahead log from starting over. At the end it says how often it looked.
func watch(ctx context.Context, args watching, up *parent) error {
	l, err := sqlite.Open(ctx, args.Path, &sgam.Options{ReadOnly: true})
	if err != nil {
		return err
	}
	db, err := sql.Open("sqlite3", "file:"+args.Path+"?mode=ro&_busy_timeout=10000")
	if err != nil {
		return err
	}
	acme, err := l.Tenant("acme")
	if err != nil {
		return err
	}
	if err := up.start(); err != nil {
		return err
	}
	const most = 5 // looks at one snapshot
	looks := 0
	for more := true; more; {
		more, err = hold(ctx, acme, db, most, up, &looks)
		if err != nil {
			return err
		}
	}
	if err := up.say(looks); err != nil {
		return err
	}
	return errors.Join(db.Close(), l.Close())
}

// hold takes a snapshot, looks at it again each time it is told to, and reports whether it was told to go on.
func hold(ctx context.Context, acme *sgam.Tenant, db *sql.DB, most int, up *parent, looks *int) (bool, error) {
	tx, err := db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return false, err
	}
	view := acme.Current()
	look := func() (calls int, facts []sgam.Fact, err error) {
		if err := tx.QueryRowContext(ctx, "SELECT count(*) FROM calls").Scan(&calls); err != nil {
			return 0, nil, err
		}
		for f, err := range view.Facts(ctx, sgam.Filter{}) {
			if err != nil {
				return 0, nil, err
			}
			facts = append(facts, f)
		}
		return calls, facts, nil
	}
	calls, facts, err := look()
	if err != nil {
		return false, err
	}
	for range most {
		var word string
		if told, err := up.hear(&word); err != nil || !told {
			return false, errors.Join(err, tx.Rollback())
		}
		callsNow, factsNow, err := look()
		if err != nil {
			return false, err
		}
		if callsNow != calls || !reflect.DeepEqual(factsNow, facts) {
			return false, fmt.Errorf("a snapshot of %d calls and %d facts became one of %d and %d", calls, len(facts), callsNow, len(factsNow))
		}
		*looks++
	}
	return true, tx.Rollback()
}

// TestManyProcessesWriteOneFile lets processes write at once while others read from old snapshots: all finish, nobody is
// told that the ledger is busy, and what they wrote is one history.
func TestManyProcessesWriteOneFile(t *testing.T) {
	writers, writes, shared := few(4, 8), few(50, 200), 3
	path := filepath.Join(t.TempDir(), "a.db")
	l, acme := openTest(t, path)
	var watchers []*process
	for range 4 {
		p := start(t, "reader", watching{path})
		p.ready()
		p.tell("go")
		watchers = append(watchers, p)
	}
	jobs := make([]writing, writers)
	running := make([]*process, writers)
	for i := range jobs {
		jobs[i] = writing{Path: path, Name: fmt.Sprintf("writer %d", i), Writes: writes, Shared: shared}
		running[i] = start(t, "writer", jobs[i])
		running[i].ready()
	}
	acks := make([][]ack, writers)
	var listening errgroup.Group
	began := time.Now()
	for i, p := range running {
		p.tell("go")
		listening.Go(func() error {
			for a := (ack{}); ; a = (ack{}) {
				more, err := p.next(&a)
				if err != nil || !more {
					return err
				}
				acks[i] = append(acks[i], a)
				if w := watchers[i%len(watchers)]; len(acks[i])%10 == 0 && i < len(watchers) {
					if err := w.try("look"); err != nil {
						return err
					}
				}
			}
		})
	}
	require.NoError(t, listening.Wait())
	took := time.Since(began)
	for _, p := range running {
		p.end()
	}
	for _, w := range watchers {
		require.NoError(t, w.in.Close())
		looks := 0
		w.expect(&looks)
		require.Equal(t, writes/10, looks)
		require.NoError(t, w.cmd.Wait(), "%s", &w.errors)
	}

	var latencies []time.Duration
	for i := range jobs {
		require.Len(t, acks[i], writes)
		requireStored(t, acme, jobs[i], acks[i])
		require.Len(t, historyOf(t, acme, "of "+jobs[i].Name), writes/2)
		for j, a := range acks[i] {
			latencies = append(latencies, a.Took)
			require.True(t, j == 0 || acks[i][j-1].Receipt.Known.Before(a.Receipt.Known), "known times of one writer increase")
		}
	}
	onShared := 0
	for i := range shared {
		onShared += len(historyOf(t, acme, sharedSubject(i)))
	}
	require.Equal(t, writers*writes/2, onShared)
	require.Equal(t, writers*writes, requireIncreasingTimes(t, path))
	prove(t, l, path)
	require.NoError(t, l.Close())

	slices.Sort(latencies)
	at := func(share float64) time.Duration { return latencies[int(share*float64(len(latencies)-1))] }
	t.Logf("%d processes, %d writes each: %.0f writes a second, p50 %v, p99 %v, max %v", writers, writes,
		float64(len(latencies))/took.Seconds(), at(0.5), at(0.99), at(1))
}
