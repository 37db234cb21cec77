//go:build cgo

package sqlite

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/sgam-ledger/sgam"

	sqlite3 "github.com/mattn/go-sqlite3"
)

var (
	stBeginWrite = named("begin_write")
	stCommit     = named("commit")
	stCheckpoint = named("checkpoint")
	stCallStored = named("call_is_stored")
)

// patience is how long a call without a deadline waits for the lock of the file.
const patience = time.Minute

// transaction is what the calls of one commit share.
type transaction struct {
	conn     *conn
	key      []byte
	tenants  map[string]*tenantState
	last     *mark // of the last call that wrote
	broken   bool  // a statement failed: nothing may follow but a rollback
	doubtful bool  // so is the state of the connection
}

// mark is how a call can be recognised in the file.
type mark struct {
	tenant           string
	seq, known, fact int64
	memory           sgam.MemoryID // of the call's last fact
}

// call resolves, decides and applies one request. A panic belongs to its caller and must not take the other calls along.
func (t *transaction) call(r *request) (err error) {
	sound := false // nothing can panic but the decision, which leaves everything as it was
	defer func() {
		if r.panicked = recover(); r.panicked != nil {
			err = errors.New("sgam: sqlite: the call panicked")
			t.broken, t.doubtful = !sound, !sound
		}
	}()
	s := session{conn: t.conn, ctx: r.ctx}
	state := t.tenants[r.tenant]
	if state == nil {
		loaded, err := s.load(r.tenant)
		if err != nil {
			return t.failed(r, err)
		}
		state = &loaded
	}
	res := newResolver(s, *state)
	snapshot, err := res.snapshot(r.call)
	if err != nil {
		return t.failed(r, err)
	}
	sound = true
	change, err := r.decide(snapshot)
	sound = false
	if err != nil || change == nil {
		return err
	}
	if err := res.apply(r.tenant, r.call, snapshot, change, t.key); err != nil {
		t.broken = true
		return err
	}
	*state = res.state
	t.tenants[r.tenant] = state
	t.last = &mark{tenant: r.tenant, seq: state.lastSeq, known: int64(state.lastKnown), fact: state.lastFact}
	if n := len(change.Facts); n > 0 {
		t.last.memory = change.Facts[n-1].ID
	}
	return nil
}

// failed is an error before anything was written for a request: the end of its context harms nobody else, the failure of
// a statement ends the transaction.
func (t *transaction) failed(r *request, err error) error {
	t.broken = r.ctx.Err() == nil || !errors.Is(err, r.ctx.Err())
	return err
}

// keepTenants writes the counters of the tenants that were written.
func (t *transaction) keepTenants() error {
	s := session{conn: t.conn, ctx: uninterrupted}
	for _, state := range t.tenants {
		if err := s.keep(state); err != nil {
			return err
		}
	}
	return nil
}

// begin opens a transaction with the lock of the file, for which it waits as long as the caller does. Waiting on behalf
// of a tenant's call is reported.
func (g *group) begin(ctx context.Context, tenant string) error {
	if err := g.connect(ctx); err != nil {
		return err
	}
	attempt := 0
	err := retry(ctx, func() (bool, error) {
		err := g.conn.exec(stBeginWrite)
		if attempt++; isBusy(err) && g.told != nil && tenant != "" {
			g.told.Retried(tenant, attempt, err)
		}
		return isBusy(err), err
	})
	if err != nil && ctx.Err() != nil {
		return busy(ctx)
	}
	return err
}

// connect opens the connection, if there is none.
func (g *group) connect(ctx context.Context) error {
	if g.conn != nil {
		return nil
	}
	err := retry(ctx, func() (bool, error) {
		c, err := connect(g.path, writing)
		if err == nil {
			c.around, g.conn = g.around, c
		}
		return isBusy(err), err
	})
	if isBusy(err) {
		return fmt.Errorf("%w: %w", sgam.ErrBusy, err)
	}
	return err
}

