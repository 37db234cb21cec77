//go:build cgo

package sqlite

import (
	"context"
	"errors"
	"fmt"

	"github.com/sgam-ledger/sgam"
)

var (
	stBeginRead = named("begin_read")
	stRollback  = named("rollback")
	stClock     = named("clock")
	stTenants   = named("tenants")
)

// reader answers one page of one query inside one read transaction.
type reader struct {
	session
	q        *sgam.Query
	page     *sgam.Page
	lastSeq  int64
	lastFact int64
	subjects map[int64]string // names read for this page
}

// Read answers one page of a query from one consistent snapshot. The connection is back in the pool when it returns.
func (s *store) Read(ctx context.Context, t sgam.TenantID, q *sgam.Query) (page *sgam.Page, err error) {
	c, done, err := s.reader(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = done(err) }()
	if q.Kind == sgam.QueryPoint && len(q.Slots) == 1 {
		return point(ctx, c, t.Name(), q)
	}
	r := &reader{session: session{conn: c, ctx: ctx}, q: q, page: &sgam.Page{LastKnown: sgam.Beginning}}
	err = r.inTransaction(func() error {
		if known, err := r.clock(t.Name()); err != nil || !known {
			return err
		}
		if err := r.answer(t.Name()); err != nil || !q.Encodings {
			return err
		}
		if q.Kind == sgam.QueryPoint || q.Kind == sgam.QueryValues {
			return nil // they have them in their own rows
		}
		return r.forms(r.page, r.known())
	})
	if err != nil {
		return nil, err
	}
	return r.page, nil
}

// inTransaction runs one read transaction. It only reads, so it is rolled back in any case.
func (s *session) inTransaction(run func() error) error {
	if err := s.exec(stBeginRead); err != nil {
		return err
	}
	err := run()
	if rerr := s.conn.exec(stRollback); rerr != nil {
		return errors.Join(err, rerr)
	}
	return err
}

// clock reads the tenant's last commit, and reports whether there is one.
func (r *reader) clock(tenant string) (bool, error) {
	p, err := r.one(stClock, tenant)
	if err != nil || p == nil {
		return false, err
	}
	r.tenant, r.page.LastKnown, r.lastSeq, r.lastFact, r.page.Registry = p.int(0), p.instant(1), p.int(2), p.int(3), p.int(4)
	return true, nil
}

func (r *reader) answer(tenant string) error {
	switch r.q.Kind {
	case sgam.QueryPoint:
		return r.points(tenant)
	case sgam.QueryMembers:
		return r.members()
	case sgam.QueryFacts:
		return r.facts()
	case sgam.QueryTimeline:
		return r.timeline()
	case sgam.QueryBelieved:
		return r.believed()
	case sgam.QueryHistory:
		return r.history()
	case sgam.QueryMemory:
		return r.memoryRow()
	case sgam.QueryTouched:
		return r.touched()
	case sgam.QueryEpisode:
		return r.episode()
	case sgam.QueryOutcomes:
		return r.outcomes()
	case sgam.QueryCandidates:
		return r.candidates()
	case sgam.QueryLedger:
		return r.dumps()
	case sgam.QueryClock:
		return nil
	case sgam.QueryEpochs:
		return r.epochs()
	case sgam.QueryMigrations:
		return r.migrations()
	case sgam.QueryValues:
		return r.values()
	case sgam.QueryQuarantine:
		return r.quarantined()
	case sgam.QueryCalls:
		return r.calls(tenant)
	}
	return fmt.Errorf("%w: sqlite: query %d", sgam.ErrUnsupported, r.q.Kind)
}

// known is the known time that the query is answered at.
func (r *reader) known() sgam.Instant { return min(r.q.Known, r.page.LastKnown) }

// valid is the valid time that the query is answered at.
func (r *reader) valid() sgam.Instant {
	if r.q.Now {
		return max(r.q.Valid, r.page.LastKnown)
	}
	return r.q.Valid
}

// limit is the number of rows that the page may have, within what an engine wants to hold.
func (r *reader) limit() int {
	const most = 1000
	if r.q.Limit <= 0 || r.q.Limit > most {
		return most
	}
	return r.q.Limit
}

// Tenants lists tenants that have been written.
func (s *store) Tenants(ctx context.Context, after string, limit int) (names []string, err error) {
	c, done, err := s.reader(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = done(err) }()
	run := session{conn: c, ctx: ctx}
	err = run.each(func(p *running) error {
		names = append(names, p.text(0))
		return nil
	}, stTenants, after, int64(limit))
	return names, err
}
