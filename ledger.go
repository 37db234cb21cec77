package sgam

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"iter"
	"maps"
	"sync"
	"sync/atomic"
	"time"
)

// Ledger is one open ledger. It is safe for concurrent use.
type Ledger struct {
	store  Store
	opts   Options
	closed atomic.Bool

	mu      sync.RWMutex
	catalog catalog
	// epochs are the newest of some tenants, by memory type.
	epochs map[string]map[string]Epoch
}

// Options configure a ledger. Every zero value is a working default, and nil options are allowed.
type Options struct {
	// Schemas declares the memory types that the program writes, and judges values. Nil: the ledger can be read, and a
	// write is ErrNoSchemas. Package schema has both kinds: a registry of declared types, and schema.Stored().
	Schemas Schemas
	// ReadOnly creates, migrates and registers nothing; writes are ErrReadOnly.
	ReadOnly bool
	// AutoUpgrade brings an older file format forward at open. False: such a file is ErrFormatOld.
	AutoUpgrade bool
	// Clock tells the time. Nil is time.Now.
	Clock func() time.Time
	// ClockTolerance is how far the clock may be behind the last known time. Zero is 10 s; negative never refuses.
	ClockTolerance time.Duration
	// MaxForwardJump is how far the clock may be ahead of the tenant's last commit, unless the call accepts it
	// (Batch.AcceptClock). Zero is no bound; a negative value is an error.
	MaxForwardJump time.Duration
	// Rand is the source of memory ids. Nil is crypto/rand. It is read under a lock.
	Rand io.Reader
	// Keys keeps the secret of the ledger's digests. Nil is the engine's default, for SQLite a file beside the database.
	Keys KeyStore
	// Observe is told what the ledger does, without values. Nil observes nothing.
	Observe Observer
}

// KeyStore keeps the secret under which a ledger keys its digests, so that a copy of the database alone cannot be
// searched for guessed values.
type KeyStore interface {
	// Key returns the secret of the named ledger, and creates it when create is set and there is none. A missing key
	// that may not be created is ErrKeyMissing.
	Key(ctx context.Context, ledger string, create bool) ([]byte, error)
}

// Observer is told what the ledger does. Its methods are called synchronously and must be quick and safe for
// concurrent use. No argument carries a value of a memory.
type Observer interface {
	// Decided reports the outcome of one delta, after its commit.
	Decided(tenant string, attribute string, outcome Outcome, code string)
	// Read reports one page read from the engine.
	Read(tenant string, kind QueryKind, rows int, took time.Duration)
	// Retried reports that an engine runs a write again after a lock or serialisation failure.
	Retried(tenant string, attempt int, err error)
	// Refused reports a call that was not decided, with the error.
	Refused(tenant string, err error)
}

// New makes a ledger over an engine. Programs call an engine's Open, which calls New. The ledger owns the store from
// then on and closes it, also when New fails.
//
// New registers what opts.Schemas declares: ErrSchemaDrift and ErrSchemaGap say that the ledger holds something else.
func New(ctx context.Context, store Store, opts *Options) (*Ledger, error) {
	l := &Ledger{store: store, epochs: map[string]map[string]Epoch{}}
	if opts != nil {
		l.opts = *opts
	}
	if l.opts.Clock == nil {
		l.opts.Clock = time.Now
	}
	if l.opts.Rand == nil {
		l.opts.Rand = rand.Reader
	} else {
		l.opts.Rand = &lockedReader{r: l.opts.Rand}
	}
	if l.opts.ClockTolerance == 0 {
		l.opts.ClockTolerance = 10 * time.Second
	}
	if l.opts.MaxForwardJump < 0 {
		return nil, l.fail(fault("MaxForwardJump", "range", "zero or a positive duration"))
	}
	if err := l.declare(ctx); err != nil {
		return nil, l.fail(err)
	}
	if err := l.reload(ctx); err != nil {
		return nil, l.fail(err)
	}
	return l, nil
}

func (l *Ledger) fail(err error) error {
	if cerr := l.store.Close(); cerr != nil {
		return fmt.Errorf("%w (and closing the store failed: %w)", err, cerr)
	}
	return err
}

