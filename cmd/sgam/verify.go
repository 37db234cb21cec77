package main

import (
	"context"
	"errors"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/sgam-ledger/sgam"
)

func (p *program) verify() *cobra.Command {
	return &cobra.Command{
		Use:   "verify",
		Short: "Let the ledger prove itself: replay the facts and compare",
		Args:  needs(),
		Long: `Replay the facts of every slot, of all tenants or of the one that --tenant names, and compare the result with what is
stored. The exit code is 0 when all is well, 2 when there is no such tenant, 4 when something differs and 7 when the file cannot be read.`,
		Example: `  sgam verify --db agent.db`,
		RunE: func(c *cobra.Command, _ []string) error {
			err := p.reading(c.Context(), func(l *sgam.Ledger) error { return p.prove(c.Context(), l) })
			if errors.Is(err, sgam.ErrForeignFile) {
				// Whether the file is a ledger is a part of what verify is asked, so this is no matter of usage.
				return &verdict{code: exitUnreadable, line: err.Error(), cause: err}
			}
			return err
		},
	}
}

func (p *program) prove(ctx context.Context, l *sgam.Ledger) error {
	tenantNames, err := p.tenantsToProve(ctx, l)
	if err != nil {
		return err
	}
	result := verifiedJSON{Tenants: tenantNames, Findings: []findingJSON{}}
	rows := p.out.list(column{name: "TENANT", flex: yields}, column{name: "ATTRIBUTE", flex: yields}, column{name: "SLOT"},
		column{name: "LAYER"}, column{name: "WHAT DIFFERS", ink: bad})
	for _, name := range result.Tenants {
		t, err := l.Tenant(name)
		if err != nil {
			return err
		}
		for err := range t.Verify(ctx) {
			f, ok := errors.AsType[*sgam.VerifyError](err)
			if !ok {
				return err
			}
			result.Findings = append(result.Findings, findingJSON{f.Tenant, f.Attribute, f.Slot, f.Layer, f.Detail})
			rows.add(printable(f.Tenant), printable(f.Attribute), strconv.Itoa(f.Slot), f.Layer, f.Detail)
		}
	}
	result.OK = len(result.Findings) == 0
	tenants := count(len(result.Tenants), "tenant", "tenants")
	switch {
	case p.flags.json:
		p.out.json(result)
	case result.OK:
		p.out.println(p.out.paint(good, "verified"), ": every slot of "+tenants+" is what its facts replay to")
	default:
		rows.flush()
		p.out.println(p.out.paint(bad, count(len(result.Findings), "difference", "differences")), " in "+tenants)
	}
	if !result.OK {
		return &verdict{code: exitTampered}
	}
	return nil
}

// tenantsToProve are all tenants, or the one that --tenant names. That one has to be there: nothing is proved of a name that was
// never written.
func (p *program) tenantsToProve(ctx context.Context, l *sgam.Ledger) ([]string, error) {
	if p.flags.tenantGiven {
		if _, err := l.Tenant(p.flags.tenant); err != nil {
			return nil, usage("--tenant %q: %w", p.flags.tenant, err)
		}
	}
	names := []string{}
	for name, err := range l.Tenants(ctx) {
		if err != nil {
			return nil, err
		}
		if !p.flags.tenantGiven || name == p.flags.tenant {
			names = append(names, name)
		}
	}
	if p.flags.tenantGiven && len(names) == 0 {
		return nil, usage("--tenant %q: there is no such tenant in this ledger, and without --tenant all are verified", p.flags.tenant)
	}
	return names, nil
}
