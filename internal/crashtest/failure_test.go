//go:build cgo && unix

package crashtest

import (
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sgam-ledger/sgam"
)

// failure is a way in which a disk lets a program down.
type failure struct {
	name   string
	kinds  []string // of system calls
	errno  string
	sample int // of the points, in the long run too: SQLite writes a page with many calls, all of which fail alike
}

// TestFailingDisk lets system calls on the ledger's files fail, once or from then on, and the program either die right
// after the first error or go on and try again.
func TestFailingDisk(t *testing.T) {
	needStrace(t)
	var definite, unknown, ran atomic.Int64
	planned := int64(0)
	t.Cleanup(func() {
		t.Logf("%d definite errors, %d unknown outcomes", definite.Load(), unknown.Load())
		if ran.Load() < planned {
			return // somebody asked for a part, or something failed
		}
		assert.NotZero(t, definite.Load(), "no failure reached the program")
		assert.NotZero(t, unknown.Load(), "no outcome was ever unknown: a sync that fails while committing has to make one")
	})
	after := rehearse(t)
	dry := newTheatre(t)
	require.Zero(t, dry.perform(true, filesOf(dry.path), ""))
	calls := countCalls(t, dry.log)
	for _, f := range []failure{
		{"failing sync", []string{"fsync", "fdatasync"}, "EIO", few(4, 1000)},
		{"full disk", []string{"pwrite64", "write"}, "ENOSPC", few(6, 80)},
		{"failing cut", []string{"ftruncate"}, "EIO", few(1, 1000)},
	} {
		found := points(calls, f.kinds)
		require.NotEmpty(t, found, "%s: there are no such calls", f.name)
		for i, p := range sampled(found, f.sample) {
			for _, die := range []bool{true, false} {
				// Once, or from then on; the quick run takes turns.
				for j, when := range []string{"", "+"} {
					if !all() && i%2 != j {
						continue
					}
					planned++
					t.Run(fmt.Sprintf("%s/die=%t/%s%s", f.name, die, p, when), func(t *testing.T) {
						t.Parallel()
						h := newTheatre(t)
						code := h.perform(die, filesOf(h.path), fmt.Sprintf("%s:error=%s:when=%d%s", p.kind, f.errno, p.n, when))
						ran.Add(1)
						events := h.judge(after, code, when == "", die)
						for _, e := range events {
							switch {
							case e.Unknown:
								unknown.Add(1)
							case e.Error != "":
								definite.Add(1)
							}
						}
					})
				}
			}
		}
	}
}

// judge holds the events of a player on a failing disk against what it left, and returns them.
func (h *theatre) judge(after [][]string, code int, once, die bool) []event {
	h.Helper()
	events := h.events()
	acks := acked(events)
	var failed, unknown bool // of the step that is being tried
	for _, e := range events {
		switch {
		case e.Error != "" && e.Step != closing:
			failed, unknown = true, unknown || e.Unknown
			continue
		case e.Step >= 0 && e.Step < scriptSize && failed && !unknown:
			for _, r := range e.Receipts {
				assert.NotEqual(h, sgam.Duplicate, r.Outcome, "step %d was stored although it failed with a definite error", e.Step)
			}
		}
		failed, unknown = false, false
	}
	if code == 0 {
		require.Len(h, acks, scriptSize)
	} else {
		require.Equal(h, exitGivenUp, code)
		require.True(h, failed, "gave up without an error")
		require.False(h, once && !die, "one failing call made %d calls of the ledger fail: %v", tries, events)
	}
	// A definite error means that nothing was stored, whatever SQLite left in its log.
	h.examine(after, acks, unknown)
	return events
}
