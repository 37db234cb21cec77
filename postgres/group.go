package postgres

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/sgam-ledger/sgam"
)

// queues are the calls of this process that wait to write, by tenant. Calls that arrive while a transaction of their tenant
// is under way share it or the next one: whoever gets the turn decides and applies what waits, each call in its order and
// with a known time of its own, and commits once. A lone caller waits for nobody here, and tenants do not wait for each
// other; other processes are kept out by the lock on the tenant's row.
type queues struct {
	mu sync.Mutex
	of map[string]*queue
}

// queue is what waits of one tenant.
type queue struct {
	turn    chan struct{} // holds the one token
	waiting []*request
	users   int
}

// most is the number of calls that share a commit.
const most = 64

// mostAttempts is how often a call is tried when what went wrong may go well a moment later.
const mostAttempts = 8

// patience is how long a call without a deadline waits for the tenant's lock, and any work for the server.
const patience = time.Minute

// request is one call on its way.
type request struct {
	ctx    context.Context
	tenant string
	call   *sgam.Call
	decide func(*sgam.Snapshot) (*sgam.Change, error)
	done   chan struct{}

	attempts int
	err      error
	panicked any
}

func newQueues() queues { return queues{of: map[string]*queue{}} }

// Write runs one call of one tenant.
func (s *store) Write(ctx context.Context, t sgam.TenantID, call *sgam.Call, decide func(*sgam.Snapshot) (*sgam.Change, error)) error {
	switch err := ctx.Err(); {
	case err != nil:
		return err
	case call.DryRun:
		return s.preview(ctx, t.Name(), call, decide)
	case s.readOnly:
		return sgam.ErrReadOnly
	case s.joint != nil:
		return s.writeJoined(ctx, newRequest(ctx, t, call, decide))
	}
	return s.take(t.Name(), newRequest(ctx, t, call, decide)) //nolint:contextcheck // each request brings its own context
}

// WriteRun runs calls of one tenant in their order. They share commits, as far as they fit.
func (s *store) WriteRun(ctx context.Context, t sgam.TenantID, run []sgam.RunCall) error {
	switch err := ctx.Err(); {
	case err != nil:
		return err
	case s.readOnly:
		return sgam.ErrReadOnly
	case s.joint != nil:
		for _, c := range run {
			if err := s.writeJoined(ctx, newRequest(ctx, t, c.Call, c.Decide)); err != nil {
				return err
			}
		}
		return nil
	}
	all := make([]*request, len(run))
	for i, c := range run {
		all[i] = newRequest(ctx, t, c.Call, c.Decide)
	}
	return s.take(t.Name(), all...) //nolint:contextcheck // each request brings its own context
}

func newRequest(ctx context.Context, t sgam.TenantID, call *sgam.Call, decide func(*sgam.Snapshot) (*sgam.Change, error)) *request {
	return &request{ctx: ctx, tenant: t.Name(), call: call, decide: decide, done: make(chan struct{})}
}

// take takes requests through the queue, one behind the other, and returns the error of the first that failed.
func (s *store) take(tenant string, all ...*request) error {
	leave, err := s.enter()
	if err != nil {
		return err
	}
	defer leave()
	q := s.writes.join(tenant, all)
	for _, r := range all {
		s.wait(q, r)
	}
	s.writes.part(q, tenant)
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

// join puts requests into the queue of their tenant.
func (w *queues) join(tenant string, all []*request) *queue {
	w.mu.Lock()
	defer w.mu.Unlock()
	q := w.of[tenant]
	if q == nil {
		q = &queue{turn: make(chan struct{}, 1)}
		q.turn <- struct{}{}
		w.of[tenant] = q
	}
	q.users++
	q.waiting = append(q.waiting, all...)
	return q
}

// part drops a queue that nobody uses any more.
func (w *queues) part(q *queue, tenant string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if q.users--; q.users == 0 {
		delete(w.of, tenant)
	}
}

// leave takes a request out of its queue, and reports whether it was still there.
func (w *queues) leave(q *queue, r *request) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	i := slices.Index(q.waiting, r)
	if i < 0 {
		return false
	}
	q.waiting = slices.Delete(q.waiting, i, i+1)
	return true
}

