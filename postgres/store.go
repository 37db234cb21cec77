package postgres

import (
	"context"
	"sync"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/sgam-ledger/sgam"
)

var (
	stBeginWrite     = named("begin_write")
	stBeginRead      = named("begin_read")
	stSpreadSettings = named("spread_settings")
	stSetTenant      = named("set_tenant")
	stSetTenantHere  = named("set_tenant_here")

	stSetTenantAndPlans = named("set_tenant_and_plans")

	stLeaveTenant  = named("leave_tenant")
	stCommit       = named("commit")
	stRollback     = named("rollback")
	stTenantOfName = named("tenant_of_name")
	stTenants      = named("tenants")
)

// store is the engine over one database, or in one transaction there.
type store struct {
	name       string // of the ledger
	pool       *pgxpool.Pool
	lent       bool   // the pool is the caller's
	joint      *joint // a transaction of the caller's, nil for those of the engine
	noWall     bool
	readOnly   bool
	unprepared bool
	prepared   bool // whatever the connection goes through
	spread     bool
	large      int
	key        []byte
	told       sgam.Observer // may be nil
	writes     queues

	// life is held for reading by every call, so that closing waits for them.
	life   sync.RWMutex
	closed bool

	known *numbers
}

// numbers are those of tenants that are stored. They never change.
type numbers struct {
	mu sync.Mutex
	of map[string]int64
}

var (
	_ sgam.Store    = (*store)(nil)
	_ sgam.RunStore = (*store)(nil)
)

// rememberedTenants bounds what the store remembers of tenants' numbers.
const rememberedTenants = 1 << 16

// Engine is "postgres".
func (s *store) Engine() string { return "postgres" }

// DigestKey is the ledger's secret. Callers must not change it.
func (s *store) DigestKey() []byte { return s.key }

// enter keeps the store open until the function that it returns is called.
func (s *store) enter() (leave func(), err error) {
	s.life.RLock()
	if s.closed {
		s.life.RUnlock()
		return nil, sgam.ErrClosed
	}
	return s.life.RUnlock, nil
}

// Close waits for reads and writes under way and releases the connections. A transaction of the caller's goes on.
func (s *store) Close() error {
	s.life.Lock()
	defer s.life.Unlock()
	if s.closed {
		return sgam.ErrClosed
	}
	s.closed = true
	if !s.lent {
		s.pool.Close()
	}
	return nil
}

// connect takes a connection out of the pool. The caller releases it; the pool drops one that is in a transaction.
func (s *store) connect(ctx context.Context) (*session, error) {
	conn, err := s.pool.Acquire(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, &broken{err}
	}
	return &session{conn: conn.Conn().PgConn(), release: conn.Release, unprepared: s.unprepared, spread: s.spread, large: s.large}, nil
}

// reading runs something on a connection, again if the connection turns out to be lost: nothing that it does is stored.
func (s *store) reading(ctx context.Context, run func(*session) error) error {
	leave, err := s.enter()
	if err != nil {
		return err
	}
	defer leave()
	if s.joint != nil {
		return s.join(ctx, run)
	}
	for attempt := 1; ; attempt++ {
		err = s.once(ctx, run)
		if err == nil || ctx.Err() != nil || !isPassing(err) || attempt == mostAttempts {
			return ended(ctx, err)
		}
		if err := pause(ctx, attempt); err != nil {
			return err
		}
	}
}

// once runs something on a connection.
func (s *store) once(ctx context.Context, run func(*session) error) error {
	c, err := s.connect(ctx)
	if err != nil {
		return err
	}
	defer c.release()
	return run(c)
}

// tenantID is the number of a tenant, 0 when it has not been written.
func (s *store) tenantID(ctx context.Context, c *session, name string) (int64, error) {
	s.known.mu.Lock()
	id := s.known.of[name]
	s.known.mu.Unlock()
	if id != 0 {
		return id, nil
	}
	c.add(func(r row) error { id = r.int(0); return nil }, stTenantOfName, name)
	if err := c.run(ctx); err != nil || id == 0 {
		return 0, err
	}
	s.remember(name, id)
	return id, nil
}

// remember keeps the number of a tenant that is stored. What a transaction of the caller's sees may not be.
func (s *store) remember(name string, id int64) {
	if s.joint != nil {
		return
	}
	s.known.mu.Lock()
	defer s.known.mu.Unlock()
	if len(s.known.of) >= rememberedTenants {
		clear(s.known.of)
	}
	s.known.of[name] = id
}

// Tenants lists tenants that have been written.
func (s *store) Tenants(ctx context.Context, after string, limit int) ([]string, error) {
	var found []string
	err := s.reading(ctx, func(c *session) error {
		found = nil
		c.add(func(r row) error { found = append(found, r.text(0)); return nil }, stTenants, after, limit)
		return c.run(ctx)
	})
	return found, err
}
