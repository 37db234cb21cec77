package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sgam-ledger/sgam/migrate"
)

// stateWord is a state for people.
func stateWord(s migrate.State, paused bool) string {
	word := strings.ReplaceAll(string(s), "_", " ")
	if paused {
		word += ", paused"
	}
	return word
}

// nextActions are the commands that a state allows. A run is one of them only where there is something left to run.
func nextActions(s migrate.State, allowed []string) string {
	next := slices.DeleteFunc(slices.Clone(allowed), func(a string) bool {
		return a == "run" && s != migrate.Planned && s != migrate.Expanding
	})
	return strings.Join(next, ", ")
}

// tallied is how many numbers of a tally are shown in any case.
const tallied = 3

// tally is a list with numbers, of which a column after the first ones is left out when it is zero in every row.
type tally struct {
	w       words
	columns []column
	numbers []string
	cells   [][]string
	counts  [][]int64
}

// tally begins a list of labels and numbers.
func (w words) tally(labels []column, numbers ...string) *tally {
	return &tally{w: w, columns: labels, numbers: numbers}
}

func (t *tally) add(labels []string, numbers ...int64) {
	t.cells = append(t.cells, labels)
	t.counts = append(t.counts, numbers)
}

func (t *tally) flush() {
	shown := []int{}
	columns := slices.Clone(t.columns)
	for i, name := range t.numbers {
		if i < tallied || slices.ContainsFunc(t.counts, func(row []int64) bool { return row[i] != 0 }) {
			shown = append(shown, i)
			columns = append(columns, column{name: name, right: true, ink: inkOf(name)})
		}
	}
	rows := t.w.s.list(columns...)
	rows.indent = t.w.indent
	for r, cells := range t.cells {
		for _, i := range shown {
			cells = append(cells, grouped(int(t.counts[r][i])))
		}
		rows.add(cells...)
	}
	rows.flush()
}

// inkOf lets the column stand out that somebody has to look at.
func inkOf(name string) ink {
	if name == "QUARANTINE" {
		return odd
	}
	return plain
}

func facts(n int64) string { return count(int(n), "fact", "facts") }

// versions names the way that a migration goes.
func versions(from, to int) string { return fmt.Sprintf("%d → %d", from, to) }

// sentence prints a line that is broken where it is wider than the terminal.
func (s *screen) sentence(parts ...string) { s.println(s.wrap("", strings.Join(parts, ""))) }
