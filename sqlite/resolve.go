//go:build cgo

package sqlite

import (
	"slices"

	"github.com/sgam-ledger/sgam"
)

var (
	stTenant         = named("tenant")
	stStanding       = named("standing")
	stAttributeSlots = named("attribute_slots")
	stOpenSegments   = named("open_segments")
	stBacking        = named("backing")
	stLivePoints     = named("live_points")
	stDeadPoints     = named("dead_points_of_number")
	stValueNumber    = named("value_number")
	stEpisodeRef     = named("episode_ref")
	stSlotLog        = named("slot_log")
)

// resolver resolves what one call names, and remembers the numbers of what it found for the write that follows.
type resolver struct {
	session
	state    tenantState
	slots    map[sgam.SlotKey]*slotState
	episodes map[string]int64
}

// tenantState is a tenant's row of counters.
type tenantState struct {
	id                int64 // 0 while the tenant has not been written
	lastKnown         sgam.Instant
	lastSeq, lastFact int64

	nextSubject, nextSlot, nextEpisode, nextPrincipal int64
}

// slotState is a slot's row, and what changed in it.
type slotState struct {
	id, nextNumber, levels int64
	changed                bool
}

// newTenantState is a tenant that has not been written.
func newTenantState() tenantState {
	return tenantState{lastKnown: sgam.Beginning, nextSubject: 1, nextSlot: 1, nextEpisode: 1, nextPrincipal: 1}
}

// load reads a tenant's counters.
func (s *session) load(tenant string) (tenantState, error) {
	p, err := s.one(stTenant, tenant)
	if err != nil || p == nil {
		return newTenantState(), err
	}
	return tenantState{
		id: p.int(0), lastKnown: p.instant(1), lastSeq: p.int(2), lastFact: p.int(3), nextSubject: p.int(4), nextSlot: p.int(5),
		nextEpisode: p.int(6), nextPrincipal: p.int(7),
	}, nil
}

// newResolver begins a call of a tenant.
func newResolver(s session, state tenantState) *resolver {
	s.tenant = state.id
	return &resolver{session: s, state: state, slots: map[sgam.SlotKey]*slotState{}, episodes: map[string]int64{}}
}

// snapshot resolves a call.
func (r *resolver) snapshot(call *sgam.Call) (*sgam.Snapshot, error) {
	s := &sgam.Snapshot{LastKnown: r.state.lastKnown, LastSeq: r.state.lastSeq, LastFact: r.state.lastFact}
	var err error
	if s.Registry, err = r.revision(); err != nil {
		return nil, err
	}
	s.Slots = make([]sgam.Standing, len(call.Targets))
	s.Outcomes = make([]*sgam.StoredOutcome, len(call.Keys))
	s.Episodes = make([]*sgam.EpisodeRef, len(call.Episodes))
	s.Epochs = make([]sgam.Epoch, len(call.Types))
	for i := range call.Targets {
		if err := r.target(&call.Targets[i], &s.Slots[i]); err != nil {
			return nil, err
		}
	}
	if r.tenant == 0 {
		return s, nil
	}
	for i, key := range call.Keys {
		found, err := r.outcome(key)
		if err != nil {
			return nil, err
		}
		s.Outcomes[i] = found
	}
	for i, id := range call.Episodes {
		p, err := r.one(stEpisodeRef, r.tenant, id)
		if err != nil {
			return nil, err
		}
		if p != nil {
			r.episodes[id] = p.int(0)
			s.Episodes[i] = &sgam.EpisodeRef{Kind: sgam.EpisodeKind(p.text(1)), OccurredAt: p.instant(2), Digest: string(p.bytes(3))}
		}
	}
	if !call.Candidate.IsZero() {
		c, err := r.candidate(call.Candidate)
		if err != nil {
			return nil, err
		}
		if c != nil {
			s.Candidate = &c.Candidate
		}
	}
	if call.Withdraw != nil {
		if err := r.selection(call.Withdraw, s); err != nil {
			return nil, err
		}
	}
	return s, r.versions(call, s)
}

// target resolves one target, with its members when they are asked for.
func (r *resolver) target(t *sgam.Target, s *sgam.Standing) error {
	if err := r.standing(t, s); err != nil {
		return err
	}
	if !t.Members || r.tenant == 0 {
		return nil
	}
	found, err := r.attributeSlots(t.Slot)
	if err != nil {
		return err
	}
	for _, f := range found {
		if f.member == "" {
			continue
		}
		member := *t
		member.Slot.Member, member.Digests, member.Members = f.member, nil, false
		var standing sgam.Standing
		if err := r.standing(&member, &standing); err != nil {
			return err
		}
		// A member that is not open in its window has nothing to stop.
		if len(standing.Open) > 0 {
			s.Members = append(s.Members, standing)
		}
	}
	return nil
}

