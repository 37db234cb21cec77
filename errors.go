package sgam

import (
	"errors"
	"fmt"
	"strings"
)

// What a call can fail with when nothing was decided. Test with [errors.Is].
var (
	// ErrClosed is returned by every method after [Ledger.Close].
	ErrClosed = errors.New("sgam: ledger is closed")
	// ErrReadOnly is returned by every write of a ledger that was opened with [Options.ReadOnly].
	ErrReadOnly = errors.New("sgam: ledger is read-only")
	// ErrUnsupported says that the engine cannot do what was asked; the text names the engine.
	ErrUnsupported = errors.New("sgam: not supported by this engine")
	// ErrOutcomeUnknown says that the storage failed while committing, and that it could not be found out whether the
	// call was recorded. Send the same call again: its idempotency keys make the repeat safe.
	ErrOutcomeUnknown = errors.New("sgam: outcome of the commit is unknown")
	// ErrRetryTransaction says that the caller's own transaction must be rolled back and run again.
	ErrRetryTransaction = errors.New("sgam: retry the transaction")
	// ErrBusy says that the write lock could not be had before the deadline.
	ErrBusy = errors.New("sgam: ledger is busy")
	// ErrClockBehind says that the clock is behind the last known time by more than [Options.ClockTolerance].
	ErrClockBehind = errors.New("sgam: clock is behind the last known time")
	// ErrClockJump says that the clock is ahead of the last known time by more than [Options.MaxForwardJump].
	ErrClockJump = errors.New("sgam: clock jumped ahead of the last known time")
	// ErrKnownTime says that a given known time is not later than every earlier one of the tenant.
	ErrKnownTime = errors.New("sgam: given known time is not later than the tenant's last one")
	// ErrEmptyInterval says that an interval holds no instant after truncation to microseconds, or is inverted.
	ErrEmptyInterval = errors.New("sgam: interval is empty")
	// ErrForeignTenant says that a delta names a tenant other than the handle's.
	ErrForeignTenant = errors.New("sgam: delta names another tenant")
	// ErrNotFound says that an id names nothing in this tenant.
	ErrNotFound = errors.New("sgam: not found")
	// ErrIdempotencyMismatch says that an idempotency key was used before with another payload.
	ErrIdempotencyMismatch = errors.New("sgam: idempotency key was used with another payload")
	// ErrManyValued says that a one-valued read was made of a many-valued attribute.
	ErrManyValued = errors.New("sgam: attribute has many values: name the member, or list them")
	// ErrOneScope says that the read needs a view of exactly one scope.
	ErrOneScope = errors.New("sgam: this read needs exactly one scope")
	// ErrRejected matches the error of every rejected receipt.
	ErrRejected = errors.New("sgam: delta rejected")
	// ErrSchemaDrift says that the program declares a schema version that the ledger holds with other content.
	ErrSchemaDrift = errors.New("sgam: declared schema differs from the stored one")
	// ErrSchemaGap says that the program declares a version that is neither stored nor the next one.
	ErrSchemaGap = errors.New("sgam: declared schema version is not the next one")
	// ErrLensInUse says that another lens was declared for a version that a tenant already reads or writes.
	ErrLensInUse = errors.New("sgam: the lens is in use: declare a version after it")
	// ErrUnmigrated says that a fact has no form in the schema version that is read: a migration left it in quarantine, or
	// was rolled back past it. Asking for the version under which it was recorded still answers.
	ErrUnmigrated = errors.New("sgam: fact has no form in this schema version")
	// ErrOtherHistory says that a call cannot be copied because the ledger has another one in its place: it is no copy.
	ErrOtherHistory = errors.New("sgam: the ledger holds another history")
	// ErrCallGap says that a call cannot be copied because the one before it is not there.
	ErrCallGap = errors.New("sgam: the call before is missing")
	// ErrNoSchemas says that a ledger opened without [Options.Schemas] cannot judge a write.
	ErrNoSchemas = errors.New("sgam: ledger was opened without schemas: set Options.Schemas, or use schema.Stored()")
)

// What opening a ledger can fail with.
var (
	// ErrFormatOld says that the file has an older format; `sgam upgrade` or [Options.AutoUpgrade] brings it forward.
	ErrFormatOld = errors.New("sgam: file format is old: run 'sgam upgrade'")
	// ErrFormatTooNew says that the file was written by a newer program.
	ErrFormatTooNew = errors.New("sgam: file format is newer than this program")
	// ErrForeignFile says that the file is not a ledger.
	ErrForeignFile = errors.New("sgam: not a ledger file")
	// ErrKeyMissing says that the key of the ledger's digests is missing or is another ledger's.
	ErrKeyMissing = errors.New("sgam: digest key is missing or belongs to another ledger")
)

