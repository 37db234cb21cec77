package main

import (
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sgam-ledger/sgam/internal/bench"
	"github.com/sgam-ledger/sgam/internal/pgtest"
)

func TestARunMeasuresTheRowsThatAreAskedForAndLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var out, notes strings.Builder
	err := run(t.Context(), []string{
		"-large", "1000", "-small", "1000", "-versions", "30", "-rounds", "2", "-slice", "1ms", "-rows", "^(get|apply)$", "-dir", dir,
	}, &out, &notes)
	require.NoError(t, err)
	assert.Contains(t, out.String(), "| `Current().Get` ")
	assert.Contains(t, out.String(), "| durable `Apply`, one caller ")
	assert.NotContains(t, out.String(), "64 callers", "the row does not match")
	assert.Contains(t, notes.String(), "small file: 1000 facts")
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Empty(t, left)
}

func TestARunAmongRivalsPrintsTimesAndBars(t *testing.T) {
	t.Parallel()
	pgtest.Long(t)
	dir := t.TempDir()
	var out, notes strings.Builder
	err := run(t.Context(), []string{"-rivals", "-rectangles", "600", "-rounds", "2", "-slice", "1ms", "-rows", "^(change|valid-known)$", "-dir", dir}, &out, &notes)
	require.NoError(t, err)
	assert.Contains(t, out.String(), "| sgam on SQLite | sgam on PostgreSQL | `periods` ")
	assert.Contains(t, out.String(), "| forward change, sgam on PostgreSQL ")
	assert.Contains(t, out.String(), "| Valid + Known, sgam on PostgreSQL ")
	assert.Contains(t, out.String(), "| `Current().Get` on PostgreSQL ")
	assert.Contains(t, out.String(), "round trips of an `Apply` on PostgreSQL: 2 (bar ≤ 2, MET)")
	assert.NotContains(t, out.String(), "hot slot", "the row does not match")
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Empty(t, left)
}

func TestWrongArgumentsAreToldBeforeAnythingIsMade(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"-rounds", "0"}, {"-slice", "-1s"}, {"-small", "10"}, {"-large", "5000"}, {"-rows", "("}, {"-rectangles", "10"}, {"get"}, {"-nonsense"}} {
		assert.Error(t, run(t.Context(), args, io.Discard, io.Discard), args)
	}
}

func TestTheTableTellsEachBarInItsOwnTerms(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	require.NoError(t, printTable(&out, []result{
		{Row: bench.Row{Title: "a", Baseline: "b", Bar: 1.5}, baseline: 2 * time.Microsecond, subject: 3 * time.Microsecond, ratio: 1.5, low: 1.4, high: 1.6},
		{Row: bench.Row{Title: "c", Baseline: "d", Bar: 1 / .6, Rate: true}, baseline: time.Millisecond, subject: 2 * time.Millisecond, ratio: 2, low: 1.6, high: 2.5},
		{Row: bench.Row{Title: "e", Baseline: "f"}, ratio: 9, low: 9, high: 9},
	}))
	var rows [][]string
	for line := range strings.Lines(out.String()) {
		var cells []string
		for _, cell := range strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|") {
			cells = append(cells, strings.TrimSpace(cell))
		}
		rows = append(rows, cells)
	}
	require.Len(t, rows, 5)
	assert.Equal(t, []string{"a", "b", "2.0 µs", "3.0 µs", "1.50", "1.40 – 1.60", "≤ 1.5", "MET"}, rows[2])
	assert.Equal(t, []string{"c", "d", "1000.0 µs", "2000.0 µs", "50 %", "40 – 62 %", "≥ 60 %", "MISSED"}, rows[3])
	assert.Equal(t, []string{"e", "f", "0.0 µs", "0.0 µs", "9.00", "9.00 – 9.00", "", ""}, rows[4])
}
