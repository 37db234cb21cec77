package sgam

import (
	"context"
	"time"
)

// Batch is one call of several deltas: one known time, one transaction.
type Batch struct {
	// Episodes are stored even when every delta that names them is rejected.
	Episodes []Episode
	Deltas   []MemoryDelta
	// AllOrNothing applies every delta or none: if one would not end as applied, confirmed or duplicate, the others
	// are rejected with code "all_or_nothing".
	AllOrNothing bool
	// KnownAt gives the known time, for import and replay. It must be later than the tenant's last one: ErrKnownTime.
	// Nil takes it from the clock.
	KnownAt *time.Time
	// AcceptClock lets this call pass MaxForwardJump.
	AcceptClock bool
}

// Apply submits one delta and answers with its receipt. An error means that nothing was decided: the context or the
// store failed, the ledger is closed, or the call is malformed (no episode named, another tenant's delta).
func (t *Tenant) Apply(ctx context.Context, d MemoryDelta) (Receipt, error) {
	receipts, err := t.ApplyBatch(ctx, Batch{Deltas: []MemoryDelta{d}})
	if err != nil {
		return Receipt{}, err
	}
	return receipts[0], nil
}

// ApplyBatch submits deltas and episodes under one known time. Each delta gets a receipt of its own, in order.
func (t *Tenant) ApplyBatch(ctx context.Context, b Batch) ([]Receipt, error) {
	return t.submit(ctx, b, false)
}

// Preview plans a batch against what stands now and writes nothing. The receipts are what ApplyBatch would answer,
// but for ids and known time, which are drawn anew.
func (t *Tenant) Preview(ctx context.Context, b Batch) ([]Receipt, error) {
	return t.submit(ctx, b, true)
}

// Record stores an episode without any delta. Recording the same episode again changes nothing; other content under
// the same id is a [*ValidationError].
func (t *Tenant) Record(ctx context.Context, e Episode) error {
	_, err := t.ApplyBatch(ctx, Batch{Episodes: []Episode{e}})
	return err
}

func (t *Tenant) submit(ctx context.Context, b Batch, dry bool) ([]Receipt, error) {
	receipts, err := t.trySubmit(ctx, b, dry)
	if o := t.l.opts.Observe; o != nil && !dry {
		if err != nil {
			o.Refused(t.id.name, err)
		}
		for i, r := range receipts {
			o.Decided(t.id.name, b.Deltas[i].Attribute, r.Outcome, r.Code)
		}
	}
	return receipts, err
}

func (t *Tenant) trySubmit(ctx context.Context, b Batch, dry bool) ([]Receipt, error) {
	if err := t.mayWrite(ctx, dry); err != nil {
		return nil, err
	}
	p, err := t.prepare(ctx, b)
	if err != nil {
		return nil, err
	}
	p.call.DryRun = dry
	if len(b.Deltas)+len(b.Episodes) == 0 {
		return nil, nil
	}
	var receipts []Receipt
	err = t.l.store.Write(ctx, t.id, p.call, func(s *Snapshot) (*Change, error) {
		var c *Change
		var err error
		receipts, c, err = p.decide(s)
		return c, err
	})
	if err != nil {
		return nil, err
	}
	return receipts, nil
}

// mayWrite is the gate of every write.
func (t *Tenant) mayWrite(ctx context.Context, dry bool) error {
	switch {
	case t.l.closed.Load():
		return ErrClosed
	case t.l.opts.ReadOnly && !dry:
		return ErrReadOnly
	case t.l.opts.Schemas == nil:
		return ErrNoSchemas
	}
	if fe := checkName("principal", t.principal, true); fe != nil {
		return fe
	}
	return ctx.Err()
}
