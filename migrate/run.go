package migrate

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/sgam-ledger/sgam"
)

// RunOptions say how a run is done. Nil options are the zero ones.
type RunOptions struct {
	// Principal is who runs the plan, and so approves it. It is recorded.
	Principal string
	// Holder names the runner towards others. The same holder may continue at once what it began, also after a crash.
	// Empty: a random name, so that after a crash one has to wait for the lease to end, or take over.
	Holder string
	// BatchSize is how many facts one transaction handles. Zero is 2000; a batch also ends at 4 MiB of values.
	BatchSize int
	// Lease is how long another runner stays away after the last batch, by the ledger's known time. Zero is one minute.
	Lease time.Duration
	// TakeOver takes the migration from another runner whose lease has not ended. That one ends with ErrFenced.
	TakeOver bool
	// Progress is told after each batch, in the goroutine that called Run. Nil tells nobody.
	Progress func(Progress)
}

// Progress is how far the backfill of one tenant has come.
type Progress struct {
	Tenant string `json:"tenant"`
	// Done and Total are facts; Total is from the plan, and 0 when the tenant's plan counted none.
	Done  int64 `json:"done"`
	Total int64 `json:"total"`
	// Cursor is the number of the oldest fact that is done; the backfill ends at 1.
	Cursor int64  `json:"cursor"`
	Counts Counts `json:"counts"`
	State  State  `json:"state"`
}

const (
	defaultBatch = 2000
	maxBatch     = 100_000
	batchBytes   = 4 << 20
	defaultLease = time.Minute
	// releaseWithin bounds how long a run that was cancelled tries to give its lease back.
	releaseWithin = 5 * time.Second
)

// Run begins the migration of each tenant of the plan, or goes on with it, until every fact has both forms. Tenants are
// migrated one after another, in the order of the plan; those that are further along already are left alone.
//
// From the start on, every write of a tenant is stored in both versions, and reads are as before. A run can be stopped at any
// moment, by cancelling ctx or by killing the process: the next one goes on after the last batch, which was stored whole or
// not at all.
//
// A plan that the ledger has moved away from is a [*StaleError], a paused migration ErrPaused, another runner at work a
// [*LeaseError], and ErrFenced says that another one has taken over.
func Run(ctx context.Context, l *sgam.Ledger, plan *Plan, opts *RunOptions) error {
	o := RunOptions{}
	if opts != nil {
		o = *opts
	}
	if o.BatchSize == 0 {
		o.BatchSize = defaultBatch
	}
	if o.BatchSize < 0 || o.BatchSize > maxBatch {
		return &sgam.FieldError{Field: "BatchSize", Rule: "range", Want: fmt.Sprintf("1 to %d facts", maxBatch)}
	}
	if o.Lease == 0 {
		o.Lease = defaultLease
	}
	if o.Lease < 0 {
		return &sgam.FieldError{Field: "Lease", Rule: "range", Want: "zero or a positive duration"}
	}
	if o.Holder == "" {
		o.Holder = rand.Text()
	}
	digest, err := plan.Digest()
	if err != nil {
		return err
	}
	r, err := plan.fresh(ctx, l)
	if err != nil {
		return err
	}
	conv := newConversions(l)
	for i := range plan.Tenants {
		t, err := l.Tenant(plan.Tenants[i].Tenant)
		if err != nil {
			return err
		}
		one := runner{opts: &o, plan: plan, digest: digest, part: &plan.Tenants[i], route: r, conv: conv, tenant: t}
		if err := one.run(ctx); err != nil {
			return err
		}
	}
	return nil
}

// runner is one run of one tenant's backfill.
type runner struct {
	opts   *RunOptions
	plan   *Plan
	digest string
	part   *TenantPlan
	route  *route
	conv   *conversions
	tenant *sgam.Tenant

	fence int64
	rec   *record // as this run last wrote it
}

func (r *runner) run(ctx context.Context) error {
	if err := r.step(ctx, r.claim); err != nil {
		return err
	}
	if r.rec == nil || r.rec.state != Expanding {
		return nil
	}
	err := r.backfill(ctx)
	if err != nil && !errors.Is(err, ErrFenced) && !errors.Is(err, ErrState) {
		if failed := r.release(ctx); failed != nil {
			err = fmt.Errorf("%w (and the lease could not be given back: %w)", err, failed)
		}
	}
	return err
}

func (r *runner) step(ctx context.Context, act func(*moment) error) error {
	var last *record
	err := step(ctx, r.tenant, r.plan.Type, r.opts.Principal, func(m *moment) error {
		err := act(m)
		last = m.rec
		return err
	})
	if err == nil {
		r.rec = last
	}
	return err
}

