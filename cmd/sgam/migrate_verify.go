package main

import (
	"context"
	"errors"
	"slices"

	"github.com/spf13/cobra"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/migrate"
)

func (p *program) migrateVerify() *cobra.Command {
	var wr writer
	c := &cobra.Command{
		Use:   "verify TYPE",
		Short: "Compare both versions of every fact before the cut-over",
		Args:  needs("TYPE"),
		Long: `Compare what is stored with what the lenses make of every recorded value, in both directions, let the ledger prove itself, and
look at the quarantine. Programs may go on writing. A migration without a finding is verified, and may be cut over.

The exit code is 4 when something was found, facts in quarantine that the plan refuses included. A finding names no value.`,
		Example: `  sgam migrate verify contact --db agent.db --principal ops`,
		RunE: func(c *cobra.Command, args []string) error {
			return p.writing(c.Context(), false, func(l *sgam.Ledger) error {
				all, err := p.standing(c.Context(), l, args[0], "verify", func(m *migrate.Migration) bool {
					return slices.Contains(behindCutover, m.State)
				})
				if err != nil || len(all) == 0 {
					return err
				}
				var found []migrate.Verification
				err = p.eachMigration(c.Context(), all, func(ctx context.Context, m *migrate.Migration) error {
					some, err := migrate.Verify(ctx, l, migrate.Target{Type: m.Type, Tenants: []string{m.Tenant}, Principal: wr.principal})
					found = append(found, some...)
					if errors.Is(err, migrate.ErrFindings) {
						return nil // told below, and judged by what is told
					}
					return err
				})
				return p.showVerification(args[0], found, err)
			})
		},
	}
	wr.add(c)
	return c
}

// showVerification tells what was compared and found. failed is what kept other tenants from being verified.
func (p *program) showVerification(typ string, all []migrate.Verification, failed error) error {
	w, err := p.words()
	if err != nil {
		return err
	}
	counts := w.tally([]column{{name: "TENANT", flex: yields}, {name: "ATTRIBUTE", flex: yields, ink: strong}},
		"FACTS", "FORMS", "QUARANTINE", "THERE AND BACK")
	rows := p.out.list(column{name: "TENANT", flex: yields}, column{name: "WHAT IS WRONG", flex: yields, wrap: true, ink: bad})
	rows.indent = w.indent
	found, unverified := int64(0), 0
	for i := range all {
		v := &all[i]
		if found += v.Found; v.Found > 0 {
			unverified++
		}
		if p.flags.json {
			p.out.json(v)
			continue
		}
		for _, c := range v.Attributes {
			counts.add([]string{printable(v.Tenant), printable(c.Attribute)}, c.Facts, c.Forms, c.Quarantined, c.RoundTrips)
		}
		for _, f := range v.Findings {
			rows.add(printable(v.Tenant), printable(f.String()))
		}
		if more := v.Found - int64(len(v.Findings)); more > 0 {
			rows.add(printable(v.Tenant), grouped(int(more))+" more")
		}
	}
	counts.w.indent = ""
	counts.flush()
	rows.flush()
	switch tenants := count(len(all), "tenant", "tenants"); {
	case found == 0 && failed != nil:
		return failed
	case found == 0 && !p.flags.json:
		p.out.sentence(p.out.paint(good, "verified"), ": both versions of ", tenants, " agree; next: sgam migrate cutover ", printable(typ))
	case found > 0:
		if !p.flags.json {
			p.out.println(p.out.paint(bad, "not verified"), ": ", count(int(found), "finding", "findings"), " in ", grouped(unverified), " of ", tenants)
		}
		line := ""
		if failed != nil {
			line = failed.Error()
		}
		return &verdict{code: exitTampered, line: line, cause: failed}
	}
	return nil
}
