package sgam

import (
	"context"
	"encoding/json"
)

// Store is the storage port: one write, one read, and the registry. Engines share the planner, not their SQL.
//
// Every "must" below is a law of package ledgertest, named in brackets.
type Store interface {
	// Engine is the engine's name for messages: "sqlite", "postgres", "memory".
	Engine() string

	// DigestKey is the secret under which the ledger keys its digests. It must be the same for the life of the ledger.
	DigestKey() []byte

	// Types returns every stored schema version in order of type and version, attribute ids included.
	Types(ctx context.Context) ([]StoredType, error)

	// Register stores one schema version and gives each attribute its id. An attribute keeps the id that its type and
	// tag already have [tag-is-identity]. An equal stored version must be accepted and change nothing; a different one
	// is ErrSchemaDrift, a version that is not the next is ErrSchemaGap.
	Register(ctx context.Context, doc TypeDocument) error

	// Write runs one call of one tenant. Inside a transaction that is serialised per tenant it must resolve what the
	// call names into a Snapshot, hand that to decide, and apply the Change that decide returns: all of it or nothing
	// [all-or-nothing]. A nil Change, or an error from decide, applies nothing. decide is pure and may be run again.
	// The call must be durable when Write returns nil [acked-is-stored]. Lock and serialisation failures are retried
	// inside. With call.DryRun nothing is ever applied.
	Write(ctx context.Context, t TenantID, call *Call, decide func(*Snapshot) (*Change, error)) error

	// Read answers one page of a query from one consistent snapshot that contains every acknowledged write
	// [read-your-writes], and must not hold a connection when it returns [read-inside-a-loop]. A tenant without
	// writes is empty, not an error.
	Read(ctx context.Context, t TenantID, q *Query) (*Page, error)

	// Tenants returns up to limit names of tenants that have been written, in byte order, after the given one.
	Tenants(ctx context.Context, after string, limit int) ([]string, error)

	// Close releases everything. It waits for writes under way.
	Close() error
}

// TenantID names one tenant towards an engine. Only this package makes one, so holding an engine opens no back door.
type TenantID struct{ name string }

// Name is the tenant's name, never empty. Engines compare it byte by byte.
func (t TenantID) Name() string { return t.name }

// AttributeID is the ledger-wide number of a (memory type, tag). A slot is keyed by it, so a rename loses nothing.
type AttributeID int64

// SlotKey is a slot as engines see it. Member is the keyed digest of a many-valued member's identity, empty for a
// one-valued attribute and for the set slot.
type SlotKey struct {
	Scope     Scope
	Subject   string
	Attribute AttributeID
	Member    string
}

// Call is what one write names. The engine resolves all of it into the Snapshot, in the same order.
type Call struct {
	Principal string
	DryRun    bool
	Targets   []Target
	// Keys are idempotency digests to look up.
	Keys []string
	// Episodes are ids to look up.
	Episodes []string
	// Candidate, when not zero, is the memory id of a pending or disputed candidate to look up.
	Candidate MemoryID
	// Withdraw selects facts whose slots are replayed.
	Withdraw *Selector
	// Types are memory types whose newest epoch is asked for, Migration the one whose newest migration is; empty is none.
	Types     []string
	Migration string
}

// Target asks for the open state of one slot.
type Target struct {
	Slot SlotKey
	// Window is the valid time that the call can reach.
	Window Span
	// Points says what the call needs of the slot's change-points.
	Points PointNeed
	// Digests are the keyed digests of values whose numbers in this slot are asked for.
	Digests []string
	// Strength asks for the backing of the fact of each open segment.
	Strength bool
	// Members asks for the same of every member slot of this set slot.
	Members bool
}

// PointNeed says what a call needs of a slot's change-points (rule R3).
type PointNeed int

const (
	// NoPoints is of a call that only corrects and voids: their reach is their own interval. Standing.Points stays empty.
	NoPoints PointNeed = iota
	// NextPoint is of a call that has one statement about the slot. The engine must stop at the first change-point after
	// Window.From, the start of an open segment or a live point, report it as Standing.Next, and load no further.
	// Standing.Points stays empty.
	NextPoint
	// AllPoints is of a call that folds several statements. The engine must load every live point in the window, and every
	// point of the numbers that the target asks for, and of number 0, since the call can bring those to life. Other dead
	// points should be left out: a slot can have very many.
	AllPoints
)

// Selector names facts to withdraw: exactly one of the fields is set, SourceKind with SourceID.
type Selector struct {
	Memory MemoryID
	// Facts are numbers of facts, of a withdrawal that is copied.
	Facts      []int64
	Episode    string
	SourceKind EpisodeKind
	SourceID   string
}

