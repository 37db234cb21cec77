package sgam

import "encoding/json"

// Change is what one call writes. Everything in it belongs to known time Known.
type Change struct {
	Known      Instant
	Episodes   []Episode // new ones; Digest parallel
	Digests    []string
	Facts      []NewFact
	Closed     []ClosedSegment
	Opened     []OpenedSegment
	Confirmed  []Confirmation
	Unconfirm  []Unconfirmation
	Superseded []Supersession
	Points     []PointChange
	Believed   []Region
	Numbers    []NumberedValue
	Outcomes   []NewOutcome
	Candidates []NewCandidate
	Settled    []SettledCandidate
	// Epochs are known from Known on. Encodings follow their facts. A fact that gets an encoding leaves the quarantine of
	// that version.
	Epochs      []Epoch
	Encodings   []NewEncoding
	Quarantined []Quarantined
	Migration   *MigrationRecord
}

// NewFact is one accepted statement to append.
type NewFact struct {
	LoggedFact
	MemoryType    string
	SchemaVersion int
	Encoded       []byte // canonical JSON, nil for an absence
	Principal     string
	Reach         Span
	Supersedes    int64
	Retention     string
	Provenance    Provenance
	Ordinal       int
}

// ClosedSegment ends the belief in one open segment. Believed from KnownFrom to the change's known time.
type ClosedSegment struct {
	Slot      SlotKey
	ValidFrom Instant
	KnownFrom Instant
	ClosedBy  int64
}

// OpenedSegment begins the belief in one rectangle.
type OpenedSegment struct {
	Slot     SlotKey
	Valid    Span
	Fact     int64
	OpenedBy int64
}

// Confirmation says that a new fact says the same as an older one on an interval. It lives as long as the older fact
// is believed there.
type Confirmation struct {
	Slot  SlotKey
	New   int64
	Old   int64
	Valid Span
}

// Unconfirmation closes every open confirmation by or of the facts of one slot, before the slot's new ones are added.
type Unconfirmation struct{ Slot SlotKey }

// Supersession is one displaced rectangle.
type Supersession struct {
	Slot  SlotKey
	New   int64
	Old   int64
	How   How
	Valid Span
}

// PointChange adds Delta to the count of facts that assert Number from At on. Live says whether the number is the one
// believed there after the call.
type PointChange struct {
	Slot   SlotKey
	At     Instant
	Number int64
	Delta  int64
	Live   bool
}

// Region says which value number is believed on a span after the call, -1 for none. Points in it are live if and only
// if they have that number.
type Region struct {
	Slot   SlotKey
	Valid  Span
	Number int64
}

// NumberedValue gives the value of a digest, which has none yet, its number in a slot. Several digests may have one number:
// those of the forms that one value has in several versions.
type NumberedValue struct {
	Slot   SlotKey
	Digest string
	Number int64
}

// NewOutcome is the durable outcome of one delta.
type NewOutcome struct {
	Ordinal   int
	Outcome   Outcome
	Fact      int64  // applied and confirmed
	Key       string // idempotency digest, empty for rejected ones
	Payload   string // keyed digest of the payload of a given key
	Digest    string // keyed digest of a rejected delta
	Code      string
	Pointer   string
	Op        Op
	Attribute string
	Principal string
	Memory    MemoryID // of a candidate that is held
	Assumed   bool     // valid_from was assumed
}

// NewCandidate keeps a delta that was not applied: pending, or disputed by the facts it lost to.
type NewCandidate struct {
	Memory  MemoryID
	Ordinal int
	Status  Outcome
	Slot    SlotKey
	Episode string
	Delta   json.RawMessage
	LostTo  []MemoryID
}

// SettledCandidate changes the status of a candidate. Fact is the fact it became, if any.
type SettledCandidate struct {
	Memory MemoryID
	Status Outcome
	Fact   int64
}
