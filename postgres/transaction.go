package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/sgam-ledger/sgam"
)

var (
	stAddToDirectory = named("add_to_directory")
	stAddTenant      = named("add_tenant")
	stLockTenant     = named("lock_tenant")
	stTenant         = named("tenant")
	stUpdateTenant   = named("update_tenant")
	stCallIsStored   = named("call_is_stored")
	stHoldRegistry   = named("hold_registry")

	stSavepoint           = named("savepoint")
	stRollbackToSavepoint = named("rollback_to_savepoint")
	stReleaseSavepoint    = named("release_savepoint")
)

// transaction is what the calls of one commit share: one tenant, one connection, and the lock on the tenant's row.
//
// A lone call costs two round trips: what begins the transaction goes out with the questions of the call, and what the
// call writes with the commit. In between each further call costs one, since its questions go out with what the one before
// it writes.
type transaction struct {
	store  *store
	queue  *queue
	tenant string
	batch  []*request

	session *session
	fresh   bool // the tenant is being written for the first time
	begun   tenantState
	state   tenantState
	wrote   bool
	newest  sgam.MemoryID // of the newest fact that was written
}

// tenantState is a tenant's row of counters.
type tenantState struct {
	id                int64 // 0 while the tenant has not been written
	lastKnown         sgam.Instant
	lastSeq, lastFact int64

	nextSubject, nextSlot, nextEpisode, nextPrincipal int64
}

// newTenantState is a tenant that has not been written.
func newTenantState(id int64) tenantState {
	return tenantState{id: id, lastKnown: sgam.Beginning, nextSubject: 1, nextSlot: 1, nextEpisode: 1, nextPrincipal: 1}
}

// loadTenant queues the reading of a tenant's counters.
func (s *session) loadTenant(st *statement, into *tenantState) {
	s.add(func(r row) error {
		*into = tenantState{
			id: into.id, lastKnown: r.instant(0), lastSeq: r.int(1), lastFact: r.int(2), nextSubject: r.int(3), nextSlot: r.int(4),
			nextEpisode: r.int(5), nextPrincipal: r.int(6),
		}
		return nil
	}, st, into.id)
}

// run resolves, decides, applies and commits the requests of the batch, and takes up what waits meanwhile. When it fails
// nothing of the batch is stored, unless the error is sgam.ErrOutcomeUnknown.
func (t *transaction) run() error {
	first := t.batch[0]
	ctx, cancel := context.WithTimeout(first.ctx, patience)
	defer cancel()
	if t.session == nil {
		c, err := t.store.connect(ctx)
		if err != nil {
			return inTime(ctx, first.ctx, err)
		}
		defer c.release()
		t.session = c
	}
	res, err := t.begin(ctx, first)
	if err != nil {
		return inTime(ctx, first.ctx, err)
	}
	// From here on nothing is interrupted: to give up is to decide nothing, between the trips.
	work, stop := context.WithTimeout(context.WithoutCancel(first.ctx), patience)
	defer stop()
	for i := 0; ; i++ {
		if err := t.call(work, i, res); err != nil {
			return err
		}
		if i+1 == most || t.session.joined {
			break
		}
		following := t.store.writes.next(t.queue)
		if following == nil {
			break
		}
		t.batch = append(t.batch, following)
		res = newResolver(t.session, t.state)
		res.queue(i+1, following.call)
	}
	return t.end(work)
}

// inTime is the error of work that had to wait for the lock.
func inTime(ctx, caller context.Context, err error) error {
	switch {
	case ctx.Err() == nil:
		return err
	case caller.Err() != nil:
		return busy(caller)
	}
	return fmt.Errorf("%w: postgres: %w", sgam.ErrBusy, err)
}

// begin opens the transaction with the tenant's lock and sends the questions of the first request along.
func (t *transaction) begin(ctx context.Context, first *request) (*resolver, error) {
	c := t.session
	id, err := t.store.tenantID(ctx, c, t.tenant)
	for err == nil && id == 0 {
		if id, err = t.beginTenant(ctx); err == nil && id == 0 {
			id, err = t.store.tenantID(ctx, c, t.tenant)
		}
	}
	if err != nil {
		return nil, err
	}
	t.state = newTenantState(id)
	if !t.fresh {
		c.begin(stBeginWrite)
		c.enter(id)
		c.loadTenant(stLockTenant, &t.state)
	}
	res := newResolver(c, t.state)
	res.queue(0, first.call)
	if err := c.run(ctx); err != nil {
		return nil, err
	}
	t.begun = t.state
	res.state = t.state
	return res, nil
}

// beginTenant opens the transaction with the tenant's first rows, unless somebody else has just written them: then it
// is 0. Whoever comes second waits for the first.
func (t *transaction) beginTenant(ctx context.Context) (id int64, err error) {
	c := t.session
	c.begin(stBeginWrite)
	if c.joined {
		c.add(nil, stSavepoint) // nothing is left of the tenant unless the call is written
	}
	c.add(func(r row) error { id = r.int(0); return nil }, stAddToDirectory, t.tenant)
	if err := c.run(ctx); err != nil {
		return 0, err
	}
	if id == 0 {
		if c.joined {
			c.add(nil, stReleaseSavepoint)
		}
		c.end(stRollback)
		return 0, c.run(ctx)
	}
	t.fresh = true
	c.enter(id)
	c.add(nil, stAddTenant, id, sgam.Beginning)
	return id, nil
}