// standing resolves the open state of one slot in a window.
func (r *resolver) standing(t *sgam.Target, s *sgam.Standing) error {
	*s = sgam.Standing{Slot: t.Slot, Window: t.Window, Next: sgam.Forever, NextNumber: 1, Numbers: make([]int64, len(t.Digests))}
	if r.tenant == 0 {
		return nil
	}
	p, err := r.one(stStanding, r.tenant, t.Slot.Subject, string(t.Slot.Scope), int64(t.Slot.Attribute), blob(t.Slot.Member),
		int64(t.Window.From))
	if err != nil || p == nil {
		return err
	}
	at := &slotState{id: p.int(0), nextNumber: p.int(1), levels: p.int(2)}
	r.slots[t.Slot] = at
	s.NextNumber = at.nextNumber
	if t.Points == sgam.NextPoint {
		for i := 3; i <= 4; i++ {
			if !p.null(i) {
				s.Next = min(s.Next, p.instant(i))
			}
		}
		s.Window.To = min(s.Window.To, s.Next)
	}
	if s.Open, err = r.open(t.Slot, at.id, s.Window); err != nil {
		return err
	}
	if t.Strength {
		for i := range s.Open {
			if err := r.backing(at.id, &s.Open[i], s.Window); err != nil {
				return err
			}
		}
	}
	for i, digest := range t.Digests {
		p, err := r.one(stValueNumber, r.tenant, at.id, blob(digest))
		if err != nil {
			return err
		}
		if p != nil {
			s.Numbers[i] = p.int(0)
		}
	}
	if t.Points == sgam.AllPoints {
		return r.points(at.id, s)
	}
	return nil
}

// open lists the open segments of a slot that overlap a window.
func (s *session) open(key sgam.SlotKey, id int64, window sgam.Span) ([]sgam.OpenSegment, error) {
	var found []sgam.OpenSegment
	err := s.each(func(p *running) error {
		found = append(found, p.from(0).Open(key))
		return nil
	}, stOpenSegments, s.tenant, id, int64(window.From), int64(window.To))
	return found, err
}

// backing adds the confirmations of its fact to an open segment.
func (r *resolver) backing(slot int64, o *sgam.OpenSegment, window sgam.Span) error {
	return r.each(func(p *running) error {
		o.Backing = append(o.Backing, sgam.Backing{
			Evidence: sgam.Evidence{Confidence: p.confidence(0), Kind: sgam.EpisodeKind(p.text(1))}, Valid: p.span(2), Elsewhere: p.int(4) != 0,
		})
		return nil
	}, stBacking, r.tenant, slot, o.Fact.Number, int64(window.From), int64(window.To))
}

// points adds the live points of the window, and the dead ones that the call can bring to life: those of its own values
// and of absence.
func (r *resolver) points(slot int64, s *sgam.Standing) error {
	add := func(p *running) error {
		s.Points = append(s.Points, sgam.Point{At: p.instant(0), Number: p.int(1), Facts: p.int(2)})
		return nil
	}
	from, to := int64(s.Window.From), int64(s.Window.To)
	if err := r.each(add, stLivePoints, r.tenant, slot, from, to); err != nil {
		return err
	}
	numbers := append([]int64{0}, s.Numbers...)
	slices.Sort(numbers)
	for _, number := range slices.Compact(numbers) {
		if err := r.each(add, stDeadPoints, r.tenant, slot, from, to, number); err != nil {
			return err
		}
	}
	return nil
}

// log is everything that the replay of a slot needs.
func (s *session) log(key sgam.SlotKey, id int64) (sgam.SlotLog, error) {
	log := sgam.SlotLog{Slot: key}
	var err error
	if log.Facts, err = s.logOf(key, id); err != nil {
		return log, err
	}
	if log.Open, err = s.open(key, id, sgam.Span{From: sgam.Beginning, To: sgam.Forever}); err != nil {
		return log, err
	}
	if key.Member == "" {
		return log, nil
	}
	set := key
	set.Member = ""
	p, err := s.one(stSlotOfKey, s.tenant, set.Subject, string(set.Scope), int64(set.Attribute), blob(set.Member))
	if err != nil || p == nil {
		return log, err
	}
	log.Set, err = s.logOf(set, p.int(0))
	return log, err
}

func (s *session) logOf(key sgam.SlotKey, id int64) ([]sgam.LoggedFact, error) {
	var facts []sgam.LoggedFact
	err := s.each(func(p *running) error {
		facts = append(facts, p.from(0).Logged(key))
		return nil
	}, stSlotLog, s.tenant, id)
	return facts, err
}
