//go:build cgo

package sqlite

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/internal/ritree"
)

// covers compares a rectangle with a point of the plane.
func (g rectangle) covers(valid, known sgam.Instant) bool {
	return g.valid.Contains(valid) && g.known.Contains(known)
}

func TestAReadFindsTheOneRectangleThatCoversItsPoint(t *testing.T) {
	ctx := context.Background()
	s, err := current.open(ctx, newPath(t), &sgam.Options{Schemas: plain{}})
	require.NoError(t, err)
	l, err := sgam.New(ctx, s, &sgam.Options{Schemas: plain{}, Clock: func() time.Time { return day(1) }, ClockTolerance: -1})
	require.NoError(t, err)
	acme := tenant(t, l, "acme")
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 0))
	known := day(1)
	for i := range 300 {
		// Gaps of all sizes, so that segments go to nodes of many levels.
		known = known.Add(time.Microsecond << rnd.IntN(40))
		from := day(1).Add(time.Duration(rnd.IntN(500)) * time.Hour)
		d := assert("mira", "deadline", fmt.Sprint(rnd.IntN(5)), from).From(message(fmt.Sprint("e", i), from))
		if rnd.IntN(2) == 0 {
			to := from.Add(time.Duration(1+rnd.IntN(300)) * time.Hour)
			d.Op, d.ValidTo = sgam.Correct, &to
		}
		_, err := acme.ApplyBatch(ctx, sgam.Batch{Deltas: []sgam.MemoryDelta{d}, KnownAt: &known})
		require.NoError(t, err)
	}
	c, err := s.readers.take(ctx)
	require.NoError(t, err)
	run := session{conn: c, ctx: ctx, tenant: 1}
	all, err := run.rectangles(stAllSegments, int64(1), int64(1))
	require.NoError(t, err)
	ids := map[int64]sgam.MemoryID{}
	for _, g := range all {
		p, err := run.one(stMemoryID, int64(1), g.fact)
		require.NoError(t, err)
		ids[g.fact] = p.memory(0)
	}
	require.NoError(t, s.readers.give(c, nil))
	closed, nodes := 0, map[int64]bool{}
	for _, g := range all {
		if g.known.To != sgam.Forever {
			closed++
			nodes[ritree.Level(ritree.Fork(g.known.From, g.known.To))] = true
		}
	}
	require.Greater(t, closed, 200)
	require.Greater(t, len(nodes), 10, "many levels occur")
	key, id := sgam.SlotKey{Subject: "mira", Attribute: 1}, tenantID(t, s)
	for range 2000 {
		g := all[rnd.IntN(len(all))]
		// Points at the bounds of rectangles are where answers differ.
		valid := g.valid.From + sgam.Instant(rnd.IntN(3)-1)
		when := all[rnd.IntN(len(all))].known.From + sgam.Instant(rnd.IntN(3)-1)
		var want *rectangle
		for i := range all {
			if all[i].covers(valid, when) {
				require.Nil(t, want, "rectangles overlap")
				want = &all[i]
			}
		}
		page, err := s.Read(ctx, id, &sgam.Query{Kind: sgam.QueryPoint, Slots: []sgam.SlotKey{key}, Valid: valid, Known: when})
		require.NoError(t, err)
		list, err := s.Read(ctx, id, &sgam.Query{Kind: sgam.QueryFacts, Valid: valid, Known: when})
		require.NoError(t, err)
		for _, rows := range [][]sgam.Row{page.Rows, list.Rows} {
			for i := range rows {
				rows[i].OpenedBy, rows[i].ClosedBy = sgam.MemoryID{}, sgam.MemoryID{} // lists say more
			}
		}
		require.Equal(t, page.Rows, list.Rows)
		if want == nil {
			require.Empty(t, page.Rows)
			continue
		}
		require.Len(t, page.Rows, 1)
		require.Equal(t, ids[want.fact], page.Rows[0].Fact.ID)
		require.Equal(t, want.valid.Interval(), page.Rows[0].Fact.Valid)
	}
	require.NoError(t, l.Close())
}

// tenantID is the id of the tenant "acme", which only the root package makes.
func tenantID(t *testing.T, s *store) sgam.TenantID {
	t.Helper()
	var id sgam.TenantID
	l, err := sgam.New(context.Background(), &spy{Store: s, id: &id}, nil)
	require.NoError(t, err)
	_, _ = tenant(t, l, "acme").Current().Get(context.Background(), "nobody", "deadline")
	return id
}

// spy learns the tenant id of a read.
type spy struct {
	sgam.Store
	id *sgam.TenantID
}

func (s *spy) Read(ctx context.Context, id sgam.TenantID, q *sgam.Query) (*sgam.Page, error) {
	*s.id = id
	return s.Store.Read(ctx, id, q)
}