// next takes the request at the head of a queue, nil when none waits.
func (w *queues) next(q *queue) *request {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(q.waiting) == 0 {
		return nil
	}
	r := q.waiting[0]
	q.waiting = slices.Delete(q.waiting, 0, 1)
	return r
}

// again puts requests back at the head of a queue.
func (w *queues) again(q *queue, batch []*request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	q.waiting = slices.Concat(batch, q.waiting)
}

// wait returns when the request is done, whoever did it.
func (s *store) wait(q *queue, r *request) {
	select {
	case <-r.done:
	case <-q.turn:
		defer func() { q.turn <- struct{}{} }()
		s.lead(q, r)
	case <-r.ctx.Done():
		if s.writes.leave(q, r) {
			r.err = busy(r.ctx)
			return
		}
		<-r.done
	}
}

// lead runs what waits until the request itself is done.
func (s *store) lead(q *queue, r *request) {
	for {
		select {
		case <-r.done:
			return
		default:
			s.serve(q, s.writes.next(q))
		}
	}
}

func (r *request) finish(err error) {
	if r.err == nil {
		r.err = err
	}
	close(r.done)
}

// serve runs one transaction, that of the first request and of those that wait when it is their turn. Those that are not
// done then are back in the queue.
func (s *store) serve(q *queue, first *request) {
	if first == nil {
		return
	}
	tx := &transaction{store: s, queue: q, tenant: first.tenant, batch: []*request{first}}
	err := tx.run()
	var left []*request
	var failing *stepError
	switch {
	case err == nil:
		for _, r := range tx.batch {
			r.finish(nil)
		}
		return
	case errors.Is(err, sgam.ErrOutcomeUnknown):
		for _, r := range tx.batch {
			r.finish(err)
		}
		return
	case isPassing(err) && first.ctx.Err() == nil:
		left = s.retry(tx.batch, err)
	case errors.As(err, &failing):
		tx.batch[failing.owner].finish(ended(tx.batch[failing.owner].ctx, failing.err))
		left = without(tx.batch, failing.owner)
	default:
		first.finish(err)
		left = tx.batch[1:]
	}
	for _, r := range left {
		r.err, r.panicked = nil, nil
	}
	s.writes.again(q, left)
}

func without(batch []*request, i int) []*request {
	return append(slices.Clone(batch[:i]), batch[i+1:]...)
}

// retry gives up the requests that were tried often enough, reports the others and waits a while.
func (s *store) retry(batch []*request, err error) []*request {
	var left []*request
	for _, r := range batch {
		if r.attempts++; r.attempts >= mostAttempts {
			r.finish(fmt.Errorf("%w: postgres: given up after %d attempts: %w", sgam.ErrBusy, r.attempts, err))
			continue
		}
		if s.told != nil {
			s.told.Retried(r.tenant, r.attempts, err)
		}
		left = append(left, r)
	}
	if len(left) > 0 {
		// The requests look at their contexts themselves.
		_ = pause(left[0].ctx, left[0].attempts)
	}
	return left
}

// pause waits a random while, longer with each attempt.
func pause(ctx context.Context, attempt int) error {
	wait := time.Millisecond << min(attempt, 8)
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(wait/2 + rand.N(wait)): //nolint:gosec // only to spread waiters
		return nil
	}
}

// preview decides a call without writing. It takes no lock.
func (s *store) preview(ctx context.Context, tenant string, call *sgam.Call, decide func(*sgam.Snapshot) (*sgam.Change, error)) error {
	var snapshot *sgam.Snapshot
	err := s.reading(ctx, func(c *session) error {
		id, err := s.tenantID(ctx, c, tenant)
		if err != nil {
			return err
		}
		r := newResolver(c, newTenantState(id))
		c.begin(stBeginRead)
		c.enter(id)
		c.hold()
		c.loadTenant(stTenant, &r.state)
		r.queue(0, call)
		if snapshot, err = r.finish(ctx); err != nil {
			return err
		}
		c.end(stRollback)
		return c.run(ctx)
	})
	if err != nil {
		return err
	}
	_, err = decide(snapshot)
	return err
}
