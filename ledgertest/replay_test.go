package ledgertest_test

import (
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/internal/histories"
	"github.com/sgam-ledger/sgam/ledgertest"
)

func inMemory(t *testing.T, attributes ...ledgertest.Attribute) *sgam.Ledger {
	t.Helper()
	return ledgertest.NewLedger(t, &sgam.Options{Schemas: ledgertest.NewSchemas(attributes...), Rand: ledgertest.IDs(1)})
}

func TestReducedHistoriesAreAnsweredWithoutAnError(t *testing.T) { histories.Reduced(t, inMemory) }

func TestFullHistoriesAreAnsweredWithoutAnError(t *testing.T) { histories.Full(t, inMemory) }

// A clock that ticks when it is read tells how often it is: once before and once after what is measured.
func TestAReplayIsMeasuredByTheGivenClock(t *testing.T) {
	file := func(name string) *os.File {
		f, err := os.Open("../testdata/climate/" + name)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, f.Close()) })
		return f
	}
	attributes, err := ledgertest.InferAttributes(t.Context(), file("facts.jsonl.gz"))
	require.NoError(t, err)
	tenant, err := inMemory(t, attributes...).Tenant("history")
	require.NoError(t, err)
	clock := ledgertest.NewClock(time.Unix(0, 0))
	clock.Tick(time.Second)
	timed := &ledgertest.ReplayOptions{Now: clock.Now}
	load, err := ledgertest.LoadFacts(t.Context(), tenant, file("facts.jsonl.gz"), timed)
	require.NoError(t, err)
	require.Equal(t, time.Second, load.Took)
	card, err := ledgertest.AskQuestions(t.Context(), tenant, file("questions.jsonl.gz"), timed)
	require.NoError(t, err)
	require.Equal(t, []time.Duration{time.Second, time.Second}, []time.Duration{card.P50, card.P95})

	card, err = ledgertest.AskQuestions(t.Context(), tenant, file("questions.jsonl.gz"), nil)
	require.NoError(t, err)
	require.Zero(t, card.P95, "without a clock nothing is measured")
}
