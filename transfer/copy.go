package transfer

import (
	"context"
	"crypto/hmac"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/sgam-ledger/sgam"
)

// Options narrow a copy or a comparison, and let it be watched. Nil is everything, unwatched.
type Options struct {
	// Tenants names whose memory it is about; empty is everybody's.
	Tenants []string
	// Progress is told how far a copy has come, at the start of each tenant and after each run of calls.
	Progress func(Progress)
}

// Progress is how far the copy of one tenant has come.
type Progress struct {
	Tenant string `json:"tenant"`
	// Done is how many calls are in the copy, Total how many there were in the original when this tenant's copy began.
	Done  int64 `json:"done"`
	Total int64 `json:"total"`
}

// Report is what a copy did.
type Report struct {
	// Types is the number of schema versions in the original, all of which the copy has.
	Types   int      `json:"types"`
	Tenants []Copied `json:"tenants"`
}

// Copied is what a copy did for one tenant.
type Copied struct {
	Tenant string `json:"tenant"`
	// Calls is how many calls the copy has, New how many of them were copied now, with so many Facts.
	Calls int64 `json:"calls"`
	New   int64 `json:"new"`
	Facts int64 `json:"facts"`
}

// run is how many calls are written at once.
const run = 256

// Copy brings every schema version, and every call that the target lacks, from one ledger to another.
//
// Neither ledger needs [sgam.Options.Schemas]: nothing is judged again. The target must be empty or a copy of the original: [ErrOtherKey], and an [*OtherHistoryError], which is
// [sgam.ErrOtherHistory], say that it is something else; [sgam.ErrSchemaDrift] and [sgam.ErrLensInUse] that it has other
// schemas. After an error, that of the context included, the same call goes on from there.
func Copy(ctx context.Context, from, to *sgam.Ledger, o *Options) (*Report, error) {
	if o == nil {
		o = &Options{}
	}
	if !hmac.Equal(from.Store().DigestKey(), to.Store().DigestKey()) {
		return nil, ErrOtherKey
	}
	tenants, err := o.tenants(ctx, from)
	if err != nil {
		return nil, err
	}
	if strange, err := o.stranger(ctx, tenants, to); err != nil {
		return nil, err
	} else if strange != "" {
		return nil, &OtherHistoryError{Tenant: strange, Whole: true}
	}
	types, err := from.Types(ctx)
	if err != nil {
		return nil, err
	}
	var later []sgam.TypeDocument // their lens was replaced when no tenant used it any more, which the copy is yet to learn
	for i := range types {
		if err := to.AdoptType(ctx, types[i].TypeDocument); errors.Is(err, sgam.ErrLensInUse) {
			later = append(later, types[i].TypeDocument)
		} else if err != nil {
			return nil, err
		}
	}
	r := &Report{Types: len(types), Tenants: []Copied{}}
	for _, name := range tenants {
		c, err := newCopier(from, to, name)
		if err != nil {
			return nil, err
		}
		c.told = o.Progress
		if err := c.copy(ctx); err != nil {
			return nil, err
		}
		r.Tenants = append(r.Tenants, c.done)
	}
	for _, doc := range later {
		if err := to.AdoptType(ctx, doc); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// tenants are the names of those that are asked for, in byte order. One that was never written is [sgam.ErrNotFound].
func (o *Options) tenants(ctx context.Context, l *sgam.Ledger) ([]string, error) {
	all, err := collect(l.Tenants(ctx))
	if err != nil || len(o.Tenants) == 0 {
		return all, err
	}
	for _, name := range o.Tenants {
		if !slices.Contains(all, name) {
			return nil, fmt.Errorf("transfer: tenant %q of the original: %w", name, sgam.ErrNotFound)
		}
	}
	return slices.Compact(slices.Sorted(slices.Values(o.Tenants))), nil
}

// stranger is a tenant of the target that a copy of everybody has no source of, empty for none.
func (o *Options) stranger(ctx context.Context, tenants []string, to *sgam.Ledger) (string, error) {
	if len(o.Tenants) > 0 {
		return "", nil
	}
	there, err := collect(to.Tenants(ctx))
	if err != nil {
		return "", err
	}
	for _, name := range there {
		if !slices.Contains(tenants, name) {
			return name, nil
		}
	}
	return "", nil
}

func collect[T any](list iter.Seq2[T, error]) ([]T, error) {
	var all []T
	for item, err := range list {
		if err != nil {
			return nil, err
		}
		all = append(all, item)
	}
	return all, nil
}

// copier copies one tenant.
type copier struct {
	from, to *sgam.Tenant
	told     func(Progress)
	done     Copied
	total    int64
}

func newCopier(from, to *sgam.Ledger, tenant string) (*copier, error) {
	c := &copier{done: Copied{Tenant: tenant}}
	var err error
	if c.from, err = from.Tenant(tenant); err != nil {
		return nil, err
	}
	c.to, err = to.Tenant(tenant)
	return c, err
}

func (c *copier) copy(ctx context.Context) error {
	last, err := c.resume(ctx)
	if err != nil {
		return err
	}
	c.tell()
	calls := make([]*sgam.StoredCall, 0, run)
	for call, err := range c.from.Calls(ctx, last) {
		if err != nil {
			return err
		}
		if calls = append(calls, call); len(calls) == run {
			if err := c.adopt(ctx, calls); err != nil {
				return err
			}
			calls = calls[:0]
		}
	}
	return c.adopt(ctx, calls)
}

// adopt writes a run of calls.
func (c *copier) adopt(ctx context.Context, calls []*sgam.StoredCall) error {
	if len(calls) == 0 {
		return nil
	}
	if err := c.to.Adopt(ctx, calls); errors.Is(err, sgam.ErrOtherHistory) || errors.Is(err, sgam.ErrCallGap) {
		return fmt.Errorf("%w: %w", &OtherHistoryError{Tenant: c.done.Tenant}, err)
	} else if err != nil {
		return err
	}
	for _, call := range calls {
		c.done.Facts += int64(len(call.Change.Facts))
	}
	c.done.New += int64(len(calls))
	c.done.Calls = calls[len(calls)-1].Seq
	c.tell()
	return nil
}

func (c *copier) tell() {
	if c.told != nil {
		c.told(Progress{Tenant: c.done.Tenant, Done: c.done.Calls, Total: max(c.total, c.done.Calls)})
	}
}

// resume is the known time of the target's last call, which must be one of the original's too.
func (c *copier) resume(ctx context.Context) (sgam.Instant, error) {
	newest, err := lastCall(ctx, c.from)
	if err != nil {
		return 0, err
	}
	if newest != nil {
		c.total = newest.Seq
	}
	have, err := lastCall(ctx, c.to)
	if err != nil || have == nil {
		return sgam.Beginning, err
	}
	c.done.Calls = have.Seq
	known := have.Change.Known
	for call, err := range c.from.Calls(ctx, known-1) {
		if err != nil {
			return 0, err
		}
		if isSame(call, have) {
			return known, nil
		}
		break
	}
	return 0, &OtherHistoryError{Tenant: c.done.Tenant}
}

// isSame goes by what no later call changes in what an earlier one left: migrations move on, and so does a quarantine.
func isSame(a, b *sgam.StoredCall) bool {
	return a.Seq == b.Seq && a.Change.Known == b.Change.Known &&
		slices.EqualFunc(a.Change.Facts, b.Change.Facts, func(x, y sgam.NewFact) bool { return x.ID == y.ID })
}

// lastCall is the tenant's newest call, nil when there is none.
func lastCall(ctx context.Context, t *sgam.Tenant) (*sgam.StoredCall, error) {
	last, err := t.LastKnown(ctx)
	if err != nil || last == sgam.Beginning {
		return nil, err
	}
	var newest *sgam.StoredCall
	for call, err := range t.Calls(ctx, last-1) {
		if err != nil {
			return nil, err
		}
		newest = call
	}
	return newest, nil
}
