package migrate

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/schema"
)

// State is how far a tenant's migration has come.
type State string

// The states, in order. A migration can be rolled back until it is contracting.
const (
	// Planned: there is a plan, and nothing has been done.
	Planned State = "planned"
	// Approved: somebody began to run the plan. It goes over into expanding at once.
	Approved State = "approved"
	// Expanding: every write is stored in both versions, and the backfill is on its way through the older facts.
	Expanding State = "expanding"
	// Dual: every fact has both forms, or is in quarantine.
	Dual State = "dual"
	// Verified: both sides were compared.
	Verified State = "verified"
	// CutOver: the new version is read and decides. Every write is still stored in the old one too.
	CutOver State = "cut_over"
	// Contracting: removed attributes are being deleted. There is no way back.
	Contracting State = "contracting"
	// Done: only the new version is written.
	Done State = "done"
	// RolledBack: only the old version is written. A later migration begins anew.
	RolledBack State = "rolled_back"
)

// The actions, as errors name them.
const (
	actRun      = "run"
	actVerify   = "verify"
	actCutover  = "cutover"
	actRollback = "rollback"
	actContract = "contract"
	actPause    = "pause"
	actResume   = "resume"
)

// actions are what each state allows.
var actions = map[State][]string{
	Planned:     {actRun},
	Expanding:   {actRun, actPause, actRollback},
	Dual:        {actRun, actVerify, actPause, actRollback},
	Verified:    {actRun, actVerify, actCutover, actPause, actRollback},
	CutOver:     {actRun, actContract, actPause, actRollback},
	Contracting: {actRun, actContract, actPause},
	Done:        {actRun},
	RolledBack:  nil,
}

// active says whether a state is one that a migration leaves again.
func (s State) active() bool { return s != Planned && s != Done && s != RolledBack }

// Transition is one entry of a migration's audit trail.
type Transition struct {
	// State is what the migration was in from then on. Note says more where that is not all: "paused", "closing".
	State State  `json:"state"`
	Note  string `json:"note,omitempty"`
	// Principal is who did it, Known the known time of the ledger.
	Principal string    `json:"principal,omitempty"`
	Known     time.Time `json:"known_at"`
}

// Counts are what a backfill has done so far.
type Counts struct {
	// Looked is the sum of the others.
	Looked      int64 `json:"looked"`
	Converted   int64 `json:"converted"`
	Recorded    int64 `json:"recorded,omitempty"`
	Encoded     int64 `json:"encoded,omitempty"`
	Removed     int64 `json:"removed,omitempty"`
	Erased      int64 `json:"erased,omitempty"`
	Quarantined int64 `json:"quarantined,omitempty"`
}

// body is what a record keeps besides its state.
type body struct {
	Plan       string                        `json:"plan"`
	From       int                           `json:"from"`
	To         int                           `json:"to"`
	Base       string                        `json:"base"`
	Steps      []Step                        `json:"steps"`
	Deletions  map[string]schema.Disposition `json:"deletions,omitempty"`
	Quarantine QuarantinePolicy              `json:"quarantine"`

	// Total are the facts that the plan counted.
	Total int64 `json:"total"`
	// Upper is the newest fact that is the backfill's to do, Cursor the oldest that is done.
	Upper  int64  `json:"upper"`
	Cursor int64  `json:"cursor"`
	Counts Counts `json:"counts"`

	Fence      int64     `json:"fence"`
	Holder     string    `json:"holder,omitempty"`
	LeaseUntil time.Time `json:"lease_until,omitzero"`

	Paused bool `json:"paused,omitempty"`
	// Decided says that the new version has decided about writes.
	Decided bool `json:"decided,omitempty"`
	// Digest is what the last verification found on both sides.
	Digest string       `json:"digest,omitempty"`
	Audit  []Transition `json:"audit"`
}

// record is a migration as it stands, decoded.
type record struct {
	serial int64
	state  State
	body
}

func decodeRecord(m *sgam.MigrationRecord) (*record, error) {
	if m == nil {
		return nil, nil //nolint:nilnil // no migration is no error
	}
	r := &record{serial: m.Serial, state: State(m.State)}
	if err := json.Unmarshal(m.Body, &r.body); err != nil {
		return nil, fmt.Errorf("migrate: record of migration %d of type %q: %w", m.Serial, m.Type, err)
	}
	return r, nil
}

// moment is one step of a migration: what stands, and what the step makes of it.
type moment struct {
	*sgam.MigrationStep
	tenant, typ string
	principal   string
	rec         *record // nil when there was none
	write       *sgam.MigrationWrite
}

// step carries out one step of a tenant's migration. What act leaves unchanged is not written: it says with keep what is.
func step(ctx context.Context, t *sgam.Tenant, typ, principal string, act func(*moment) error) error {
	return t.As(principal).Migrate(ctx, typ, func(s *sgam.MigrationStep) (*sgam.MigrationWrite, error) {
		rec, err := decodeRecord(s.Record)
		if err != nil {
			return nil, err
		}
		m := &moment{MigrationStep: s, tenant: t.Name(), typ: typ, principal: principal, rec: rec}
		if err := act(m); err != nil {
			return nil, err
		}
		return m.write, nil
	})
}

// keep has the record written as it is now, with what else the step writes.
func (m *moment) keep(w sgam.MigrationWrite) error {
	text, err := json.Marshal(&m.rec.body)
	if err != nil {
		return err
	}
	w.Record = &sgam.MigrationRecord{Type: m.typ, Serial: m.rec.serial, State: string(m.rec.state), Body: text}
	m.write = &w
	return nil
}

// enter moves the migration into a state, with an entry in its audit trail.
func (m *moment) enter(s State, note string) {
	m.rec.state = s
	m.rec.Audit = append(m.rec.Audit, Transition{State: s, Note: note, Principal: m.principal, Known: m.Known.Time()})
}

// may reports whether the state allows an action.
func (m *moment) may(action string) error { return m.rec.may(m.tenant, m.typ, action) }

func (r *record) may(tenant, typ, action string) error {
	allowed := r.allowed()
	if slices.Contains(allowed, action) {
		return nil
	}
	e := &StateError{Tenant: tenant, Type: typ, Action: action, State: Planned, Allowed: allowed}
	if r != nil {
		e.State, e.Paused = r.state, r.Paused
	}
	return e
}

// allowed are the actions that the state allows. Without a record only a plan can have been made.
func (r *record) allowed() []string {
	switch {
	case r == nil:
		return actions[Planned]
	case !r.Paused:
		return actions[r.state]
	}
	allowed := []string{actResume}
	if slices.Contains(actions[r.state], actRollback) {
		allowed = append(allowed, actRollback)
	}
	return allowed
}
