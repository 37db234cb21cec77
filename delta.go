package sgam

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/sgam-ledger/sgam/internal/canon"
)

// MemoryDelta is a candidate change of memory, built by a model or by code. It is never visible to a read, and it is
// always answered with a [Receipt].
//
// Its JSON form uses the names in the tags below; times are text with an offset, or plain dates.
type MemoryDelta struct {
	// TenantID may be carried by a model's JSON. It decides nothing: [Tenant.Decode] and [Tenant.Apply] fail when it
	// is not the handle's.
	TenantID string `json:"tenant_id,omitempty"`
	// Op is one of Assert, Correct, End, Void.
	Op        Op     `json:"op"`
	Scope     Scope  `json:"scope,omitempty"`
	Subject   string `json:"subject"`
	Attribute string `json:"attribute"`
	// Value is JSON. Assert and Correct need one; on a many-valued attribute End and Void name the member with it.
	Value json.RawMessage `json:"value,omitempty"`
	// MemoryType and SchemaVersion may be left out; when given they must be the attribute's type and newest version.
	MemoryType    string `json:"memory_type,omitempty"`
	SchemaVersion int    `json:"schema_version,omitempty"`
	// ValidFrom is when it began to be true. Nil is the episode's time of occurrence, and the receipt says that it was
	// assumed. A pointer to the zero time is the open start.
	ValidFrom *time.Time `json:"valid_from,omitempty"`
	// ValidTo is when it stopped being true; nil is open.
	ValidTo *time.Time `json:"valid_to,omitempty"`
	// EpisodeID names the source episode, which must exist or be brought along in the same call.
	EpisodeID string `json:"source_episode_id,omitempty"`
	// Episode brings the source episode along.
	Episode *Episode `json:"episode,omitempty"`
	// Confidence is between 0 and 1. Nil is "not stated", which attributes of policy keep_highest_confidence refuse.
	Confidence *float64 `json:"confidence,omitempty"`
	// RetentionPolicy overrides the attribute's retention class.
	RetentionPolicy string `json:"retention_policy,omitempty"`
	// IdempotencyKey makes a repeat answer duplicate. Empty: a key is derived from the delta's content (rule R10).
	IdempotencyKey string `json:"idempotency_key,omitempty"`
	// ExpectCurrent is a guard: the fact that must hold at ValidFrom when the delta is decided. The zero id means that
	// none may hold; nil is no guard. In JSON: "none" or the memory id.
	ExpectCurrent *MemoryID `json:"expect_current,omitempty"`
	// Provenance is kept with the fact and never decides.
	Provenance Provenance `json:"provenance,omitzero"`

	unwritable error // of a typed value that has no JSON form
}

// Provenance is what a writer says about how it came to a statement.
type Provenance struct {
	// Evidence is the passage of the episode that supports the statement.
	Evidence string `json:"evidence,omitempty"`
	// Intent, Reasoning and Compared (the memory that the writer looked at) are free text of the writer.
	Intent    string `json:"intent,omitempty"`
	Reasoning string `json:"reasoning,omitempty"`
	Compared  string `json:"compared,omitempty"`
	// Contradicts is a model's own verdict. The ledger keeps it and never acts on it.
	Contradicts string `json:"contradicts,omitempty"`
}

// IsZero reports whether nothing was said.
func (p Provenance) IsZero() bool { return p == Provenance{} }

const (
	maxName    = 512      // bytes of a subject, an episode id, a scope and the like
	maxContent = 64 << 20 // bytes of one value, text or body
)

// From names the episode that the delta comes from, and brings it along.
func (d MemoryDelta) From(e Episode) MemoryDelta {
	d.Episode, d.EpisodeID = &e, e.ID
	return d
}

// FromID names an episode that the ledger already holds, or that the same batch brings.
func (d MemoryDelta) FromID(id string) MemoryDelta {
	d.Episode, d.EpisodeID = nil, id
	return d
}

