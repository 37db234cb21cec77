package ledgertest_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/ledgertest"
)

func TestALedgerInMemoryRemembersBothTimes(t *testing.T) {
	june1 := time.Date(2026, 6, 1, 9, 0, 0, 0, time.UTC)
	june3 := time.Date(2026, 6, 3, 10, 0, 0, 0, time.UTC)
	clock := ledgertest.NewClock(june1)
	l := ledgertest.NewLedger(t, &sgam.Options{
		Schemas: ledgertest.NewSchemas(ledgertest.Attribute{Name: "passport_deadline", Value: "date"}), Clock: clock.Now, Rand: ledgertest.IDs(1),
	})
	acme, err := l.Tenant("acme")
	require.NoError(t, err)
	say := func(episode, value string, at time.Time) sgam.Receipt {
		clock.Set(at)
		d := sgam.MemoryDelta{Op: sgam.Assert, Subject: "mira", Attribute: "passport_deadline", Value: json.RawMessage(`"` + value + `"`)}
		r, err := acme.Apply(t.Context(), d.From(sgam.Episode{ID: episode, Kind: sgam.Message, OccurredAt: at}))
		require.NoError(t, err)
		require.Equal(t, sgam.Applied, r.Outcome)
		return r
	}
	first := say("e1", "2026-07-15", june1)
	second := say("e2", "2026-06-30", june3)
	require.Equal(t, first.Memory, second.Supersedes)

	now, err := acme.Current().Get(t.Context(), "mira", "passport_deadline")
	require.NoError(t, err)
	require.JSONEq(t, `"2026-06-30"`, string(now.Value))
	require.Equal(t, "e2", now.Episode)

	was, err := acme.ValidAt(june1.AddDate(0, 0, 1)).KnownAt(june3).Get(t.Context(), "mira", "passport_deadline")
	require.NoError(t, err)
	require.JSONEq(t, `"2026-07-15"`, string(was.Value))
}
