package main

import (
	"context"
	"errors"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/sgam-ledger/sgam"
)

// narrowing is the part of a list that is wanted: the flags that make a filter.
type narrowing struct {
	subjects, attributes, types []string
	limit                       int
}

func (n *narrowing) add(c *cobra.Command) {
	c.Flags().StringArrayVar(&n.subjects, "subject", nil, "only this `subject`, may be repeated")
	c.Flags().StringArrayVar(&n.attributes, "attribute", nil, "only this `attribute`, may be repeated")
	c.Flags().StringArrayVar(&n.types, "type", nil, "only attributes of this memory `type`, may be repeated")
	c.Flags().IntVar(&n.limit, "limit", 0, "end the list after so many (0: no limit)")
}

func (n *narrowing) filter() (sgam.Filter, error) {
	if n.limit < 0 {
		return sgam.Filter{}, usage("--limit %d: want a number from 0 on", n.limit)
	}
	return sgam.Filter{Subjects: n.subjects, Attributes: n.attributes, Types: n.types, Limit: n.limit}, nil
}

// named puts the names of the filter into an error that knows only the field.
func (n *narrowing) named(err error) error {
	if fe, ok := fieldError(err); ok && fe.Rule == "unknown" {
		switch {
		case fe.Field == "attribute":
			return usage("--attribute: one of %q is in no memory type of this ledger ('sgam schema list' shows them)", n.attributes)
		case fe.Field == "types":
			return usage("--type: one of %q is not in this ledger ('sgam schema list' shows them)", n.types)
		}
	}
	return named(err, "")
}

func (p *program) facts() *cobra.Command {
	var pl place
	var n narrowing
	c := &cobra.Command{
		Use:   "facts",
		Short: "List what holds at two times",
		Args:  needs(),
		Long: `List every fact that holds at a valid time, as it was known at a known time. What someone said is absent is left out, as
are expired and erased facts.`,
		Example: `  sgam facts --db agent.db --subject mira
  sgam facts --db agent.db --known 2026-06-02 --json`,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := p.times(c, &pl); err != nil {
				return err
			}
			f, err := n.filter()
			if err != nil {
				return err
			}
			return p.reading(c.Context(), func(l *sgam.Ledger) error { return p.listFacts(c.Context(), l, &pl, &n, f) })
		},
	}
	pl.axes(c)
	pl.inVersions(c)
	pl.manyScopes(c)
	n.add(c)
	return c
}

func (p *program) listFacts(ctx context.Context, l *sgam.Ledger, pl *place, n *narrowing, filter sgam.Filter) error {
	t, err := p.tenant(ctx, l)
	if err != nil {
		return err
	}
	w, err := p.words()
	if err != nil {
		return err
	}
	v := pl.view(t)
	scoped := len(pl.scopes) > 0
	rows := w.factList(scoped, true)
	total := 0
	var failed error
	for f, err := range v.Facts(ctx, filter) {
		if errors.Is(err, sgam.ErrUnmigrated) {
			failed = unmigrated(err)
			continue
		}
		if err != nil {
			return n.named(err)
		}
		total++
		if p.flags.json {
			p.out.json(f)
			continue
		}
		w.addFact(rows, &f, scoped, true)
	}
	rows.flush()
	valid, known := v.Pinned()
	if !p.flags.json && !known.IsZero() {
		p.out.println(p.out.wrap("", p.out.paint(quiet, count(total, "fact", "facts")+" · ")+w.asked(pl, valid, known)))
	}
	if failed != nil {
		return failed
	}
	if total == 0 {
		return no()
	}
	return nil
}

// factList is a list of facts: where each comes from, and on request its slot's name and scope.
func (w words) factList(scoped, slots bool) *list {
	var columns []column
	if slots {
		columns = append(columns, column{name: "SUBJECT", flex: yields}, column{name: "ATTRIBUTE", flex: yields})
	}
	columns = append(columns, column{name: "VALUE", flex: yields, ink: strong}, column{name: "TRUE FROM"}, column{name: "UNTIL"},
		column{name: "SAID BY", flex: yieldsFirst, ink: link})
	if scoped {
		columns = append(columns, column{name: "SCOPE", flex: yields})
	}
	return w.s.list(columns...)
}

func (w words) addFact(l *list, f *sgam.Fact, scoped, slots bool) {
	var cells []string
	if slots {
		cells = append(cells, printable(f.Subject), printable(f.Attribute))
	}
	cells = append(cells, w.value(f), w.from(f.Valid), w.until(f.Valid), source(f))
	if scoped {
		cells = append(cells, scopeWord(f.Scope))
	}
	l.add(cells...)
}

func scopeWord(s sgam.Scope) string {
	if s == "" {
		return "everyone"
	}
	return printable(string(s))
}

func formatFloat(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }
