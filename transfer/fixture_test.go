package transfer_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/ledgertest"
	"github.com/sgam-ledger/sgam/transfer"
)

var (
	start      = time.Date(2026, 6, 1, 9, 0, 0, 0, time.UTC)
	attributes = []ledgertest.Attribute{
		{Name: "plain"}, {Name: "asked", Policy: sgam.ConfirmFirst}, {Name: "set.many", Many: true},
		{Name: "sure", Policy: sgam.KeepHighestConfidence},
	}
)

// bench is a clock, and the ledgers that a test opens under it.
type bench struct {
	*testing.T
	clock *ledgertest.Clock
	seed  uint64
}

func newBench(t *testing.T) *bench {
	t.Helper()
	return &bench{T: t, clock: ledgertest.NewClock(start)}
}

// over opens a ledger over a store. It proves itself at the end.
func (b *bench) over(s sgam.Store) *sgam.Ledger {
	b.Helper()
	b.seed++
	l, err := sgam.New(b.Context(), s, &sgam.Options{
		Schemas: ledgertest.NewSchemas(attributes...), Clock: b.clock.Now, Rand: ledgertest.IDs(b.seed),
	})
	require.NoError(b, err)
	ledgertest.Proven(b, l)
	return l
}

func (b *bench) memory() *sgam.Ledger {
	b.Helper()
	return b.over(ledgertest.NewStore(nil))
}

func (b *bench) tenant(l *sgam.Ledger, name string) *sgam.Tenant {
	b.Helper()
	t, err := l.Tenant(name)
	require.NoError(b, err)
	return t
}

// say applies one statement.
func (b *bench) say(t *sgam.Tenant, op sgam.Op, attribute, value, episode string) sgam.Receipt {
	b.Helper()
	b.clock.Advance(time.Minute)
	confidence := 0.5
	d := sgam.MemoryDelta{Op: op, Subject: "mira", Attribute: attribute, Confidence: &confidence}
	if value != "" {
		d.Value = json.RawMessage(value)
	}
	r, err := t.Apply(b.Context(), d.From(sgam.Episode{ID: episode, Kind: sgam.Message, OccurredAt: b.clock.Now(), Text: "said"}))
	require.NoError(b, err)
	return r
}

// story writes some of everything into two tenants.
func (b *bench) story(l *sgam.Ledger) {
	b.Helper()
	acme := b.tenant(l, "acme")
	b.say(acme, sgam.Assert, "plain", `"a"`, "e1")
	gone := b.say(acme.As("bot"), sgam.Assert, "plain", `"b"`, "e2")
	pending := b.say(acme, sgam.Assert, "asked", `1`, "e3")
	declined := b.say(acme, sgam.Assert, "asked", `2`, "e4")
	b.say(acme, sgam.Assert, "asked", `3`, "e5")
	require.Equal(b, sgam.Pending, declined.Outcome)
	b.say(acme, sgam.Assert, "set.many", `"x"`, "e6")
	b.say(acme, sgam.Assert, "set.many", `"y"`, "e7")
	b.say(acme, sgam.End, "set.many", "", "e8")
	b.say(acme, sgam.Assert, "nothing", `1`, "e9")
	b.clock.Advance(time.Minute)
	_, err := acme.As("anna").Accept(b.Context(), pending.Memory)
	require.NoError(b, err)
	_, err = acme.Decline(b.Context(), declined.Memory)
	require.NoError(b, err)
	_, err = acme.Withdraw(b.Context(), sgam.Withdrawal{Memory: gone.Memory, Reason: "misheard"})
	require.NoError(b, err)
	require.NoError(b, acme.Record(b.Context(), sgam.Episode{ID: "e10", Kind: sgam.File, OccurredAt: start, Metadata: json.RawMessage(`{"a":1}`)}))
	b.say(b.tenant(l, "zoo"), sgam.Assert, "plain", `"z"`, "e1")
}

func (b *bench) copied(from, to *sgam.Ledger, o *transfer.Options) *transfer.Report {
	b.Helper()
	r, err := transfer.Copy(b.Context(), from, to, o)
	require.NoError(b, err)
	return r
}

func (b *bench) compared(from, to *sgam.Ledger) *transfer.Comparison {
	b.Helper()
	c, err := transfer.Compare(b.Context(), from, to, nil)
	require.NoError(b, err)
	return c
}

// copyAndCompare is a copy that has to be equal.
func copyAndCompare(ctx context.Context, from, to *sgam.Ledger) error {
	if _, err := transfer.Copy(ctx, from, to, nil); err != nil {
		return err
	}
	c, err := transfer.Compare(ctx, from, to, nil)
	if err == nil && !c.Same() {
		err = fmt.Errorf("differences: %+v", c.Differences)
	}
	return err
}