// Until bounds the delta's valid time: t is the first instant at which it no longer holds.
func (d MemoryDelta) Until(t time.Time) MemoryDelta {
	d.ValidTo = &t
	return d
}

// With applies further changes to a copy of the delta, for the fields that have no verb of their own.
func (d MemoryDelta) With(change func(*MemoryDelta)) MemoryDelta {
	change(&d)
	return d
}

// ParseTime reads a time of the ledger's text forms: RFC 3339 with an offset (seconds may be left out, a space may
// stand for the T), or a plain date, which is the start of that day in loc (nil: UTC). A time without an offset is
// refused: nobody can know which instant it means.
func ParseTime(s string, loc *time.Location) (time.Time, error) {
	if loc == nil {
		loc = time.UTC
	}
	if t, err := time.ParseInLocation(time.DateOnly, s, loc); err == nil {
		return t.UTC(), nil
	}
	text := strings.Replace(s, " ", "T", 1)
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04Z07:00"} {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UTC(), nil
		}
	}
	return time.Time{}, fault("time", "format", "a time with an offset such as 2026-06-03T10:00:00Z, or a date")
}

// UnmarshalJSON reads the JSON form strictly: an unknown or doubled field, or a time without an offset, is a
// [*FieldError].
func (d *MemoryDelta) UnmarshalJSON(raw []byte) error {
	type plain MemoryDelta
	w := struct {
		*plain
		ValidFrom json.RawMessage `json:"valid_from"`
		ValidTo   json.RawMessage `json:"valid_to"`
		Episode   json.RawMessage `json:"episode"`
	}{plain: (*plain)(d)}
	if err := strict(raw, &w); err != nil {
		if fe, ok := errors.AsType[*FieldError](err); ok && fe.Field == "memory_id" {
			return fault("expect_current", fe.Rule, fe.Want) // the only id in a delta
		}
		return err
	}
	var err error
	if d.ValidFrom, err = timeField("valid_from", w.ValidFrom); err != nil {
		return err
	}
	if d.ValidTo, err = timeField("valid_to", w.ValidTo); err != nil {
		return err
	}
	d.Episode = nil
	if given(w.Episode) {
		d.Episode = new(Episode)
		if err := d.Episode.UnmarshalJSON(w.Episode); err != nil {
			if fe, ok := errors.AsType[*FieldError](err); ok {
				return fe.At("episode")
			}
			return err
		}
	}
	return nil
}

func given(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }

// timeField reads one time of a JSON form, nil when it is left out.
func timeField(name string, raw json.RawMessage) (*time.Time, error) {
	if !given(raw) {
		return nil, nil
	}
	var s string
	if err := json.Unmarshal(raw, &s); err != nil {
		return nil, fault(name, "type", "a string")
	}
	t, err := ParseTime(s, nil)
	if err != nil {
		return nil, fault(name, "format", "a time with an offset such as 2026-06-03T10:00:00Z, or a date")
	}
	return &t, nil
}

// strict decodes one JSON object and turns every fault into a FieldError.
func strict(raw []byte, into any) error {
	if _, err := canon.Canonical(raw); err != nil {
		return jsonFault(err)
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	err := dec.Decode(into)
	if err == nil {
		return nil
	}
	if fe, ok := errors.AsType[*FieldError](err); ok {
		return fe
	}
	if te, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		// Embedding puts the name of the inner type in front of the field's.
		return fault(strings.ReplaceAll(strings.TrimPrefix(te.Field, "plain."), ".", "/"), "type", te.Type.String())
	}
	if name, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		return fault(strings.Trim(name, `"`), "unknown", "a field of the JSON form")
	}
	return fault("", "syntax", "a JSON object")
}

