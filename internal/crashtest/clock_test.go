//go:build cgo && unix

package crashtest

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/ledgertest"
	"github.com/sgam-ledger/sgam/sqlite"
)

// clocked tells a child to write under clocks that it is told.
type clocked struct {
	Path      string
	Name      string
	Tolerance time.Duration // of the ledger, as in its options
}

// tick is one write at a time of the child's clock. The answer is an ack, with the error's name instead when there is one.
type tick struct {
	Number int
	At     time.Time
}

type tock struct {
	Receipt sgam.Receipt
	Behind  bool // the ledger refused the clock
}

// writeAtTimes writes once for each time it is told, under a clock that stands there.
func writeAtTimes(ctx context.Context, args clocked, up *parent) error {
	clock := ledgertest.NewClock(dawn)
	l, err := sqlite.Open(ctx, args.Path, &sgam.Options{Schemas: schemas(), Clock: clock.Now, ClockTolerance: args.Tolerance})
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
	for {
		var next tick
		if more, err := up.hear(&next); err != nil || !more {
			return errors.Join(err, l.Close())
		}
		clock.Set(next.At)
		r, err := acme.Apply(ctx, writing{Name: args.Name, Shared: 2}.delta(next.Number))
		behind := errors.Is(err, sgam.ErrClockBehind)
		if err != nil && !behind {
			return err
		}
		if err := up.say(tock{r, behind}); err != nil {
			return err
		}
	}
}

func startClocked(t *testing.T, args clocked) *process {
	t.Helper()
	p := start(t, "clocked", args)
	p.ready()
	p.tell("go")
	return p
}

// at lets the child write under a clock, and is its answer.
func (p *process) at(number int, clock time.Time) tock {
	p.t.Helper()
	p.tell(tick{number, clock})
	var answer tock
	p.expect(&answer)
	return answer
}

// TestKnownTimesIncreaseUnderClocksThatDisagree lets two processes take turns whose clocks are five seconds apart, stand
// still and jump both ways. Neither is refused, and no known time is given twice or out of order.
func TestKnownTimesIncreaseUnderClocksThatDisagree(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	const skew = 5 * time.Second
	moves := []time.Duration{0, time.Millisecond, -4 * time.Second, 0, 5 * time.Second, -time.Microsecond, time.Microsecond}
	ahead := startClocked(t, clocked{Path: path, Name: "ahead"})
	behind := startClocked(t, clocked{Path: path, Name: "behind"})
	var last time.Time
	late := 0
	check := func(a tock, clock time.Time) {
		require.False(t, a.Behind, "within the tolerance of the default")
		require.Equal(t, sgam.Applied, a.Receipt.Outcome)
		require.True(t, a.Receipt.Known.After(last), "%s after %s", a.Receipt.Known, last)
		require.False(t, a.Receipt.Known.Before(clock), "a known time is never before the clock that gave it")
		if a.Receipt.Known.After(clock) {
			require.Equal(t, last.Add(time.Microsecond), a.Receipt.Known, "the smallest step that still increases")
			late++
		}
		last = a.Receipt.Known
	}
	clock := dawn
	const turns = 40
	for n := range turns {
		clock = clock.Add(moves[n%len(moves)])
		check(ahead.at(n, clock.Add(skew)), clock.Add(skew))
		check(behind.at(n, clock), clock)
		if n == turns/2 { // a restart forgets nothing
			behind.end()
			behind = startClocked(t, clocked{Path: path, Name: "behind"})
		}
	}
	require.NotZero(t, late, "no clock was ever behind, so nothing was shown")
	ahead.end()
	behind.end()
	require.Equal(t, 2*turns, requireIncreasingTimes(t, path))
	l, _ := openTest(t, path)
	prove(t, l, path)
	require.NoError(t, l.Close())
}

// TestAClockTooFarBehindIsRefused lets one process leap ahead. The others are refused when they are further behind than
// they tolerate, without a trace, and one that tolerates everything goes on from the leap.
func TestAClockTooFarBehindIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	leaper := startClocked(t, clocked{Path: path, Name: "leaper"})
	usual := startClocked(t, clocked{Path: path, Name: "usual"})
	lenient := startClocked(t, clocked{Path: path, Name: "lenient", Tolerance: -1})
	const leap, tolerance = time.Hour, 10 * time.Second
	last := leaper.at(0, dawn.Add(leap)).Receipt.Known
	require.True(t, last.Equal(dawn.Add(leap)))

	require.True(t, usual.at(0, dawn).Behind)
	require.True(t, usual.at(0, last.Add(-tolerance-time.Microsecond)).Behind)
	require.Equal(t, 1, requireIncreasingTimes(t, path), "a refused call leaves nothing")

	r := usual.at(0, last.Add(-tolerance)).Receipt
	require.Equal(t, sgam.Applied, r.Outcome, "as far behind as is tolerated")
	require.True(t, r.Known.Equal(last.Add(time.Microsecond)))
	r = lenient.at(0, dawn.Add(-leap)).Receipt
	require.True(t, r.Known.Equal(last.Add(2*time.Microsecond)))
	for _, p := range []*process{leaper, usual, lenient} {
		p.end()
	}
	require.Equal(t, 3, requireIncreasingTimes(t, path))
}

// TestWritersWithSkewedClocksAtOnce lets processes whose clocks are seconds apart write at the same time.
func TestWritersWithSkewedClocksAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	writes := few(30, 200)
	var running []*process
	for i, skew := range []time.Duration{0, 5 * time.Second, -4 * time.Second} {
		p := start(t, "writer", writing{Path: path, Name: fmt.Sprintf("writer %d", i), Writes: writes, Shared: 2, Skew: skew})
		p.ready()
		running = append(running, p)
	}
	for _, p := range running {
		p.tell("go")
	}
	for _, p := range running {
		for range writes {
			var a ack
			p.expect(&a)
			require.Equal(t, sgam.Applied, a.Receipt.Outcome)
		}
		p.end()
	}
	require.Equal(t, len(running)*writes, requireIncreasingTimes(t, path))
	l, acme := openTest(t, path)
	for i := range 2 {
		historyOf(t, acme, sharedSubject(i))
	}
	prove(t, l, path)
	require.NoError(t, l.Close())
}
