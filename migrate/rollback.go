package migrate

import (
	"context"
	"time"

	"github.com/sgam-ledger/sgam"
)

// Rollback lets only the old version be read and written again, from one known time on. It is possible until the migration
// is contracting, also when it is paused, has failed or was never run to its end.
//
// Facts recorded under the new version since the migration began may have no form in the old one, or one that misses something
// or has something filled in. Those are counted, and without force there is a [*LossyError]. With force they answer with
// what the old version can show, or [sgam.ErrUnmigrated]; what was recorded stays, and answers in the new version.
func Rollback(ctx context.Context, l *sgam.Ledger, g Target, force bool) error {
	return g.each(ctx, l, func(t *sgam.Tenant) error {
		m, err := g.look(ctx, t, actRollback)
		if err != nil {
			return err
		}
		if !force {
			if err := g.mayLose(ctx, l, t, m.rec); err != nil {
				return err
			}
		}
		return step(ctx, t, g.Type, g.Principal, func(m *moment) error {
			if err := m.may(actRollback); err != nil {
				return err
			}
			note := ""
			if force {
				note = "forced"
			}
			m.rec.Paused, m.rec.LeaseUntil = false, time.Time{}
			m.rec.Fence++ // a run that is under way ends
			m.enter(RolledBack, note)
			return m.keep(sgam.MigrationWrite{Epoch: &sgam.Epoch{Read: m.rec.From, Write: m.rec.From}})
		})
	})
}

// mayLose refuses a rollback that loses something. Once the new version has decided, writers come and go: so after a first look the
// old version decides about writes, and the facts of before that can be counted for good. Before, the old version has
// decided all along, and a look is enough.
func (g Target) mayLose(ctx context.Context, l *sgam.Ledger, t *sgam.Tenant, rec *record) error {
	r, err := readRoute(ctx, l, g.Type, rec.From, rec.To)
	if err != nil {
		return err
	}
	lost, err := r.lossy(ctx, t, rec.Upper, 0)
	if err == nil && lost == 0 && !rec.Decided {
		return nil
	}
	if err == nil && lost == 0 {
		last := int64(0)
		err = step(ctx, t, g.Type, g.Principal, func(m *moment) error {
			if err := m.may(actRollback); err != nil {
				return err
			}
			last = m.LastFact
			m.enter(m.rec.state, "the old version decides")
			return m.keep(sgam.MigrationWrite{Epoch: &sgam.Epoch{Read: m.Epoch.Read, Write: m.rec.From, Second: m.rec.To}})
		})
		if err != nil {
			return err
		}
		if lost, err = r.lossy(ctx, t, rec.Upper, last+1); err != nil || lost == 0 {
			return err
		}
		err = step(ctx, t, g.Type, g.Principal, func(m *moment) error {
			if err := m.may(actRollback); err != nil {
				return err
			}
			read := m.rec.From
			if m.rec.state == CutOver {
				read = m.rec.To
			}
			m.enter(m.rec.state, "the new version decides")
			return m.keep(sgam.MigrationWrite{Epoch: &sgam.Epoch{Read: read, Write: m.rec.To, Second: m.rec.From}})
		})
	}
	if err != nil {
		return err
	}
	return &LossyError{Tenant: t.Name(), Facts: lost}
}

// lossy counts the facts with numbers above after and below below that the old version shows other than they were written.
func (r *route) lossy(ctx context.Context, t *sgam.Tenant, after, below int64) (n int64, err error) {
	for v, err := range t.Values(ctx, r.typ, below) {
		if err != nil {
			return 0, err
		}
		if v.Number <= after {
			break
		}
		a := r.attrs[v.Slot.Attribute]
		if v.Erased || a == nil || !a.inFrom || v.Version <= r.from {
			continue // readers of the old version never saw the attribute, or see what was written
		}
		e := r.form(&v, r.from)
		// What a newer version reads as it stands may still be more than the old one allows.
		if e == nil || e.Lossy || len(e.Defaulted) > 0 || e.Version > r.from && len(a.check(e.Value)) > 0 {
			n++
		}
	}
	return n, nil
}
