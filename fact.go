package sgam

import (
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/google/uuid"
)

// Fact is one immutable accepted statement, as a view shows it.
//
// Facts come out of the ledger and never go in: what goes in is a [MemoryDelta].
type Fact struct {
	Tenant     string
	ID         MemoryID
	Scope      Scope
	Subject    string
	Attribute  string
	MemoryType string
	// Op is the operation that was asked for. A fact of operation [End] or [Void] states an absence and has no Value.
	Op Op
	// Value is canonical JSON (RFC 8785), nil for an absence.
	Value json.RawMessage
	// SchemaVersion is the version of the memory type whose shape Value has: the one under which it was written, unless a
	// view shows another one (see [View.AtVersion]).
	SchemaVersion int
	// StoredVersion is the version of the stored form that Value was taken from. Where it differs from SchemaVersion, a
	// lens made Value for this answer.
	StoredVersion int
	// Lossy says that a lens left out something of what was written, Defaulted are the JSON pointers of the parts of Value
	// that a lens filled in: nobody said them, so they are never evidence.
	Lossy     bool
	Defaulted []string
	// Asserted is the valid-time interval that the statement itself named.
	Asserted Interval
	// Valid is the valid-time interval over which the statement holds in this view: the effective bounds, as known then.
	Valid Interval
	// Known is the known-time interval over which Valid was believed. A view never looks past its own known time, so
	// there Known.To is nil; [Tenant.Believed] and [Tenant.History] show when a belief ended.
	Known Interval
	// RecordedAt is the known time at which the ledger learned the statement.
	RecordedAt time.Time
	// Supersedes is the fact that this one displaced when it was recorded (rule R6). It is never revised; zero is none.
	Supersedes MemoryID
	// Episode is the id of the source episode.
	Episode string
	// Principal is who wrote the statement, empty when nobody was named.
	Principal string
	// Confidence is between 0 and 1, nil when none was stated.
	Confidence *float64
	// RetentionPolicy names the retention class that was in force when the statement was recorded.
	RetentionPolicy string
	// Provenance is what the writer said about how it came to this statement. It never decides anything.
	Provenance Provenance
}

// Absent reports whether the fact states that there is no value.
func (f *Fact) Absent() bool { return f.Op == End || f.Op == Void }

// MarshalJSON writes the record with the names of the record shape: tenant_id, memory_id, valid_from, valid_to,
// supersedes_memory_id, source_episode_id and so on. Open ends are left out.
func (f Fact) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Tenant        string          `json:"tenant_id"`
		ID            MemoryID        `json:"memory_id"`
		Scope         Scope           `json:"scope,omitempty"`
		Subject       string          `json:"subject"`
		Attribute     string          `json:"attribute"`
		Op            Op              `json:"op"`
		Value         json.RawMessage `json:"value,omitempty"`
		MemoryType    string          `json:"memory_type"`
		SchemaVersion int             `json:"schema_version"`
		StoredVersion int             `json:"stored_version,omitempty"`
		Lossy         bool            `json:"lossy,omitempty"`
		Defaulted     []string        `json:"defaulted,omitempty"`
		ValidFrom     *time.Time      `json:"valid_from,omitempty"`
		ValidTo       *time.Time      `json:"valid_to,omitempty"`
		AssertedFrom  *time.Time      `json:"asserted_from,omitempty"`
		AssertedTo    *time.Time      `json:"asserted_to,omitempty"`
		KnownFrom     *time.Time      `json:"known_from,omitempty"`
		KnownTo       *time.Time      `json:"known_to,omitempty"`
		RecordedAt    time.Time       `json:"recorded_at"`
		Supersedes    MemoryID        `json:"supersedes_memory_id,omitzero"`
		Episode       string          `json:"source_episode_id"`
		Principal     string          `json:"principal,omitempty"`
		Confidence    *float64        `json:"confidence,omitempty"`
		Retention     string          `json:"retention_policy,omitempty"`
		Provenance    Provenance      `json:"provenance,omitzero"`
	}{
		f.Tenant, f.ID, f.Scope, f.Subject, f.Attribute, f.Op, f.Value, f.MemoryType, f.SchemaVersion,
		f.otherVersion(), f.Lossy, f.Defaulted,
		f.Valid.start(), f.Valid.To, f.Asserted.start(), f.Asserted.To, f.Known.start(), f.Known.To, f.RecordedAt,
		f.Supersedes, f.Episode, f.Principal, f.Confidence, f.RetentionPolicy, f.Provenance,
	})
}

// otherVersion is the stored version if it is not the one shown.
func (f *Fact) otherVersion() int {
	if f.StoredVersion == f.SchemaVersion {
		return 0
	}
	return f.StoredVersion
}

// Slot is what a fact is about, inside one tenant.
type Slot struct {
	// Scope is the session or agent that the fact belongs to; empty means everyone in the tenant. In a view's methods
	// an empty Scope means the view's own single scope.
	Scope     Scope  `json:"scope,omitempty"`
	Subject   string `json:"subject"`
	Attribute string `json:"attribute"`
	// Member is the value that names one member of a many-valued attribute; nil for a one-valued attribute, and for
	// the set slot of a many-valued one, where "there are none" is kept.
	Member json.RawMessage `json:"member,omitempty"`
}

// Scope names a session or an agent inside a tenant. The empty scope is everyone in the tenant.
type Scope string

// Op is what a delta asks for and a fact did.
type Op string

