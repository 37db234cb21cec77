package ledgertest

import (
	"context"
	"sync"

	"github.com/sgam-ledger/sgam"
)

// Moment is where in a call of the storage port a fault strikes.
type Moment int

const (
	// BeforeCall strikes before the engine is called: nothing can have happened.
	BeforeCall Moment = iota
	// AtDecision strikes inside a write, when the engine has been told what to apply and has applied nothing. Other
	// calls are spared.
	AtDecision
	// AfterCall strikes when the engine has answered: whatever it did is done.
	AfterCall
)

// Fault is one thing that goes wrong.
type Fault struct {
	When Moment
	// Do runs at the moment. It may return the error that the call is to fail with, panic, cancel a context, or wait.
	// Nil does nothing.
	Do func() error
}

// Faulty is an engine whose calls go wrong when a test says so. It counts the calls of the port that reach data (Write,
// Read, Register, Types and Tenants), and the writes among them once more. Close closes the inner engine and never goes
// wrong.
type Faulty struct {
	inner  sgam.Store
	mu     sync.Mutex
	calls  int
	writes int
	faults map[turn]Fault
}

// turn is one call, by its number among all calls or among the writes; the other number is 0.
type turn struct{ call, write int }

var _ sgam.Store = (*Faulty)(nil)

// NewFaulty wraps an engine. Nothing goes wrong until [Faulty.At] says so.
func NewFaulty(inner sgam.Store) *Faulty { return &Faulty{inner: inner, faults: map[turn]Fault{}} }

// At lets the n-th call from now go wrong, counted from 1.
func (f *Faulty) At(n int, fault Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.faults[turn{call: f.calls + n}] = fault
}

// AtWrite lets the n-th write from now go wrong, counted from 1.
func (f *Faulty) AtWrite(n int, fault Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.faults[turn{write: f.writes + n}] = fault
}

// Calls is how many calls there were.
func (f *Faulty) Calls() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls
}

// strike runs the faults of a call at one moment, up to the first that fails.
func (f *Faulty) strike(call turn, when Moment) error {
	for _, at := range []turn{{call: call.call}, {write: call.write}} {
		f.mu.Lock()
		fault, planned := f.faults[at]
		f.mu.Unlock()
		if !planned || at == (turn{}) || fault.When != when || fault.Do == nil {
			continue
		}
		if err := fault.Do(); err != nil {
			return err
		}
	}
	return nil
}

// next counts one call.
func (f *Faulty) next(write bool) turn {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls++
	if !write {
		return turn{call: f.calls}
	}
	f.writes++
	return turn{f.calls, f.writes}
}

// around makes one call of the inner engine between two moments.
func (f *Faulty) around(at turn, call func() error) error {
	if err := f.strike(at, BeforeCall); err != nil {
		return err
	}
	if err := call(); err != nil {
		return err
	}
	return f.strike(at, AfterCall)
}

// Engine is the name of the inner engine.
func (f *Faulty) Engine() string { return f.inner.Engine() }

// DigestKey is that of the inner engine.
func (f *Faulty) DigestKey() []byte { return f.inner.DigestKey() }

// Types calls the inner engine.
func (f *Faulty) Types(ctx context.Context) (types []sgam.StoredType, err error) {
	err = f.around(f.next(false), func() (err error) {
		types, err = f.inner.Types(ctx)
		return err
	})
	return types, err
}

// Register calls the inner engine.
func (f *Faulty) Register(ctx context.Context, doc sgam.TypeDocument) error {
	return f.around(f.next(false), func() error { return f.inner.Register(ctx, doc) })
}

// Write calls the inner engine.
func (f *Faulty) Write(ctx context.Context, t sgam.TenantID, call *sgam.Call, decide func(*sgam.Snapshot) (*sgam.Change, error)) error {
	at := f.next(true)
	return f.around(at, func() error {
		return f.inner.Write(ctx, t, call, func(s *sgam.Snapshot) (*sgam.Change, error) {
			change, err := decide(s)
			if err != nil {
				return nil, err
			}
			if err := f.strike(at, AtDecision); err != nil {
				return nil, err
			}
			return change, nil
		})
	})
}

// Read calls the inner engine.
func (f *Faulty) Read(ctx context.Context, t sgam.TenantID, q *sgam.Query) (page *sgam.Page, err error) {
	err = f.around(f.next(false), func() (err error) {
		page, err = f.inner.Read(ctx, t, q)
		return err
	})
	if err != nil {
		return nil, err
	}
	return page, nil
}

// Tenants calls the inner engine.
func (f *Faulty) Tenants(ctx context.Context, after string, limit int) (names []string, err error) {
	err = f.around(f.next(false), func() (err error) {
		names, err = f.inner.Tenants(ctx, after, limit)
		return err
	})
	return names, err
}

// Close closes the inner engine.
func (f *Faulty) Close() error { return f.inner.Close() }