// call resolves the rest of a request, decides it, and queues what it writes. A panic belongs to its caller and must not
// take the other calls along.
func (t *transaction) call(ctx context.Context, i int, res *resolver) error {
	r := t.batch[i]
	snapshot, err := res.finish(ctx)
	if err != nil {
		return err
	}
	if r.err = r.ctx.Err(); r.err != nil {
		return nil //nolint:nilerr // it is the request's, and the transaction goes on
	}
	var change *sgam.Change
	if change, r.err = r.run(snapshot); r.err != nil || change == nil {
		return nil //nolint:nilerr // likewise
	}
	if len(change.Epochs) > 0 {
		if err := t.holdRegistry(ctx, i, snapshot.Registry); err != nil {
			return err
		}
	}
	if err := res.apply(ctx, i, r.call, snapshot, change, t.store.key); err != nil {
		return &stepError{i, err}
	}
	t.state, t.wrote = res.state, true
	if n := len(change.Facts); n > 0 {
		t.newest = change.Facts[n-1].ID
	}
	return nil
}

// run decides.
func (r *request) run(s *sgam.Snapshot) (change *sgam.Change, err error) {
	defer func() {
		if r.panicked = recover(); r.panicked != nil {
			err = errors.New("sgam: postgres: the call panicked")
		}
	}()
	return r.decide(s)
}

// holdRegistry keeps the registry as the call saw it until the transaction ends, so that no lens changes under the first
// tenant that uses it.
func (t *transaction) holdRegistry(ctx context.Context, i int, revision int64) error {
	now := revision
	t.session.addFor(i, func(r row) error { now = r.int(0); return nil }, stHoldRegistry)
	if err := t.session.run(ctx); err != nil {
		return err
	}
	if now != revision {
		return errRegistryMoved
	}
	return nil
}

// errRegistryMoved says that somebody registered a version after the call had looked.
var errRegistryMoved = &failure{statement: stHoldRegistry.name, code: "40001"}

// end commits what the transaction wrote. It has three outcomes: stored, not stored, and sgam.ErrOutcomeUnknown.
func (t *transaction) end(ctx context.Context) error {
	c := t.session
	if !t.wrote {
		if c.joined && t.fresh {
			c.add(nil, stRollbackToSavepoint)
			c.add(nil, stReleaseSavepoint)
		}
		c.end(stRollback)
		err := c.run(ctx)
		if isBroken(err) && !c.joined {
			return nil // the connection is dropped, and with it goes what was not committed
		}
		return err
	}
	s := &t.state
	c.add(nil, stUpdateTenant, s.id, s.lastKnown, s.lastSeq, s.lastFact, s.nextSubject, s.nextSlot, s.nextEpisode, s.nextPrincipal,
		t.begun.lastSeq)
	if c.joined && t.fresh {
		c.add(nil, stReleaseSavepoint)
	}
	c.end(stCommit)
	err := c.run(ctx)
	if isBroken(err) && !c.joined {
		stored, lerr := t.lookUp(ctx)
		if lerr != nil {
			return fmt.Errorf("%w: %w; looking it up: %w", sgam.ErrOutcomeUnknown, err, lerr)
		}
		if stored {
			err = nil
		}
	}
	if err == nil {
		t.store.remember(t.tenant, s.id)
	}
	return err
}

// lookUp finds out on a new connection whether the transaction was committed whose COMMIT had no answer. It takes the
// tenant's lock for that, so it waits until the server knows.
func (t *transaction) lookUp(ctx context.Context) (stored bool, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	for attempt := 1; ; attempt++ {
		err = t.store.once(ctx, func(c *session) error {
			stored = false
			return t.lookOn(ctx, c, &stored)
		})
		if err == nil || !isPassing(err) || attempt == 2*mostAttempts {
			return stored, err
		}
		if err := pause(ctx, attempt); err != nil {
			return false, err
		}
	}
}

func (t *transaction) lookOn(ctx context.Context, c *session, stored *bool) error {
	s := &t.state
	if t.fresh {
		var free int64
		c.begin(stBeginWrite)
		c.add(func(r row) error { free = r.int(0); return nil }, stAddToDirectory, t.tenant)
		c.add(nil, stRollback)
		if err := c.run(ctx); err != nil || free != 0 {
			return err
		}
	}
	c.begin(stBeginWrite)
	c.enter(s.id)
	state := newTenantState(s.id)
	c.loadTenant(stLockTenant, &state)
	c.add(func(r row) error { *stored = r.flag(0); return nil }, stCallIsStored, s.id, s.lastSeq, s.lastKnown, s.lastFact,
		memoryOrNull(t.newest))
	c.add(nil, stRollback)
	return c.run(ctx)
}
