package transfer_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/ledgertest"
	"github.com/sgam-ledger/sgam/transfer"
)

func TestACopyAnswersAsItsOriginalAndGoesOnAlike(t *testing.T) {
	for seed := range uint64(2) {
		ledgertest.Copies(t, seed, 60, ledgertest.InMemory(nil), ledgertest.InMemory(&ledgertest.StoreOptions{PageRows: 3}), copyAndCompare)
	}
}

func TestACopyTellsWhatItDid(t *testing.T) {
	b := newBench(t)
	from, to := b.memory(), b.memory()
	b.story(from)
	var told []transfer.Progress
	r := b.copied(from, to, &transfer.Options{Progress: func(p transfer.Progress) { told = append(told, p) }})
	want := []transfer.Copied{{Tenant: "acme", Calls: 13, New: 13, Facts: 9}, {Tenant: "zoo", Calls: 1, New: 1, Facts: 1}}
	assert.Equal(t, &transfer.Report{Types: 2, Tenants: want}, r)
	assert.Equal(t, []transfer.Progress{{"acme", 0, 13}, {"acme", 13, 13}, {"zoo", 0, 1}, {"zoo", 1, 1}}, told)
	for i := range want {
		want[i].New, want[i].Facts = 0, 0
	}
	assert.Equal(t, want, b.copied(from, to, nil).Tenants, "a second time there is nothing to do")
	b.say(b.tenant(from, "zoo"), sgam.Correct, "plain", `"zz"`, "e2")
	assert.Equal(t, transfer.Copied{Tenant: "zoo", Calls: 2, New: 1, Facts: 1}, b.copied(from, to, nil).Tenants[1], "what was written since")
	c := b.compared(from, to)
	assert.Empty(t, c.Differences)
	assert.EqualValues(t, 13, c.Tenants[0].Calls)
	assert.EqualValues(t, 9, c.Tenants[0].Facts)
	assert.Len(t, c.Tenants[0].From, 64)
	assert.Equal(t, c.Tenants[0].From, c.Tenants[0].To)
}

func TestSomeTenantsMayBeCopiedAlone(t *testing.T) {
	b := newBench(t)
	from, to := b.memory(), b.memory()
	b.story(from)
	only := &transfer.Options{Tenants: []string{"zoo", "zoo"}}
	require.Len(t, b.copied(from, to, only).Tenants, 1)
	c, err := transfer.Compare(b.Context(), from, to, only)
	require.NoError(t, err)
	assert.True(t, c.Same(), "%+v", c.Differences)
	assert.False(t, b.compared(from, to).Same(), "of everybody it is no copy")
	_, err = transfer.Copy(b.Context(), from, to, &transfer.Options{Tenants: []string{"zoo", "nobody"}})
	require.ErrorIs(t, err, sgam.ErrNotFound)
	require.Len(t, b.copied(from, to, nil).Tenants, 2)
	assert.True(t, b.compared(from, to).Same())
}

func TestACopyThatIsInterruptedAnywhereGoesOn(t *testing.T) {
	b := newBench(t)
	original := ledgertest.NewStore(nil)
	from := b.over(original)
	b.story(from)
	failed := errors.New("the disk is full")
	for _, moment := range []ledgertest.Moment{ledgertest.BeforeCall, ledgertest.AtDecision, ledgertest.AfterCall} {
		clean := 0
		for n := 1; clean == 0; n++ {
			store := ledgertest.NewStore(nil)
			faulty := ledgertest.NewFaulty(store)
			to, err := sgam.New(b.Context(), faulty, nil)
			require.NoError(t, err)
			fault := ledgertest.Fault{When: moment, Do: func() error { return failed }}
			if moment == ledgertest.AtDecision {
				faulty.AtWrite(n, fault)
			} else {
				faulty.At(n, fault)
			}
			_, err = transfer.Copy(b.Context(), from, to, nil)
			if err == nil {
				clean = n
			} else {
				require.ErrorIs(t, err, failed)
			}
			again := b.over(store.Reopen())
			b.copied(from, again, nil)
			c := b.compared(from, again)
			require.True(t, c.Same(), "moment %d, call %d: %+v", moment, n, c.Differences)
			require.NoError(t, to.Close())
		}
		require.Greater(t, clean, 14, "every write of the copy has failed once")
	}
}

