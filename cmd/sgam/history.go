package main

import (
	"context"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/sgam-ledger/sgam"
)

func (p *program) history() *cobra.Command {
	var pl place
	c := &cobra.Command{
		Use:   "history SUBJECT ATTRIBUTE",
		Short: "List every statement ever made, with what it displaced or confirmed",
		Args:  needs("SUBJECT", "ATTRIBUTE"),
		Long: `List every statement about one subject's attribute in the order in which it was recorded, with what it displaced or
confirmed. --known leaves out what was recorded later, --valid what did not reach that moment.`,
		Example: `  sgam history mira passport_deadline --db agent.db`,
		RunE: func(c *cobra.Command, args []string) error {
			if err := p.times(c, &pl); err != nil {
				return err
			}
			slot, err := pl.slot(args)
			if err != nil {
				return err
			}
			return p.reading(c.Context(), func(l *sgam.Ledger) error { return p.listHistory(c.Context(), l, &pl, slot) })
		},
	}
	pl.axes(c)
	pl.oneSlot(c)
	return c
}

func (p *program) listHistory(ctx context.Context, l *sgam.Ledger, pl *place, slot sgam.Slot) error {
	t, err := p.tenant(ctx, l)
	if err != nil {
		return err
	}
	w, err := p.words()
	if err != nil {
		return err
	}
	title := slotName(slot) + p.out.paint(quiet, " · every statement in the order of recording")
	n := 0
	for e, err := range t.History(ctx, slot) {
		if err != nil {
			return named(err, slot.Attribute)
		}
		if pl.knownAt != nil && e.Fact.RecordedAt.After(*pl.knownAt) {
			break
		}
		if pl.validAt != nil && !e.Fact.Valid.Contains(*pl.validAt) {
			continue
		}
		n++
		if p.flags.json {
			p.out.json(entryJSON{e.Fact, e.Displaced, e.Confirms, e.Withdraws})
			continue
		}
		if n == 1 {
			p.out.println(title)
		}
		w.entry(n, &e)
	}
	if n == 0 {
		if !p.flags.json {
			p.out.println(title)
			p.out.println("  ", p.out.paint(quiet, "no statement"))
		}
		return p.noneOf(ctx, l, slot)
	}
	return nil
}

// entry prints one statement of a history.
func (w words) entry(n int, e *sgam.Entry) {
	s, f := w.s, &e.Fact
	said := string(f.Op)
	switch {
	case !e.Withdraws.IsZero():
		said += " of memory " + e.Withdraws.String()
	case len(f.Value) > 0:
		said += " " + s.paint(strong, w.value(f))
	}
	s.println()
	s.println(s.paint(quiet, strconv.Itoa(n)+"  "), w.at(f.RecordedAt), "  ", said)
	l := w.details()
	l.indent = "   "
	if e.Withdraws.IsZero() {
		l.add("reached", w.during(f.Valid))
	}
	if f.Episode != "" {
		l.add("said by", s.paint(link, printable(f.Episode)))
	}
	if f.Principal != "" {
		l.add("written by", printable(f.Principal))
	}
	if f.Confidence != nil {
		l.add("confidence", formatFloat(*f.Confidence))
	}
	if f.Provenance.Reasoning != "" {
		l.add("because", printable(f.Provenance.Reasoning))
	}
	for _, d := range e.Displaced {
		l.add(hows[d.How], "memory "+d.Memory.String()+" "+w.during(d.Valid))
	}
	for _, id := range e.Confirms {
		l.add("confirmed", "memory "+id.String())
	}
	l.add("memory", f.ID.String())
	l.flush()
}
