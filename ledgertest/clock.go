package ledgertest

import (
	"encoding/binary"
	"io"
	"math/rand/v2"
	"sync"
	"time"
)

// Clock is a clock that a test sets by hand. It stands still until it is told otherwise, and it may go back: wall
// clocks do. It is safe for concurrent use. Its Now fits [sgam.Options.Clock].
type Clock struct {
	mu   sync.Mutex
	now  time.Time
	tick time.Duration
}

// NewClock makes a clock that stands at t.
func NewClock(t time.Time) *Clock { return &Clock{now: t} }

// Now is the time that the clock shows. A ticking clock then moves on by its tick.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now
	c.now = now.Add(c.tick)
	return now
}

// Set puts the clock at t, later or earlier.
func (c *Clock) Set(t time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = t
}

// Advance moves the clock by d; a negative d jumps back.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// Tick makes the clock move on by d with each reading. Zero stalls it, which is how it starts.
func (c *Clock) Tick(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tick = d
}

// IDs is a source of memory ids for [sgam.Options.Rand] that gives the same ids for the same seed.
func IDs(seed uint64) io.Reader {
	var key [32]byte
	binary.LittleEndian.PutUint64(key[:], seed)
	return rand.NewChaCha8(key)
}
