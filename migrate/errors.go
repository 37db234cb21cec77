package migrate

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sgam-ledger/sgam/schema"
)

// What a call of this package can fail with. Test with [errors.Is].
var (
	// ErrNoDeletionRule says that a version removes an attribute, and nothing says what becomes of its facts.
	ErrNoDeletionRule = errors.New("migrate: a removed attribute has no deletion rule")
	// ErrRefused says that the new version changes what no migration may change.
	ErrRefused = errors.New("migrate: the change is refused")
	// ErrNewAttribute says that the new version asks for other facts, not for other encodings of the same facts.
	ErrNewAttribute = errors.New("migrate: the change needs a new attribute")
	// ErrSameShape says that the new version reads every value of the old one as it stands.
	ErrSameShape = errors.New("migrate: both versions read the same values: writers move on by themselves, nothing is to be migrated")
	// ErrNothing says that no tenant is there to migrate.
	ErrNothing = errors.New("migrate: no tenant has facts to migrate")
	// ErrPlanDigest says that a plan was changed after it was drawn.
	ErrPlanDigest = errors.New("migrate: the plan is not what its digest says")
	// ErrPlanStale says that the ledger has moved since the plan was drawn: draw a new one.
	ErrPlanStale = errors.New("migrate: the plan is stale")
	// ErrState says that a migration is in a state that does not allow the call.
	ErrState = errors.New("migrate: not in this state")
	// ErrPaused says that the migration is paused: resume it first.
	ErrPaused = errors.New("migrate: the migration is paused")
	// ErrFenced says that another runner has taken the migration over.
	ErrFenced = errors.New("migrate: another runner has taken over")
	// ErrLeased says that another runner is at work.
	ErrLeased = errors.New("migrate: another runner holds the migration")
	// ErrFindings says that verification found something wrong.
	ErrFindings = errors.New("migrate: verification found something")
	// ErrQuarantine says that facts without a form in the new version stand in the way of the cut-over.
	ErrQuarantine = errors.New("migrate: facts are in quarantine")
	// ErrLossy says that a rollback would lose something of what was written since the migration began.
	ErrLossy = errors.New("migrate: facts have no lossless form in the old version")
	// ErrNoDeleter says that deletion rules are to be carried out, and nobody was named to do it.
	ErrNoDeleter = errors.New("migrate: deletion rules need a deleter")
)

// NothingError says why each tenant that was asked for is not migrated. It matches [ErrNothing].
type NothingError struct{ LeftOut []LeftOut }

func (e *NothingError) Error() string {
	text := ErrNothing.Error()
	for i, out := range e.LeftOut {
		if i == 3 {
			return text + fmt.Sprintf("; and %d more", len(e.LeftOut)-i)
		}
		text += fmt.Sprintf("; tenant %q: %s", out.Tenant, out.Why)
	}
	return text
}

// Is matches [ErrNothing].
func (e *NothingError) Is(target error) bool { return target == ErrNothing }

// DeletionRuleError names the attributes without a deletion rule. It matches [ErrNoDeletionRule].
type DeletionRuleError struct{ Attributes []string }

func (e *DeletionRuleError) Error() string {
	return fmt.Sprintf("%v: %s: say keep_readable, expire or erase", ErrNoDeletionRule, strings.Join(e.Attributes, ", "))
}

// Is matches [ErrNoDeletionRule].
func (e *DeletionRuleError) Is(target error) bool { return target == ErrNoDeletionRule }

// RefusedError names the changes that stand in the way, with advice. It matches [ErrRefused], or [ErrNewAttribute] when
// every one of them asks for a new attribute.
type RefusedError struct{ Changes []schema.Change }

func (e *RefusedError) Error() string {
	all := make([]string, len(e.Changes))
	for i, c := range e.Changes {
		all[i] = fmt.Sprintf("%s at %s", c.Rule, c.Path)
		if c.Advice != "" {
			all[i] += ": " + c.Advice
		}
	}
	return fmt.Sprintf("%v: %s", e.kind(), strings.Join(all, "; "))
}

