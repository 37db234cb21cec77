package ledgertest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sgam-ledger/sgam"
)

// Equivalent plays one random history on several ledgers and compares everything that they answer: every receipt, and
// every read on a grid of valid and known times, half way through and at the end. All ledgers have the same clock; ids
// may differ, since an engine may decide a call twice. The places must be new; the ledgers are closed and opened again
// now and then. A failure names the seed, which together with the number of steps repeats the history.
func Equivalent(tb testing.TB, seed uint64, steps int, places ...Place) {
	tb.Helper()
	script := randomHistory(seed, steps)
	var players []*player
	for i, p := range places {
		one, err := newPlayer(tb.Context(), p, seed)
		if err != nil {
			tb.Fatalf("seed %d, ledger %d: %v", seed, i+1, err)
		}
		tb.Cleanup(func() { one.close(tb) })
		players = append(players, one)
	}
	for number, a := range script {
		answers := make([][]string, len(players))
		for i, p := range players {
			lines, err := p.play(number, a)
			if err == nil && (number == steps/2 || number == steps-1) {
				var more []string
				more, err = p.survey()
				lines = append(lines, more...)
			}
			if err != nil {
				tb.Fatalf("seed %d of %d steps, step %d, ledger %d: %v", seed, steps, number, i+1, err)
			}
			answers[i] = lines
		}
		for i := range players[1:] {
			if at, differ := firstDifference(answers[0], answers[i+1]); differ {
				tb.Fatalf("seed %d of %d steps, after step %d (%s):\n  ledger 1 (%s) answers %s\n  ledger %d (%s) answers %s\n%s",
					seed, steps, number, a.text(), players[0].engine(), lineAt(answers[0], at), i+2, players[i+1].engine(),
					lineAt(answers[i+1], at), toldSoFar(script[:number+1], a.tenant))
			}
		}
	}
}

func firstDifference(a, b []string) (int, bool) {
	for i := range max(len(a), len(b)) {
		if lineAt(a, i) != lineAt(b, i) {
			return i, true
		}
	}
	return 0, false
}

func lineAt(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return "nothing more"
}

// toldSoFar are the steps of one tenant: the others have no part in what went wrong there.
func toldSoFar(script history, tenant string) string {
	var b strings.Builder
	for i := range script {
		if script[i].tenant == tenant {
			fmt.Fprintf(&b, "  step %d: %s\n", i, script[i].text())
		}
	}
	return b.String()
}

// text tells one step in a line.
func (a *act) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%q %+v", a.tenant, a.advance)
	if a.reopen {
		b.WriteString(" reopen")
	}
	for _, d := range a.deltas {
		from, to := "episode", openEnd
		if d.ValidFrom != nil {
			from = textOf(*d.ValidFrom)
		}
		if d.ValidTo != nil {
			to = textOf(*d.ValidTo)
		}
		fmt.Fprintf(&b, "; %s %s %s.%s %s [%s, %s) %s", d.Op, d.Scope, d.Subject, d.Attribute, d.Value, from, to, d.EpisodeID)
		if d.guard != nil {
			fmt.Fprintf(&b, " guard %v", *d.guard)
		}
	}
	switch {
	case a.preview:
		b.WriteString(" (preview)")
	case a.together:
		b.WriteString(" (together)")
	case a.record != nil:
		b.WriteString("; record " + a.record.ID)
	case a.withdraw != nil:
		fmt.Fprintf(&b, "; withdraw %v %s%s", a.target, a.withdraw.Episode, a.withdraw.SourceKind)
	case a.accept, a.decline:
		fmt.Fprintf(&b, "; accept %t %v", a.accept, a.target)
	}
	return b.String()
}

// player plays a history on one ledger, and calls memories by their place in the history.
type player struct {
	ctx      context.Context
	place    Place
	opts     sgam.Options
	clock    *Clock
	l        *sgam.Ledger
	ids      map[place]sgam.MemoryID
	names    map[sgam.MemoryID]string
	known    map[string][]time.Time // by tenant
	episodes map[string][]string
}

func newPlayer(ctx context.Context, p Place, seed uint64) (*player, error) {
	one := &player{
		ctx: ctx, place: p, clock: NewClock(start), ids: map[place]sgam.MemoryID{}, names: map[sgam.MemoryID]string{},
		known: map[string][]time.Time{}, episodes: map[string][]string{},
	}
	one.opts = sgam.Options{Schemas: NewSchemas(randomAttributes...), Clock: one.clock.Now, Rand: IDs(seed)}
	var err error
	one.l, err = p(ctx, &one.opts)
	return one, err
}

