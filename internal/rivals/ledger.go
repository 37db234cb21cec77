package rivals

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/schema"
)

const (
	tenantName = "acme"
	attribute  = "city"
)

// ledger is sgam on either engine. A slot is the one attribute of a subject. Every operation is a delta of a message of its own, so
// beside the rectangles it writes the message, the fact, what it displaced, and an outcome under an idempotency key.
type ledger struct {
	name     string
	ledger   *sgam.Ledger
	tenant   *sgam.Tenant
	loaded   int
	messages atomic.Int64
	stored
}

// stored is what the ledger's port does not show of an engine.
type stored interface {
	Settle(ctx context.Context) error
	Rectangles(ctx context.Context) ([]Rectangle, error)
	Size(ctx context.Context) (Size, error)
	close() error
}

// declared is the memory type of the slots.
func declared() (*schema.Registry, error) {
	types := schema.NewRegistry()
	_, err := schema.Define[string](types, attribute, 1, nil)
	return types, err
}

func newLedger(name string, l *sgam.Ledger, s stored) (*ledger, error) {
	t, err := l.Tenant(tenantName)
	if err != nil {
		return nil, err
	}
	return &ledger{name: name, ledger: l, tenant: t.As("agent-7"), stored: s}, nil
}

func (l *ledger) Name() string { return l.name }

func (l *ledger) Close() error { return errors.Join(l.ledger.Close(), l.close()) }

const subjects = "customer-"

func subject(slot int64) string { return subjects + strconv.FormatInt(slot, 10) }

// slotOf is the slot of a subject.
func slotOf(subject string) (int64, error) {
	return strconv.ParseInt(strings.TrimPrefix(subject, subjects), 10, 64)
}

// text is the value in JSON.
func text(value []byte) string { return strings.Trim(string(value), `"`) }

func (l *ledger) Load(ctx context.Context, ops []Operation) error {
	for _, op := range ops {
		l.loaded++
		known := knownAt(l.loaded)
		b := sgam.Batch{KnownAt: &known}
		var err error
		if b.Deltas, err = l.deltas(ctx, op); err != nil {
			return err
		}
		if len(b.Deltas) == 0 {
			continue
		}
		receipts, err := l.tenant.ApplyBatch(ctx, b)
		if err != nil {
			return fmt.Errorf("operation %d: %w", l.loaded, err)
		}
		for i := range receipts {
			if o := receipts[i].Outcome; o != sgam.Applied && o != sgam.Confirmed {
				return fmt.Errorf("operation %d ended as %s, code %q", l.loaded, o, receipts[i].Code)
			}
		}
	}
	return nil
}

// deltas are what an operation is for the ledger: one statement, but for a portion update, which asks first where there is a
// value.
func (l *ledger) deltas(ctx context.Context, op Operation) ([]sgam.MemoryDelta, error) {
	switch op.Kind {
	case Begin, Change:
		return []sgam.MemoryDelta{l.delta(sgam.Assert, op, op.Valid)}, nil
	case Correct, Put:
		return []sgam.MemoryDelta{l.delta(sgam.Correct, op, op.Valid)}, nil
	case Void:
		return []sgam.MemoryDelta{l.delta(sgam.Void, op, op.Valid)}, nil
	case Update:
	}
	var deltas []sgam.MemoryDelta
	for s, err := range l.tenant.Current().Timeline(ctx, sgam.Slot{Subject: subject(op.Slot), Attribute: attribute}) {
		if err != nil {
			return nil, err
		}
		held := span(s.Valid)
		common := sgam.Span{From: max(held.From, op.Valid.From), To: min(held.To, op.Valid.To)}
		if s.Reason == nil && common.From < common.To {
			deltas = append(deltas, l.delta(sgam.Correct, op, common))
		}
	}
	return deltas, nil
}

func (l *ledger) delta(op sgam.Op, o Operation, valid sgam.Span) sgam.MemoryDelta {
	from := valid.From.Time()
	d := sgam.MemoryDelta{Op: op, Subject: subject(o.Slot), Attribute: attribute, ValidFrom: &from}
	if valid.To != sgam.Forever {
		to := valid.To.Time()
		d.ValidTo = &to
	}
	if op != sgam.Void {
		d.Value = strconv.AppendQuote(nil, o.Value)
	}
	return d.From(sgam.Episode{
		ID: "message-" + strconv.FormatInt(l.messages.Add(1), 10), Kind: sgam.Message, OccurredAt: firstKnown,
		Text: "Hello, please note that my details have changed since we last spoke.",
	})
}

// span is an interval of the API as the engines have it.
func span(i sgam.Interval) sgam.Span {
	s := sgam.Span{From: instant(i.From), To: sgam.Forever}
	if i.To != nil {
		s.To = instant(*i.To)
	}
	return s
}

func (l *ledger) Write(ctx context.Context, op Operation) error {
	deltas, err := l.deltas(ctx, op)
	if err != nil {
		return err
	}
	receipts, err := l.tenant.ApplyBatch(ctx, sgam.Batch{Deltas: deltas})
	if err != nil {
		return err
	}
	for i := range receipts {
		if o := receipts[i].Outcome; o != sgam.Applied {
			return fmt.Errorf("a write ended as %s, code %q", o, receipts[i].Code)
		}
	}
	return nil
}

func (l *ledger) Current(ctx context.Context, slot int64) (string, error) {
	return l.get(ctx, l.tenant.Current(), slot)
}

func (l *ledger) Valid(ctx context.Context, slot int64, valid sgam.Instant) (string, error) {
	return l.get(ctx, l.tenant.ValidAt(valid.Time()), slot)
}

func (l *ledger) ValidKnown(ctx context.Context, slot int64, valid sgam.Instant, n int) (string, error) {
	return l.get(ctx, l.tenant.ValidAt(valid.Time()).KnownAt(knownAt(n)), slot)
}

func (l *ledger) get(ctx context.Context, v sgam.View, slot int64) (string, error) {
	f, err := v.Get(ctx, subject(slot), attribute)
	if errors.Is(err, sgam.ErrNoValue) {
		return "", nil
	}
	return text(f.Value), err
}

// segment is a row of the table of segments with the names and the value that it stands for.
type segment struct {
	subject                     string
	validFrom, validTo, knownAt int64
	knownTo                     *int64
	value                       string
}

// rectangle is a segment in the terms of the comparison.
func (s *segment) rectangle() (Rectangle, error) {
	r := Rectangle{Valid: sgam.Span{From: sgam.Instant(s.validFrom), To: sgam.Instant(s.validTo)}, To: standing, Value: text([]byte(s.value))}
	var err error
	if r.Slot, err = slotOf(s.subject); err != nil {
		return r, err
	}
	if r.From, err = numberOf(time.UnixMicro(s.knownAt)); err != nil {
		return r, err
	}
	if s.knownTo != nil {
		r.To, err = numberOf(time.UnixMicro(*s.knownTo))
	}
	return r, err
}
