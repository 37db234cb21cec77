package postgres

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/ledgertest"
)

// several is a call with facts about subjects of its own.
func several(call, facts int) sgam.Batch {
	var b sgam.Batch
	for i := range facts {
		d := assert(fmt.Sprint("s", call, " ", i), "deadline", fmt.Sprint(i), day(1))
		b.Deltas = append(b.Deltas, d.From(message(fmt.Sprint("e", call), day(1))))
	}
	return b
}

// applied submits a batch whose deltas all apply.
func applied(tb testing.TB, to *sgam.Tenant, b sgam.Batch) {
	tb.Helper()
	receipts, err := to.ApplyBatch(tb.Context(), b)
	require.NoError(tb, err)
	require.Len(tb, receipts, len(b.Deltas))
	for _, r := range receipts {
		require.Equal(tb, sgam.Applied, r.Outcome)
	}
}

// temporaries counts the temporary tables of a database.
func temporaries(tb testing.TB, name string) (n int) {
	tb.Helper()
	require.NoError(tb, as(tb, name, owner).QueryRow(tb.Context(), "SELECT count(*) FROM pg_class WHERE relpersistence = 't'").Scan(&n))
	return n
}

func TestALargeCallIsCopied(t *testing.T) {
	name := newDatabase(t, InitOptions{})
	l, log := listening(t, name)
	ledgertest.Proven(t, l)
	acme := tenant(t, l, "acme")
	sent := func(call, facts int) (copies, insertions int) {
		from := len(log.all())
		applied(t, acme, several(call, facts))
		for _, text := range log.all()[from:] {
			switch {
			case strings.HasPrefix(text, "COPY "):
				copies++
			case strings.HasPrefix(text, "INSERT INTO sgam.facts"):
				insertions++
			}
		}
		return copies, insertions
	}
	const tables = 9 // subjects, slots, episodes, facts, encodings, value numbers, segments, points, outcomes; nothing is superseded
	large := engine(t, l).large
	copies, insertions := sent(1, large-1)
	require.Zero(t, copies)
	require.Equal(t, large-1, insertions)
	copies, insertions = sent(2, large)
	require.Equal(t, tables, copies)
	require.Equal(t, 1, insertions)
	require.Zero(t, temporaries(t, name))
}

// Calls that share a transaction copy through tables of the same names.
func TestCopiedCallsShareATransaction(t *testing.T) {
	name := newDatabase(t, InitOptions{})
	l := opened(t, name)
	tx := begin(t, business(t, name))
	acme := within(t, tx, l, "acme")
	for call := range 3 {
		applied(t, acme, several(call, engine(t, l).large))
	}
	require.NoError(t, tx.Commit(t.Context()))
	n := 0
	for _, err := range tenant(t, l, "acme").Current().Facts(t.Context(), sgam.Filter{}) {
		require.NoError(t, err)
		n++
	}
	require.Equal(t, 3*engine(t, l).large, n)
	require.Zero(t, temporaries(t, name))
}

func TestARoleWithoutTemporaryTablesCopiesNothing(t *testing.T) {
	name := newDatabase(t, InitOptions{})
	revoke, grant := "REVOKE TEMPORARY ON DATABASE "+name+" FROM PUBLIC", "GRANT TEMPORARY ON DATABASE "+name+" TO PUBLIC"
	require.NoError(t, cluster(t).Do(t.Context(), name, revoke))
	t.Cleanup(func() { require.NoError(t, cluster(t).Do(context.Background(), name, grant)) })
	l := opened(t, name)
	require.Zero(t, engine(t, l).large)
	applied(t, tenant(t, l, "acme"), several(1, 300))
}

func TestWhatCannotBeCopiedIsNotStored(t *testing.T) {
	name := newDatabase(t, InitOptions{})
	l := opened(t, name)
	acme := tenant(t, l, "acme")
	applied(t, acme, several(1, 1))
	require.NoError(t, cluster(t).Do(t.Context(), name, "ALTER TABLE sgam.facts ADD CONSTRAINT narrow CHECK (fact_id < 50)"))
	t.Cleanup(func() {
		require.NoError(t, cluster(t).Do(context.Background(), name, "ALTER TABLE sgam.facts DROP CONSTRAINT narrow"))
	})
	_, err := acme.ApplyBatch(t.Context(), several(2, engine(t, l).large))
	require.ErrorContains(t, err, "insert_add_fact failed with SQLSTATE 23514 (check), constraint narrow")
	require.NotContains(t, err.Error(), "s2 ")
	require.Zero(t, temporaries(t, name))
	applied(t, acme, several(3, 1))
}

// What a stage makes of a statement is checked when the program starts; what it refuses has to be refused.
func TestOnlyInsertionsOfOneRowAreStaged(t *testing.T) {
	require.Panics(t, func() { newStage(stLockTenant) })
	require.Panics(t, func() { newStage(&statement{"x", "INSERT INTO sgam.x (a, b) VALUES ($1, $3)"}) })
	for st, to := range staging {
		require.Equal(t, strings.Count(insertion.FindStringSubmatch(st.text)[4], "$"), to.columns)
	}
	var constant []string
	for st := range staging {
		if strings.Contains(st.text, "$2, 0, $3") {
			constant = append(constant, strings.TrimSpace(bare(staging[st].insert.text)))
		}
	}
	require.Equal(t, []string{"INSERT INTO sgam.segments (tenant_id, slot_id, node, valid_from, valid_to, known_from, fact_id, opened_by) " +
		"SELECT staged.tenant_id, staged.slot_id, 0, staged.valid_from, staged.valid_to, staged.known_from, staged.fact_id, staged.opened_by " +
		"FROM pg_temp.sgam_segments staged WHERE true"}, slices.Compact(constant))
}
