package sgam

import "time"

// Outcome is what became of a delta (rule R13).
type Outcome string

// The outcomes. A held candidate, Pending or Disputed, later becomes Applied or Confirmed when it is accepted, or
// Declined.
const (
	Applied   Outcome = "applied"
	Confirmed Outcome = "confirmed"
	Duplicate Outcome = "duplicate"
	Pending   Outcome = "pending"
	Disputed  Outcome = "disputed"
	Rejected  Outcome = "rejected"
	Declined  Outcome = "declined"
)

// Receipt answers one delta. It never carries a value.
type Receipt struct {
	Outcome Outcome `json:"outcome"`
	// Earlier is, for a duplicate, the outcome of the original as it stands now.
	Earlier Outcome `json:"earlier,omitempty"`
	// Memory identifies the fact, or the candidate that is held.
	Memory MemoryID `json:"memory_id,omitzero"`
	// Known is the known time of the call. It is also a read token: a view at this known time sees the call.
	Known time.Time `json:"known_at,omitzero"`
	// Supersedes is the fact displaced at valid_from, else the earliest displaced (rule R6).
	Supersedes MemoryID `json:"supersedes_memory_id,omitzero"`
	// Reach is the valid-time interval that the statement reached; Clipped is what its asserted interval had beyond
	// it, because something is already known from there on (rule R3).
	Reach   *Interval `json:"reach,omitempty"`
	Clipped *Interval `json:"clipped,omitempty"`
	// Displaced are the regions that other facts lost, Confirms the facts that already said the same.
	Displaced []Displacement `json:"displaced,omitempty"`
	Confirms  []MemoryID     `json:"confirms,omitempty"`
	// Parts are the facts by which a statement about all members of an attribute stopped each of them (rule R14), and the
	// further withdrawals of a call that took several facts back: one for each.
	Parts []MemoryID `json:"parts,omitempty"`
	// Assumed says that valid_from was left out, and is the episode's time of occurrence.
	Assumed bool `json:"assumed_valid_from,omitempty"`
	// LostTo are the facts that a disputed delta was too weak for.
	LostTo []MemoryID `json:"lost_to,omitempty"`
	// Withdrawn are the facts that a withdrawal took back, DeclinedPending the candidates that it declined, and
	// StillDisputed the disputed candidates that had lost to a withdrawn fact.
	Withdrawn       []MemoryID `json:"withdrawn,omitempty"`
	DeclinedPending []MemoryID `json:"declined,omitempty"`
	StillDisputed   []MemoryID `json:"still_disputed,omitempty"`
	// Code and Faults say why a delta was rejected.
	Code   string       `json:"code,omitempty"`
	Faults []FieldError `json:"faults,omitempty"`
	// Principal is who made the call.
	Principal string `json:"principal,omitempty"`

	cause error
}

// Displacement is one region that a fact lost.
type Displacement struct {
	Memory MemoryID `json:"memory_id"`
	By     MemoryID `json:"by,omitzero"`
	How    How      `json:"how"`
	Valid  Interval `json:"valid"`
}

// setReach tells how far the statement reached, and what was cut off.
func (r *Receipt) setReach(asserted, reach Span) {
	iv := reach.Interval()
	r.Reach = &iv
	if reach.To < asserted.To {
		cut := Span{reach.To, asserted.To}.Interval()
		r.Clipped = &cut
	}
}

// Err is nil unless the delta was rejected; then it is a [*ValidationError], for those who prefer errors.
func (r Receipt) Err() error {
	if r.Outcome != Rejected {
		return nil
	}
	return &ValidationError{Code: r.Code, Faults: r.Faults, err: r.cause}
}

// OutcomeRecord is one durable outcome, as listed later.
type OutcomeRecord struct {
	Known     time.Time `json:"known_at"`
	Ordinal   int       `json:"ordinal"`
	Outcome   Outcome   `json:"outcome"`
	Memory    MemoryID  `json:"memory_id,omitzero"`
	Code      string    `json:"code,omitempty"`
	Pointer   string    `json:"pointer,omitempty"`
	Op        Op        `json:"op"`
	Attribute string    `json:"attribute"`
	Principal string    `json:"principal,omitempty"`
}

// rejection is a decision against a delta, with all its faults.
type rejection struct {
	code   string
	faults []FieldError
	cause  error
}

// The codes of rejected receipts.
const (
	codeInvalid     = "invalid"             // the envelope: names, times, operation
	codeAttribute   = "unknown_attribute"   // no such attribute
	codeType        = "unknown_type"        // no such memory type
	codeVersion     = "schema_version"      // not the newest version, or another type
	codeSchema      = "schema"              // the value breaks the schema
	codeEpisode     = "episode"             // the episode does not resolve, or has other content
	codeGuard       = "guard"               // expect_current does not hold
	codeImmutable   = "immutable"           // the attribute's policy
	codeIdempotency = "idempotency_key"     // the key was used with another payload
	codeBatch       = "all_or_nothing"      // another delta of the call was not applied
	codeSettled     = "not_pending"         // accept or decline of what is not held
	codeConfidence  = "confidence_required" // the policy compares confidences
)

func reject(code string, faults ...FieldError) *rejection {
	r := &rejection{code: code, faults: faults}
	for i := range faults {
		if faults[i].err != nil && r.cause == nil {
			r.cause = faults[i].err
		}
	}
	return r
}

func (r *rejection) receipt() Receipt {
	return Receipt{Outcome: Rejected, Code: r.code, Faults: r.faults, cause: r.cause}
}

// pointer is the JSON pointer of the first fault.
func (r *rejection) pointer() string {
	if len(r.faults) == 0 {
		return ""
	}
	return "/" + r.faults[0].Field
}