// Is matches the kind of refusal.
func (e *RefusedError) Is(target error) bool { return target == e.kind() }

func (e *RefusedError) kind() error {
	if slices.ContainsFunc(e.Changes, func(c schema.Change) bool { return !slices.Contains(newFactRules, c.Rule) }) {
		return ErrRefused
	}
	return ErrNewAttribute
}

// StaleError says what has moved since a plan was drawn. It matches [ErrPlanStale].
type StaleError struct {
	// Tenant is empty when it is the registry that moved.
	Tenant string
	// What is "document of version 2", "lens into version 2", "epoch" or "migration".
	What string
}

func (e *StaleError) Error() string {
	if e.Tenant == "" {
		return fmt.Sprintf("%v: the %s has changed: draw a new one", ErrPlanStale, e.What)
	}
	return fmt.Sprintf("%v: the %s of tenant %q has changed: draw a new one", ErrPlanStale, e.What, e.Tenant)
}

// Is matches [ErrPlanStale].
func (e *StaleError) Is(target error) bool { return target == ErrPlanStale }

// StateError says that a call does not fit the state of a tenant's migration. It matches [ErrState], and [ErrPaused] when
// it is the pause that stands in the way.
type StateError struct {
	Tenant, Type string
	// Action is what was asked for; State what the migration is in, and whether it is paused. Without any migration the
	// state is [Planned].
	Action string
	State  State
	Paused bool
	// Allowed are the actions that the state allows.
	Allowed []string
}

func (e *StateError) Error() string {
	state := string(e.State)
	if e.Paused {
		state += ", paused"
	}
	allowed := "nothing"
	if len(e.Allowed) > 0 {
		allowed = strings.Join(e.Allowed, ", ")
	}
	return fmt.Sprintf("migrate: %s of type %q, tenant %q: the migration is %s, which allows %s", e.Action, e.Type, e.Tenant, state, allowed)
}

// Is matches [ErrState] or [ErrPaused].
func (e *StateError) Is(target error) bool {
	return target == ErrState || target == ErrPaused && e.Paused
}

// LeaseError names the runner that is at work. It matches [ErrLeased].
type LeaseError struct {
	Tenant, Holder string
	// Until is the known time at which its lease ends, unless it goes on.
	Until time.Time
}

func (e *LeaseError) Error() string {
	return fmt.Sprintf("%v: tenant %q is held by %q until %s: wait, or take over", ErrLeased, e.Tenant, e.Holder, e.Until.Format(time.RFC3339))
}

// Is matches [ErrLeased].
func (e *LeaseError) Is(target error) bool { return target == ErrLeased }

// QuarantineError counts the facts that stand in the way of a cut-over. It matches [ErrQuarantine].
type QuarantineError struct {
	Tenant string
	Facts  int64
}

func (e *QuarantineError) Error() string {
	return fmt.Sprintf("%v: %d of tenant %q: roll back and register a better lens, or draw a plan that leaves them", ErrQuarantine, e.Facts, e.Tenant)
}

// Is matches [ErrQuarantine].
func (e *QuarantineError) Is(target error) bool { return target == ErrQuarantine }

// LossyError counts the facts that a rollback would show with something missing or filled in, or not at all. It matches
// [ErrLossy].
type LossyError struct {
	Tenant string
	Facts  int64
}

func (e *LossyError) Error() string {
	return fmt.Sprintf("%v: %d of tenant %q, recorded since the migration began: force the rollback to accept that", ErrLossy, e.Facts, e.Tenant)
}

// Is matches [ErrLossy].
func (e *LossyError) Is(target error) bool { return target == ErrLossy }

// FindingsError is a verification that found something. It matches [ErrFindings].
type FindingsError struct{ Verification *Verification }

func (e *FindingsError) Error() string {
	v := e.Verification
	text := fmt.Sprintf("%v: %d in tenant %q", ErrFindings, v.Found, v.Tenant)
	if len(v.Findings) > 0 {
		text += ", first: " + v.Findings[0].String()
	}
	return text
}

// Is matches [ErrFindings].
func (e *FindingsError) Is(target error) bool { return target == ErrFindings }
