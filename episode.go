package sgam

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/sgam-ledger/sgam/internal/canon"
)

// Episode is the raw thing that was observed.
type Episode struct {
	// ID names the episode in its tenant: 1 to 512 bytes.
	ID   string      `json:"id"`
	Kind EpisodeKind `json:"kind"`
	// SourceID names the system or document that the episode came from; [Tenant.Withdraw] can take back a whole source.
	SourceID string `json:"source_id,omitempty"`
	// OccurredAt is when it happened in the world. It is mandatory: deltas without valid_from start here.
	OccurredAt time.Time `json:"occurred_at"`
	Session    string    `json:"session,omitempty"`
	Thread     string    `json:"thread,omitempty"`
	// Sequence is the position in the thread, from 1; zero is "not stated".
	Sequence int64  `json:"sequence,omitempty"`
	Actor    string `json:"actor,omitempty"`
	// Text or Body is the content; Body is JSON. Both may be empty.
	Text     string          `json:"text,omitempty"`
	Body     json.RawMessage `json:"body,omitempty"`
	Metadata json.RawMessage `json:"metadata,omitempty"`
}

// EpisodeKind is the kind of source that an episode comes from.
type EpisodeKind string

// The kinds of source. A delta from a user confirmation passes every conflict policy (rule R11).
const (
	Message          EpisodeKind = "message"
	ToolResult       EpisodeKind = "tool_result"
	BusinessEvent    EpisodeKind = "business_event"
	File             EpisodeKind = "file"
	Ticket           EpisodeKind = "ticket"
	UserConfirmation EpisodeKind = "user_confirmation"
)

const kinds = "message, tool_result, business_event, file, ticket or user_confirmation"

func (k EpisodeKind) known() bool {
	return slices.Contains([]EpisodeKind{Message, ToolResult, BusinessEvent, File, Ticket, UserConfirmation}, k)
}

// UnmarshalJSON reads the JSON form strictly.
func (e *Episode) UnmarshalJSON(raw []byte) error {
	type plain Episode
	w := struct {
		*plain
		OccurredAt json.RawMessage `json:"occurred_at"`
	}{plain: (*plain)(e)}
	if err := strict(raw, &w); err != nil {
		return err
	}
	t, err := timeField("occurred_at", w.OccurredAt)
	if t != nil {
		e.OccurredAt = *t
	}
	return err
}

// check judges an episode and brings its JSON into canonical form.
func (e *Episode) check() []FieldError {
	var faults []FieldError
	add := func(fe *FieldError) {
		if fe != nil {
			faults = append(faults, *fe)
		}
	}
	add(checkName("id", e.ID, false))
	if !e.Kind.known() {
		add(fault("kind", "enum", kinds))
	}
	if e.OccurredAt.IsZero() {
		add(fault("occurred_at", "required", "the time at which it happened"))
	} else if _, err := InstantOf(e.OccurredAt); err != nil {
		add(fault("occurred_at", "range", "a time in the years 0001 to 9998"))
	}
	add(checkName("source_id", e.SourceID, true))
	add(checkName("session", e.Session, true))
	add(checkName("thread", e.Thread, true))
	add(checkName("actor", e.Actor, true))
	if e.Sequence < 0 {
		add(fault("sequence", "range", "a positive number"))
	}
	if !utf8.ValidString(e.Text) || strings.ContainsRune(e.Text, 0) {
		add(fault("text", "utf8", "valid UTF-8 without U+0000"))
	}
	if len(e.Text)+len(e.Body)+len(e.Metadata) > maxContent {
		add(fault("text", "length", "at most 64 MiB of content"))
	}
	for _, part := range []struct {
		name string
		raw  *json.RawMessage
	}{{"body", &e.Body}, {"metadata", &e.Metadata}} {
		if len(*part.raw) == 0 {
			continue
		}
		normal, err := canon.Canonical(*part.raw)
		if err != nil {
			fe := jsonFault(err)
			add(fault(part.name, fe.Rule, fe.Want))
			continue
		}
		*part.raw = normal
	}
	return faults
}

// bring takes an episode along, once. The same id with other content in one call is a fault.
func (p *submission) bring(e *Episode) []FieldError {
	own := *e
	if faults := own.check(); faults != nil {
		return faults
	}
	content := p.t.l.episodeDigest(&own)
	if have, ok := p.digests[own.ID]; ok {
		if have != content {
			return []FieldError{{Field: "id", Rule: "unique", Want: "one content for one episode id"}}
		}
		return nil
	}
	p.episodes[own.ID], p.digests[own.ID] = &own, content
	p.order = append(p.order, own.ID)
	p.lookUp(own.ID)
	return nil
}

func (p *submission) lookUp(episode string) {
	if _, ok := p.epIndex[episode]; !ok {
		p.epIndex[episode] = len(p.call.Episodes)
		p.call.Episodes = append(p.call.Episodes, episode)
	}
}

func (l *Ledger) episodeDigest(e *Episode) string {
	return l.digest("episode", e.ID, string(e.Kind), e.SourceID, strconv.FormatInt(e.OccurredAt.UnixMicro(), 10), e.Session,
		e.Thread, strconv.FormatInt(e.Sequence, 10), e.Actor, e.Text, string(e.Body), string(e.Metadata))
}
