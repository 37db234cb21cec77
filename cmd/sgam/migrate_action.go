package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/migrate"
)

// migrationAction is a command that moves the migrations of one memory type into another state.
type migrationAction struct {
	verb        string // as states allow it
	short, long string
	// effect says what the command does where it asks before; empty is one that does not.
	effect string
	// done tells that a migration has what the command would do behind it.
	done func(*migrate.Migration) bool
	do   func(ctx context.Context, l *sgam.Ledger, g migrate.Target, force bool) error
	// mayForce adds --force.
	mayForce bool
}

var migrationActions = []migrationAction{
	{
		verb: "pause", short: "Hold a migration in place",
		long: `Hold migrations where they are. A run ends before its next batch; programs go on, and what they write is stored in both
versions. 'sgam migrate resume' lets them go on, and nothing but that and a rollback is possible until then.`,
		done: func(m *migrate.Migration) bool { return m.Paused },
		do: func(ctx context.Context, l *sgam.Ledger, g migrate.Target, _ bool) error {
			return migrate.Pause(ctx, l, g)
		},
	},
	{
		verb: "resume", short: "Let a paused migration go on",
		long: `Let paused migrations go on from where they are. 'sgam migrate run' then goes on from the last batch.`,
		done: func(m *migrate.Migration) bool { return !m.Paused && underWay(m.State) },
		do: func(ctx context.Context, l *sgam.Ledger, g migrate.Target, _ bool) error {
			return migrate.Resume(ctx, l, g)
		},
	},
	{
		verb: "cutover", short: "Let the new version be read, and decide about writes",
		long: `Let the new version be read, and decide about writes, from one known time on. It needs a migration that was verified.
What was known before keeps its old answers. Writes are still stored in both versions, so a rollback stays possible.

It asks on a terminal, and needs --yes elsewhere.`,
		effect: "the new version is read and decides about writes from now on; 'sgam migrate rollback' leads back",
		done:   func(m *migrate.Migration) bool { return slices.Contains(behindCutover, m.State) },
		do: func(ctx context.Context, l *sgam.Ledger, g migrate.Target, _ bool) error {
			return migrate.Cutover(ctx, l, g)
		},
	},
	{
		verb: "rollback", short: "Let the old version alone be read and written again",
		long: `Let the old version alone be read and written again, from one known time on: after a cut-over, or in the middle of a run.
A run that is under way ends. Only a new plan begins again.

Facts that were written under the new version may show with a loss in the old one, or not at all. Then it is refused, unless
--force is given. It asks on a terminal, and needs --yes elsewhere.`,
		effect:   "the old version alone is read and written from now on; only a new plan begins again",
		done:     func(m *migrate.Migration) bool { return m.State == migrate.RolledBack },
		do:       migrate.Rollback,
		mayForce: true,
	},
	{
		verb: "contract", short: "Write the new version alone, for good",
		long: `Carry out the plan's deletion rules and write the new version alone. There is no way back from then on. What was known before
the cut-over keeps its old answers.

This program deletes nothing: a plan that says expire or erase is contracted by a program that does. It asks on a terminal, and
needs --yes elsewhere.`,
		effect: "the new version alone is written from now on; there is no way back",
		done:   func(m *migrate.Migration) bool { return m.State == migrate.Done },
		do: func(ctx context.Context, l *sgam.Ledger, g migrate.Target, _ bool) error {
			return migrate.Contract(ctx, l, g, nil)
		},
	},
}

// behindCutover are the states from the cut-over on.
var behindCutover = []migrate.State{migrate.CutOver, migrate.Contracting, migrate.Done}

func (p *program) migrateAction(a *migrationAction) *cobra.Command {
	var wr writer
	var yes, force bool
	c := &cobra.Command{
		Use:     a.verb + " TYPE",
		Short:   a.short,
		Long:    a.long,
		Args:    needs("TYPE"),
		Example: "  sgam migrate " + a.verb + " contact --db agent.db --principal ops",
		RunE: func(c *cobra.Command, args []string) error {
			return p.writing(c.Context(), false, func(l *sgam.Ledger) error {
				all, err := p.standing(c.Context(), l, args[0], a.verb, a.done)
				if err != nil || len(all) == 0 {
					return err
				}
				if a.effect != "" && !yes {
					if err := p.confirm(c.Context(), a, args[0], all); err != nil {
						return err
					}
				}
				return p.eachMigration(c.Context(), all, func(ctx context.Context, m *migrate.Migration) error {
					g := migrate.Target{Type: m.Type, Tenants: []string{m.Tenant}, Principal: wr.principal}
					if err := a.do(ctx, l, g, force); err != nil {
						return err
					}
					return p.showMoved(ctx, l, m)
				})
			})
		},
	}
	if a.effect != "" {
		c.Flags().BoolVar(&yes, "yes", false, "do not ask")
	}
	if a.mayForce {
		c.Flags().BoolVar(&force, "force", false, "accept that facts show with a loss, or not at all")
	}
	wr.add(c)
	return c
}

