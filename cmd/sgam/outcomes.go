package main

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sgam-ledger/sgam"
)

var allOutcomes = []string{
	string(sgam.Applied), string(sgam.Confirmed), string(sgam.Pending), string(sgam.Disputed), string(sgam.Rejected),
	string(sgam.Declined),
}

func (p *program) outcomes() *cobra.Command {
	var pl place
	var status []string
	var held bool
	c := &cobra.Command{
		Use:   "outcomes",
		Short: "List what became of every delta, or the candidates that wait for a word",
		Args:  needs(),
		Long: `List the durable outcome of every delta in the order in which they were decided: applied, confirmed, pending, disputed,
rejected, declined. An outcome names no value. --held lists the candidates that are pending or disputed, with what they
would say.`,
		Example: `  sgam outcomes --db agent.db --status rejected,disputed
  sgam outcomes --db agent.db --held`,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := atMostOne(c, "status", "held"); err != nil {
				return err
			}
			if err := p.times(c, &pl); err != nil {
				return err
			}
			statuses := make([]sgam.Outcome, len(status))
			for i, s := range status {
				if !slices.Contains(allOutcomes, s) {
					return usage("--status %q: want one of %s", s, strings.Join(allOutcomes, ", "))
				}
				statuses[i] = sgam.Outcome(s)
			}
			return p.reading(c.Context(), func(l *sgam.Ledger) error {
				if held {
					return p.listHeld(c.Context(), l, &pl)
				}
				return p.listOutcomes(c.Context(), l, &pl, statuses)
			})
		},
	}
	c.Flags().StringSliceVar(&status, "status", nil, "only these `outcomes`, separated by commas")
	c.Flags().BoolVar(&held, "held", false, "list the candidates that can be accepted or declined")
	c.Flags().StringVar(&pl.known, "known", "", "known `time`: leave out what was decided later")
	return c
}

func (p *program) listOutcomes(ctx context.Context, l *sgam.Ledger, pl *place, statuses []sgam.Outcome) error {
	t, err := p.tenant(ctx, l)
	if err != nil {
		return err
	}
	w, err := p.words()
	if err != nil {
		return err
	}
	rows := p.out.list(column{name: "DECIDED"}, column{name: "OUTCOME"}, column{name: "OPERATION"},
		column{name: "ATTRIBUTE", flex: yields}, column{name: "WHY", flex: yields}, column{name: "BY", flex: yields}, column{name: "MEMORY", ink: quiet})
	n := 0
	for o, err := range t.Outcomes(ctx, statuses...) {
		if err != nil {
			return err
		}
		if pl.knownAt != nil && o.Known.After(*pl.knownAt) {
			break
		}
		n++
		if p.flags.json {
			p.out.json(o)
			continue
		}
		memory := ""
		if !o.Memory.IsZero() {
			memory = short(o.Memory)
		}
		rows.add(w.at(o.Known), p.out.paint(outcomeInk(o.Outcome), string(o.Outcome)), string(o.Op), printable(o.Attribute),
			strings.TrimSpace(o.Code+" "+printable(o.Pointer)), printable(o.Principal), memory)
	}
	rows.flush()
	if !p.flags.json {
		p.out.println(p.out.paint(quiet, count(n, "outcome", "outcomes")))
	}
	return nil
}

// listHeld lists the candidates, each with the id that accept and decline take.
func (p *program) listHeld(ctx context.Context, l *sgam.Ledger, pl *place) error {
	t, err := p.tenant(ctx, l)
	if err != nil {
		return err
	}
	w, err := p.words()
	if err != nil {
		return err
	}
	n := 0
	for h, err := range t.Held(ctx, sgam.Pending, sgam.Disputed) {
		if err != nil {
			return err
		}
		if pl.knownAt != nil && h.Known.After(*pl.knownAt) {
			break
		}
		n++
		if p.flags.json {
			p.out.json(h)
			continue
		}
		w.candidate(&h)
	}
	if !p.flags.json {
		p.out.println(p.out.paint(quiet, count(n, "candidate is held", "candidates are held")))
	}
	return nil
}

func (w words) candidate(h *sgam.HeldCandidate) {
	s, d := w.s, &h.Delta
	said := string(d.Op)
	if len(d.Value) > 0 {
		said += " " + s.paint(strong, printable(string(d.Value)))
	}
	slot := slotName(sgam.Slot{Scope: d.Scope, Subject: d.Subject, Attribute: d.Attribute})
	s.println(s.paint(outcomeInk(h.Status), string(h.Status)), "  ", slot, "  ", said)
	l := w.details()
	l.add("memory", h.Memory.String())
	l.add("since", w.at(h.Known))
	l.add("said by", printable(d.EpisodeID))
	if h.Principal != "" {
		l.add("written by", printable(h.Principal))
	}
	if d.Confidence != nil {
		l.add("confidence", formatFloat(*d.Confidence))
	}
	for _, id := range h.LostTo {
		l.add("lost to", "memory "+id.String())
	}
	l.flush()
	s.println()
}
