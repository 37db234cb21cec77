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
	stCommit         = named("commit")
	stRollback       = named("rollback")
	stTenantOfName   = named("tenant_of_name")
	stTenants        = named("tenants")
)

// store is the engine over one database.
type store struct {
	pool       *pgxpool.Pool
	lent       bool // the pool is the caller's
	readOnly   bool
	unprepared bool
	spread     bool
	key        []byte
	told       sgam.Observer // may be nil
	writes     queues

	// life is held for reading by every call, so that closing waits for them.
	life   sync.RWMutex
	closed bool

	mu  sync.Mutex
	ids map[string]int64 // numbers of tenants; they never change
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

// Close waits for reads and writes under way and releases the connections.
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
	return &session{conn: conn, unprepared: s.unprepared, spread: s.spread}, nil
}

// reading runs something on a connection, again if the connection turns out to be lost: nothing that it does is stored.
func (s *store) reading(ctx context.Context, run func(*session) error) error {
	leave, err := s.enter()
	if err != nil {
		return err
	}
	defer leave()
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
	defer c.conn.Release()
	return run(c)
}

// tenantID is the number of a tenant, 0 when it has not been written.
func (s *store) tenantID(ctx context.Context, c *session, name string) (int64, error) {
	s.mu.Lock()
	id := s.ids[name]
	s.mu.Unlock()
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

// remember keeps the number of a tenant that is stored.
func (s *store) remember(name string, id int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.ids) >= rememberedTenants {
		clear(s.ids)
	}
	s.ids[name] = id
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