func TestACopyThatIsCalledOffGoesOn(t *testing.T) {
	b := newBench(t)
	from, to := b.memory(), b.memory()
	b.story(from)
	ctx, cancel := context.WithCancel(b.Context())
	_, err := transfer.Copy(ctx, from, to, &transfer.Options{Progress: func(p transfer.Progress) {
		if p.Tenant == "zoo" {
			cancel()
		}
	}})
	require.ErrorIs(t, err, context.Canceled)
	assert.Zero(t, b.copied(from, to, nil).Tenants[0].New, "the first tenant was done")
	assert.True(t, b.compared(from, to).Same())
}

func TestATargetThatHoldsSomethingElseIsRefused(t *testing.T) {
	b := newBench(t)
	from := b.memory()
	b.story(from)
	t.Run("another tenant", func(t *testing.T) {
		to := b.memory()
		b.say(b.tenant(to, "else"), sgam.Assert, "plain", `1`, "e1")
		_, err := transfer.Copy(b.Context(), from, to, nil)
		require.ErrorIs(t, err, sgam.ErrOtherHistory)
		require.ErrorContains(t, err, `"else"`)
		assert.False(t, b.compared(from, to).Same())
	})
	t.Run("another last call", func(t *testing.T) {
		to := b.memory()
		b.copied(from, to, nil)
		b.say(b.tenant(to, "zoo"), sgam.Assert, "plain", `1`, "e7")
		b.say(b.tenant(from, "zoo"), sgam.Assert, "plain", `1`, "e7")
		_, err := transfer.Copy(b.Context(), from, to, nil)
		var other *transfer.OtherHistoryError
		require.ErrorAs(t, err, &other)
		assert.Equal(t, &transfer.OtherHistoryError{Tenant: "zoo"}, other)
		require.ErrorIs(t, err, sgam.ErrOtherHistory)
	})
	t.Run("a write in the middle of the copy", func(t *testing.T) {
		to := b.memory()
		_, err := transfer.Copy(b.Context(), from, to, &transfer.Options{Progress: func(p transfer.Progress) {
			if p.Tenant == "zoo" && p.Done == 0 {
				b.say(b.tenant(to, "zoo"), sgam.Assert, "plain", `1`, "e1")
			}
		}})
		var other *transfer.OtherHistoryError
		require.ErrorAs(t, err, &other)
		assert.False(t, b.compared(from, to).Same())
	})
	t.Run("another key", func(t *testing.T) {
		to := b.over(ledgertest.NewStore(&ledgertest.StoreOptions{DigestKey: []byte("another secret")}))
		_, err := transfer.Copy(b.Context(), from, to, nil)
		require.ErrorIs(t, err, transfer.ErrOtherKey)
		require.NotContains(t, err.Error(), "another secret")
		assert.False(t, b.compared(from, to).Same())
	})
	t.Run("another schema", func(t *testing.T) {
		to, err := sgam.New(b.Context(), ledgertest.NewStore(nil), &sgam.Options{Schemas: ledgertest.NewSchemas(
			ledgertest.Attribute{Name: "plain", Value: "number"},
		)})
		require.NoError(t, err)
		defer func() { require.NoError(t, to.Close()) }()
		_, err = transfer.Copy(b.Context(), from, to, nil)
		require.ErrorIs(t, err, sgam.ErrSchemaDrift)
		assert.False(t, b.compared(from, to).Same())
	})
	t.Run("read-only", func(t *testing.T) {
		to, err := sgam.New(b.Context(), ledgertest.NewStore(nil), &sgam.Options{ReadOnly: true})
		require.NoError(t, err)
		defer func() { require.NoError(t, to.Close()) }()
		_, err = transfer.Copy(b.Context(), from, to, nil)
		require.ErrorIs(t, err, sgam.ErrReadOnly)
	})
}

func TestAnEmptyLedgerHasAnEmptyCopy(t *testing.T) {
	b := newBench(t)
	from, to := b.memory(), b.memory()
	assert.Empty(t, b.copied(from, to, nil).Tenants)
	assert.True(t, b.compared(from, to).Same())
}