// The operations. Assert and End reach to the slot's next change-point, Correct and Void to their own valid_to or for
// ever (rule R3).
const (
	// Assert states a value from valid_from on: the world is so.
	Assert Op = "assert"
	// Correct states that the value was so on an interval, whatever stood there: the record was wrong.
	Correct Op = "correct"
	// End states that there is no value any more from valid_from on.
	End Op = "end"
	// Void states that there was no value on an interval: the record was wrong.
	Void Op = "void"
	// Withdraw takes an earlier statement back, as if it had never been made (rule R8). It is written by
	// [Tenant.Withdraw], never by a delta.
	Withdraw Op = "withdraw"
	// Expire ends what a retention policy no longer lets stand. It is written by a sweep, never by a delta.
	Expire Op = "expire"
)

// proposed reports whether a delta may ask for the operation.
func (o Op) proposed() bool { return o == Assert || o == Correct || o == End || o == Void }

// Interval is a half-open interval of one time axis, UTC, in microseconds.
type Interval struct {
	// From is inside the interval. The zero time is the open start, 0001-01-01T00:00:00Z.
	From time.Time `json:"from,omitzero"`
	// To is outside the interval; nil is the open end.
	To *time.Time `json:"to,omitempty"`
}

// Contains reports whether t lies in the interval.
func (i Interval) Contains(t time.Time) bool {
	return !t.Before(i.From) && (i.To == nil || t.Before(*i.To))
}

func (i Interval) start() *time.Time {
	if i.From.IsZero() {
		return nil
	}
	return &i.From
}

// MemoryID identifies a fact for ever: a trim or a split leaves it in place, so a citation stays good. It is random
// (UUIDv4) and says nothing about order or time. The zero id is "none".
type MemoryID uuid.UUID

// ParseMemoryID reads the text form of a memory id. The error is a [*FieldError] of field "memory_id".
func ParseMemoryID(s string) (MemoryID, error) {
	id, err := uuid.Parse(s)
	if err != nil || len(s) != 36 {
		return MemoryID{}, &FieldError{Field: "memory_id", Rule: "format", Want: "a UUID of 36 characters"}
	}
	return MemoryID(id), nil
}

// IsZero reports whether the id is none.
func (id MemoryID) IsZero() bool { return id == MemoryID{} }

// String is the canonical text form, "none" for the zero id.
func (id MemoryID) String() string {
	if id.IsZero() {
		return "none"
	}
	return uuid.UUID(id).String()
}

// MarshalText is [MemoryID.String].
func (id MemoryID) MarshalText() ([]byte, error) { return []byte(id.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (id *MemoryID) UnmarshalText(text []byte) error {
	if string(text) == "none" {
		*id = MemoryID{}
		return nil
	}
	parsed, err := ParseMemoryID(string(text))
	if err != nil {
		return err
	}
	*id = parsed
	return nil
}

// newMemoryID draws a random id.
func (l *Ledger) newMemoryID() (MemoryID, error) {
	id, err := uuid.NewRandomFromReader(l.opts.Rand)
	if err != nil {
		return MemoryID{}, fmt.Errorf("sgam: draw a memory id: %w", err)
	}
	return MemoryID(id), nil
}

type lockedReader struct {
	mu sync.Mutex
	r  io.Reader
}

func (r *lockedReader) Read(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.r.Read(p)
}

// Instant is a point of either time axis: microseconds since the Unix epoch, UTC. Engines store instants as integers;
// nothing ever compares times as text.
type Instant int64

// The bounds of time. Forever is not an instant but the open end of an interval; Beginning is the open start.
const (
	Forever   Instant = 1<<63 - 1
	Beginning Instant = -62135596800000000 // 0001-01-01T00:00:00Z
	doomsday  Instant = 253370764800000000 // 9999-01-01T00:00:00Z, the first instant that is out of range
)

// InstantOf truncates t towards minus infinity to microseconds. Times outside the years 0001 to 9998 are a
// [*FieldError] of rule "range".
func InstantOf(t time.Time) (Instant, error) {
	i, fe := instantField("time", t)
	if fe != nil {
		return 0, fe
	}
	return i, nil
}

func instantField(field string, t time.Time) (Instant, *FieldError) {
	if y := t.UTC().Year(); y < 1 || y > 9998 {
		return 0, fault(field, "range", "a time in the years 0001 to 9998")
	}
	return Instant(t.UnixMicro()), nil
}

// Time is the instant in UTC.
func (i Instant) Time() time.Time { return time.UnixMicro(int64(i)).UTC() }

func (i Instant) String() string {
	if i == Forever {
		return "forever"
	}
	if i == Beginning {
		return "beginning"
	}
	return i.Time().Format(time.RFC3339Nano)
}

// Span is a half-open interval between two instants; To may be [Forever], From may be [Beginning].
type Span struct{ From, To Instant }

// Contains reports whether i lies in the span.
func (s Span) Contains(i Instant) bool { return s.From <= i && i < s.To }

// Overlaps reports whether the two spans share an instant.
func (s Span) Overlaps(o Span) bool { return s.From < o.To && o.From < s.To }

func (s Span) intersect(o Span) Span { return Span{max(s.From, o.From), min(s.To, o.To)} }

func (s Span) empty() bool { return s.From >= s.To }

func (s Span) String() string { return fmt.Sprintf("[%s, %s)", s.From, s.To) }

// Interval is the span as the API shows it: an open end is nil, the open start is the zero time.
func (s Span) Interval() Interval {
	iv := Interval{From: s.From.Time()}
	if s.To != Forever {
		t := s.To.Time()
		iv.To = &t
	}
	return iv
}
