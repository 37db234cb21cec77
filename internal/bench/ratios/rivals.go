package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/sgam-ledger/sgam/internal/bench"
	"github.com/sgam-ledger/sgam/internal/rivals"
)

// tried is what the rounds of a contest gave.
type tried struct {
	rivals.Contest
	rounds [][]time.Duration // of one operation, by keeper
}

// meet fills an arena, runs all contests in it and prints their tables.
func (s *settings) meet(ctx context.Context, dir string, out, notes io.Writer) (err error) {
	a, err := rivals.Open(ctx, dir, true)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	var turn sync.Mutex
	err = a.Fill(ctx, rivals.ScaleOf(s.rectangles), func(format string, args ...any) {
		turn.Lock()
		defer turn.Unlock()
		fmt.Fprintf(notes, format+"\n", args...)
	})
	if err != nil {
		return err
	}
	disk, sizes, err := sizesOf(ctx, a.Keepers(), s.rectangles)
	if err != nil {
		return err
	}
	var rows []result
	for _, row := range a.ServerRows() {
		r, err := s.measure(ctx, nil, row)
		if err != nil {
			return fmt.Errorf("%s: %w", row.Name, err)
		}
		rows = append(rows, r)
	}
	write, read, err := a.Trips(ctx)
	if err != nil {
		return err
	}
	var all []tried
	for _, c := range a.Contests() {
		if s.only != nil && !s.only.MatchString(c.Name) {
			continue
		}
		t, err := s.contest(ctx, c)
		if err != nil {
			return fmt.Errorf("%s: %w", c.Name, err)
		}
		for _, r := range t.held(a.Keepers()) {
			fmt.Fprintf(notes, "%s: %s\n", c.Name, r.verdict())
			rows = append(rows, r)
		}
		all = append(all, t)
	}
	if err := printTried(out, a.Keepers(), all, disk); err != nil {
		return err
	}
	fmt.Fprintln(out)
	if err := printTable(out, rows); err != nil {
		return err
	}
	fmt.Fprintln(out)
	verdict := map[bool]string{true: "MET", false: "MISSED"}
	fmt.Fprintf(out, "round trips of an `Apply` on PostgreSQL: %d (bar ≤ 2, %s), of a `Get`: %d\n", write, verdict[write <= 2], read)
	maria := sizes[len(sizes)-1]
	for i, k := range a.Keepers()[:2] {
		ratio := float64(sizes[i].Rectangles) / float64(maria.Rectangles)
		fmt.Fprintf(out, "segments with their indexes, %s: %.2f × MariaDB's table with its (bar ≤ 1.3, %s)\n", k.Name(), ratio, verdict[ratio <= 1.3])
	}
	return nil
}

// contest gives every keeper its turns. Each does as many operations in a turn as fill its slice of time.
func (s *settings) contest(ctx context.Context, c rivals.Contest) (tried, error) {
	t := tried{Contest: c, rounds: make([][]time.Duration, len(c.Sides))}
	each := make([]int, len(c.Sides))
	for i, side := range c.Sides {
		var err error
		if each[i], err = s.operations(ctx, side); err != nil {
			return t, err
		}
	}
	for round := range s.rounds {
		took := make([]time.Duration, len(c.Sides))
		for turn := range turns {
			for i := range c.Sides {
				at := (round + turn + i) % len(c.Sides) // whose turn comes first changes
				d, err := timed(ctx, c.Sides[at], each[at])
				if err != nil {
					return t, err
				}
				took[at] += d
			}
		}
		for i := range took {
			t.rounds[i] = append(t.rounds[i], took[i]/time.Duration(turns*each[i]))
		}
	}
	return t, nil
}

// held are the bars of a contest.
func (t *tried) held(keepers []rivals.Keeper) []result {
	var all []result
	for _, b := range t.Bars {
		var ratios []float64
		for i, subject := range t.rounds[b.Subject] {
			ratios = append(ratios, float64(subject)/float64(t.rounds[b.Baseline][i]))
		}
		r := result{
			Row:      bench.Row{Title: t.Title + ", " + keepers[b.Subject].Name(), Baseline: keepers[b.Baseline].Name(), Bar: b.Most, Rate: b.Rate},
			baseline: median(t.rounds[b.Baseline]), subject: median(t.rounds[b.Subject]), ratio: median(ratios),
		}
		r.low, r.high, r.confidence = interval(ratios)
		all = append(all, r)
	}
	return all
}

// sizesOf are what the keepers take up, as two lines of the table.
func sizesOf(ctx context.Context, keepers []rivals.Keeper, rectangles int) (lines [][]string, sizes []rivals.Size, err error) {
	table, whole := []string{"disk, the rectangles with their indexes"}, []string{"disk, everything"}
	for _, k := range keepers {
		size, err := k.Size(ctx)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", k.Name(), err)
		}
		sizes = append(sizes, size)
		table = append(table, fmt.Sprintf("%d bytes each", size.Rectangles/int64(rectangles)))
		whole = append(whole, fmt.Sprintf("%d bytes each", size.All/int64(rectangles)))
	}
	return [][]string{table, whole}, sizes, nil
}

// printTried writes the times of all keepers side by side.
func printTried(out io.Writer, keepers []rivals.Keeper, all []tried, more [][]string) error {
	w := tabwriter.NewWriter(out, 0, 0, 0, ' ', 0)
	lines := [][]string{{"what"}, {"---"}}
	for _, k := range keepers {
		lines[0], lines[1] = append(lines[0], k.Name()), append(lines[1], "---:")
	}
	for _, t := range all {
		line := []string{t.Title}
		for _, times := range t.rounds {
			line = append(line, fmt.Sprintf("%.1f µs", micro(median(times))))
		}
		lines = append(lines, line)
	}
	for _, line := range append(lines, more...) {
		for _, cell := range line {
			fmt.Fprintf(w, "| %s \t", cell)
		}
		fmt.Fprintln(w, "|")
	}
	return w.Flush()
}
