package ledgertest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/sgam-ledger/sgam"
)

// OneKey is a [sgam.KeyStore] in which every ledger has the same secret, for ledgers that are copied into one another.
type OneKey struct{}

// Key is the secret.
func (OneKey) Key(context.Context, string, bool) ([]byte, error) {
	return []byte("one key for every ledger of tests"), nil
}

// Copies plays one random history on a ledger that is copied into another: after the first half, and again after some more.
// Then both must answer alike, and go on alike: the rest of the history is played on both, with answers, outcomes and
// repeated deliveries compared. Both places must be new, and are opened with the key of [OneKey].
func Copies(tb testing.TB, seed uint64, steps int, from, to Place, transfer func(ctx context.Context, from, to *sgam.Ledger) error) {
	tb.Helper()
	script := randomHistory(seed, steps)
	original, err := newPlayer(tb.Context(), withOneKey(from), seed)
	if err != nil {
		tb.Fatalf("seed %d: %v", seed, err)
	}
	tb.Cleanup(func() { original.close(tb) })
	l, err := withOneKey(to)(tb.Context(), &original.opts)
	if err != nil {
		tb.Fatalf("seed %d: open the copy: %v", seed, err)
	}
	again := original.over(withOneKey(to), l)
	tb.Cleanup(func() { again.close(tb) })
	play := func(first, last int, players ...*player) {
		tb.Helper()
		for number := first; number < last; number++ {
			var answers [][]string
			for _, p := range players {
				lines, err := p.play(number, script[number])
				if err != nil {
					tb.Fatalf("seed %d of %d steps, step %d: %v", seed, steps, number, err)
				}
				answers = append(answers, lines)
			}
			alike(tb, fmt.Sprintf("seed %d of %d steps, step %d (%s)", seed, steps, number, script[number].text()), answers...)
		}
	}
	for _, span := range [][2]int{{0, steps / 2}, {steps / 2, steps * 3 / 4}} {
		play(span[0], span[1], original)
		if err := transfer(tb.Context(), original.l, again.l); err != nil {
			tb.Fatalf("seed %d: copy after step %d: %v", seed, span[1], err)
		}
	}
	again.follow(original)
	surveyed := func(when string, told func(p *player) ([]string, error)) {
		tb.Helper()
		var answers [][]string
		for _, p := range []*player{original, again} {
			lines, err := told(p)
			if err != nil {
				tb.Fatalf("seed %d, %s: %v", seed, when, err)
			}
			answers = append(answers, lines)
		}
		alike(tb, fmt.Sprintf("seed %d of %d steps, %s", seed, steps, when), answers...)
	}
	surveyed("all that is kept, after the copy", func(p *player) ([]string, error) { return portrait(p.ctx, p.l) })
	surveyed("after the copy", (*player).survey)
	play(steps*3/4, steps, original, again)
	surveyed("at the end", (*player).survey) // ids differ from here on
}

func alike(tb testing.TB, what string, answers ...[]string) {
	tb.Helper()
	for _, other := range answers[1:] {
		if at, differ := firstDifference(answers[0], other); differ {
			tb.Fatalf("%s:\n  the original: %s\n  the copy:     %s", what, lineAt(answers[0], at), lineAt(other, at))
		}
	}
}

func withOneKey(p Place) Place {
	return func(ctx context.Context, opts *sgam.Options) (*sgam.Ledger, error) {
		own := *opts
		own.Keys = OneKey{}
		return p(ctx, &own)
	}
}

// over is the same player on a copy of its ledger.
func (p *player) over(at Place, l *sgam.Ledger) *player {
	own := *p
	own.place, own.l = at, l
	return &own
}

// follow takes over what another player has learned so far, and its time.
func (p *player) follow(other *player) {
	p.clock = NewClock(other.clock.Now())
	p.ids, p.names = maps.Clone(other.ids), maps.Clone(other.names)
	p.known, p.episodes = cloneLists(other.known), cloneLists(other.episodes)
}

func cloneLists[T any](lists map[string][]T) map[string][]T {
	out := make(map[string][]T, len(lists))
	for name, list := range lists {
		out[name] = slices.Clone(list)
	}
	return out
}

// portrait writes down all that a ledger keeps: every call, every layer of every slot, and what migrations have done.
func portrait(ctx context.Context, l *sgam.Ledger) ([]string, error) {
	types, err := l.Types(ctx)
	if err != nil {
		return nil, err
	}
	var lines []string
	for _, t := range types {
		lines = append(lines, fmt.Sprintf("%s@%d draft %t %s %s", t.Type, t.Version, t.Draft, t.JSON, lensText(t.Lens)))
	}
	for name, err := range l.Tenants(ctx) {
		if err != nil {
			return nil, err
		}
		t, err := l.Tenant(name)
		if err != nil {
			return nil, err
		}
		for call, err := range t.Calls(ctx, sgam.Beginning) {
			if err != nil {
				return nil, err
			}
			text, err := call.Canonical()
			if err != nil {
				return nil, err
			}
			lines = append(lines, fmt.Sprintf("%q %s", name, text))
		}
		migrations, err := t.Migrations(ctx)
		if err != nil {
			return nil, err
		}
		epochs, err := t.Epochs(ctx)
		if err != nil {
			return nil, err
		}
		lines = append(lines, fmt.Sprintf("%q %+v %+v", name, epochs, migrations))
		for err := range t.Verify(ctx) {
			lines = append(lines, err.Error())
		}
	}
	return lines, nil
}

func lensText(l *sgam.LensDocument) string {
	if l == nil {
		return "no lens"
	}
	return l.Hash
}