// Why there is no value, never confused. All match [ErrNoValue] too.
var (
	// ErrNoValue matches every answer that has no value.
	ErrNoValue = errors.New("sgam: no value")
	// ErrUnknown: nothing was said, as known then.
	ErrUnknown = errors.New("sgam: unknown")
	// ErrAbsent: someone said that there is none.
	ErrAbsent = errors.New("sgam: absent")
	// ErrExpired: the retention policy's time is over.
	ErrExpired = errors.New("sgam: expired")
	// ErrErased: the bytes are gone.
	ErrErased = errors.New("sgam: erased")
)

// NoValueError is the answer of a read that finds no value. It matches [ErrNoValue] and its Reason.
type NoValueError struct {
	// Reason is one of ErrUnknown, ErrAbsent, ErrExpired, ErrErased.
	Reason error
	// By is the fact that states the absence, with its provenance; nil when the reason is ErrUnknown.
	By *Fact
}

func (e *NoValueError) Error() string {
	if e.By == nil {
		return e.Reason.Error()
	}
	return fmt.Sprintf("%s, by memory %s of episode %q", e.Reason, e.By.ID, e.By.Episode)
}

// Is reports whether target is ErrNoValue or the reason.
func (e *NoValueError) Is(target error) bool { return target == ErrNoValue || target == e.Reason }

// UnmigratedError names a fact that matches [ErrUnmigrated].
type UnmigratedError struct {
	Memory    MemoryID
	Subject   string
	Attribute string
	// Stored is the version under which the fact was recorded, Asked the one that has no form of it.
	Stored, Asked int
	// Reason says where the value resists, nil when no lens was tried.
	Reason *FieldError
}

func (e *UnmigratedError) Error() string {
	text := fmt.Sprintf("sgam: memory %s of %s was recorded under version %d and has no form in version %d", e.Memory, e.Attribute, e.Stored, e.Asked)
	if e.Reason != nil {
		text += ": " + e.Reason.Error()
	}
	return text
}

// Is matches [ErrUnmigrated].
func (e *UnmigratedError) Is(target error) bool { return target == ErrUnmigrated }

// Unwrap gives the reason.
func (e *UnmigratedError) Unwrap() error {
	if e.Reason == nil {
		return nil
	}
	return e.Reason
}

// FieldError is one fault of an input: where, which rule, and what would be right. It never carries a value.
type FieldError struct {
	// Field is the path of the field, with slashes: "valid_from", "value/due", "deltas/3/subject".
	Field string `json:"field"`
	// Rule is the rule that was broken: "required", "type", "format", "enum", "range", "unknown", …
	Rule string `json:"rule"`
	// Want says what would be right, in words that a person or a model can act on.
	Want string `json:"want,omitempty"`
	err  error
}

func (e *FieldError) Error() string {
	if e.Want == "" {
		return fmt.Sprintf("%s: %s", e.Field, e.Rule)
	}
	return fmt.Sprintf("%s: %s: want %s", e.Field, e.Rule, e.Want)
}

// Unwrap gives the sentinel behind the fault, where there is one.
func (e *FieldError) Unwrap() error { return e.err }

// At returns the same fault, one level deeper: its field prefixed with the given one.
func (e *FieldError) At(prefix string) *FieldError {
	moved := *e
	moved.Field = strings.TrimSuffix(prefix+"/"+e.Field, "/")
	return &moved
}

// ValidationError is all the faults of one delta or episode at once.
type ValidationError struct {
	// Code is the receipt's code: "schema", "unknown_attribute", "guard", …
	Code   string
	Faults []FieldError
	err    error
}

func (e *ValidationError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "sgam: rejected (%s)", e.Code)
	for i := range e.Faults {
		b.WriteString("; ")
		b.WriteString(e.Faults[i].Error())
	}
	return b.String()
}

// Is matches [ErrRejected].
func (e *ValidationError) Is(target error) bool { return target == ErrRejected }

// Unwrap gives the faults, so that errors.As finds the first [*FieldError], and the sentinel behind the code.
func (e *ValidationError) Unwrap() []error {
	errs := make([]error, 0, len(e.Faults)+1)
	if e.err != nil {
		errs = append(errs, e.err)
	}
	for i := range e.Faults {
		errs = append(errs, &e.Faults[i])
	}
	return errs
}

func fault(field, rule, want string) *FieldError {
	return &FieldError{Field: field, Rule: rule, Want: want}
}
