package postgres

import (
	"context"
	"fmt"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/internal/ritree"
)

var stClock = named("clock")

// reader answers one page of one query inside one read transaction.
type reader struct {
	*session
	q        *sgam.Query
	page     *sgam.Page
	lastSeq  int64
	lastFact int64
}

// Read answers one page of a query from one consistent snapshot. The connection is back in the pool when it returns.
func (s *store) Read(ctx context.Context, t sgam.TenantID, q *sgam.Query) (*sgam.Page, error) {
	var page *sgam.Page
	err := s.reading(ctx, func(c *session) error {
		page = &sgam.Page{LastKnown: sgam.Beginning}
		id, err := s.tenantID(ctx, c, t.Name())
		if err != nil || id == 0 {
			return err
		}
		r := &reader{session: c, q: q, page: page}
		if q.Kind == sgam.QueryPoint && len(q.Slots) == 1 && !q.Encodings {
			c.glance(id)
			r.point(q.Slots[0])
			c.leave()
			return c.run(ctx)
		}
		c.begin(stBeginRead)
		c.enter(id)
		c.hold()
		if err := r.answer(ctx); err != nil {
			return err
		}
		if q.Encodings && q.Kind != sgam.QueryValues {
			if err := r.forms(ctx); err != nil {
				return err
			}
		}
		c.end(stCommit)
		return c.run(ctx)
	})
	if err != nil {
		return nil, err
	}
	return page, nil
}

// answer queues the questions of the query; what depends on their answers is asked at once.
func (r *reader) answer(ctx context.Context) error {
	switch r.q.Kind { //nolint:exhaustive // the others follow below
	case sgam.QueryPoint:
		return r.points(ctx)
	case sgam.QueryClock:
		r.clock()
		return nil
	case sgam.QueryEpisode:
		return r.episode()
	case sgam.QueryEpochs:
		return r.epochs()
	case sgam.QueryMigrations:
		return r.migrations()
	case sgam.QueryOutcomes:
		return r.outcomes()
	case sgam.QueryCandidates:
		return r.candidates()
	case sgam.QueryQuarantine:
		return r.quarantined()
	}
	// The others are asked at a time that the last commit bounds.
	r.clock()
	if err := r.run(ctx); err != nil {
		return err
	}
	switch r.q.Kind { //nolint:exhaustive // the others are answered above
	case sgam.QueryMembers:
		return r.members(ctx)
	case sgam.QueryFacts:
		return r.facts(ctx)
	case sgam.QueryTimeline:
		return r.timeline(ctx)
	case sgam.QueryBelieved:
		return r.believed(ctx)
	case sgam.QueryHistory:
		return r.history(ctx)
	case sgam.QueryMemory:
		return r.memory(ctx)
	case sgam.QueryTouched:
		return r.touched(ctx)
	case sgam.QueryLedger:
		return r.dumps(ctx)
	case sgam.QueryCalls:
		return r.calls(ctx)
	case sgam.QueryValues:
		return r.values(ctx)
	}
	return fmt.Errorf("%w: postgres: query %d", sgam.ErrUnsupported, r.q.Kind)
}

// clock asks for the tenant's last commit.
func (r *reader) clock() {
	r.add(func(p row) error {
		r.page.LastKnown, r.lastSeq, r.lastFact, r.page.Registry = p.instant(0), p.int(1), p.int(2), p.int(3)
		return nil
	}, stClock, r.tenant)
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

// nodes are where segments are that were known at the known time.
func (r *reader) nodes() []int64 {
	if r.known() >= r.page.LastKnown {
		return ritree.Open()
	}
	return ritree.At(r.known())
}

// limit is the number of rows that the page may have, within what an engine wants to hold.
func (r *reader) limit() int {
	const most = 1000
	if r.q.Limit <= 0 || r.q.Limit > most {
		return most
	}
	return r.q.Limit
}
