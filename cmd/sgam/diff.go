package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/sgam-ledger/sgam"
)

func (p *program) diff() *cobra.Command {
	var pl place
	var n narrowing
	var since string
	c := &cobra.Command{
		Use:   "diff --known-from TIME",
		Short: "Show what is believed otherwise at one known time than at an earlier one",
		Args:  needs(),
		Long: `Show every stretch of valid time about which the ledger believed something else at --known (default all that it knows)
than at --known-from, with the statement that caused it. --valid keeps the stretches that hold that moment.`,
		Example: `  sgam diff --db agent.db --known-from 2026-06-02
  sgam diff --db agent.db --known-from 2026-06-02 --known 2026-06-05 --subject mira`,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := p.times(c, &pl); err != nil {
				return err
			}
			from, err := p.moment(c, "known-from", since)
			if err != nil {
				return err
			}
			if from == nil {
				return usage("--known-from is missing: the known time to compare with")
			}
			if pl.knownAt != nil && pl.knownAt.Before(*from) {
				return usage("--known-from is later than --known")
			}
			f, err := n.filter()
			if err != nil {
				return err
			}
			f.Scopes = pl.scopeList()
			return p.reading(c.Context(), func(l *sgam.Ledger) error { return p.compare(c.Context(), l, &pl, &n, *from, f) })
		},
	}
	c.Flags().StringVar(&since, "known-from", "", "the earlier known `time`")
	pl.axes(c)
	pl.manyScopes(c)
	n.add(c)
	return c
}

func (p *program) compare(ctx context.Context, l *sgam.Ledger, pl *place, n *narrowing, from time.Time, filter sgam.Filter) error {
	t, err := p.tenant(ctx, l)
	if err != nil {
		return err
	}
	w, err := p.words()
	if err != nil {
		return err
	}
	known, err := lastCommit(ctx, pl.view(t))
	if err != nil {
		return err
	}
	to := known
	if to.Before(from) {
		to = from // nothing was recorded after the earlier one
	}
	limit := filter.Limit
	filter.Limit = 0 // --valid is applied before the limit
	found := 0
	rows := w.differences("")
	for d, err := range t.Diff(ctx, from, to, filter) {
		if err != nil {
			return n.named(err)
		}
		if pl.validAt != nil && !d.Valid.Contains(*pl.validAt) {
			continue
		}
		found++
		if p.flags.json {
			p.out.json(differenceOf(d))
		} else {
			rows.add(&d)
		}
		if found == limit {
			break
		}
	}
	rows.flush()
	if !p.flags.json {
		p.out.println(p.out.wrap("", p.out.paint(quiet, count(found, "difference", "differences")+" · ")+
			"known "+w.at(from)+" against "+w.knownText(pl, known)))
	}
	return nil
}

// lastCommit is the known time that a view answers at: the one asked for, or the tenant's last commit.
func lastCommit(ctx context.Context, v sgam.View) (time.Time, error) {
	for _, err := range v.Facts(ctx, sgam.Filter{Limit: 1}) {
		if err != nil {
			return time.Time{}, err
		}
	}
	_, known := v.Pinned()
	return known, nil
}

// differences prints differences under the slots that they belong to.
type differences struct {
	w      words
	indent string
	slot   string
	rows   *list
}

func (w words) differences(indent string) *differences { return &differences{w: w, indent: indent} }

func (d *differences) add(x *sgam.Difference) {
	s := d.w.s
	if slot := slotName(x.Slot); d.rows == nil || slot != d.slot {
		d.flush()
		first := d.rows == nil
		d.slot = slot
		d.rows = s.list(column{name: "TRUE FROM"}, column{name: "UNTIL"}, column{name: "BEFORE", flex: yields},
			column{name: "AFTER", flex: yields}, column{name: "CAUSE", ink: quiet})
		d.rows.indent, d.rows.bare = d.indent+"  ", !first
		s.println(d.indent, slot)
	}
	before, _ := d.w.belief(x.Before.Fact, x.Before.Reason)
	after, ink := d.w.belief(x.After.Fact, x.After.Reason)
	d.rows.add(d.w.from(x.Valid), d.w.until(x.Valid), before, s.paint(ink, after), short(x.Cause))
}

func (d *differences) flush() {
	if d.rows != nil {
		d.rows.flush()
	}
}
