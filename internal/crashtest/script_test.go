//go:build cgo && unix

package crashtest

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/ledgertest"
	"github.com/sgam-ledger/sgam/sqlite"
)

// dawn is where the times of every test begin.
var dawn = time.Date(2026, 6, 1, 9, 0, 0, 0, time.UTC)

func day(n int) time.Time { return dawn.AddDate(0, 0, n) }

func schemas() *ledgertest.Schemas {
	return ledgertest.NewSchemas(
		ledgertest.Attribute{Name: "deadline", Value: "string"},
		ledgertest.Attribute{Name: "allergies", Value: "string", Many: true},
		ledgertest.Attribute{Name: "address", Value: "string", Policy: sgam.ConfirmFirst},
		ledgertest.Attribute{Name: "note", Value: "string"},
	)
}

// step is one operation of the script. It sees the receipts of the steps before it, and does the same whenever it is
// played, so that playing it again is a redelivery.
type step struct {
	name   string
	tenant string
	want   sgam.Outcome // of each of its deltas
	keyed  bool         // a redelivery is answered with the receipt of the first delivery
	reopen bool         // the ledger is closed and opened again before it
	run    func(ctx context.Context, t *sgam.Tenant, earlier [][]sgam.Receipt) ([]sgam.Receipt, error)
}

const (
	superseding = 1  // the step whose fact is withdrawn later
	pending     = 5  // the step whose candidate is accepted later
	scriptSize  = 12 // steps
)

// script touches every table of the file: it displaces, corrects, splits, confirms, withdraws, holds and accepts, brings
// subjects, members, a second tenant and contents that need several pages, and closes the file in the middle.
func script() []step {
	return []step{
		{name: "a new subject", want: sgam.Applied, keyed: true, run: one(say("e1", sgam.Assert, "mira", "deadline", "2026-07-15", 1))},
		{name: "supersede", want: sgam.Applied, keyed: true, run: one(say("e2", sgam.Assert, "mira", "deadline", "2026-06-30", 3))},
		{name: "correct", want: sgam.Applied, keyed: true, run: one(say("e3", sgam.Correct, "mira", "deadline", "2026-07-10", 1).Until(day(2)))},
		{name: "batch", want: sgam.Applied, keyed: true, run: func(ctx context.Context, t *sgam.Tenant, _ [][]sgam.Receipt) ([]sgam.Receipt, error) {
			long := episode("e4")
			long.Text = strings.Repeat("what was said ", 700)
			return t.ApplyBatch(ctx, sgam.Batch{AllOrNothing: true, Episodes: []sgam.Episode{long}, Deltas: []sgam.MemoryDelta{
				say("e4", sgam.Assert, "ben", "deadline", "2026-08-01", 4).FromID("e4"),
				say("e4", sgam.Assert, "cleo", "deadline", "2026-09-01", 4).FromID("e4"),
				say("e4", sgam.Assert, "mira", "allergies", "nuts", 4).FromID("e4"),
				say("e5", sgam.Assert, "mira", "allergies", "milk", 4),
			}})
		}},
		{name: "end all members", want: sgam.Applied, keyed: true, run: one(say("e6", sgam.End, "mira", "allergies", "", 6))},
		{name: "pending", want: sgam.Pending, keyed: true, run: one(say("e7", sgam.Assert, "mira", "address", "Rome", 6))},
		{name: "accept", want: sgam.Applied, run: func(ctx context.Context, t *sgam.Tenant, earlier [][]sgam.Receipt) ([]sgam.Receipt, error) {
			r, err := t.Accept(ctx, earlier[pending][0].Memory)
			return []sgam.Receipt{r}, err
		}},
		{name: "withdraw", want: sgam.Applied, reopen: true, run: func(ctx context.Context, t *sgam.Tenant, earlier [][]sgam.Receipt) ([]sgam.Receipt, error) {
			r, err := t.Withdraw(ctx, sgam.Withdrawal{Memory: earlier[superseding][0].Memory, Reason: "misheard"})
			return []sgam.Receipt{r}, err
		}},
		{name: "void", want: sgam.Applied, keyed: true, run: one(say("e8", sgam.Void, "ben", "deadline", "", 5).Until(day(6)))},
		{name: "confirm", want: sgam.Confirmed, keyed: true, run: one(say("e9", sgam.Assert, "ben", "deadline", "2026-08-01", 7))},
		{name: "another tenant", tenant: "zoo", want: sgam.Applied, keyed: true, run: one(say("e1", sgam.Assert, "mira", "deadline", "2026-12-24", 1))},
		{name: "a late one with a long value", want: sgam.Applied, keyed: true, run: one(say("e10", sgam.Assert, "mira", "note", strings.Repeat("n", 12_000), 0))},
	}
}

// one is a step of one delta.
func one(d sgam.MemoryDelta) func(context.Context, *sgam.Tenant, [][]sgam.Receipt) ([]sgam.Receipt, error) {
	return func(ctx context.Context, t *sgam.Tenant, _ [][]sgam.Receipt) ([]sgam.Receipt, error) {
		r, err := t.Apply(ctx, d)
		return []sgam.Receipt{r}, err
	}
}

// say is a delta from an episode that it brings along.
func say(ep string, op sgam.Op, subject, attribute, value string, from int) sgam.MemoryDelta {
	at := day(from)
	d := sgam.MemoryDelta{Op: op, Subject: subject, Attribute: attribute, ValidFrom: &at}
	if value != "" {
		d.Value = json.RawMessage(fmt.Sprintf("%q", value))
	}
	return d.From(episode(ep))
}

func episode(id string) sgam.Episode {
	return sgam.Episode{ID: id, Kind: sgam.Message, SourceID: "inbox", OccurredAt: dawn}
}

// stage is a ledger on which the script is played. The clock stands at a day of its own for each step, and ids come from
// a seed, so that two stages on which the same happened look the same.
type stage struct {
	path     string
	clock    *ledgertest.Clock
	options  *sgam.Options
	ledger   *sgam.Ledger // nil while it is closed
	receipts [][]sgam.Receipt
}

func newStage(path string, seed uint64) *stage {
	s := &stage{path: path, clock: ledgertest.NewClock(dawn)}
	// A redelivery comes long before the last commit by this clock.
	s.options = &sgam.Options{Schemas: schemas(), Clock: s.clock.Now, ClockTolerance: -1, Rand: ledgertest.IDs(seed)}
	return s
}

func (s *stage) open(ctx context.Context) error {
	l, err := sqlite.Open(ctx, s.path, s.options)
	if err == nil {
		s.ledger = l
	}
	return err
}

func (s *stage) close() error {
	l := s.ledger
	s.ledger = nil
	return l.Close()
}

// play plays one step, all of whose predecessors have been played.
func (s *stage) play(ctx context.Context, i int) ([]sgam.Receipt, error) {
	act := script()[i]
	name := act.tenant
	if name == "" {
		name = "acme"
	}
	t, err := s.ledger.Tenant(name)
	if err != nil {
		return nil, err
	}
	s.clock.Set(day(10 + i))
	receipts, err := act.run(ctx, t.As("agent-7"), s.receipts[:i])
	if err != nil {
		return nil, err
	}
	s.receipts = append(s.receipts[:i:i], receipts)
	return receipts, nil
}
