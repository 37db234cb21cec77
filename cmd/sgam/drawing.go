package main

import (
	"math"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/sgam-ledger/sgam"
)

// drawing lays intervals of one time axis out on a line of the terminal, true to scale.
type drawing struct {
	width    int // columns of the bars
	lo, hi   time.Time
	openLeft bool // some interval has an open start
	openEnd  bool
}

// margin is the columns that stand for an open end.
const margin = 3

// newDrawing scales the drawing to the ends of the intervals and to the moments that will be marked.
func newDrawing(width int, intervals []sgam.Interval, marks ...time.Time) drawing {
	d := drawing{width: width}
	var bounds []time.Time
	for _, i := range intervals {
		if i.From.IsZero() {
			d.openLeft = true
		} else {
			bounds = append(bounds, i.From)
		}
		if i.To == nil {
			d.openEnd = true
		} else {
			bounds = append(bounds, *i.To)
		}
	}
	for _, t := range append(bounds, marks...) {
		if d.lo.IsZero() || t.Before(d.lo) {
			d.lo = t
		}
		if d.hi.IsZero() || t.After(d.hi) {
			d.hi = t
		}
	}
	return d
}

// column is where a moment lies, from 0 on.
func (d drawing) column(t time.Time) int {
	left, right := 0, d.width-1
	if d.openLeft {
		left = margin
	}
	if d.openEnd {
		right -= margin
	}
	if !d.hi.After(d.lo) {
		return left
	}
	// Float64 seconds: time.Duration ends after 292 years.
	part := seconds(d.lo, t) / seconds(d.lo, d.hi)
	return left + int(math.Round(part*float64(right-left)))
}

func seconds(a, b time.Time) float64 {
	return float64(b.Unix()-a.Unix()) + float64(b.Nanosecond()-a.Nanosecond())/1e9
}

// bar draws one interval: at least one column, with an arrow at an open end.
func (d drawing) bar(i sgam.Interval, stroke string) string {
	from, to := 0, d.width
	if !i.From.IsZero() {
		from = d.column(i.From)
	}
	if i.To != nil {
		to = max(from+1, d.column(*i.To))
	}
	line := []string{}
	for range to - from {
		line = append(line, stroke)
	}
	if i.From.IsZero() {
		line[0] = "◀"
	}
	if i.To == nil {
		line[len(line)-1] = "▶"
	}
	return strings.Repeat(" ", from) + strings.Join(line, "")
}

// mark is a line that points at a moment from below and says what it is, to the right where there is room for it.
func (d drawing) mark(t time.Time, says string, room int) string {
	at := d.column(t)
	if width := text.StringWidth(says); at+2+width > room && at > width {
		return strings.Repeat(" ", at-width-1) + says + " ▲"
	}
	return strings.Repeat(" ", at) + "▲ " + says
}

// scale is the line above the bars that says where they begin and end.
func (d drawing) scale(w words) string {
	layout := time.DateOnly
	if d.hi.Sub(d.lo) < 72*time.Hour {
		layout = "01-02 15:04"
	}
	lo, hi := d.lo.In(w.zone).Format(layout), d.hi.In(w.zone).Format(layout)
	from, to := d.column(d.lo), d.column(d.hi)
	if to-from < len(lo)+1+len(hi) {
		return strings.Repeat(" ", from) + lo
	}
	return strings.Repeat(" ", from) + lo + strings.Repeat(" ", to-from-len(lo)-len(hi)+1) + hi
}

// strokes are how beliefs are drawn; what holds is a solid line.
func stroke(reason error) string {
	switch reasonWord(reason) {
	case "":
		return "━"
	case "unknown":
		return "·"
	default:
		return "╌"
	}
}
