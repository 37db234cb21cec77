package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/sgam-ledger/sgam"
)

func (p *program) explain() *cobra.Command {
	var pl place
	c := &cobra.Command{
		Use:   "explain SUBJECT ATTRIBUTE",
		Short: "Answer six questions at once: what is true, what was, who said it, whose it is, what it replaced, may it go",
		Args:  needs("SUBJECT", "ATTRIBUTE"),
		Long: `Answer at once what is true, what was true, who said it, whose it is, what it replaced, and under which retention policy
it stands.`,
		Example: `  sgam explain mira passport_deadline --db agent.db`,
		RunE: func(c *cobra.Command, args []string) error {
			if err := p.times(c, &pl); err != nil {
				return err
			}
			slot, err := pl.slot(args)
			if err != nil {
				return err
			}
			return p.reading(c.Context(), func(l *sgam.Ledger) error { return p.explainSlot(c.Context(), l, &pl, slot) })
		},
	}
	pl.axes(c)
	pl.inVersions(c)
	pl.oneSlot(c)
	return c
}

func (p *program) explainSlot(ctx context.Context, l *sgam.Ledger, pl *place, slot sgam.Slot) error {
	t, err := p.tenant(ctx, l)
	if err != nil {
		return err
	}
	w, err := p.words()
	if err != nil {
		return err
	}
	v := pl.view(t)
	e, err := v.Explain(ctx, slot)
	if err != nil {
		return named(err, slot.Attribute)
	}
	valid, known := v.Pinned()
	if p.flags.json {
		out := explanationJSON{
			Slot: slot, ValidAt: valid, KnownAt: known, Now: beliefOf(e.Now.Fact, e.Now.Reason), Was: []stretchJSON{},
			Source: e.Source, Principal: e.Principal, Replaced: e.Replaced, Retention: e.RetentionPolicy,
		}
		for _, s := range e.Was {
			out.Was = append(out.Was, stretchOf(s))
		}
		p.out.json(out)
	} else {
		w.explanation(pl, slot, &e, valid, known)
	}
	if e.Now.Reason != nil {
		return no()
	}
	return nil
}

func (w words) explanation(pl *place, slot sgam.Slot, e *sgam.Explanation, valid, known time.Time) {
	s := w.s
	question := func(words string) { s.println("\n", s.paint(quiet, words)) }
	s.println(s.wrap("", slotName(slot)+s.paint(quiet, " · ")+w.asked(pl, valid, known)))

	question("What is true?")
	said, ink := w.belief(e.Now.Fact, e.Now.Reason)
	switch {
	case e.Now.Reason == nil:
		s.println("  ", s.paint(ink, said), ", ", w.during(e.Now.Valid))
	case e.Now.Fact == nil:
		s.println("  ", s.paint(ink, said), ": ", reasonSays(e.Now.Reason))
	default:
		s.println("  ", s.paint(ink, said), ": ", reasonSays(e.Now.Reason), ", ", w.during(e.Now.Valid))
	}
	question("What was true?")
	mark := "now"
	if pl.validAt != nil {
		mark = "asked"
	}
	w.drawStretches(e.Was, valid, mark)
	if e.Now.Fact == nil {
		return
	}
	question("Who said it?")
	if e.Source == nil {
		s.println("  nobody is on record")
	} else {
		s.println(s.wrap("  ", w.episode(*e.Source)))
		if e.Source.Text != "" {
			s.println(s.wrap("  ", "“"+printable(e.Source.Text)+"”"))
		}
	}
	question("Whose is it?")
	owner := "tenant " + printable(e.Now.Fact.Tenant) + ", scope " + scopeWord(e.Now.Fact.Scope)
	if e.Principal != "" {
		owner += ", written by " + printable(e.Principal)
	}
	s.println("  ", owner)
	question("What did it replace?")
	if len(e.Replaced) == 0 {
		s.println("  nothing")
	}
	for _, d := range e.Replaced {
		s.println(s.wrap("  ", "it "+hows[d.How]+" memory "+d.Memory.String()+" "+w.during(d.Valid)))
	}
	question("May it be deleted, or when does it expire?")
	if e.RetentionPolicy == "" {
		s.println("  no retention policy is named: it stays until it is erased")
	} else {
		s.println("  retention policy ", printable(e.RetentionPolicy))
	}
	s.println("  memory ", e.Now.Fact.ID.String())
}
