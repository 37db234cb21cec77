package postgres

import (
	"bytes"
	"context"

	"github.com/sgam-ledger/sgam"
)

var (
	stRegistryRevision = named("registry_revision")
	stPrincipals       = named("principals")
	stEpisodeRefs      = named("episode_refs")
	stOutcomesByKey    = named("outcomes_by_key")
	stCandidatesByID   = named("candidates_by_memory")
	stNewestEpochs     = named("newest_epochs")
	stNewestMigration  = named("newest_migration")
)

// resolver resolves what one call names, and remembers the numbers of what it found for the write that follows. What it
// looked for and did not find is remembered with the number 0, so the write does not look again.
type resolver struct {
	*session
	state      tenantState
	owner      int
	call       *sgam.Call
	snapshot   *sgam.Snapshot
	targets    []*targetState
	slots      map[sgam.SlotKey]*slotState
	subjects   map[string]int64
	principals map[string]int64
	episodes   map[string]int64
	receipts   []*pendingReceipt
	selected   []int64 // slots of the selected facts, parallel to them
}

// slotState is a slot's row, and what changed in it.
type slotState struct {
	id, nextNumber, levels int64
	changed                bool
}

func newResolver(s *session, state tenantState) *resolver {
	return &resolver{
		session: s, state: state, slots: map[sgam.SlotKey]*slotState{}, subjects: map[string]int64{}, principals: map[string]int64{},
		episodes: map[string]int64{},
	}
}

// ask queues a question of the call. Without a tenant there is nothing to be asked of it.
func (r *resolver) ask(each func(row) error, st *statement, args ...any) {
	r.addFor(r.owner, each, st, args...)
}

// queue queues what the call asks, on behalf of an owner. Nearly all calls are resolved by it alone.
func (r *resolver) queue(owner int, call *sgam.Call) {
	r.owner, r.call = owner, call
	s := &sgam.Snapshot{
		Slots: make([]sgam.Standing, len(call.Targets)), Outcomes: make([]*sgam.StoredOutcome, len(call.Keys)),
		Episodes: make([]*sgam.EpisodeRef, len(call.Episodes)), Epochs: make([]sgam.Epoch, len(call.Types)),
	}
	r.snapshot = s
	r.ask(func(p row) error { s.Registry = p.int(0); return nil }, stRegistryRevision)
	for i := range call.Targets {
		r.queueTarget(&call.Targets[i], &s.Slots[i])
	}
	r.queuePrincipals([]string{call.Principal})
	r.queueEpisodes(call.Episodes, func(name string, ref *sgam.EpisodeRef) {
		for i, asked := range call.Episodes {
			if asked == name {
				s.Episodes[i] = ref
			}
		}
	})
	if len(call.Keys) > 0 {
		r.queueOutcomes()
	}
	if !call.Candidate.IsZero() {
		r.ask(func(p row) error { c := p.candidate(); s.Candidate = &c; return nil }, stCandidatesByID, r.tenant, [][]byte{call.Candidate[:]})
	}
	if call.Withdraw != nil {
		r.queueSelected(call.Withdraw)
	}
	r.queueVersions()
}

// finish asks what depends on the answers so far, and returns the snapshot.
func (r *resolver) finish(ctx context.Context) (*sgam.Snapshot, error) {
	if err := r.run(ctx); err != nil {
		return nil, err
	}
	s := r.snapshot
	s.LastKnown, s.LastSeq, s.LastFact = r.state.lastKnown, r.state.lastSeq, r.state.lastFact
	r.finishTargets()
	if err := r.finishReceipts(ctx); err != nil {
		return nil, err
	}
	if r.call.Withdraw != nil {
		if err := r.finishSelection(ctx); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// queuePrincipals looks principals up.
func (r *resolver) queuePrincipals(names []string) {
	for _, name := range names {
		r.principals[name] = 0
	}
	r.ask(func(p row) error { r.principals[p.text(0)] = p.int(1); return nil }, stPrincipals, r.tenant, names)
}

// queueEpisodes looks episodes up; found may be nil.
func (r *resolver) queueEpisodes(names []string, found func(string, *sgam.EpisodeRef)) {
	if len(names) == 0 {
		return
	}
	for _, name := range names {
		r.episodes[name] = 0
	}
	r.ask(func(p row) error {
		r.episodes[p.text(0)] = p.int(1)
		if found != nil {
			found(p.text(0), &sgam.EpisodeRef{Kind: sgam.EpisodeKind(p.text(2)), OccurredAt: p.instant(3), Digest: p.text(4)})
		}
		return nil
	}, stEpisodeRefs, r.tenant, names)
}

// queueOutcomes looks for earlier outcomes by their idempotency keys. Their receipts are rebuilt from the rows, as they
// stand now.
func (r *resolver) queueOutcomes() {
	r.ask(func(p row) error {
		found, fact := p.from(1).StoredOutcome()
		if !p.null(9) {
			found.Receipt.Outcome, found.Receipt.LostTo, fact = sgam.Outcome(p.text(9)), p.memories(11), p.int(10)
		}
		for i, key := range r.call.Keys {
			if bytes.Equal(p[0], blob(key)) {
				r.snapshot.Outcomes[i] = found
			}
		}
		if fact != 0 {
			r.receipts = append(r.receipts, &pendingReceipt{fact: fact, into: &found.Receipt})
		}
		return nil
	}, stOutcomesByKey, r.tenant, blobs(r.call.Keys))
}

// candidate decodes the fifteen columns of a candidate.
func (r row) candidate() sgam.Candidate {
	return sgam.Candidate{
		Memory: r.memory(2), Status: sgam.Outcome(r.text(3)), Slot: r.slot(4), Episode: r.text(8), Kind: sgam.EpisodeKind(r.text(9)),
		SourceID: r.text(10), Delta: r.bytes(11), Principal: r.text(12), KnownAt: r.instant(13), LostTo: r.memories(14),
	}
}

// queueVersions asks what the call wants to know of schema versions.
func (r *resolver) queueVersions() {
	if len(r.call.Types) > 0 {
		r.ask(func(p row) error {
			e := p.from(0).Epoch()
			for i, typ := range r.call.Types {
				if typ == e.Type {
					r.snapshot.Epochs[i] = e
				}
			}
			return nil
		}, stNewestEpochs, r.tenant, r.call.Types)
	}
	if r.call.Migration != "" {
		r.ask(func(p row) error {
			r.snapshot.Migration = &sgam.MigrationRecord{Type: r.call.Migration, Serial: p.int(0), State: p.text(1), Body: p.bytes(2)}
			return nil
		}, stNewestMigration, r.tenant, r.call.Migration)
	}
}
