package main

import (
	"encoding/json"

	"github.com/spf13/cobra"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/migrate"
)

func (p *program) migrateDryRun() *cobra.Command {
	return &cobra.Command{
		Use:   "dry-run PLAN",
		Short: "Show what a plan would do, value by value, and write nothing",
		Args:  needs("PLAN"),
		Long: `Convert every fact as the plan says and show what that makes of them: examples before and after, why facts would come into
quarantine, and what has no place in the new version, or would be answered otherwise. Of attributes that are more
than internal only the shape is shown, never a value. Nothing is written.

The exit code is 0 when every fact goes over, 1 when one would come into quarantine, and for nothing else; 3 when the plan is
stale.`,
		Example: `  sgam migrate dry-run plan.json --db agent.db`,
		RunE: func(c *cobra.Command, args []string) error {
			plan, err := p.planFile(args[0])
			if err != nil {
				return err
			}
			w, err := p.words()
			if err != nil {
				return err
			}
			return p.reading(c.Context(), func(l *sgam.Ledger) error {
				report, err := migrate.DryRun(c.Context(), l, plan)
				if err != nil {
					return w.migrationFault(plan.Type, err)
				}
				if p.flags.json {
					p.out.json(report)
				} else {
					w.rehearsed(report)
				}
				if report.Quarantine() > 0 {
					return no()
				}
				return nil
			})
		},
	}
}

// rehearsed tells what a migration would do.
func (w words) rehearsed(r *migrate.Report) {
	w.s.println(printable(r.Type), " version ", versions(r.From, r.To), ", plan ", r.Plan[:8], ": nothing is written")
	for i := range r.Tenants {
		w.rehearsedTenant(&r.Tenants[i])
	}
	if n := r.Quarantine(); n > 0 {
		w.s.println(w.s.paint(odd, facts(n)+" would come into quarantine"))
	} else {
		w.s.println(w.s.paint(good, "every fact goes over"))
	}
}

func (w words) rehearsedTenant(t *migrate.TenantReport) {
	s := w.s
	s.println()
	s.println("tenant ", s.paint(strong, printable(t.Tenant)))
	counts := w.tally([]column{{name: "ATTRIBUTE", flex: yields, ink: strong}}, predictionColumns...)
	for i := range t.Attributes {
		counts.add([]string{printable(t.Attributes[i].Attribute)}, predicted(&t.Attributes[i].Prediction)...)
	}
	counts.flush()
	w.examples(t)
	w.unfit(t)
	for i := range t.Attributes {
		w.currentChanges(&t.Attributes[i])
	}
	if len(t.Rejected) > 0 {
		s.println(w.indent, "held candidates that could not be accepted any more:")
		rows := s.list(column{name: "MEMORY"}, column{name: "STATUS"}, column{name: "ATTRIBUTE", flex: yields}, column{name: "RULE", flex: yields}, column{name: "AT", flex: yields})
		rows.indent = w.indent + "  "
		for _, c := range t.Rejected {
			rows.add(short(c.Memory), string(c.Status), printable(c.Attribute), printable(c.Rule), printable(c.Pointer))
		}
		rows.flush()
	}
}

// examples shows values before and after.
func (w words) examples(t *migrate.TenantReport) {
	rows := w.s.list(column{name: "ATTRIBUTE", flex: yields}, column{name: "BEFORE", flex: yields}, column{name: "AFTER", flex: yields},
		column{name: "MEMORY", ink: link})
	rows.indent = w.indent + "  "
	some, masked := false, false
	for i := range t.Attributes {
		for _, e := range t.Attributes[i].Examples {
			if !some {
				w.s.println(w.indent, "examples:")
			}
			some, masked = true, masked || e.Masked
			rows.add(printable(t.Attributes[i].Attribute), example(e.Before), example(e.After), short(e.Memory))
		}
	}
	rows.flush()
	if masked {
		w.s.println(w.indent, "  ", w.s.paint(quiet, "of values that are more than internal only the shape is shown"))
	}
}

func example(value json.RawMessage) string { return printable(string(value)) }

// unfit lists why facts would come into quarantine, and what has no place in the new version.
func (w words) unfit(t *migrate.TenantReport) {
	reasons := w.s.list(column{name: "ATTRIBUTE", flex: yields}, column{name: "RULE", flex: yields, ink: odd}, column{name: "AT", flex: yields}, column{name: "FACTS", right: true})
	reasons.indent = w.indent + "  "
	some := false
	for i := range t.Attributes {
		for _, r := range t.Attributes[i].Reasons {
			if !some {
				w.s.println(w.indent, "quarantine, by reason:")
			}
			some = true
			reasons.add(printable(t.Attributes[i].Attribute), printable(r.Rule), printable(r.Pointer), grouped(int(r.Facts)))
		}
	}
	reasons.flush()
	if len(t.Unrecallable) == 0 {
		return
	}
	w.s.println(w.indent, "what has no place in the new version:")
	lost := w.s.list(column{name: "ATTRIBUTE", flex: yields}, column{name: "FACTS", right: true}, column{name: "WHY", flex: yields, wrap: true})
	lost.indent = w.indent + "  "
	for _, u := range t.Unrecallable {
		if u.Removed > 0 {
			lost.add(printable(u.Attribute), grouped(int(u.Removed)), "the attribute is removed; "+deletionSays[u.Rule])
		}
		if u.NoForm > 0 {
			lost.add(printable(u.Attribute), grouped(int(u.NoForm)), "no form in the new version")
		}
	}
	lost.flush()
}

// currentChanges tells which answers about the present would be others, beyond their shape.
func (w words) currentChanges(at *migrate.AttributeReport) {
	for _, c := range []struct {
		n    int64
		says string
	}{
		{at.Current.Unmigrated, "would be gone"},
		{at.Current.Lossy, "would miss something"},
		{at.Current.Defaulted, "would have something that nobody said"},
	} {
		if c.n > 0 {
			w.s.println(w.indent, count(int(c.n), "current answer", "current answers"), " about ", printable(at.Attribute), " ", c.says)
		}
	}
}