// Snapshot is what stands, as one call sees it under the tenant's write lock.
type Snapshot struct {
	// LastKnown is the known time of the tenant's last commit, Beginning when there is none; LastSeq its gap-free
	// number, LastFact the number of the tenant's newest fact.
	LastKnown Instant
	LastSeq   int64
	LastFact  int64
	// Registry is the highest revision of the registry: a call that was prepared under a lower one is prepared again.
	Registry  int64
	Slots     []Standing
	Outcomes  []*StoredOutcome // parallel to Call.Keys, nil when the key is new
	Episodes  []*EpisodeRef    // parallel to Call.Episodes, nil when there is none
	Candidate *Candidate
	// Selected are the facts that Call.Withdraw selects, and Logs the whole log of each slot they are in; when one of
	// them is a set slot, of each of its member slots too. Held are the candidates of the selected episode or
	// source, whatever their status, and the disputed ones that had lost to a selected fact.
	Selected []LoggedFact
	Logs     []SlotLog
	Held     []Candidate
	// Epochs are parallel to Call.Types, zero where the tenant has none. Migration is nil when there was none.
	Epochs    []Epoch
	Migration *MigrationRecord
}

// Standing is the open state of one slot in a window.
type Standing struct {
	Slot SlotKey
	// Window is what was loaded: the target's, shortened to Next when the engine stopped at a change-point.
	Window Span
	// Open are the open segments that overlap the window, whole and in order of valid time.
	Open []OpenSegment
	// Points are the assertion points in the window that Target.Points asks for.
	Points []Point
	// Next is the change-point at which the engine stopped looking, Forever when there is none or it was not asked to.
	Next Instant
	// Numbers are the value numbers of the target's digests in this slot, 0 when new; NextNumber is the next free one.
	Numbers    []int64
	NextNumber int64
	// Members is the open state of each member slot, when asked for.
	Members []Standing
}

// OpenSegment is one believed rectangle whose known interval is open.
type OpenSegment struct {
	Valid     Span
	KnownFrom Instant
	Fact      LoggedFact
	// FirstOpen and LastOpen are the starts of the first and the last open segment of this fact in the slot.
	FirstOpen, LastOpen Instant
	// Backing are the confirmations of the fact whose known interval is open, when asked for.
	Backing []Backing
}

// Backing is one confirmation of a fact. It lives where the fact is believed within Valid; Elsewhere says that it lives
// in an open segment outside the window.
type Backing struct {
	Evidence
	Valid     Span
	Elsewhere bool
}

// Evidence is what a fact brings to its strength.
type Evidence struct {
	Confidence *float64
	Kind       EpisodeKind
}

// Point counts the facts, not withdrawn, that assert value number Number from At on.
type Point struct {
	At     Instant
	Number int64
	Facts  int64
}

// LoggedFact is a fact as the planner and the replay see it: value numbers instead of values.
type LoggedFact struct {
	Number     int64 // dense per tenant, in (known time, ordinal) order
	ID         MemoryID
	Slot       SlotKey
	Op         Op
	Asserted   Span
	Value      int64 // value number, 0 for an absence
	KnownAt    Instant
	PartOf     int64 // the set slot's fact that this one carries out, 0 for none
	Target     int64 // the fact that a withdraw takes back, 0 for other operations
	Episode    string
	Kind       EpisodeKind
	Confidence *float64
}

// SlotLog is everything a slot's replay needs: all its facts in order, and its open state. Set are the facts of the
// attribute's set slot when this is a member: their starts are change-points of the member too.
type SlotLog struct {
	Slot  SlotKey
	Facts []LoggedFact
	Set   []LoggedFact
	Open  []OpenSegment
}

// StoredOutcome is an earlier outcome, found by its key.
type StoredOutcome struct {
	Payload string
	Receipt Receipt
}

// EpisodeRef is what a decision needs to know of a stored episode.
type EpisodeRef struct {
	Kind       EpisodeKind
	OccurredAt Instant
	Digest     string
}

// Candidate is a stored one.
type Candidate struct {
	Memory    MemoryID
	Status    Outcome
	Slot      SlotKey
	Episode   string
	Kind      EpisodeKind
	SourceID  string
	Delta     json.RawMessage
	LostTo    []MemoryID
	Principal string
	KnownAt   Instant
}

// QueryKind says what a [Query] asks for.
type QueryKind int

