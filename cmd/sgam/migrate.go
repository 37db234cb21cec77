package main

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/migrate"
)

func (p *program) migrate() *cobra.Command {
	c := &cobra.Command{
		Use:   "migrate",
		Short: "Take the facts of a memory type to another schema version, and back",
		Args:  noSuchCommand,
		Long: `Take the facts of one memory type to another schema version while programs go on writing:

  plan      count what would become of every fact, and keep that as a file
  dry-run   show it, value by value; nothing is written
  run       store every fact in both versions, from now on and backwards
  verify    compare both sides
  cutover   read the new version
  contract  write the new version alone

Until contract, rollback leads back, pause holds everything in place and resume lets it go on; status says where it stands. A
migration goes through its states for each tenant alone. Without --tenant these commands mean all of them.`,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(p.migratePlan(), p.migrateDryRun(), p.migrateRun(), p.migrateStatus(), p.migrateVerify())
	for i := range migrationActions {
		c.AddCommand(p.migrateAction(&migrationActions[i]))
	}
	return c
}

// migrationTenants are the one that --tenant names, or nil: all of them. That one has to be there, since a slip in the name
// must not look as if nothing were to be done.
func (p *program) migrationTenants(ctx context.Context, l *sgam.Ledger) ([]string, error) {
	if !p.flags.tenantGiven {
		return nil, nil
	}
	if _, err := l.Tenant(p.flags.tenant); err != nil {
		return nil, usage("--tenant %q: %w", p.flags.tenant, err)
	}
	for have, err := range l.Tenants(ctx) {
		if err != nil {
			return nil, err
		}
		if have == p.flags.tenant {
			return []string{have}, nil
		}
	}
	return nil, usage("--tenant %q: there is no such tenant in this ledger, and without --tenant all are meant", p.flags.tenant)
}

// planFile reads a plan; "-" is standard input.
func (p *program) planFile(name string) (*migrate.Plan, error) {
	if p.flags.tenantGiven {
		return nil, usage("--tenant: the plan says which tenants it is about")
	}
	raw, err := p.schemaFile(name)
	if err != nil {
		return nil, err
	}
	plan, err := migrate.Parse(raw)
	if errors.Is(err, migrate.ErrPlanDigest) {
		return nil, usage("%s was changed after it was drawn: draw a new plan with other decisions instead", name)
	}
	if err != nil {
		return nil, usage("%s is no plan of 'sgam migrate plan': %s", name, strings.TrimPrefix(err.Error(), "migrate: plan: "))
	}
	return plan, nil
}
