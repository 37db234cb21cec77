//go:build cgo

package sqlite

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/sgam-ledger/sgam"
)

// group is the one writer of a process. Calls that arrive while a commit is under way share the next one: whoever gets
// the turn decides and applies what waits by then, each call in its order and with a known time of its own, and commits
// once. A lone caller waits for nobody.
type group struct {
	path string
	key  []byte
	turn chan struct{} // holds the one token

	mu      sync.Mutex
	waiting []*request
	closed  bool

	// What follows belongs to whoever has the turn.
	conn   *conn         // nil before the first write, and after one that had to be dropped
	told   sgam.Observer // of a lock that had to be waited for; may be nil
	around func(st *statement, run func() error) error
}

// most is the number of calls that share a commit, but for a run, which is not taken apart.
const most = 64

// request is one call on its way.
type request struct {
	ctx    context.Context
	tenant string
	call   *sgam.Call
	decide func(*sgam.Snapshot) (*sgam.Change, error)
	done   chan struct{}
	more   bool // the next request is of the same run

	err      error
	panicked any
}

func newGroup(path string) group {
	turn := make(chan struct{}, 1)
	turn <- struct{}{}
	return group{path: path, turn: turn}
}

// Write runs one call of one tenant.
func (s *store) Write(ctx context.Context, t sgam.TenantID, call *sgam.Call, decide func(*sgam.Snapshot) (*sgam.Change, error)) error {
	switch err := ctx.Err(); {
	case err != nil:
		return err
	case call.DryRun:
		return s.preview(ctx, t.Name(), call, decide)
	case s.readOnly:
		return sgam.ErrReadOnly
	}
	return s.run(newRequest(ctx, t, call, decide))
}

// WriteRun runs calls of one tenant in their order. They share a commit, as long as none fails.
func (s *store) WriteRun(ctx context.Context, t sgam.TenantID, run []sgam.RunCall) error {
	switch err := ctx.Err(); {
	case err != nil:
		return err
	case s.readOnly:
		return sgam.ErrReadOnly
	}
	all := make([]*request, len(run))
	for i, c := range run {
		all[i] = newRequest(ctx, t, c.Call, c.Decide)
		all[i].more = i < len(run)-1
	}
	return s.run(all...)
}

func newRequest(ctx context.Context, t sgam.TenantID, call *sgam.Call, decide func(*sgam.Snapshot) (*sgam.Change, error)) *request {
	return &request{ctx: ctx, tenant: t.Name(), call: call, decide: decide, done: make(chan struct{})}
}

// run takes requests through the queue, one behind the other, and returns the error of the first that failed.
func (s *store) run(all ...*request) error {
	if !s.writes.enter(all...) {
		return sgam.ErrClosed
	}
	for _, r := range all {
		s.writes.wait(r)
	}
	for _, r := range all {
		if r.panicked != nil {
			panic(r.panicked)
		}
		if r.err != nil {
			return r.err
		}
	}
	return nil
}

// preview decides a call without writing. It takes no lock.
func (s *store) preview(ctx context.Context, tenant string, call *sgam.Call, decide func(*sgam.Snapshot) (*sgam.Change, error)) (err error) {
	c, done, err := s.reader(ctx)
	if err != nil {
		return err
	}
	var snapshot *sgam.Snapshot
	run := session{conn: c, ctx: ctx}
	err = done(run.inTransaction(func() error {
		state, err := run.load(tenant)
		if err != nil {
			return err
		}
		snapshot, err = newResolver(run, state).snapshot(call)
		return err
	}))
	if err != nil {
		return err
	}
	_, err = decide(snapshot)
	return err
}

// enter joins the queue, unless the store is closed.
func (g *group) enter(all ...*request) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return false
	}
	g.waiting = append(g.waiting, all...)
	return true
}

func (g *group) isClosed() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.closed
}

// leave takes a request out of the queue, and reports whether it was still there.
func (g *group) leave(r *request) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	for i, w := range g.waiting {
		if w == r {
			g.waiting = append(g.waiting[:i], g.waiting[i+1:]...)
			return true
		}
	}
	return false
}

// next takes the requests that share the next commit out of the queue.
func (g *group) next() []*request {
	g.mu.Lock()
	defer g.mu.Unlock()
	n := min(most, len(g.waiting))
	for n > 0 && n < len(g.waiting) && g.waiting[n-1].more {
		n++
	}
	batch := g.waiting[:n:n]
	g.waiting = append([]*request(nil), g.waiting[n:]...)
	return batch
}

// wait returns when the request is done, whoever did it.
func (g *group) wait(r *request) {
	select {
	case <-r.done:
	case <-g.turn:
		defer func() { g.turn <- struct{}{} }()
		g.lead(r)
	case <-r.ctx.Done():
		if g.leave(r) {
			r.err = busy(r.ctx)
			return
		}
		<-r.done
	}
}

// busy says that a call could not have the lock in time.
func busy(ctx context.Context) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fmt.Errorf("%w: %w", sgam.ErrBusy, ctx.Err())
	}
	return ctx.Err()
}

// lead runs what waits until the request itself is done.
func (g *group) lead(r *request) {
	for {
		select {
		case <-r.done:
			return
		default:
		}
		if err := g.begin(r.ctx, r.tenant); err != nil {
			if g.leave(r) {
				r.finish(err)
			}
			continue
		}
		g.run(g.next())
	}
}

func (r *request) finish(err error) {
	if r.err == nil {
		r.err = err
	}
	close(r.done)
}

// run decides, applies and commits requests in the transaction that is open, which is over when it returns. A request
// that fails after it began to write takes the transaction with it; the others go back to the head of the queue.
func (g *group) run(batch []*request) {
	tx := &transaction{conn: g.conn, key: g.key, tenants: map[string]*tenantState{}}
	for i, r := range batch {
		r.err, r.panicked = nil, nil
		r.err = tx.call(r)
		if tx.broken {
			g.rollback()
			if tx.doubtful {
				g.discard()
			}
			r.finish(nil)
			g.mu.Lock()
			g.waiting = append(append(batch[:i:i], batch[i+1:]...), g.waiting...)
			g.mu.Unlock()
			return
		}
	}
	err := g.end(tx)
	for _, r := range batch {
		r.finish(err)
	}
}

// end commits what the transaction wrote.
func (g *group) end(tx *transaction) error {
	if tx.last == nil {
		g.rollback()
		return nil
	}
	if err := tx.keepTenants(); err != nil {
		g.rollback()
		return err
	}
	return g.commit(tx.last.find)
}

// close waits for the turn, ends what still waits, and releases the connection.
func (g *group) close() error {
	g.mu.Lock()
	g.closed = true
	g.mu.Unlock()
	<-g.turn
	defer func() { g.turn <- struct{}{} }()
	for batch := g.next(); len(batch) > 0; batch = g.next() {
		for _, r := range batch {
			r.finish(sgam.ErrClosed)
		}
	}
	return g.drop()
}