// close lets the ledger prove itself first.
func (p *player) close(tb testing.TB) {
	tb.Helper()
	for err := range p.l.Verify(context.WithoutCancel(p.ctx)) {
		tb.Errorf("ledgertest: %v", err)
	}
	if err := p.l.Close(); err != nil {
		tb.Errorf("ledgertest: close: %v", err)
	}
}

func (p *player) engine() string { return p.l.Store().Engine() }

// play makes one step and tells what the ledger answered.
func (p *player) play(number int, a act) ([]string, error) { return p.playAt(place{act: number}, a) }

// playAt is play of a step whose first statement stands at a place in the history.
func (p *player) playAt(first place, a act) ([]string, error) {
	p.clock.Advance(a.advance)
	if a.reopen {
		err := p.l.Close()
		if err == nil {
			p.l, err = p.place(p.ctx, &p.opts)
		}
		if err != nil {
			return nil, err
		}
	}
	t, err := p.l.Tenant(a.tenant)
	if err != nil {
		return nil, err
	}
	t = t.As(a.as)
	var receipts []sgam.Receipt
	one := func(r sgam.Receipt, err error) ([]sgam.Receipt, error) {
		if err != nil {
			return nil, err
		}
		return []sgam.Receipt{r}, nil
	}
	switch {
	case a.record != nil:
		err = t.Record(p.ctx, *a.record)
		p.hear(a.tenant, a.record.ID)
	case a.withdraw != nil:
		w := *a.withdraw
		if w.Episode == "" && w.SourceID == "" {
			w.Memory = p.ids[a.target]
		}
		receipts, err = one(t.Withdraw(p.ctx, w))
	case a.accept:
		receipts, err = one(t.Accept(p.ctx, p.ids[a.target]))
	case a.decline:
		receipts, err = one(t.Decline(p.ctx, p.ids[a.target]))
	default:
		b := sgam.Batch{AllOrNothing: a.together}
		for _, d := range a.deltas {
			p.hear(a.tenant, d.EpisodeID)
			b.Deltas = append(b.Deltas, p.delta(d))
		}
		if a.preview {
			receipts, err = t.Preview(p.ctx, b)
		} else {
			receipts, err = t.ApplyBatch(p.ctx, b)
		}
	}
	if err != nil {
		return p.refusal(err)
	}
	if !a.preview {
		p.learn(first, a.tenant, receipts)
	}
	return p.receipts(t, receipts, a.preview)
}

// refusal tells an error that is an answer; any other ends the run.
func (p *player) refusal(err error) ([]string, error) {
	if ve, ok := errors.AsType[*sgam.ValidationError](err); ok {
		return []string{"error " + ve.Error()}, nil
	}
	if text, named := textOfError(err); named {
		return []string{text}, nil
	}
	return nil, err
}

func (p *player) delta(d draft) sgam.MemoryDelta {
	out := d.MemoryDelta
	if d.guard != nil {
		id := p.ids[*d.guard]
		out.ExpectCurrent = &id
	}
	return out
}

func (p *player) hear(tenant, episode string) {
	if !slices.Contains(p.episodes[tenant], episode) {
		p.episodes[tenant] = append(p.episodes[tenant], episode)
	}
}

// learn names the memories of a step.
func (p *player) learn(first place, tenant string, receipts []sgam.Receipt) {
	for i, r := range receipts {
		at := place{first.act, first.delta + i}
		if r.Memory.IsZero() {
			continue
		}
		p.ids[at] = r.Memory
		if _, named := p.names[r.Memory]; !named {
			p.names[r.Memory] = fmt.Sprintf("m%d.%d", at.act, at.delta)
		}
		if !r.Known.IsZero() && !slices.ContainsFunc(p.known[tenant], r.Known.Equal) {
			p.known[tenant] = append(p.known[tenant], r.Known)
		}
	}
}

// name is what a memory is called. One that no receipt named is called by what it takes back or displaced.
func (p *player) name(t *sgam.Tenant, id sgam.MemoryID) (string, error) {
	if id.IsZero() {
		return "none", nil
	}
	if name, ok := p.names[id]; ok {
		return name, nil
	}
	e, err := t.Memory(p.ctx, id)
	if err != nil {
		return "", fmt.Errorf("memory %s: %w", id, err)
	}
	other := e.Withdraws
	if other.IsZero() && len(e.Displaced) > 0 {
		other = e.Displaced[0].Memory
	}
	name, err := p.name(t, other)
	p.names[id] = fmt.Sprintf("%s(%s)@%s", e.Fact.Op, name, textOf(e.Fact.RecordedAt))
	return p.names[id], err
}
