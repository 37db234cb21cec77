package main

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sgam-ledger/sgam"
)

// undoIDs are the ids that a withdrawal says must be withdrawn to reinstate all of it.
func undoIDs(out string) []string {
	_, after, _ := strings.Cut(out, "to reinstate ")
	return regexp.MustCompile(`[0-9a-f-]{36}`).FindAllString(after, -1)
}

func TestAWithdrawalNamesWhatReinstatesAllOfIt(t *testing.T) {
	for cityCount, says := range map[int]string{1: "to reinstate it: sgam withdraw --memory ", 3: "to reinstate all of it, withdraw each of these:\n"} {
		b := newBench(t)
		b.mira()
		b.ok(cities(cityCount), "apply", "-", "--db", "agent.db")
		before := b.ok("", "facts", "--db", "agent.db", "--attribute", "city").out
		out := b.ok("", "withdraw", "--episode", "e", "--db", "agent.db").out
		assert.Contains(t, out, says)
		ids := undoIDs(out)
		require.Len(t, ids, cityCount)
		for _, id := range ids {
			assert.NotContains(t, b.run("", "facts", "--db", "agent.db", "--attribute", "city").out, before)
			b.ok("", "withdraw", "--memory", id, "--db", "agent.db")
		}
		after := b.ok("", "facts", "--db", "agent.db", "--attribute", "city").out
		assert.Equal(t, strings.Count(before, "Oslo"), strings.Count(after, "Oslo"), after)
	}
}

func TestALongWithdrawalTellsWhereItsWithdrawalsAreListed(t *testing.T) {
	b := newBench(t)
	b.mira()
	b.ok(cities(undoListed+1), "apply", "-", "--db", "agent.db")
	out := b.ok("", "withdraw", "--episode", "e", "--db", "agent.db").out
	assert.Contains(t, out, "to reinstate all of it, withdraw each of its 11 withdrawals: 'sgam outcomes --json' lists those of 2026-06-20 09:00")
	assert.Empty(t, undoIDs(out))
	listed := 0
	for line := range strings.Lines(b.ok("", "outcomes", "--db", "agent.db", "--json").out) {
		var o sgam.OutcomeRecord
		require.NoError(t, json.Unmarshal([]byte(line), &o))
		if o.Op == sgam.Withdraw && !o.Memory.IsZero() {
			listed++
		}
	}
	assert.Equal(t, undoListed+1, listed)
}

func TestAWithdrawalOfCandidatesAloneSaysThatNothingWasTakenBack(t *testing.T) {
	b := newBench(t)
	b.mira()
	b.apply(`{"op":"assert","subject":"mira","attribute":"salary","value":5,"episode":{"id":"pay","kind":"message","occurred_at":"2026-06-01T09:00Z"}}`)
	out := b.ok("", "withdraw", "--episode", "pay", "--db", "agent.db").out
	assert.Regexp(t, `^declined at 2026-06-20 09:00\S*Z: nothing of it had been applied, so there was nothing to take back\n`+
		`  declined, since it was pending: memory [0-9a-f-]{36}\nno belief changed\n$`, out)
	assert.Contains(t, b.ok("", "withdraw", "--episode", "e2", "--db", "agent.db").out, "withdrawn at ", "the control")
}
