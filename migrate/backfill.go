package migrate

import (
	"context"
	"sync"

	"github.com/sgam-ledger/sgam"
)

const (
	// ahead is how many batches are read before they are needed, converters how many goroutines convert them.
	ahead      = 2
	converters = 2
)

// batch is a run of facts on its way through the backfill.
type batch struct {
	facts  []sgam.StoredValue // those to convert
	low    int64              // the oldest fact of it, 1 in the last batch
	last   bool
	bytes  int
	counts Counts

	// Filled by a converter, which then closes done.
	encodings   []sgam.NewEncoding
	quarantined []sgam.Quarantined
	err         error
	done        chan struct{}
}

// backfill takes the facts from the cursor down to the oldest: one goroutine reads ahead, some convert, and this one
// writes, in order.
func (r *runner) backfill(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	var group sync.WaitGroup
	defer group.Wait()
	defer cancel()
	ordered, work := make(chan *batch, ahead), make(chan *batch, ahead)
	var failed error // of the reader, once ordered is closed
	below := r.rec.Cursor
	group.Go(func() {
		defer close(ordered)
		defer close(work)
		failed = r.read(ctx, below, func(b *batch) error {
			for _, to := range []chan *batch{work, ordered} {
				select {
				case to <- b:
				case <-ctx.Done():
					return ctx.Err()
				}
			}
			return nil
		})
	})
	for range converters {
		group.Go(func() {
			for b := range work {
				b.err = r.convert(ctx, b)
				close(b.done)
			}
		})
	}
	for b := range ordered {
		<-b.done
		if b.err != nil {
			return b.err
		}
		if err := r.store(ctx, b); err != nil {
			return err
		}
	}
	return failed
}

// read lists the facts below a number as batches.
func (r *runner) read(ctx context.Context, below int64, send func(*batch) error) error {
	fresh := func() *batch { return &batch{done: make(chan struct{})} }
	b := fresh()
	for v, err := range r.tenant.Values(ctx, r.plan.Type, below) {
		if err != nil {
			return err
		}
		if b.counts.Looked >= int64(r.opts.BatchSize) || b.bytes >= batchBytes {
			if err := send(b); err != nil {
				return err
			}
			b = fresh()
		}
		f := r.route.fate(&v)
		b.counts.count(f)
		b.low = v.Number
		if f == converts {
			b.facts = append(b.facts, v)
			b.bytes += len(v.Value)
		}
	}
	b.last, b.low = true, 1
	return send(b)
}

// convert makes the encodings of a batch.
func (r *runner) convert(ctx context.Context, b *batch) error {
	b.encodings = make([]sgam.NewEncoding, 0, len(b.facts))
	for i := range b.facts {
		if err := ctx.Err(); err != nil {
			return err
		}
		v := &b.facts[i]
		made, err := r.conv.stored(ctx, v, r.plan.To)
		if err != nil {
			return err
		}
		if fe := made.unfit; fe != nil {
			b.quarantined = append(b.quarantined, sgam.Quarantined{Fact: v.Number, Version: r.plan.To, Rule: fe.Rule, Pointer: pointer(fe)})
			continue
		}
		b.encodings = append(b.encodings, r.tenant.Encode(v, r.plan.To, made.Converted))
	}
	b.counts.Converted, b.counts.Quarantined = int64(len(b.encodings)), int64(len(b.quarantined))
	b.facts = nil
	return nil
}
