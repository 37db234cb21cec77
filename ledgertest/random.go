package ledgertest

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/sgam-ledger/sgam"
)

// The world of a random history is small, so that statements meet: few tenants, scopes, subjects and days.
var (
	randomTenants    = []string{"acme", "Acme", "acme "}
	randomScopes     = []sgam.Scope{"", "", "", "s1"}
	randomSubjects   = []string{"mira", "a.b \"c\""}
	randomKinds      = []sgam.EpisodeKind{sgam.Message, sgam.Message, sgam.ToolResult, sgam.Ticket, sgam.UserConfirmation}
	randomAttributes = []Attribute{
		{Name: "plain"},
		{Name: "sure", Policy: sgam.KeepHighestConfidence, Retention: "short"},
		{Name: "ranked", Policy: sgam.SourceRank, Ranks: []sgam.EpisodeKind{sgam.Ticket, sgam.ToolResult, sgam.Message}},
		{Name: "fixed", Policy: sgam.Immutable},
		{Name: "asked", Policy: sgam.ConfirmFirst},
		{Name: "set.many", Many: true, Aliases: []string{"set.alias"}},
		{Name: "set.parts", Many: true, Identity: "id"},
		{Name: "set.sure", Many: true, Policy: sgam.KeepHighestConfidence},
	}
	randomValues = []string{`1`, `"1"`, `true`, `{"b":[1,2.5],"a":"é"}`}
	randomParts  = []string{`{"id":1,"n":"x"}`, `{"id":1,"n":"y"}`, `{"id":"1"}`}
)

const randomDays = 10

// randomDay is an instant of the small world, the open start for day 0.
func randomDay(day int) time.Time {
	if day == 0 {
		return time.Time{}
	}
	return time.Date(2026, 5, day, 0, 0, 0, 0, time.UTC)
}

// history is a script that any ledger can play: it names earlier statements by their place in it, not by their ids.
type history []act

// act is one step of a history.
type act struct {
	tenant  string
	as      string
	advance time.Duration // of the clock, before the step; it may be negative
	reopen  bool
	// One of these.
	deltas   []draft
	preview  bool
	together bool
	record   *sgam.Episode
	withdraw *sgam.Withdrawal
	target   place // of a withdrawal of a memory, an acceptance or a refusal
	accept   bool
	decline  bool
}

// place is where an earlier statement stands in the script.
type place struct{ act, delta int }

// draft is a delta that may guard on an earlier statement.
type draft struct {
	sgam.MemoryDelta
	guard *place // nil is no guard; act -1 is "none"
}

// historian makes a history up.
type historian struct {
	rnd      *rand.Rand
	about    []Attribute
	subjects []string
	dense    bool // few values, many bounds, many statements in a call
	out      history
	said     []place
	episodes map[string][]sgam.Episode
}

// randomHistory makes up a history of so many steps. Two in three are about everything, the others about one slot, or one
// set, in which statements meet more often.
func randomHistory(seed uint64, steps int) history {
	h := &historian{
		rnd: random(seed, 2), about: randomAttributes, subjects: randomSubjects, episodes: map[string][]sgam.Episode{},
	}
	if seed%3 == 2 {
		h.about, h.subjects, h.dense = []Attribute{pick(h.rnd, randomAttributes)}, randomSubjects[:1], true
	}
	for range steps {
		h.out = append(h.out, h.act())
	}
	return h.out
}

// random is a source of chance that repeats itself: stream tells apart what one seed is used for.
func random(seed, stream uint64) *rand.Rand {
	return rand.New(rand.NewPCG(seed, stream)) //nolint:gosec // histories must repeat themselves, and keep no secret
}

func pick[T any](rnd *rand.Rand, from []T) T { return from[rnd.IntN(len(from))] }

// chance is true n times in a hundred.
func (h *historian) chance(n int) bool { return h.rnd.IntN(100) < n }

func (h *historian) act() act {
	a := act{tenant: randomTenants[min(h.rnd.IntN(8), 2)], as: pick(h.rnd, []string{"", "bot", "anna"})}
	switch {
	case h.chance(20):
		a.advance = 0
	case h.chance(10):
		a.advance = -time.Duration(h.rnd.IntN(5000)) * time.Millisecond
	default:
		a.advance = time.Duration(h.rnd.IntN(36*3600)) * time.Second
	}
	a.reopen = h.chance(4)
	switch n := h.rnd.IntN(100); {
	case n < 12 && len(h.said) > 0:
		h.undo(&a)
	case n < 20 && len(h.said) > 0:
		a.target = pick(h.rnd, h.said)
		a.tenant = h.out[a.target.act].tenant
		a.accept = h.chance(70)
		a.decline = !a.accept
	case n < 22:
		e := h.episode(a.tenant)
		a.record = &e
	case n < 27 && len(h.said) > 0:
		again := h.out[pick(h.rnd, h.said).act]
		a.tenant, a.deltas, a.together = again.tenant, again.deltas, again.together
	default:
		h.statements(&a)
	}
	return a
}