// jsonFault translates what the canonicaliser found. Inside a free-form part the path ends: its keys are content.
func jsonFault(err error) *FieldError {
	if ce, ok := errors.AsType[*canon.Error](err); ok {
		path := strings.Split(strings.TrimPrefix(ce.Pointer, "/"), "/")
		for i, name := range path {
			if name == "value" || name == "body" || name == "metadata" {
				path = path[:i+1]
				break
			}
		}
		return fault(strings.Join(path, "/"), ce.Rule, ce.Want)
	}
	return fault("", "syntax", "JSON")
}

// Decode reads deltas from JSON: one object, an array of objects, or one object a line. It fails on the first fault
// with a [*FieldError] that names the delta and the field, and on a tenant_id other than the handle's with
// [ErrForeignTenant].
func (t *Tenant) Decode(r io.Reader) ([]MemoryDelta, error) {
	dec := json.NewDecoder(r)
	var deltas []MemoryDelta
	take := func(raw json.RawMessage) error {
		var d MemoryDelta
		at := fmt.Sprintf("deltas/%d", len(deltas))
		if err := json.Unmarshal(raw, &d); err != nil {
			if fe, ok := errors.AsType[*FieldError](err); ok {
				return fe.At(at)
			}
			return fault(at, "syntax", "a delta in JSON")
		}
		if d.TenantID != "" && d.TenantID != t.id.name {
			return &FieldError{Field: at + "/tenant_id", Rule: "tenant", Want: "the tenant of this handle", err: ErrForeignTenant}
		}
		deltas = append(deltas, d)
		return nil
	}
	for {
		var raw json.RawMessage
		switch err := dec.Decode(&raw); {
		case errors.Is(err, io.EOF):
			return deltas, nil
		case err != nil:
			if _, ok := errors.AsType[*json.SyntaxError](err); ok || errors.Is(err, io.ErrUnexpectedEOF) {
				return deltas, fault(fmt.Sprintf("deltas/%d", len(deltas)), "syntax", "JSON")
			}
			return deltas, fmt.Errorf("sgam: read deltas: %w", err)
		}
		if raw[0] != '[' {
			if err := take(raw); err != nil {
				return deltas, err
			}
			continue
		}
		var list []json.RawMessage
		if err := json.Unmarshal(raw, &list); err != nil {
			return deltas, fault(fmt.Sprintf("deltas/%d", len(deltas)), "syntax", "JSON")
		}
		for _, one := range list {
			if err := take(one); err != nil {
				return deltas, err
			}
		}
	}
}

// checkName judges a subject, scope, episode id and the like.
func checkName(field, s string, mayBeEmpty bool) *FieldError {
	switch {
	case s == "" && !mayBeEmpty:
		return fault(field, "required", "a name")
	case len(s) > maxName:
		return fault(field, "length", fmt.Sprintf("at most %d bytes", maxName))
	case !utf8.ValidString(s):
		return fault(field, "utf8", "valid UTF-8")
	case strings.ContainsFunc(s, func(r rune) bool { return r < 0x20 || r == 0x7f || (r >= 0x80 && r < 0xa0) }):
		return fault(field, "control", "no control characters")
	}
	return nil
}

// canonicalMember brings the value that names a member into canonical form.
func canonicalMember(raw json.RawMessage) ([]byte, error) {
	value, err := canon.Canonical(raw)
	if err != nil {
		fe := jsonFault(err)
		return nil, fault("member", fe.Rule, fe.Want)
	}
	return value, nil
}

// checkText judges free text.
func checkText(field, s string) *FieldError {
	if !utf8.ValidString(s) || strings.ContainsRune(s, 0) {
		return fault(field, "utf8", "valid UTF-8 without U+0000")
	}
	return nil
}

// checkAttribute judges the form of an attribute's name; whether it is registered, the catalog says.
func checkAttribute(s string) *FieldError {
	if s == "" {
		return fault("attribute", "required", "a name")
	}
	legal := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_.@-", r)
	}
	if len(s) > 128 || strings.ContainsFunc(s, func(r rune) bool { return !legal(r) }) {
		return fault("attribute", "format", "at most 128 letters, digits, and _ . @ -")
	}
	return nil
}
