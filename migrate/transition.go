package migrate

import (
	"context"
	"errors"
	"time"

	"github.com/sgam-ledger/sgam"
)

// Target names migrations that are under way: of one memory type, in some tenants. [Plan.Target] makes one; the plan itself
// is not needed any more, since a migration's record holds every decision of it.
type Target struct {
	Type string
	// Tenants are those meant. Nil: every tenant that has a migration of the type under way.
	Tenants []string
	// Principal is in whose name the call is made. It is recorded.
	Principal string
}

// each calls one for every tenant. What fails in one tenant does not hold up the others: the errors come joined. An error
// of the context ends it.
func (g Target) each(ctx context.Context, l *sgam.Ledger, one func(t *sgam.Tenant) error) error {
	names := g.Tenants
	if names == nil {
		for name, err := range l.Tenants(ctx) {
			if err != nil {
				return err
			}
			t, err := l.Tenant(name)
			if err != nil {
				return err
			}
			_, rec, err := stand(ctx, t, g.Type)
			if err != nil {
				return err
			}
			if rec != nil && rec.state.active() {
				names = append(names, name)
			}
		}
	}
	var failed []error
	for _, name := range names {
		t, err := l.Tenant(name)
		if err == nil {
			err = one(t)
		}
		if err != nil {
			failed = append(failed, err)
		}
		if ctx.Err() != nil {
			break
		}
	}
	return errors.Join(failed...)
}

// Pause holds migrations where they are: only Resume and Rollback are allowed then. A run ends with ErrPaused before its
// next batch. Writes go on being stored in both versions.
func Pause(ctx context.Context, l *sgam.Ledger, g Target) error {
	return g.pause(ctx, l, actPause, true)
}

// Resume lets paused migrations go on from where they are.
func Resume(ctx context.Context, l *sgam.Ledger, g Target) error {
	return g.pause(ctx, l, actResume, false)
}

func (g Target) pause(ctx context.Context, l *sgam.Ledger, action string, paused bool) error {
	return g.each(ctx, l, func(t *sgam.Tenant) error {
		return step(ctx, t, g.Type, g.Principal, func(m *moment) error {
			if err := m.may(action); err != nil {
				return err
			}
			m.rec.Paused, m.rec.LeaseUntil = paused, time.Time{}
			m.enter(m.rec.state, action)
			return m.keep(sgam.MigrationWrite{})
		})
	})
}

// look reads what stands, under the lock and without a write.
func (g Target) look(ctx context.Context, t *sgam.Tenant, action string) (*moment, error) {
	var seen *moment
	err := step(ctx, t, g.Type, g.Principal, func(m *moment) error {
		seen = m
		return m.may(action)
	})
	return seen, err
}

// Cutover lets the new version be read, and decide about writes, from one known time on. Writes are still stored in the old
// version too, where it can hold them. Known times before the cut-over answer as they did.
//
// It needs a verified migration. When the plan refuses quarantine, and a fact came into it since, that is a
// [*QuarantineError], and the migration is dual again.
func Cutover(ctx context.Context, l *sgam.Ledger, g Target) error {
	return g.each(ctx, l, func(t *sgam.Tenant) error {
		m, err := g.look(ctx, t, actCutover)
		if err != nil {
			return err
		}
		if _, err := m.rec.route(ctx, l, g.Type); err != nil {
			return err
		}
		if m.rec.Quarantine == LeaveQuarantine {
			return g.cut(ctx, t)
		}
		return g.close(ctx, t, m.rec.serial)
	})
}

// cut writes the epoch of the new version.
func (g Target) cut(ctx context.Context, t *sgam.Tenant) error {
	return step(ctx, t, g.Type, g.Principal, func(m *moment) error {
		if err := m.may(actCutover); err != nil {
			return err
		}
		if m.Epoch.Read != m.rec.From || m.Epoch.Second == 0 {
			return &StaleError{Tenant: m.tenant, What: "epoch"}
		}
		m.rec.Decided = true
		m.enter(CutOver, "")
		return m.keep(sgam.MigrationWrite{Epoch: &sgam.Epoch{Read: m.rec.To, Write: m.rec.To, Second: m.rec.From}})
	})
}

// close cuts over a tenant that must have nothing in quarantine. Writers come and go, so first the new version decides about
// writes: from then on nothing that it cannot hold is accepted, and what is in quarantine can be counted for good.
func (g Target) close(ctx context.Context, t *sgam.Tenant, serial int64) error {
	n, err := g.waiting(ctx, t)
	if err == nil && n == 0 {
		err = step(ctx, t, g.Type, g.Principal, func(m *moment) error {
			if err := m.may(actCutover); err != nil {
				return err
			}
			if m.Epoch.Read != m.rec.From || m.Epoch.Second == 0 {
				return &StaleError{Tenant: m.tenant, What: "epoch"}
			}
			m.rec.Decided = true
			m.enter(m.rec.state, "the new version decides")
			return m.keep(sgam.MigrationWrite{Epoch: &sgam.Epoch{Read: m.rec.From, Write: m.rec.To, Second: m.rec.From}})
		})
		if err != nil {
			return err
		}
		if n, err = g.waiting(ctx, t); err == nil && n == 0 {
			return g.cut(ctx, t)
		}
	}
	if err != nil {
		return err
	}
	err = step(ctx, t, g.Type, g.Principal, func(m *moment) error {
		if m.rec == nil || m.rec.serial != serial || m.rec.state != Verified {
			return nil // somebody else decided
		}
		m.enter(Dual, "facts came into quarantine")
		return m.keep(sgam.MigrationWrite{Epoch: &sgam.Epoch{Read: m.rec.From, Write: m.rec.From, Second: m.rec.To}})
	})
	return errors.Join(&QuarantineError{Tenant: t.Name(), Facts: n}, err)
}

// waiting counts the facts that hold somewhere and have no form in the new version. What was withdrawn or corrected away is not
// read from now on, and answers in the old version about the known times of before.
func (g Target) waiting(ctx context.Context, t *sgam.Tenant) (int64, error) {
	_, rec, err := stand(ctx, t, g.Type)
	if err != nil || rec == nil {
		return 0, err
	}
	n := int64(0)
	for q, err := range t.Quarantine(ctx, g.Type, rec.To) {
		if err != nil {
			return 0, err
		}
		if q.Believed {
			n++
		}
	}
	return n, nil
}

// route reads the registry and refuses when it has moved since the migration began.
func (r *record) route(ctx context.Context, l *sgam.Ledger, typ string) (*route, error) {
	way, err := readRoute(ctx, l, typ, r.From, r.To)
	if err != nil {
		return nil, err
	}
	if what := way.moved(r.Base, r.Steps); what != "" {
		return nil, &StaleError{What: what}
	}
	return way, nil
}
