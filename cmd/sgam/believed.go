package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/sgam-ledger/sgam"
)

func (p *program) believed() *cobra.Command {
	var pl place
	c := &cobra.Command{
		Use:   "believed SUBJECT ATTRIBUTE",
		Short: "Draw what was believed about one valid time, along known time: when did we learn it",
		Args:  needs("SUBJECT", "ATTRIBUTE"),
		Long: `Draw what was believed about one moment of valid time (--valid, default now) as the ledger learned more and more. With
--known it stops at what was known then.`,
		Example: `  sgam believed mira passport_deadline --db agent.db --valid 2026-06-20`,
		RunE: func(c *cobra.Command, args []string) error {
			if err := p.times(c, &pl); err != nil {
				return err
			}
			slot, err := pl.slot(args)
			if err != nil {
				return err
			}
			return p.reading(c.Context(), func(l *sgam.Ledger) error { return p.drawBeliefs(c.Context(), l, &pl, slot) })
		},
	}
	pl.axes(c)
	pl.oneSlot(c)
	return c
}

func (p *program) drawBeliefs(ctx context.Context, l *sgam.Ledger, pl *place, slot sgam.Slot) error {
	t, err := p.tenant(ctx, l)
	if err != nil {
		return err
	}
	w, err := p.words()
	if err != nil {
		return err
	}
	valid, known, err := pl.pin(ctx, t, slot)
	if err != nil {
		return named(err, slot.Attribute)
	}
	beliefs, err := beliefsUpTo(ctx, t, slot, valid, known)
	if err != nil {
		return named(err, slot.Attribute)
	}
	if p.flags.json {
		for i := range beliefs {
			p.out.json(heldOf(&beliefs[i]))
		}
	} else {
		p.out.println(p.out.wrap("", slotName(slot)+p.out.paint(quiet, " · known time, about valid time ")+w.validText(pl, valid)))
		w.drawBeliefs(beliefs, known, w.markKnown(pl))
	}
	if len(beliefs) == 0 {
		return p.noneOf(ctx, l, slot)
	}
	return nil
}

// beliefsUpTo lists what was believed about a moment, by what was known at one time: what ended later stands.
func beliefsUpTo(ctx context.Context, t *sgam.Tenant, slot sgam.Slot, valid, known time.Time) ([]sgam.Belief, error) {
	var beliefs []sgam.Belief
	for b, err := range t.Believed(ctx, slot, valid) {
		if err != nil {
			return nil, err
		}
		if b.Known.From.After(known) {
			break
		}
		if b.Known.To != nil && b.Known.To.After(known) {
			b.Known.To, b.Fact.Known.To, b.ClosedBy = nil, nil, sgam.MemoryID{}
		}
		beliefs = append(beliefs, b)
	}
	return beliefs, nil
}

func (w words) markKnown(pl *place) string {
	if pl.knownAt == nil {
		return "last commit"
	}
	return "asked"
}

// drawBeliefs draws beliefs in order of known time, and the gaps between them.
func (w words) drawBeliefs(beliefs []sgam.Belief, known time.Time, mark string) {
	var lanes []lane
	for i := range beliefs {
		b := &beliefs[i]
		if n := len(lanes); n > 0 && lanes[n-1].span.To != nil {
			last := &lanes[n-1]
			switch {
			case last.span.To.Before(b.Known.From):
				lanes = append(lanes, lane{span: sgam.Interval{From: *last.span.To, To: &b.Known.From}, reason: sgam.ErrUnknown})
			case last.fact.ID == b.Fact.ID && reasonWord(last.reason) == reasonWord(b.Reason):
				last.span.To = b.Known.To // only the bounds of the fact changed
				continue
			}
		}
		lanes = append(lanes, lane{b.Known, &b.Fact, b.Reason})
	}
	w.draw(lanes, known, mark)
}
