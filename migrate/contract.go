package migrate

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/schema"
)

// Deleter carries out a deletion rule. Deletion belongs to retention, with its holds and receipts; a migration only says
// when it is due.
type Deleter interface {
	// Delete expires or erases the facts of an attribute in a tenant. It may be called again after a failure.
	Delete(ctx context.Context, t *sgam.Tenant, attribute string, rule schema.Disposition) error
}

// Contract ends migrations that were cut over: it has the deletion rules of the plan carried out, and then only the new
// version is written. There is no way back from its first step on. Encodings of attributes that stay are never deleted, so
// known times before the cut-over keep their answers.
//
// With rules other than keep_readable a nil deleter is ErrNoDeleter, and nothing is done. When the deleter fails, the
// migration is contracting, and Contract goes on with it the next time.
func Contract(ctx context.Context, l *sgam.Ledger, g Target, d Deleter) error {
	return g.each(ctx, l, func(t *sgam.Tenant) error {
		m, err := g.look(ctx, t, actContract)
		if err != nil {
			return err
		}
		due := m.rec.due()
		if len(due) > 0 && d == nil {
			return fmt.Errorf("%w: tenant %q, attributes %s", ErrNoDeleter, t.Name(), strings.Join(due, ", "))
		}
		if err := g.decided(ctx, t, m.rec); err != nil {
			return err
		}
		err = step(ctx, t, g.Type, g.Principal, func(m *moment) error {
			if err := m.may(actContract); err != nil {
				return err
			}
			if m.Epoch.Read != m.rec.To || m.Epoch.Write != m.rec.To {
				return &StaleError{Tenant: m.tenant, What: "epoch"} // somebody began to roll back
			}
			if m.rec.state == Contracting {
				return nil
			}
			m.enter(Contracting, "")
			return m.keep(sgam.MigrationWrite{})
		})
		if err != nil {
			return err
		}
		for _, attribute := range due {
			if err := d.Delete(ctx, t.As(g.Principal), attribute, m.rec.Deletions[attribute]); err != nil {
				return fmt.Errorf("migrate: tenant %q: delete attribute %q: %w", t.Name(), attribute, err)
			}
		}
		return step(ctx, t, g.Type, g.Principal, func(m *moment) error {
			if err := m.may(actContract); err != nil {
				return err
			}
			m.enter(Done, "")
			return m.keep(sgam.MigrationWrite{Epoch: &sgam.Epoch{Read: m.rec.To, Write: m.rec.To}})
		})
	})
}

// decided lets the new version decide again after a rollback that was cut short. What the old version let in meanwhile may have
// no form in the new one, and stands in the way as it would of the cut-over.
func (g Target) decided(ctx context.Context, t *sgam.Tenant, rec *record) error {
	err := step(ctx, t, g.Type, g.Principal, func(m *moment) error {
		if err := m.may(actContract); err != nil || m.Epoch.Write == m.rec.To {
			return err
		}
		m.enter(m.rec.state, "the new version decides")
		return m.keep(sgam.MigrationWrite{Epoch: &sgam.Epoch{Read: m.rec.To, Write: m.rec.To, Second: m.rec.From}})
	})
	if err != nil || rec.Quarantine != RefuseQuarantine {
		return err
	}
	n, err := g.waiting(ctx, t)
	if err == nil && n > 0 {
		err = &QuarantineError{Tenant: t.Name(), Facts: n}
	}
	return err
}

// due are the attributes of which something is to be deleted, in order.
func (r *record) due() []string {
	var due []string
	for _, attribute := range slices.Sorted(maps.Keys(r.Deletions)) {
		if r.Deletions[attribute] != schema.KeepReadable {
			due = append(due, attribute)
		}
	}
	return due
}
