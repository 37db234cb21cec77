package sgam

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"time"
)

// Attribute is the typed edge of one attribute: values of type T in, values of type T out. Package schema makes one
// when it defines the attribute from a Go type.
type Attribute[T any] struct {
	typ, name string
	version   int
}

// NewAttribute names an attribute of a memory type and the schema version that T is the shape of. Programs use
// schema.Define, which checks that T and the schema agree.
func NewAttribute[T any](memoryType, name string, version int) Attribute[T] {
	return Attribute[T]{memoryType, name, version}
}

// Name is the attribute's name.
func (a Attribute[T]) Name() string { return a.name }

// Assert states that v holds from a time on, until something else is known. The zero time is "when the episode
// occurred".
func (a Attribute[T]) Assert(subject string, v T, from time.Time) MemoryDelta {
	return a.delta(Assert, subject, &v, from)
}

// Correct states that v held from a time on, for ever or until [MemoryDelta.Until], whatever stood there: the record
// was wrong. The zero time is "when the episode occurred".
func (a Attribute[T]) Correct(subject string, v T, from time.Time) MemoryDelta {
	return a.delta(Correct, subject, &v, from)
}

// End states that there is no value any more from a time on. The zero time is "when the episode occurred".
func (a Attribute[T]) End(subject string, from time.Time) MemoryDelta {
	return a.delta(End, subject, nil, from)
}

// Void states that there was no value from a time on, until [MemoryDelta.Until]: the record was wrong. The zero time
// is "when the episode occurred".
func (a Attribute[T]) Void(subject string, from time.Time) MemoryDelta {
	return a.delta(Void, subject, nil, from)
}

// EndMember is [Attribute.End] of one member of a many-valued attribute.
func (a Attribute[T]) EndMember(subject string, v T, from time.Time) MemoryDelta {
	return a.delta(End, subject, &v, from)
}

func (a Attribute[T]) delta(op Op, subject string, v *T, from time.Time) MemoryDelta {
	d := MemoryDelta{Op: op, Subject: subject, Attribute: a.name, MemoryType: a.typ, SchemaVersion: a.version}
	if !from.IsZero() {
		d.ValidFrom = &from
	}
	if v == nil {
		return d
	}
	value, err := json.Marshal(*v)
	if err != nil {
		// What cannot be written as JSON is refused with the delta: the value stays empty, and says why.
		d.Value = nil
		d.unwritable = err
		return d
	}
	d.Value = value
	return d
}

// Typed is a fact with its value decoded.
type Typed[T any] struct {
	Fact
	V T
}

// Get is [View.Get] in the shape of the attribute's schema version, with the value decoded into T. A value that T cannot hold is an error that names the memory.
func (a Attribute[T]) Get(ctx context.Context, v View, subject string) (Typed[T], error) {
	f, err := a.own(v).Get(ctx, subject, a.name)
	if err != nil {
		return Typed[T]{}, err
	}
	return a.decode(f)
}

// Members is [View.Members] in the shape of the attribute's schema version, with the values decoded into T.
func (a Attribute[T]) Members(ctx context.Context, v View, subject string) iter.Seq2[Typed[T], error] {
	return func(yield func(Typed[T], error) bool) {
		for f, err := range a.own(v).Members(ctx, subject, a.name) {
			var typed Typed[T]
			if err == nil {
				typed, err = a.decode(f)
			}
			if !yield(typed, err) {
				return
			}
		}
	}
}

// own is the view in the shape of the version that T is of.
func (a Attribute[T]) own(v View) View {
	if a.typ == "" || a.version == 0 {
		return v
	}
	return v.AtVersion(a.typ, a.version)
}

func (a Attribute[T]) decode(f Fact) (Typed[T], error) {
	typed := Typed[T]{Fact: f}
	if err := json.Unmarshal(f.Value, &typed.V); err != nil {
		return Typed[T]{}, &FieldError{Field: "value", Rule: "type", Want: fmt.Sprintf("%T, in memory %s", typed.V, f.ID)}
	}
	return typed, nil
}

// Date is a calendar day without a time zone. In JSON it is "2006-01-02".
type Date struct {
	Year  int
	Month time.Month
	Day   int
}

// DateOf is the day of t in its location.
func DateOf(t time.Time) Date {
	y, m, d := t.Date()
	return Date{y, m, d}
}

// ParseDate reads "2006-01-02".
func ParseDate(s string) (Date, error) {
	t, err := time.Parse(time.DateOnly, s)
	if err != nil {
		return Date{}, fault("date", "format", "a date such as 2026-06-30")
	}
	return DateOf(t), nil
}

// In is the start of the day in a location.
func (d Date) In(loc *time.Location) time.Time {
	return time.Date(d.Year, d.Month, d.Day, 0, 0, 0, 0, loc)
}

func (d Date) String() string { return d.In(time.UTC).Format(time.DateOnly) }

// MarshalText writes "2006-01-02". A date that is not in the calendar, or outside the years 0001 to 9998, is an error.
func (d Date) MarshalText() ([]byte, error) {
	if t := d.In(time.UTC); DateOf(t) != d || d.Year < 1 || d.Year > 9998 {
		return nil, errors.New("sgam: not a calendar date")
	}
	return []byte(d.String()), nil
}

// UnmarshalText reads what MarshalText wrote.
func (d *Date) UnmarshalText(text []byte) error {
	parsed, err := ParseDate(string(text))
	if err != nil {
		return err
	}
	*d = parsed
	return nil
}
