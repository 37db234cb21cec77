//go:build cgo

package sqlite

import (
	"database/sql/driver"
	"encoding/json"
	"fmt"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/internal/ritree"
)

var (
	stAddTenant       = named("add_tenant")
	stUpdateTenant    = named("update_tenant")
	stUpdateSlot      = named("update_slot")
	stAddCall         = named("add_call")
	stAddEpisode      = named("add_episode")
	stAddFact         = named("add_fact")
	stAddEncoding     = named("add_encoding")
	stAddValueNumber  = named("add_value_number")
	stCloseSegment    = named("close_segment")
	stOpenSegment     = named("open_segment")
	stAddReached      = named("add_reached")
	stCloseConfirmed  = named("close_confirmations")
	stAddConfirmation = named("add_confirmation")
	stAddSupersession = named("add_supersession")
	stCountPoint      = named("count_point")
	stUncountPoint    = named("uncount_point")
	stDropPoint       = named("drop_point")
	stKillPoints      = named("kill_points")
	stRaisePoints     = named("raise_points")
	stAddOutcome      = named("add_outcome")
	stAddCandidate    = named("add_candidate")
	stAddLostTo       = named("add_lost_to")
	stSettleCandidate = named("settle_candidate")
)

// writer writes the change of one call.
type writer struct {
	*resolver
	change     *sgam.Change
	snapshot   *sgam.Snapshot
	seq        int64
	principals map[string]int64
	key        []byte
}

