//go:build cgo && unix

package crashtest

import (
	"math/rand/v2"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sgam-ledger/sgam"
)

// TestDeathAtAnyTime kills writers of one file at random moments. The one that lives on must not be held up by what the
// dead one left, and whoever comes after finds everything that was acknowledged.
func TestDeathAtAnyTime(t *testing.T) {
	const seed = 20260601
	random := rand.New(rand.NewPCG(seed, 0))
	path := filepath.Join(t.TempDir(), "a.db")
	pair := [2]*killable{{job: writing{Path: path, Name: "ann", Shared: 2}}, {job: writing{Path: path, Name: "bob", Shared: 2}}}
	sent, cut, kills := 0, 0, few(5, 30)
	for left := kills; left > 0; left -= len(pair) {
		for _, k := range pair {
			k.start(t)
		}
		for _, k := range pair {
			k.tell("go")
		}
		first := random.IntN(len(pair))
		victim, survivor := pair[first], pair[1-first]
		// The moment is a random number of the other's writes, so it is any moment for the victim.
		for range 1 + random.IntN(25) {
			survivor.hearOne()
		}
		victim.die()
		death := time.Now()
		for after := 0; after < 10; {
			if survivor.hearOne().Receipt.Known.After(death) {
				after++
			}
		}
		survivor.die()

		l, acme := openTest(t, path)
		prove(t, l, path)
		for _, k := range pair {
			requireStored(t, acme, k.job, k.acks)
			// The one after the last acknowledged is stored or not. Its redelivery finds out.
			k.job.First += len(k.acks)
			r, err := acme.Apply(t.Context(), k.job.delta(k.job.First))
			require.NoError(t, err)
			require.Contains(t, []sgam.Outcome{sgam.Applied, sgam.Duplicate}, r.Outcome)
			if r.Outcome == sgam.Duplicate {
				cut++
			}
			k.job.First++
			sent += len(k.acks) + 1
		}
		facts := 0
		for _, subject := range []string{"of ann", "of bob", sharedSubject(0), sharedSubject(1)} {
			facts += len(historyOf(t, acme, subject))
		}
		require.Equal(t, sent, facts, "every statement is there once")
		require.Equal(t, sent, requireIncreasingTimes(t, path))
		prove(t, l, path)
		require.NoError(t, l.Close())
	}
	t.Logf("%d statements, of which %d were stored and not acknowledged when their writer died", sent, cut)
}

// killable is a writer that is started again and again.
type killable struct {
	*process
	job  writing
	acks []ack // of the present process
}

func (k *killable) start(t *testing.T) {
	t.Helper()
	k.acks = nil
	k.process = start(t, "writer", k.job)
	k.ready()
}

func (k *killable) hearOne() ack {
	k.t.Helper()
	var a ack
	k.expect(&a)
	k.acks = append(k.acks, a)
	return a
}

// die kills the process and hears what it said before.
func (k *killable) die() {
	k.t.Helper()
	k.kill()
	for a := (ack{}); k.hear(&a); a = (ack{}) {
		k.acks = append(k.acks, a)
	}
	require.Equal(k.t, -int(syscall.SIGKILL), k.code())
}
