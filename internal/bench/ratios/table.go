package main

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"
)

// printTable writes the rows as a table of Markdown that can be read as it is.
func printTable(out io.Writer, results []result) error {
	w := tabwriter.NewWriter(out, 0, 0, 0, ' ', 0)
	lines := [][]any{
		{"what", "against", "baseline", "here", "ratio", "interval", "bar", ""},
		{"---", "---", "---:", "---:", "---:", "---", "---:", "---"},
	}
	for _, r := range results {
		ratio, interval, bar, verdict := fmt.Sprintf("%.2f", r.ratio), fmt.Sprintf("%.2f – %.2f", r.low, r.high), fmt.Sprintf("≤ %.1f", r.Bar), "MET"
		if r.Rate {
			share := func(ratio float64) float64 { return 100 / ratio }
			ratio = fmt.Sprintf("%.0f %%", share(r.ratio))
			interval = fmt.Sprintf("%.0f – %.0f %%", share(r.high), share(r.low))
			bar = fmt.Sprintf("≥ %.0f %%", share(r.Bar))
		}
		if r.ratio > r.Bar {
			verdict = "MISSED"
		}
		if r.Bar == 0 {
			bar, verdict = "", ""
		}
		lines = append(lines, []any{
			r.Title, r.Baseline, fmt.Sprintf("%.1f µs", micro(r.baseline)), fmt.Sprintf("%.1f µs", micro(r.subject)), ratio, interval, bar, verdict,
		})
	}
	for _, line := range lines {
		fmt.Fprintf(w, "| %s \t| %s \t| %s \t| %s \t| %s \t| %s \t| %s \t| %s \t|\n", line...)
	}
	return w.Flush()
}

func micro(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }
