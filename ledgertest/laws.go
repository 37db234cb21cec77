package ledgertest

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sgam-ledger/sgam"
)

// Place is where one ledger is kept: a file, a database, a piece of memory. Each call opens the ledger that is kept
// there, the first call a new one. The laws open a place again after closing it, and sometimes twice at once.
type Place func(ctx context.Context, opts *sgam.Options) (*sgam.Ledger, error)

// InMemory is a new place in memory, for tests that compare an engine with [Store] or need none. Nil options are the
// defaults.
func InMemory(opts *StoreOptions) Place {
	store := NewStore(opts)
	return func(ctx context.Context, opts *sgam.Options) (*sgam.Ledger, error) {
		return openMemory(ctx, store.Reopen(), opts)
	}
}

// Run proves an engine: it plays every law of this package against it, each in a subtest that carries the law's name.
// A law that fails says why it exists. fresh makes a new, empty place for each ledger that a law needs.
//
// What only the engine's author can arrange, such as a crash, a foreign file or a newer format, is not here.
func Run(t *testing.T, fresh func(tb testing.TB) Place) {
	t.Helper()
	for _, l := range laws() {
		t.Run(l.name, func(t *testing.T) {
			t.Cleanup(func() {
				if t.Failed() {
					t.Logf("the law is: %s", l.why)
				}
			})
			l.run(&bench{TB: t, fresh: fresh})
		})
	}
}

// law is one promise of the ledger.
type law struct {
	name string
	why  string
	run  func(*bench)
}

// laws are all of them.
func laws() []law {
	return slices.Concat(stories(), meaningLaws(), timeLaws(), tenantLaws(), storeLaws(), faultLaws(), inputLaws(), togetherLaws(),
		capabilityLaws(), versionLaws(), copyLaws())
}

// bench is what one law works with: places of the engine under test, and a clock and ids that it controls.
type bench struct {
	testing.TB
	fresh func(tb testing.TB) Place
	clock *Clock
}

// start is where the clock of every law begins, unless the law sets it.
var start = time.Date(2026, 6, 1, 9, 0, 0, 0, time.UTC)

// options are those of a ledger under the law's clock, with ids of a seed.
func (b *bench) options(seed uint64, attributes ...Attribute) *sgam.Options {
	if b.clock == nil {
		b.clock = NewClock(start)
	}
	return &sgam.Options{Schemas: NewSchemas(attributes...), Clock: b.clock.Now, Rand: IDs(seed)}
}

// open opens a place. The ledger proves itself when the law ends, unless the law closes it first.
func (b *bench) open(p Place, opts *sgam.Options) *sgam.Ledger {
	b.Helper()
	l, err := p(b.Context(), opts)
	if err != nil {
		b.Fatalf("open: %v", err)
	}
	Proven(b.TB, l)
	return l
}

// ledger opens a new place with options of its own.
func (b *bench) ledger(attributes ...Attribute) *sgam.Ledger {
	b.Helper()
	return b.open(b.fresh(b.TB), b.options(1, attributes...))
}

// tenant is the handle of a tenant.
func (b *bench) tenant(l *sgam.Ledger, name string) *sgam.Tenant {
	b.Helper()
	t, err := l.Tenant(name)
	b.ok(err)
	return t
}

// ok stops the law unless err is nil.
func (b *bench) ok(err error) {
	b.Helper()
	if err != nil {
		b.Fatalf("unexpected error: %v", err)
	}
}

// fails reports an error that is not the wanted one.
func (b *bench) fails(want, err error) {
	b.Helper()
	if !errors.Is(err, want) {
		b.Errorf("want error %q, got %v", want, err)
	}
}

// same reports two texts that should be one.
func (b *bench) same(what, want, got string) {
	b.Helper()
	if want != got {
		b.Errorf("%s:\n  want %s\n  got  %s", what, indented(want), indented(got))
	}
}

func indented(s string) string { return strings.ReplaceAll(s, "\n", "\n       ") }

// at is the clock's time, some days on.
func at(days int) time.Time { return start.AddDate(0, 0, days) }

// say is a delta from an episode of its own.
func say(op sgam.Op, subject, attribute, value string, from time.Time, episode string) sgam.MemoryDelta {
	d := sgam.MemoryDelta{Op: op, Subject: subject, Attribute: attribute, ValidFrom: &from}
	if value != "" {
		d.Value = json.RawMessage(value)
	}
	return d.From(sgam.Episode{ID: episode, Kind: sgam.Message, OccurredAt: start})
}

// apply submits one delta and stops the law unless it has the wanted outcome.
func (b *bench) apply(t *sgam.Tenant, d sgam.MemoryDelta, want sgam.Outcome) sgam.Receipt {
	b.Helper()
	r, err := t.Apply(b.Context(), d)
	b.ok(err)
	if r.Outcome != want {
		b.Fatalf("want the outcome %s, got %s %s %v", want, r.Outcome, r.Code, r.Faults)
	}
	return r
}

// answer is the answer of a point read in one line.
func answer(f sgam.Fact, err error) string {
	if none, ok := errors.AsType[*sgam.NoValueError](err); ok {
		text := textOfReason(none.Reason)
		if none.By != nil {
			text += " by " + none.By.ID.String() + " over " + textOfInterval(none.By.Valid)
		}
		return text
	}
	if err != nil {
		if text, named := textOfError(err); named {
			return text
		}
		return "error: " + err.Error()
	}
	return textOfValue(f.Value) + " by " + f.ID.String() + " over " + textOfInterval(f.Valid)
}
