package ledgertest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/sgam-ledger/sgam"
)

// NewLedger is a full ledger over a [Store] for unit tests: no cgo, no file, milliseconds. Nil options are allowed; a
// ledger that is written needs Options.Schemas, for which [NewSchemas] is enough.
// When the test ends, the ledger proves itself with Verify and is closed.
func NewLedger(tb testing.TB, opts *sgam.Options) *sgam.Ledger {
	tb.Helper()
	l, err := openMemory(tb.Context(), nil, opts)
	if err != nil {
		tb.Fatalf("ledgertest: open a ledger: %v", err)
	}
	Proven(tb, l)
	return l
}

// openMemory opens a ledger over a store, a new one when store is nil. Options.Keys, when set, holds the digest key.
func openMemory(ctx context.Context, store *Store, opts *sgam.Options) (*sgam.Ledger, error) {
	if store == nil {
		store = NewStore(nil)
	}
	if opts != nil && opts.Keys != nil {
		key, err := opts.Keys.Key(ctx, "memory", !opts.ReadOnly)
		if err != nil {
			return nil, err
		}
		store.opts.DigestKey = key
	}
	return sgam.New(ctx, store, opts)
}

// Proven makes the ledger prove itself with Verify when the test ends, and closes it. A ledger that the test closed
// itself is left alone.
func Proven(tb testing.TB, l *sgam.Ledger) {
	tb.Helper()
	tb.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		for err := range l.Verify(ctx) {
			if errors.Is(err, sgam.ErrClosed) {
				return
			}
			tb.Errorf("ledgertest: %v", err)
		}
		if err := l.Close(); err != nil {
			tb.Errorf("ledgertest: close: %v", err)
		}
	})
}
