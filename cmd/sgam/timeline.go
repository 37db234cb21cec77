package main

import (
	"context"
	"math"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"

	"github.com/sgam-ledger/sgam"
)

func (p *program) timeline() *cobra.Command {
	var pl place
	c := &cobra.Command{
		Use:   "timeline SUBJECT ATTRIBUTE",
		Short: "Draw what was, is and will be true, along valid time",
		Args:  needs("SUBJECT", "ATTRIBUTE"),
		Long: `Draw the valid time of one subject's attribute as it was known at a known time. Neighbours of equal value are joined;
absences and what is unknown in between are drawn too. --valid marks a moment (default now).`,
		Example: `  sgam timeline mira passport_deadline --db agent.db
  sgam timeline mira passport_deadline --db agent.db --known 2026-06-02`,
		RunE: func(c *cobra.Command, args []string) error {
			if err := p.times(c, &pl); err != nil {
				return err
			}
			slot, err := pl.slot(args)
			if err != nil {
				return err
			}
			return p.reading(c.Context(), func(l *sgam.Ledger) error { return p.drawTimeline(c.Context(), l, &pl, slot) })
		},
	}
	pl.axes(c)
	pl.inVersions(c)
	pl.oneSlot(c)
	return c
}

func (p *program) drawTimeline(ctx context.Context, l *sgam.Ledger, pl *place, slot sgam.Slot) error {
	t, err := p.tenant(ctx, l)
	if err != nil {
		return err
	}
	w, err := p.words()
	if err != nil {
		return err
	}
	v := pl.view(t)
	var stretches []sgam.Stretch
	for s, err := range v.Timeline(ctx, slot) {
		if err != nil {
			return named(err, slot.Attribute)
		}
		stretches = append(stretches, s)
	}
	valid, known := v.Pinned()
	if p.flags.json {
		for _, s := range stretches {
			p.out.json(stretchOf(s))
		}
	} else {
		p.out.println(p.out.wrap("", slotName(slot)+p.out.paint(quiet, " · valid time, as known at ")+w.knownText(pl, known)))
		mark := "now"
		if pl.validAt != nil {
			mark = "asked"
		}
		w.drawStretches(stretches, valid, mark)
	}
	if len(stretches) == 0 {
		return no()
	}
	return nil
}

// lane is one line of a drawing.
type lane struct {
	span   sgam.Interval
	fact   *sgam.Fact
	reason error
}

// drawStretches draws a timeline with a mark at one moment. The scale reaches at least to the given times.
func (w words) drawStretches(stretches []sgam.Stretch, at time.Time, mark string, reach ...time.Time) {
	lanes := make([]lane, len(stretches))
	for i, s := range stretches {
		lanes[i] = lane{s.Valid, s.Fact, s.Reason}
	}
	w.draw(lanes, at, mark, reach...)
}

const (
	widestBar  = 60
	narrowBar  = 16
	barOnPaper = 44 // when the output is no terminal, and nothing is cut
)

// draw prints lanes in order, each with when it begins, what holds, and who said so.
func (w words) draw(lanes []lane, at time.Time, mark string, reach ...time.Time) {
	if len(lanes) == 0 {
		w.s.println(w.indent, w.s.paint(quiet, reasonSays(sgam.ErrUnknown)))
		return
	}
	spans := make([]sgam.Interval, len(lanes))
	held, said, begins := 0, 0, 0
	for i, l := range lanes {
		spans[i] = l.span
		words, _ := w.belief(l.fact, l.reason)
		held = max(held, text.StringWidth(words))
		said = max(said, text.StringWidth(source(l.fact)))
		begins = max(begins, text.StringWidth(w.from(l.span)))
	}
	last := lanes[len(lanes)-1].span
	if last.To != nil {
		begins = max(begins, text.StringWidth(w.at(*last.To)))
	}
	const gaps = 3 * 2 // between four columns
	bars := barOnPaper
	if w.s.width != math.MaxInt {
		room := w.s.width - len(w.indent) - gaps - begins
		// What is said gets at most half of the room left by the bars' least width; the bars take what remains.
		held = min(held, max(least, (room-narrowBar)/2))
		said = min(said, max(least, room-narrowBar-held))
		bars = min(widestBar, max(narrowBar, room-held-said))
	}
	d := newDrawing(bars, spans, append(reach, at)...)

	l := w.s.list(column{}, column{ink: good}, column{}, column{ink: link})
	l.bare, l.indent = true, w.indent
	l.add("", w.s.paint(quiet, d.scale(w)), "", "")
	for _, x := range lanes {
		words, ink := w.belief(x.fact, x.reason)
		bar := d.bar(x.span, stroke(x.reason))
		if x.reason != nil {
			bar = w.s.paint(ink, bar)
		}
		l.add(w.from(x.span), bar, w.s.paint(ink, cut(words, held)), cut(source(x.fact), said))
	}
	if last.To != nil {
		l.add(w.at(*last.To), "", w.s.paint(quiet, "unknown"), "")
	}
	l.flush()
	under := strings.Repeat(" ", begins+2)
	w.s.println(w.indent, under, w.s.paint(odd, d.mark(at, mark, bars+2+held)))
}