// apply writes a change, whose slots and episodes the resolver has looked up.
func (r *resolver) apply(name string, call *sgam.Call, s *sgam.Snapshot, c *sgam.Change, key []byte) error {
	w := &writer{resolver: r, change: c, snapshot: s, seq: r.state.lastSeq + 1, principals: map[string]int64{}, key: key}
	if c.Known <= r.state.lastKnown {
		return fmt.Errorf("sgam: sqlite: known time %s is not later than %s", c.Known, r.state.lastKnown)
	}
	steps := []func() error{
		func() error { return w.begin(name, call.Principal) },
		w.addEpisodes, w.addFacts, w.closeSegments, w.openSegments, w.addReached, w.confirm, w.supersede, w.countPoints,
		w.turnPoints, w.addNumbers, w.addCandidates, w.settle, w.addOutcomes, w.addVersions, w.keepSlots,
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	r.state.lastKnown, r.state.lastSeq, r.state.lastFact = c.Known, w.seq, r.state.lastFact+int64(len(c.Facts))
	return nil
}

// begin writes the call itself, and the tenant when this is its first.
func (w *writer) begin(name, principal string) error {
	if w.tenant == 0 {
		p, err := w.one(stAddTenant, name, int64(sgam.Beginning))
		if err != nil {
			return err
		}
		w.state.id = p.int(0)
		w.tenant = w.state.id
	}
	by, err := w.principalID(principal)
	if err != nil {
		return err
	}
	return w.exec(stAddCall, w.tenant, w.seq, int64(w.change.Known), w.state.lastFact+int64(len(w.change.Facts)), by)
}

// keep writes the tenant's counters.
func (s *session) keep(t *tenantState) error {
	return s.exec(stUpdateTenant, t.id, int64(t.lastKnown), t.lastSeq, t.lastFact, t.nextSubject, t.nextSlot, t.nextEpisode,
		t.nextPrincipal)
}

func (w *writer) addEpisodes() error {
	if len(w.change.Episodes) != len(w.change.Digests) {
		return fmt.Errorf("sgam: sqlite: %d episodes with %d digests", len(w.change.Episodes), len(w.change.Digests))
	}
	for i := range w.change.Episodes {
		e := &w.change.Episodes[i]
		id := w.state.nextEpisode
		w.state.nextEpisode++
		w.episodes[e.ID] = id
		err := w.exec(stAddEpisode, w.tenant, id, e.ID, string(e.Kind), e.SourceID, e.OccurredAt.UnixMicro(), e.Session, e.Thread,
			e.Sequence, e.Actor, blob(w.change.Digests[i]), w.seq, e.Text, orNull(e.Body), orNull(e.Metadata))
		if err != nil {
			return err
		}
	}
	return nil
}

func (w *writer) addFacts() error {
	for i := range w.change.Facts {
		if err := w.addFact(&w.change.Facts[i], w.state.lastFact+int64(i)+1); err != nil {
			return err
		}
	}
	return nil
}

func (w *writer) addFact(f *sgam.NewFact, number int64) error {
	if f.Number != number || f.Reach.From != f.Asserted.From || f.KnownAt != w.change.Known {
		return fmt.Errorf("sgam: sqlite: fact %d does not follow from the call: %d is next", f.Number, number)
	}
	at, err := w.slot(f.Slot)
	if err != nil {
		return err
	}
	switch {
	case f.Value > at.nextNumber:
		return fmt.Errorf("sgam: sqlite: fact %d has value number %d where %d is next", number, f.Value, at.nextNumber)
	case f.Value == at.nextNumber:
		at.nextNumber, at.changed = f.Value+1, true
	}
	by, err := w.principalID(f.Principal)
	if err != nil {
		return err
	}
	var episode int64
	if f.Episode != "" {
		if episode, err = w.episodeID(f.Episode); err != nil {
			return err
		}
	}
	var provenance []byte
	if !f.Provenance.IsZero() {
		if provenance, err = json.Marshal(f.Provenance); err != nil {
			return fmt.Errorf("sgam: sqlite: provenance: %w", err)
		}
	}
	err = w.exec(stAddFact, w.tenant, f.Number, f.ID[:], at.id, string(f.Op), f.Value, int64(f.Asserted.From), int64(f.Asserted.To),
		int64(f.Reach.To), int64(f.KnownAt), int64(f.Ordinal), idOrNull(episode), by, numberOrNull(f.Confidence),
		int64(f.SchemaVersion), idOrNull(f.Supersedes), f.Retention, idOrNull(f.PartOf), idOrNull(f.Target), orNull(provenance))
	if err != nil || f.Encoded == nil {
		return err
	}
	return w.exec(stAddEncoding, w.tenant, f.Number, int64(f.SchemaVersion), f.Encoded, int64(f.KnownAt))
}

func (w *writer) closeSegments() error {
	for _, c := range w.change.Closed {
		at, err := w.slot(c.Slot)
		if err != nil {
			return err
		}
		node := ritree.Fork(c.KnownFrom, w.change.Known)
		p, err := w.one(stCloseSegment, w.tenant, at.id, int64(c.ValidFrom), int64(c.KnownFrom), node, int64(w.change.Known), c.ClosedBy)
		if err != nil {
			return err
		}
		if p == nil {
			return fmt.Errorf("sgam: sqlite: the segment from %s is not open", c.ValidFrom)
		}
		if level := ritree.Level(node); at.levels&level == 0 {
			at.levels |= level
			at.changed = true
		}
	}
	return nil
}

func (w *writer) openSegments() error {
	for _, o := range w.change.Opened {
		at, err := w.slot(o.Slot)
		if err != nil {
			return err
		}
		err = w.exec(stOpenSegment, w.tenant, at.id, int64(o.Valid.From), int64(o.Valid.To), int64(w.change.Known), o.Fact, o.OpenedBy)
		if err != nil {
			return err
		}
	}
	return nil
}

// addReached notes the slots whose segments the call changed without a fact of their own there.
func (w *writer) addReached() error {
	var own, noted map[sgam.SlotKey]bool
	note := func(key sgam.SlotKey) error {
		if own == nil {
			own, noted = map[sgam.SlotKey]bool{}, map[sgam.SlotKey]bool{}
			for i := range w.change.Facts {
				own[w.change.Facts[i].Slot] = true
			}
		}
		if own[key] || noted[key] {
			return nil
		}
		noted[key] = true
		at, err := w.slot(key)
		if err != nil {
			return err
		}
		return w.exec(stAddReached, w.tenant, w.seq, at.id)
	}
	for i := range w.change.Closed {
		if err := note(w.change.Closed[i].Slot); err != nil {
			return err
		}
	}
	for i := range w.change.Opened {
		if err := note(w.change.Opened[i].Slot); err != nil {
			return err
		}
	}
	return nil
}

func (w *writer) confirm() error {
	known := int64(w.change.Known)
	for _, u := range w.change.Unconfirm {
		at, err := w.slot(u.Slot)
		if err != nil {
			return err
		}
		if err := w.exec(stCloseConfirmed, w.tenant, at.id, known); err != nil {
			return err
		}
	}
	for _, c := range w.change.Confirmed {
		at, err := w.slot(c.Slot)
		if err != nil {
			return err
		}
		if err := w.exec(stAddConfirmation, w.tenant, at.id, c.Old, c.New, int64(c.Valid.From), int64(c.Valid.To), known); err != nil {
			return err
		}
	}
	return nil
}

func (w *writer) supersede() error {
	for _, x := range w.change.Superseded {
		at, err := w.slot(x.Slot)
		if err != nil {
			return err
		}
		err = w.exec(stAddSupersession, w.tenant, at.id, x.New, int64(x.Valid.From), x.Old, string(x.How), int64(x.Valid.To), int64(w.change.Known))
		if err != nil {
			return err
		}
	}
	return nil
}

func (w *writer) addNumbers() error {
	for _, n := range w.change.Numbers {
		at, err := w.slot(n.Slot)
		if err != nil {
			return err
		}
		if n.Number >= at.nextNumber {
			return fmt.Errorf("sgam: sqlite: value number %d, which no fact has", n.Number)
		}
		if err := w.exec(stAddValueNumber, w.tenant, at.id, blob(n.Digest), n.Number, w.seq); err != nil {
			return err
		}
	}
	return nil
}

func (w *writer) addCandidates() error {
	for i := range w.change.Candidates {
		c := &w.change.Candidates[i]
		at, err := w.slot(c.Slot)
		if err != nil {
			return err
		}
		episode, err := w.episodeID(c.Episode)
		if err != nil {
			return err
		}
		err = w.exec(stAddCandidate, w.tenant, w.seq, int64(c.Ordinal), c.Memory[:], string(c.Status), at.id, episode, orNull(c.Delta))
		if err != nil {
			return err
		}
		for position, id := range c.LostTo {
			p, err := w.one(stAddLostTo, w.tenant, w.seq, int64(c.Ordinal), int64(position), id[:])
			if err != nil {
				return err
			}
			if p == nil {
				return fmt.Errorf("sgam: sqlite: a candidate lost to memory %s, which is not stored", id)
			}
		}
	}
	return nil
}

func (w *writer) settle() error {
	for _, x := range w.change.Settled {
		p, err := w.one(stSettleCandidate, w.tenant, x.Memory[:], string(x.Status), w.seq, idOrNull(x.Fact))
		if err != nil {
			return err
		}
		if p == nil {
			return fmt.Errorf("sgam: sqlite: candidate %s is not held", x.Memory)
		}
	}
	return nil
}

func (w *writer) addOutcomes() error {
	for i := range w.change.Outcomes {
		o := &w.change.Outcomes[i]
		var memory driver.Value
		if o.Fact == 0 {
			memory = memoryOrNull(o.Memory)
		}
		err := w.exec(stAddOutcome, w.tenant, w.seq, int64(o.Ordinal), string(o.Outcome), orNull(o.Key), orNull(o.Payload),
			orNull(o.Digest), idOrNull(o.Fact), memory, o.Code, o.Pointer, string(o.Op), o.Attribute, flag(o.Assumed))
		if err != nil {
			return err
		}
	}
	return nil
}

// keepSlots writes the slots whose numbers or levels moved.
func (w *writer) keepSlots() error {
	for _, at := range w.slots {
		if !at.changed {
			continue
		}
		if err := w.exec(stUpdateSlot, w.tenant, at.id, at.nextNumber, at.levels); err != nil {
			return err
		}
		at.changed = false
	}
	return nil
}