// standing are the migrations of a type that a command is about: those that are under way, or else the last one of each
// tenant. Those with the command behind them are left out, and when there is no other, that is said. When one is in a state
// that does not allow the command, nothing is done at all.
func (p *program) standing(ctx context.Context, l *sgam.Ledger, typ, verb string, done func(*migrate.Migration) bool) ([]migrate.Migration, error) {
	tenants, err := p.migrationTenants(ctx, l)
	if err != nil {
		return nil, err
	}
	every, err := migrate.Status(ctx, l, tenants...)
	if err != nil {
		return nil, err
	}
	var last []migrate.Migration
	for _, m := range every {
		switch n := len(last); {
		case m.Type != typ:
		case n > 0 && last[n-1].Tenant == m.Tenant:
			last[n-1] = m // a later one
		default:
			last = append(last, m)
		}
	}
	if len(last) == 0 {
		return nil, refused(nil, "there is no migration of %q ('sgam migrate status' lists them)", typ)
	}
	if slices.ContainsFunc(last, func(m migrate.Migration) bool { return underWay(m.State) }) {
		last = slices.DeleteFunc(last, func(m migrate.Migration) bool { return !underWay(m.State) })
	}
	var todo, behind []migrate.Migration
	for _, m := range last {
		switch {
		case done(&m):
			behind = append(behind, m)
		case !slices.Contains(m.Allowed, verb):
			e := &migrate.StateError{Tenant: m.Tenant, Type: typ, Action: verb, State: m.State, Paused: m.Paused, Allowed: m.Allowed}
			line := stateLine(typ, e)
			if len(last) > 1 {
				line += "; nothing was done (--tenant names one that is further)"
			}
			return nil, refused(e, "%s", line)
		default:
			todo = append(todo, m)
		}
	}
	for i := range behind {
		switch m := &behind[i]; {
		case !p.flags.json:
			p.out.println(printable(m.Tenant), ": already ", stateWord(m.State, m.Paused))
		default:
			if err := p.showMoved(ctx, l, m); err != nil {
				return nil, err
			}
		}
	}
	return todo, nil
}

// eachMigration does something with one tenant's migration after another. What fails in one does not hold up the others; each
// failure is told, and the exit code is that of the worst.
func (p *program) eachMigration(ctx context.Context, all []migrate.Migration, do func(context.Context, *migrate.Migration) error) error {
	w, err := p.words()
	if err != nil {
		return err
	}
	worst := &verdict{}
	for i := range all {
		err := do(ctx, &all[i])
		if err == nil {
			continue
		}
		if worst.line != "" {
			p.err.printf("sgam: %s\n", worst.line)
		}
		code, line := p.judge(ctx, w.migrationFault(all[i].Type, err))
		worst = &verdict{code: max(worst.code, code), line: line, cause: err}
		if ctx.Err() != nil {
			break
		}
	}
	if worst.code == exitOK {
		return nil
	}
	return worst
}

// showMoved tells where a migration is now.
func (p *program) showMoved(ctx context.Context, l *sgam.Ledger, was *migrate.Migration) error {
	w, err := p.words()
	if err != nil {
		return err
	}
	all, err := migrate.Status(ctx, l, was.Tenant)
	if err != nil {
		return err
	}
	n := slices.IndexFunc(all, func(m migrate.Migration) bool { return m.Type == was.Type && m.Serial == was.Serial })
	if n < 0 {
		return fmt.Errorf("migration %d of tenant %q is not there any more", was.Serial, was.Tenant)
	}
	m := &all[n]
	if p.flags.json {
		out, err := withQuarantine(ctx, l, m)
		if err == nil {
			p.out.json(out)
		}
		return err
	}
	line := printable(m.Tenant) + ": " + stateWord(m.State, m.Paused) + " since " + w.at(m.Audit[len(m.Audit)-1].Known)
	if next := nextActions(m.State, m.Allowed); next != "" {
		line += "; next: " + next
	}
	p.out.sentence(line)
	return nil
}
