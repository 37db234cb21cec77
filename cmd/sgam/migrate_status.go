package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/migrate"
)

// migrationJSON is one line of migrate status, and of the commands that change a state.
type migrationJSON struct {
	migrate.Migration
	// InQuarantine counts the facts that have no form in the new version, also those that were written since the run.
	InQuarantine int64            `json:"in_quarantine"`
	Reasons      []migrate.Reason `json:"reasons,omitempty"`
}

func (p *program) migrateStatus() *cobra.Command {
	return &cobra.Command{
		Use:   "status [TYPE]",
		Short: "List how every migration stands, and why facts are in quarantine",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usage("%s takes one TYPE at most: %d given", c.CommandPath(), len(args))
			}
			return nil
		},
		Long: `List how every migration stands, of one memory type or of all of them: its state, how far it has come, who runs it and until
when others stay away, and which commands the state allows. It only reads, and can be asked while a run is at work.`,
		Example: `  sgam migrate status contact --db agent.db`,
		RunE: func(c *cobra.Command, args []string) error {
			w, err := p.words()
			if err != nil {
				return err
			}
			return p.reading(c.Context(), func(l *sgam.Ledger) error {
				tenants, err := p.migrationTenants(c.Context(), l)
				if err != nil {
					return err
				}
				all, err := migrate.Status(c.Context(), l, tenants...)
				if err != nil {
					return err
				}
				var shown []migrationJSON
				for i := range all {
					if len(args) > 0 && all[i].Type != args[0] {
						continue
					}
					m, err := withQuarantine(c.Context(), l, &all[i])
					if err != nil {
						return err
					}
					shown = append(shown, m)
				}
				p.showMigrations(w, shown)
				return nil
			})
		},
	}
}

// withQuarantine looks at what is in quarantine. What an ended migration left behind is that of its run.
func withQuarantine(ctx context.Context, l *sgam.Ledger, m *migrate.Migration) (migrationJSON, error) {
	out := migrationJSON{Migration: *m, InQuarantine: m.Counts.Quarantined}
	if !underWay(m.State) {
		return out, nil
	}
	t, err := l.Tenant(m.Tenant)
	if err != nil {
		return out, err
	}
	out.InQuarantine = 0
	by := map[migrate.Reason]int64{}
	for q, err := range t.Quarantine(ctx, m.Type, m.To) {
		if err != nil {
			return out, err
		}
		out.InQuarantine++
		by[migrate.Reason{Rule: q.Rule, Pointer: q.Pointer}]++
	}
	for r, n := range by {
		r.Facts = n
		out.Reasons = append(out.Reasons, r)
	}
	slices.SortFunc(out.Reasons, func(a, b migrate.Reason) int {
		return cmp.Or(cmp.Compare(b.Facts, a.Facts), cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Pointer, b.Pointer))
	})
	return out, nil
}

// underWay says whether a migration is not at an end.
func underWay(s migrate.State) bool { return s != migrate.Done && s != migrate.RolledBack }

func (p *program) showMigrations(w words, all []migrationJSON) {
	if p.flags.json {
		for i := range all {
			p.out.json(all[i])
		}
		return
	}
	if len(all) == 0 {
		p.out.println("no migrations: 'sgam migrate plan' begins one")
		return
	}
	rows := p.out.list(column{name: "TENANT", flex: yields, ink: strong}, column{name: "TYPE", flex: yields}, column{name: "VERSION"}, column{name: "STATE"},
		column{name: "DONE", right: true}, column{name: "QUARANTINE", right: true}, column{name: "NEXT", flex: yields, wrap: true})
	held := w.s.list(column{name: "TENANT", flex: yields}, column{name: "TYPE", flex: yields}, column{name: "DONE"}, column{name: "RUNNER", flex: yields},
		column{name: "OTHERS WAIT UNTIL", flex: yields})
	why := w.s.list(column{name: "TENANT", flex: yields}, column{name: "TYPE", flex: yields}, column{name: "RULE", flex: yields, ink: odd}, column{name: "AT", flex: yields}, column{name: "FACTS", right: true})
	held.indent, why.indent = w.indent, w.indent
	anyHeld, anyWhy := false, false
	for i := range all {
		m := &all[i]
		tenant, typ := printable(m.Tenant), printable(m.Type)
		rows.add(tenant, typ, versions(m.From, m.To), stateWord(m.State, m.Paused), share(&m.Migration), grouped(int(m.InQuarantine)),
			nextActions(m.State, m.Allowed))
		if m.State == migrate.Expanding {
			anyHeld = true
			until := "nobody has to"
			if !m.LeaseUntil.IsZero() {
				until = w.at(m.LeaseUntil)
			}
			held.add(tenant, typ, facts(m.Counts.Looked), printable(m.Holder), until)
		}
		for _, r := range m.Reasons {
			anyWhy = true
			why.add(tenant, typ, printable(r.Rule), printable(r.Pointer), grouped(int(r.Facts)))
		}
	}
	rows.flush()
	if anyHeld {
		p.out.println("runners:")
		held.flush()
	}
	if anyWhy {
		p.out.println("in quarantine:")
		why.flush()
	}
}

// share says how far a backfill has come: it goes from the newest fact of its start to the oldest.
func share(m *migrate.Migration) string {
	if m.Upper == 0 {
		return "100%"
	}
	return fmt.Sprintf("%d%%", (m.Upper+1-m.Cursor)*100/m.Upper)
}