// The queries, and the fields that each reads besides Limit and After.
const (
	// QueryPoint: Slots (one for each scope, in order), Valid, Known, Now. At most one row for each slot, in that order.
	QueryPoint QueryKind = iota + 1
	// QueryMembers: Slots (set slots), Valid, Known, Now. A row for each member slot and set slot that has a segment
	// there, set slots first.
	QueryMembers
	// QueryFacts: Subjects, Attributes, Scopes, Valid, Known, Now. A row for each slot that has a segment there.
	QueryFacts
	// QueryTimeline: Slots[0], Known. The segments believed then, in order of valid time.
	QueryTimeline
	// QueryBelieved: Slots[0], Valid. Every segment that ever covered the instant, in order of known time.
	QueryBelieved
	// QueryHistory: Slots[0]. Every fact of the slot in order, with what it displaced and confirmed when it was recorded.
	// There Fact.Valid is the reach, and Fact.Known begins with the fact and is open.
	QueryHistory
	// QueryTouched: Since, Known, Subjects, Attributes, Scopes. The slots written in (Since, Known], as Page.Slots.
	QueryTouched
	// QueryMemory: Memory. The fact, as QueryHistory shows it.
	QueryMemory
	// QueryEpisode: Episode. The episode, as Page.Episodes.
	QueryEpisode
	// QueryOutcomes: the outcomes in order of known time and ordinal, as Page.Outcomes; Statuses filters.
	QueryOutcomes
	// QueryCandidates: the held candidates in that order, as Page.Candidates; Memory and Statuses filter.
	QueryCandidates
	// QueryLedger: every slot with all its layers, as Page.Dumps, for Verify.
	QueryLedger
	// QueryClock: nothing but Page.LastKnown.
	QueryClock
	// QueryEpochs: nothing but Page.Epochs.
	QueryEpochs
	// QueryMigrations: every migration in order of type and serial, as Page.Migrations.
	QueryMigrations
	// QueryValues: Attributes, Below. A row for each fact with a value, from the newest to the oldest, with its number and
	// all encodings. There Fact.Valid is as asserted.
	QueryValues
	// QueryQuarantine: Attributes, Version. What is in quarantine for the version, from the newest fact to the oldest, as
	// Page.Quarantined.
	QueryQuarantine
	// QueryCalls: Since. The calls known after it in their order, as Page.Calls. See [StoredCall].
	QueryCalls
)

// Query is one question to an engine. An empty list filters nothing.
type Query struct {
	Kind       QueryKind
	Slots      []SlotKey
	Valid      Instant
	Known      Instant // a known time beyond the last commit, Forever included, is answered at the last commit
	Since      Instant
	Now        bool // answer at the later of Valid and the last commit
	Subjects   []string
	Attributes []AttributeID
	Scopes     []Scope
	Statuses   []Outcome
	Memory     MemoryID
	Episode    string
	Below      int64 // facts with a lower number, 0 for all
	Version    int   // of the schema
	// Encodings asks for the encodings of each row's fact that were known at Known, and for the epochs of then.
	Encodings bool
	shaped    bool   // a view's: the ledger asks for encodings where it has to convert
	Limit     int    // rows a page; an engine may return fewer
	After     string // Page.Next of the page before
}

// Page is one page of an answer.
type Page struct {
	LastKnown Instant // the tenant's last commit, Beginning when there is none
	// Registry is the highest revision of the registry, as the page's snapshot has it; 0 for a tenant without writes.
	Registry   int64
	Rows       []Row
	Slots      []SlotKey
	Episodes   []Episode
	Outcomes   []OutcomeRecord
	Candidates []Candidate
	Dumps      []SlotDump
	// Epochs are the tenant's, in order of type and known time.
	Epochs      []Epoch
	Migrations  []MigrationRecord
	Quarantined []Quarantined
	Calls       []StoredCall
	Next        string // the cursor of the next page, empty at the end
}

// Row is one fact in an answer. Attribute ids are in Slot; the ledger fills the names in.
type Row struct {
	Slot   SlotKey
	Fact   Fact
	Erased bool
	// OpenedBy and ClosedBy are the facts that began and ended the belief. QueryPoint need not fill them.
	OpenedBy MemoryID
	ClosedBy MemoryID
	// Displaced, Confirmed and Target are filled by QueryHistory and QueryMemory.
	Displaced []Displacement
	Confirmed []MemoryID
	Target    MemoryID // the fact that a withdraw takes back
	// Encodings are the fact's further encodings in the order in which they became known, when asked for.
	Encodings []Encoding
	Number    int64 // of the fact; only QueryValues must fill it
	// Value is the fact's value number in its slot, 0 for an absence.
	Value int64

	shown  int   // the version that names the attribute, 0 for the newest
	unread error // the fact has no form in the version of the view
}

// SlotDump is every layer of one slot.
type SlotDump struct {
	SlotLog
	Segments      []StoredSegment
	Confirmations []StoredConfirmation
	Supersessions []StoredSupersession
	Points        []StoredPoint
}

// StoredSegment is one row of the segments layer.
type StoredSegment struct {
	Valid, Known             Span
	Fact, OpenedBy, ClosedBy int64 // ClosedBy is 0 while the known interval is open
}

// StoredConfirmation is one row of the confirmations layer.
type StoredConfirmation struct {
	Valid, Known Span
	New, Old     int64
}

// StoredSupersession is one row of the supersessions layer.
type StoredSupersession struct {
	New, Old int64
	How      How
	Valid    Span
	KnownAt  Instant
}

// StoredPoint is one row of the points layer.
type StoredPoint struct {
	Point
	Live bool
}