// claim begins the migration, or takes hold of the one that is under way.
func (r *runner) claim(m *moment) error {
	if m.rec == nil || m.rec.serial < r.part.Serial {
		return r.begin(m)
	}
	switch {
	case m.rec.serial != r.part.Serial || m.rec.Plan != r.digest || m.rec.state == RolledBack:
		return &StaleError{Tenant: m.tenant, What: "migration"}
	case m.rec.state != Expanding:
		return nil // nothing is left for a run
	}
	if err := m.may(actRun); err != nil {
		return err
	}
	if m.Epoch.Read != r.plan.From || m.Epoch.Write != r.plan.From || m.Epoch.Second != r.plan.To {
		return &StaleError{Tenant: m.tenant, What: "epoch"}
	}
	if m.rec.Holder != r.opts.Holder && m.rec.LeaseUntil.After(m.Known.Time()) && !r.opts.TakeOver {
		return &LeaseError{Tenant: m.tenant, Holder: m.rec.Holder, Until: m.rec.LeaseUntil}
	}
	m.rec.Fence++
	r.hold(m)
	m.enter(Expanding, fmt.Sprintf("runner %d: %s", m.rec.Fence, r.opts.Holder))
	return m.keep(sgam.MigrationWrite{})
}

// begin writes the first record. From its known time on, writes are stored in both versions.
func (r *runner) begin(m *moment) error {
	now, planned := r.route.resolved(m.Epoch), r.part.Epoch
	switch {
	case m.rec == nil && r.part.Serial != 1, m.rec != nil && (m.rec.serial+1 != r.part.Serial || m.rec.state.active()):
		return &StaleError{Tenant: m.tenant, What: "migration"}
	case now.Read != planned.Read || now.Write != planned.Write || now.Second != planned.Second:
		return &StaleError{Tenant: m.tenant, What: "epoch"}
	}
	p := r.plan
	steps := make([]Step, len(p.Steps))
	for i, s := range p.Steps {
		s.Changes = nil // the plan has them
		steps[i] = s
	}
	m.rec = &record{serial: r.part.Serial, body: body{
		Plan: r.digest, From: p.From, To: p.To, Base: p.Base, Steps: steps, Deletions: p.Deletions, Quarantine: p.Quarantine,
		Total: r.part.facts(), Upper: m.LastFact, Cursor: m.LastFact + 1, Fence: 1,
	}}
	r.hold(m)
	m.enter(Approved, "")
	m.enter(Expanding, "runner 1: "+r.opts.Holder)
	return m.keep(sgam.MigrationWrite{Epoch: &sgam.Epoch{Read: p.From, Write: p.From, Second: p.To}})
}

// hold renews the lease.
func (r *runner) hold(m *moment) {
	r.fence = m.rec.Fence
	m.rec.Holder, m.rec.LeaseUntil = r.opts.Holder, m.Known.Time().Add(r.opts.Lease)
}

// owned refuses a step of a runner that is not the one that holds the migration.
func (r *runner) owned(m *moment) error {
	if m.rec == nil || m.rec.serial != r.part.Serial || m.rec.Fence != r.fence {
		return ErrFenced
	}
	if err := m.may(actRun); err != nil {
		return err
	}
	if m.rec.state != Expanding {
		return ErrFenced
	}
	return nil
}

// store writes one batch with the cursor behind it, in one transaction.
func (r *runner) store(ctx context.Context, b *batch) error {
	err := r.step(ctx, func(m *moment) error {
		if err := r.owned(m); err != nil {
			return err
		}
		m.rec.Cursor = b.low
		m.rec.Counts.add(&b.counts)
		r.hold(m)
		if b.last {
			m.rec.LeaseUntil = time.Time{}
			m.enter(Dual, "")
		}
		return m.keep(sgam.MigrationWrite{Encodings: b.encodings, Quarantined: b.quarantined})
	})
	if err == nil && r.opts.Progress != nil {
		r.opts.Progress(r.progress())
	}
	return err
}

func (r *runner) progress() Progress {
	return Progress{
		Tenant: r.part.Tenant, Done: r.rec.Counts.Looked, Total: r.part.facts(), Cursor: r.rec.Cursor, Counts: r.rec.Counts, State: r.rec.state,
	}
}

// release gives the lease back, so that the next runner need not wait. It does so for a cancelled run too.
func (r *runner) release(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseWithin)
	defer cancel()
	err := r.step(ctx, func(m *moment) error {
		if err := r.owned(m); err != nil {
			return err
		}
		m.rec.LeaseUntil = time.Time{}
		return m.keep(sgam.MigrationWrite{})
	})
	if errors.Is(err, ErrFenced) || errors.Is(err, ErrState) {
		return nil // the lease is not ours any more
	}
	return err
}

func (c *Counts) add(d *Counts) {
	c.Looked += d.Looked
	c.Converted += d.Converted
	c.Recorded += d.Recorded
	c.Encoded += d.Encoded
	c.Removed += d.Removed
	c.Erased += d.Erased
	c.Quarantined += d.Quarantined
}

func (c *Counts) count(f fate) {
	c.Looked++
	switch f {
	case converts: // counted once it is known what became of it
	case recorded:
		c.Recorded++
	case encoded:
		c.Encoded++
	case removed:
		c.Removed++
	case erased:
		c.Erased++
	}
}
