package bench

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"

	"github.com/sgam-ledger/sgam"
)

// tape is what the engine runs for each of a series of calls, recorded over a copy of the file that they are replayed
// on: the statements, and all their values.
type tape struct {
	Engine
	tenant *sgam.Tenant
	next   func(i int) sgam.MemoryDelta
	calls  []recordedCall
}

// recordedCall is one Apply, from its BEGIN to its COMMIT.
type recordedCall []execution

type execution struct {
	name string
	args []driver.NamedValue
}

// record prepares to record the calls that submit the deltas of next, over a file of its own.
func (s *Sides) record(ctx context.Context, f *Files, from *file, next func(i int) sgam.MemoryDelta) (*tape, error) {
	t, e, err := s.writing(ctx, f, from)
	if err != nil {
		return nil, err
	}
	return &tape{Engine: e, tenant: t, next: next}, nil
}

// upTo records until there are n calls.
func (t *tape) upTo(ctx context.Context, n int) error {
	for len(t.calls) < n {
		var call recordedCall
		t.Trace(func(name string, args []driver.Value) { call = append(call, execution{name, arguments(args...)}) })
		err := submit(ctx, t.tenant, t.next(len(t.calls)))
		t.Trace(nil)
		if err != nil {
			return fmt.Errorf("record a call: %w", err)
		}
		if len(call) < 3 || call[0].name != beginWrite || call[len(call)-1].name != commit {
			return errors.New("record a call: what was recorded is no transaction")
		}
		t.calls = append(t.calls, call)
	}
	return nil
}

// The statements that a call has in common with those that share its transaction.
const (
	beginWrite   = "begin_write"
	commit       = "commit"
	loadTenant   = "tenant"
	updateTenant = "update_tenant"
)

// player replays a tape through the driver alone.
type player struct {
	*tape
	bare   *bare
	played int
}

// play replays a tape over a file of its own.
func (s *Sides) play(ctx context.Context, f *Files, from *file, t *tape) (*player, error) {
	_, e, err := s.writing(ctx, f, from)
	if err != nil {
		return nil, err
	}
	b, err := openBare(ctx, e, true)
	if err != nil {
		return nil, err
	}
	s.add(b.Close)
	return &player{tape: t, bare: b}, nil
}

// ready records n calls more.
func (p *player) ready(ctx context.Context, n int) error {
	if err := p.upTo(ctx, p.played+n); err != nil {
		return err
	}
	for _, call := range p.calls[p.played : p.played+n] {
		for _, x := range call {
			if _, err := p.bare.prepare(p.Statement(x.name)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *player) execute(x execution) error {
	st, err := p.bare.prepare(p.Statement(x.name))
	if err == nil {
		err = st.run(x.args)
	}
	if err != nil {
		return fmt.Errorf("replay %s: %w", x.name, err)
	}
	return nil
}

// one replays the next call as it was: a transaction of its own.
func (p *player) one(context.Context) error {
	call := p.calls[p.played]
	p.played++
	for _, x := range call {
		if err := p.execute(x); err != nil {
			return err
		}
	}
	return nil
}

// together replays the next n calls in transactions of up to so many calls. What every call does for its transaction is
// done once: the lock, the tenant's counters, the commit.
func (p *player) together(n, most int) error {
	for n > 0 {
		some := min(n, most)
		for i, call := range p.calls[p.played : p.played+some] {
			for _, x := range call {
				first, last := x.name == beginWrite || x.name == loadTenant, x.name == commit || x.name == updateTenant
				if first && i > 0 || last && i < some-1 {
					continue
				}
				if err := p.execute(x); err != nil {
					return err
				}
			}
		}
		p.played += some
		n -= some
	}
	return nil
}

// submit applies one delta, which must not be refused.
func submit(ctx context.Context, t *sgam.Tenant, d sgam.MemoryDelta) error {
	r, err := t.Apply(ctx, d)
	if err != nil {
		return err
	}
	return mustApply(&r)
}