func (h *historian) statements(a *act) {
	n := 1
	if h.chance(25) || h.dense && h.chance(50) {
		n += 1 + h.rnd.IntN(4)
	}
	for range n {
		a.deltas = append(a.deltas, h.draft(a.tenant))
	}
	a.preview, a.together = h.chance(8), n > 1 && h.chance(25)
	if a.preview {
		return
	}
	for i := range a.deltas {
		h.said = append(h.said, place{len(h.out), i})
	}
}

// undo makes up a withdrawal.
func (h *historian) undo(a *act) {
	a.target = pick(h.rnd, h.said)
	a.tenant = h.out[a.target.act].tenant
	a.withdraw = &sgam.Withdrawal{Reason: pick(h.rnd, []string{"", "misheard"})}
	episodes := h.episodes[a.tenant]
	switch {
	case h.chance(15) && len(episodes) > 0:
		a.withdraw.Episode = pick(h.rnd, episodes).ID
	case h.chance(10):
		a.withdraw.SourceKind, a.withdraw.SourceID = pick(h.rnd, randomKinds), "crm"
	default:
		// Withdrawals are withdrawn too.
		h.said = append(h.said, place{len(h.out), 0})
	}
}

// episode makes up an episode, or says an earlier one again.
func (h *historian) episode(tenant string) sgam.Episode {
	if have := h.episodes[tenant]; len(have) > 0 && h.chance(25) {
		return pick(h.rnd, have)
	}
	e := sgam.Episode{
		ID: fmt.Sprintf("e%d", len(h.episodes[tenant])+1), Kind: pick(h.rnd, randomKinds), SourceID: pick(h.rnd, []string{"", "crm"}),
		OccurredAt: randomDay(1 + h.rnd.IntN(randomDays)), Text: "said",
	}
	h.episodes[tenant] = append(h.episodes[tenant], e)
	return e
}

// draft makes up a statement.
func (h *historian) draft(tenant string) draft {
	attribute := h.about[h.rnd.IntN(len(h.about)+4)%len(h.about)]
	d := draft{MemoryDelta: sgam.MemoryDelta{
		Op:    pick(h.rnd, []sgam.Op{sgam.Assert, sgam.Assert, sgam.Assert, sgam.Correct, sgam.Correct, sgam.End, sgam.Void}),
		Scope: pick(h.rnd, randomScopes), Subject: pick(h.rnd, h.subjects), Attribute: attribute.Name,
	}}
	h.value(&d.MemoryDelta, attribute)
	h.times(&d.MemoryDelta)
	if attribute.Policy == sgam.KeepHighestConfidence || h.chance(20) {
		confidence := float64(1+h.rnd.IntN(3)) / 4
		d.Confidence = &confidence
	}
	e := h.episode(tenant)
	d.MemoryDelta = d.From(e)
	if h.chance(10) {
		d.MemoryDelta = d.FromID(e.ID)
	}
	if h.chance(5) {
		d.IdempotencyKey = pick(h.rnd, []string{"k1", "k2"})
	}
	if h.chance(5) {
		d.RetentionPolicy = "long"
		d.Provenance = sgam.Provenance{Evidence: "said", Intent: "note", Reasoning: "because", Compared: "that", Contradicts: "yes"}
	}
	switch {
	case h.chance(5) && len(h.said) > 0:
		guard := pick(h.rnd, h.said)
		d.guard = &guard
	case h.chance(3):
		d.guard = &place{act: -1}
	}
	return d
}

func (h *historian) value(d *sgam.MemoryDelta, a Attribute) {
	states := d.Op == sgam.Assert || d.Op == sgam.Correct
	values := randomValues
	if a.Identity != "" {
		values = randomParts
	}
	switch {
	case states && h.chance(2): // forgotten: rejected
	case h.dense && (states || a.Many && h.chance(60)):
		d.Value = json.RawMessage(pick(h.rnd, values[:2]))
	case states, a.Many && h.chance(60):
		d.Value = json.RawMessage(pick(h.rnd, values))
	}
	if a.Aliases != nil && h.chance(30) {
		d.Attribute = a.Aliases[0]
	}
}

func (h *historian) times(d *sgam.MemoryDelta) {
	day := h.rnd.IntN(randomDays)
	if !h.chance(15) {
		from := randomDay(day)
		d.ValidFrom = &from
	}
	if h.chance(35) || h.dense && h.chance(50) {
		to := randomDay(max(1, day+h.rnd.IntN(randomDays-day+1))) // sometimes empty: rejected
		d.ValidTo = &to
	}
}
