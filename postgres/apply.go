package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/internal/ritree"
)

var (
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
	stAddOutcome      = named("add_outcome")
	stAddCandidate    = named("add_candidate")
	stAddLostTo       = named("add_lost_to")
	stCheckLostTo     = named("check_lost_to")
	stSettleCandidate = named("settle_candidate")
)

// writer queues the change of one call.
type writer struct {
	*resolver
	change *sgam.Change
	seq    int64
	key    []byte
	fresh  []newSlot
	types  map[string]int64
	bulk   *bulk // nil for a call of ordinary size
}

// newSlot is a slot that the call makes.
type newSlot struct {
	key sgam.SlotKey
	at  *slotState
}

// apply queues a change. Nearly always the resolver has looked up all that it names.
func (r *resolver) apply(ctx context.Context, owner int, call *sgam.Call, s *sgam.Snapshot, c *sgam.Change, key []byte) error {
	w := &writer{resolver: r, change: c, seq: r.state.lastSeq + 1, key: key}
	if c.Known <= r.state.lastKnown {
		return fmt.Errorf("sgam: postgres: known time %s is not later than %s", c.Known, r.state.lastKnown)
	}
	if len(c.Episodes) != len(c.Digests) {
		return fmt.Errorf("sgam: postgres: %d episodes with %d digests", len(c.Episodes), len(c.Digests))
	}
	if r.large > 0 && len(c.Facts) >= r.large {
		w.bulk = newBulk()
	}
	r.owner = owner
	if err := w.lookUp(ctx, call.Principal); err != nil {
		return err
	}
	steps := []func() error{
		w.number, func() error { return w.begin(call.Principal) }, w.addEpisodes, w.addNames, w.addFacts, w.moveSegments, w.confirm,
		w.supersede, w.countPoints, func() error { return w.turnPoints(s) }, w.addNumbers, w.addCandidates, w.settle, w.addOutcomes,
		w.addVersions,
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	if err := w.bulk.fill(ctx, r.session); err != nil {
		return err
	}
	r.state.lastKnown, r.state.lastSeq, r.state.lastFact = c.Known, w.seq, r.state.lastFact+int64(len(c.Facts))
	return nil
}

// put queues one write of the call. In a large one the rows of a table go together, where the first of them would go: the
// writer takes the tables one after the other.
func (w *writer) put(st *statement, args ...any) {
	if w.bulk == nil || staging[st] == nil {
		w.addFor(w.owner, nil, st, args...)
		return
	}
	w.bulk.put(w.session, w.owner, st, args)
}

// begin writes the call itself.
func (w *writer) begin(principal string) error {
	w.put(stAddCall, w.tenant, w.seq, w.change.Known, w.state.lastFact+int64(len(w.change.Facts)), w.principalID(principal))
	return nil
}

func (w *writer) addEpisodes() error {
	for i := range w.change.Episodes {
		e := &w.change.Episodes[i]
		id := w.state.nextEpisode
		w.state.nextEpisode++
		w.episodes[e.ID] = id
		w.put(stAddEpisode, w.tenant, id, e.ID, string(e.Kind), e.SourceID, e.OccurredAt.UnixMicro(), e.Session, e.Thread, e.Sequence,
			e.Actor, blob(w.change.Digests[i]), w.seq, e.Text, orNull(e.Body), orNull(e.Metadata))
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
		return fmt.Errorf("sgam: postgres: fact %d does not follow from the call: %d is next", f.Number, number)
	}
	var episode int64
	if f.Episode != "" {
		var err error
		if episode, err = w.episodeID(f.Episode); err != nil {
			return err
		}
	}
	var provenance []byte
	if !f.Provenance.IsZero() {
		var err error
		if provenance, err = json.Marshal(f.Provenance); err != nil {
			return fmt.Errorf("sgam: postgres: provenance: %w", err)
		}
	}
	w.put(stAddFact, w.tenant, f.Number, f.ID, w.slots[f.Slot].id, string(f.Op), f.Value, f.Asserted.From, f.Asserted.To, f.Reach.To,
		f.KnownAt, f.Ordinal, idOrNull(episode), w.principalID(f.Principal), f.Confidence, f.SchemaVersion, idOrNull(f.Supersedes),
		f.Retention, idOrNull(f.PartOf), idOrNull(f.Target), orNull(provenance))
	if f.Encoded != nil {
		w.put(stAddEncoding, w.tenant, f.Number, f.SchemaVersion, f.Encoded, f.KnownAt)
	}
	return nil
}

// moveSegments closes and opens segments, and notes the slots whose segments the call changed without a fact of their own
// there.
func (w *writer) moveSegments() error {
	own := map[sgam.SlotKey]bool{}
	for i := range w.change.Facts {
		own[w.change.Facts[i].Slot] = true
	}
	note := func(key sgam.SlotKey) {
		if !own[key] {
			own[key] = true
			w.put(stAddReached, w.tenant, w.seq, w.slots[key].id)
		}
	}
	for _, c := range w.change.Closed {
		w.put(stCloseSegment, w.tenant, w.slots[c.Slot].id, c.ValidFrom, c.KnownFrom, ritree.Fork(c.KnownFrom, w.change.Known), w.change.Known,
			c.ClosedBy)
		note(c.Slot)
	}
	for _, o := range w.change.Opened {
		w.put(stOpenSegment, w.tenant, w.slots[o.Slot].id, o.Valid.From, o.Valid.To, w.change.Known, o.Fact, o.OpenedBy)
		note(o.Slot)
	}
	return nil
}

func (w *writer) confirm() error {
	for _, u := range w.change.Unconfirm {
		w.put(stCloseConfirmed, w.tenant, w.slots[u.Slot].id, w.change.Known)
	}
	for _, c := range w.change.Confirmed {
		w.put(stAddConfirmation, w.tenant, w.slots[c.Slot].id, c.Old, c.New, c.Valid.From, c.Valid.To, w.change.Known)
	}
	return nil
}

func (w *writer) supersede() error {
	for _, x := range w.change.Superseded {
		w.put(stAddSupersession, w.tenant, w.slots[x.Slot].id, x.New, x.Valid.From, x.Old, string(x.How), x.Valid.To, w.change.Known)
	}
	return nil
}

func (w *writer) addNumbers() error {
	for _, n := range w.change.Numbers {
		w.put(stAddValueNumber, w.tenant, w.slots[n.Slot].id, blob(n.Digest), n.Number, w.seq)
	}
	return nil
}

func (w *writer) addCandidates() error {
	for i := range w.change.Candidates {
		c := &w.change.Candidates[i]
		episode, err := w.episodeID(c.Episode)
		if err != nil {
			return err
		}
		w.put(stAddCandidate, w.tenant, w.seq, c.Ordinal, c.Memory, string(c.Status), w.slots[c.Slot].id, episode, orNull(c.Delta))
		for position, id := range c.LostTo {
			w.put(stAddLostTo, w.tenant, w.seq, c.Ordinal, position, id)
		}
		if len(c.LostTo) > 0 {
			w.put(stCheckLostTo, w.tenant, w.seq, c.Ordinal, len(c.LostTo))
		}
	}
	return nil
}

func (w *writer) settle() error {
	for _, x := range w.change.Settled {
		w.put(stSettleCandidate, w.tenant, x.Memory, string(x.Status), w.seq, idOrNull(x.Fact))
	}
	return nil
}

func (w *writer) addOutcomes() error {
	for i := range w.change.Outcomes {
		o := &w.change.Outcomes[i]
		var memory any
		if o.Fact == 0 {
			memory = memoryOrNull(o.Memory)
		}
		w.put(stAddOutcome, w.tenant, w.seq, o.Ordinal, string(o.Outcome), orNull(o.Key), orNull(o.Payload), orNull(o.Digest),
			idOrNull(o.Fact), memory, o.Code, o.Pointer, string(o.Op), o.Attribute, o.Assumed)
	}
	return nil
}

// episodeID is the number of an episode that is stored or was just written.
func (w *writer) episodeID(name string) (int64, error) {
	if id := w.episodes[name]; id != 0 {
		return id, nil
	}
	return 0, errors.New("sgam: postgres: a fact names an episode that is not stored")
}