// Over is the same ledger on another store that reaches its data in a way of its own, inside a transaction of the caller's
// for instance: engines offer that. It has the options of this one and knows of the registry what this one knows; nothing
// is registered. Closing it closes the store that it was given, and nothing else. [ErrClosed] says that this one is closed.
func (l *Ledger) Over(store Store) (*Ledger, error) {
	if l.closed.Load() {
		return nil, ErrClosed
	}
	l.mu.RLock()
	defer l.mu.RUnlock()
	return &Ledger{store: store, opts: l.opts, catalog: l.catalog, epochs: maps.Clone(l.epochs)}, nil
}

// Store is the engine, for rooms that need more of it than the port.
func (l *Ledger) Store() Store { return l.store }

// Close waits for writes under way and releases the engine. Further calls return ErrClosed.
func (l *Ledger) Close() error {
	if l.closed.Swap(true) {
		return ErrClosed
	}
	return l.store.Close()
}

// Tenant is the only door to facts: nothing is read or written without it. The name is 1 to 512 bytes of UTF-8 without
// control characters, compared byte by byte. A tenant begins with its first write.
func (l *Ledger) Tenant(name string) (*Tenant, error) {
	if l.closed.Load() {
		return nil, ErrClosed
	}
	if fe := checkName("tenant", name, false); fe != nil {
		return nil, fe
	}
	return &Tenant{l: l, id: TenantID{name}}, nil
}

// Tenants lists the tenants that have been written, in byte order. It is for operators; nothing else crosses tenants.
func (l *Ledger) Tenants(ctx context.Context) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		const page = 256
		for after := ""; ; {
			if l.closed.Load() {
				yield("", ErrClosed)
				return
			}
			names, err := l.store.Tenants(ctx, after, page)
			if err != nil {
				yield("", err)
				return
			}
			for _, name := range names {
				if !yield(name, nil) {
					return
				}
				after = name
			}
			if len(names) < page {
				return
			}
		}
	}
}

// Tenant is the handle of one tenant. It is cheap, immutable and safe for concurrent use.
type Tenant struct {
	l         *Ledger
	id        TenantID
	principal string
}

// Name is the tenant's name.
func (t *Tenant) Name() string { return t.id.name }

// As returns a handle that writes in the name of a principal: a user, an agent, a job. It is recorded with every fact
// and outcome. A name that breaks the rules of names is refused by the next write.
func (t *Tenant) As(principal string) *Tenant { return &Tenant{l: t.l, id: t.id, principal: principal} }

// read asks the engine for one page.
func (t *Tenant) read(ctx context.Context, q *Query) (*Page, error) {
	if t.l.closed.Load() {
		return nil, ErrClosed
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for {
		if q.shaped {
			q.Encodings = t.l.converts()
		}
		page, err := t.readOnce(ctx, q)
		if err != nil || page.Registry <= t.l.revision() {
			return page, err
		}
		// Somebody registered a version since: what it is called and how it is shown may have changed.
		if err := t.l.reload(ctx); err != nil {
			return nil, err
		}
	}
}

func (t *Tenant) readOnce(ctx context.Context, q *Query) (*Page, error) {
	if t.l.opts.Observe == nil {
		return t.l.store.Read(ctx, t.id, q)
	}
	start := t.l.opts.Clock()
	page, err := t.l.store.Read(ctx, t.id, q)
	if err == nil {
		t.l.opts.Observe.Read(t.id.name, q.Kind, len(page.Rows), t.l.opts.Clock().Sub(start))
	}
	return page, err
}

// now is the clock as an instant; a clock outside the ledger's range stands at its edge.
func (l *Ledger) now() Instant {
	return max(Beginning, min(Instant(l.opts.Clock().UnixMicro()), doomsday-1))
}

// digest keys a list of parts; each is length-prefixed, so that no two lists run together.
func (l *Ledger) digest(parts ...string) string {
	mac := hmac.New(sha256.New, l.store.DigestKey())
	var n [8]byte
	for _, p := range parts {
		binary.BigEndian.PutUint64(n[:], uint64(len(p)))
		mac.Write(n[:])
		mac.Write([]byte(p))
	}
	return string(mac.Sum(nil)[:16])
}