// retry runs something again as long as it says so. It waits a random while in between, so that several processes do
// not meet again and again, and gives up with the context, or when its patience is over.
func retry(ctx context.Context, run func() (again bool, err error)) error {
	again, err := run()
	if !again {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for wait := time.Millisecond; again; wait = min(2*wait, 32*time.Millisecond) {
		select {
		case <-ctx.Done():
			return err
		case <-time.After(wait/2 + rand.N(wait)): //nolint:gosec // only to spread waiters
		}
		again, err = run()
	}
	return err
}

func isBusy(err error) bool { return isCode(err, sqlite3.ErrBusy) || isCode(err, sqlite3.ErrLocked) }

// rollback ends the transaction. A connection that cannot even do that is dropped, and the file with it forgets what
// was not committed.
func (g *group) rollback() {
	if err := g.conn.exec(stRollback); err != nil || g.conn.inTransaction() {
		g.discard()
	}
}

// discard drops a connection whose state is in doubt. What closing it has to say changes nothing.
func (g *group) discard() { _ = g.drop() }

// drop closes the connection, if there is one.
func (g *group) drop() error {
	if g.conn == nil {
		return nil
	}
	c := g.conn
	g.conn = nil
	return c.close()
}

// commit makes the transaction durable. It has three outcomes: stored, not stored, and sgam.ErrOutcomeUnknown. When the
// answer is lost, find says whether a new connection sees what was written.
func (g *group) commit(find func(*conn) (bool, error)) error {
	if !g.conn.inTransaction() {
		return fmt.Errorf("%w: sqlite: the transaction ended by itself", sgam.ErrOutcomeUnknown)
	}
	err := retry(uninterrupted, func() (bool, error) {
		err := g.conn.exec(stCommit)
		return isBusy(err) && g.conn.inTransaction(), err
	})
	switch {
	case err == nil && !g.conn.inTransaction():
		return nil
	case err == nil:
		err = errors.New("sgam: sqlite: the transaction is open after its commit")
	case isBusy(err) && g.conn.inTransaction():
		g.rollback()
		return err
	}
	// The transaction may be in the file or not. A new connection sees what everybody else does.
	g.discard()
	stored, lerr := g.stored(find)
	switch {
	case lerr != nil:
		return fmt.Errorf("%w: %w; looking it up: %w", sgam.ErrOutcomeUnknown, err, lerr)
	case stored:
		return nil
	case isSync(err):
		// The pages are in the log and may come back with it after a crash, unless the next commit overwrites them.
		return fmt.Errorf("%w: %w", sgam.ErrOutcomeUnknown, err)
	}
	return err
}

// stored looks a transaction up on a new connection, and makes what it finds durable.
func (g *group) stored(find func(*conn) (bool, error)) (bool, error) {
	c, err := connect(g.path, writing)
	if err != nil {
		return false, err
	}
	c.around, g.conn = g.around, c
	found, err := find(c)
	if err != nil || !found {
		return false, err
	}
	// The pages were not synced, and a later sync need not write them again: copy them to where they belong.
	p, err := c.one(stCheckpoint)
	if err != nil {
		return false, err
	}
	if p == nil || p.int(0) != 0 {
		return false, fmt.Errorf("%w: sqlite: checkpoint", sgam.ErrBusy)
	}
	return true, nil
}

// find looks the call up that a mark describes. It shared its transaction with those before it.
func (m *mark) find(c *conn) (bool, error) {
	p, err := c.one(stCallStored, m.tenant, m.seq, m.known, m.fact, memoryOrNull(m.memory))
	return p != nil && p.int(0) == 1, err
}

// isSync reports whether writing went well and making it durable did not.
func isSync(err error) bool {
	failure, ok := errors.AsType[sqlite3.Error](err)
	return ok && (failure.ExtendedCode == sqlite3.ErrIoErrFsync || failure.ExtendedCode == sqlite3.ErrIoErrDirFsync)
}
