package ledgertest

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/sgam-ledger/sgam"
)

func miraContract(b *bench) {
	t := b.tenant(b.ledger(Attribute{Name: "passport_deadline", Value: "date"}), "acme")
	june := func(day, hour int) time.Time { return time.Date(2026, 6, day, hour, 0, 0, 0, time.UTC) }
	for _, e := range []struct {
		when        time.Time
		episode     sgam.Episode
		value, want string
	}{
		{june(1, 9), sgam.Episode{ID: "e1", Text: "Mira's passport must be renewed by 15 July."}, `"2026-07-15"`, "e1"},
		{june(3, 10), sgam.Episode{ID: "e2", Text: "Correction from the office: the deadline is now 30 June."}, `"2026-06-30"`, "e2"},
	} {
		b.clock.Set(e.when)
		e.episode.Kind, e.episode.OccurredAt = sgam.Message, e.when
		d := sgam.MemoryDelta{Op: sgam.Assert, Subject: "mira", Attribute: "passport_deadline", Value: json.RawMessage(e.value)}
		b.apply(t, d.From(e.episode), sgam.Applied)
	}
	read := func(v sgam.View) string {
		f, err := v.Get(b.Context(), "mira", "passport_deadline")
		b.ok(err)
		return fmt.Sprintf("%s from %s, valid from %s", f.Value, f.Episode, f.Valid.From.Format(time.RFC3339))
	}
	b.same("current", `"2026-06-30" from e2, valid from 2026-06-03T10:00:00Z`, read(t.Current()))
	b.same("on 2 June", `"2026-07-15" from e1, valid from 2026-06-01T09:00:00Z`, read(t.ValidAt(june(2, 0))))

	// What the ledger is for: looking for words finds the message that is no longer true.
	var episodes []sgam.Episode
	for _, id := range []string{"e2", "e1"} {
		e, err := t.Episode(b.Context(), id)
		b.ok(err)
		episodes = append(episodes, e)
	}
	b.same("a search by words", "e1", mostAlike("When must Mira's passport be renewed?", episodes).ID)
	b.same("the search for what only the other says", "e2", mostAlike("correction from the office", episodes).ID)
}

// mostAlike is the plainest search there is: the episode that has most words in common with the question.
func mostAlike(question string, episodes []sgam.Episode) sgam.Episode {
	words := func(text string) map[string]bool {
		found := map[string]bool{}
		for _, w := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
			found[w] = true
		}
		return found
	}
	asked := words(question)
	var best sgam.Episode
	most := 0
	for _, e := range episodes {
		n := 0
		for w := range words(e.Text) {
			if asked[w] {
				n++
			}
		}
		if n > most {
			best, most = e, n
		}
	}
	return best
}

// watched is an engine whose reads are noted, with the tenants that they were made for.
type watched struct {
	sgam.Store
	seen *sightings
}

// sightings are what was seen of an engine's calls.
type sightings struct {
	reads   []string
	tenants map[string]sgam.TenantID
}

func (w watched) Read(ctx context.Context, t sgam.TenantID, q *sgam.Query) (*sgam.Page, error) {
	w.seen.tenants[t.Name()] = t
	kind := "another query"
	if q.Kind == sgam.QueryPoint && len(q.Slots) == 1 {
		kind = fmt.Sprintf("the point of %s %q in %q, now %t", t.Name(), q.Slots[0].Subject, q.Slots[0].Scope, q.Now)
	}
	w.seen.reads = append(w.seen.reads, kind)
	return w.Store.Read(ctx, t, q)
}

// watch is a place whose engine is watched, with a key of its digests that is the same in every place.
func watch(p Place) (Place, *sightings) {
	seen := &sightings{tenants: map[string]sgam.TenantID{}}
	return func(ctx context.Context, opts *sgam.Options) (*sgam.Ledger, error) {
		own := *opts
		own.Keys = fixedKey{}
		l, err := p(ctx, &own)
		if err != nil {
			return nil, err
		}
		return sgam.New(ctx, watched{l.Store(), seen}, &own)
	}, seen
}

// fixedKey keeps the same secret for every ledger.
type fixedKey struct{}

func (fixedKey) Key(context.Context, string, bool) ([]byte, error) {
	return []byte("thirty-two bytes that are known.")[:32], nil
}

// exactLookup looks at what a question asks of the engine. That a question without a tenant cannot be written down is for
// the compiler: only a tenant's handle makes a view.
func exactLookup(b *bench) {
	place, seen := watch(b.fresh(b.TB))
	l := b.open(place, b.options(1, Attribute{Name: "passport_deadline"}, Attribute{Name: "passport_number"}))
	acme, other := b.tenant(l, "acme"), b.tenant(l, "other")
	first := b.apply(acme, say(sgam.Assert, "mira", "passport_deadline", `"2026-07-15"`, at(0), "e1"), sgam.Applied)
	b.clock.Advance(time.Hour)
	b.apply(acme, say(sgam.Assert, "mira", "passport_deadline", `"2026-06-30"`, at(2), "e2"), sgam.Applied)
	b.clock.Set(at(5))
	for _, c := range []struct {
		what, subject, attribute string
		view                     sgam.View
		want, read               string
	}{
		{"now", "mira", "passport_deadline", acme.Current(), `"2026-06-30"`, `the point of acme "mira" in "", now true`},
		{"about a day", "mira", "passport_deadline", acme.ValidAt(at(1)), `"2026-07-15"`, `the point of acme "mira" in "", now false`},
		{"about a day, as known once", "mira", "passport_deadline", acme.ValidAt(at(3)).KnownAt(first.Known), `"2026-07-15"`, `the point of acme "mira" in "", now false`},
		{"a subject that is alike", "Mira", "passport_deadline", acme.Current(), "unknown", `the point of acme "Mira" in "", now true`},
		{"an attribute that is alike", "mira", "passport_number", acme.Current(), "unknown", `the point of acme "mira" in "", now true`},
		{"before anything was true", "mira", "passport_deadline", acme.ValidAt(at(-1)), "unknown", `the point of acme "mira" in "", now false`},
		{"another scope", "mira", "passport_deadline", acme.Current().In("trip-7"), "unknown", `the point of acme "mira" in "trip-7", now true`},
		{"another tenant", "mira", "passport_deadline", other.Current(), "unknown", `the point of other "mira" in "", now true`},
	} {
		seen.reads = nil
		got, _, _ := strings.Cut(answer(c.view.Get(b.Context(), c.subject, c.attribute)), " ")
		b.same(c.what, c.want, got)
		b.same(c.what+": what was asked of the engine", c.read, strings.Join(seen.reads, "; "))
	}
	_, err := l.Tenant("")
	wantField(b, err, "tenant")
}

// inAFold speaks about the hour that clocks in Berlin show twice when summer time ends.
func inAFold(b *bench) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	b.ok(err)
	once := time.Date(2026, 10, 25, 0, 30, 0, 0, time.UTC).In(berlin)
	again := once.Add(time.Hour)
	if once.Format(time.DateTime) != again.Format(time.DateTime) {
		b.Fatalf("%s and %s are no fold", once, again)
	}
	place, opts := b.fresh(b.TB), b.options(1, Attribute{Name: "shift"})
	l := b.open(place, opts)
	t := b.tenant(l, "t")
	for i, when := range []time.Time{once, again} {
		b.clock.Set(when)
		d := sgam.MemoryDelta{Op: sgam.Assert, Subject: "s", Attribute: "shift", Value: json.RawMessage(fmt.Sprint(i))}
		b.apply(t, d.From(sgam.Episode{ID: fmt.Sprint("e", i), Kind: sgam.Message, OccurredAt: when}).Until(when.Add(time.Hour)), sgam.Applied)
	}
	deltas, err := t.Decode(strings.NewReader(`{"op":"assert","subject":"json","attribute":"shift","value":1,"source_episode_id":"e1",
		"valid_from":"2026-10-25T02:30:00+02:00","valid_to":"2026-10-25T02:30:00+01:00"}`))
	b.ok(err)
	b.apply(t, deltas[0], sgam.Applied)
	_, err = t.Decode(strings.NewReader(`{"op":"assert","valid_from":"2026-10-25T02:30:00"}`))
	wantField(b, err, "deltas/0/valid_from")
	b.ok(l.Close())

	t = b.tenant(b.open(place, opts), "t")
	for i, when := range []time.Time{once, again} {
		end := when.Add(time.Hour)
		for _, asked := range []time.Time{when, when.UTC(), end.Add(-time.Microsecond)} {
			f, err := t.ValidAt(asked).Get(b.Context(), "s", "shift")
			b.ok(err)
			b.same("the value at "+textOf(asked), fmt.Sprint(i), string(f.Value))
			b.same("its bounds", textOfInterval(sgam.Interval{From: when, To: &end}), textOfInterval(f.Valid))
			b.same("when it was learnt", textOf(when), textOf(f.RecordedAt))
		}
		e, err := t.Episode(b.Context(), fmt.Sprint("e", i))
		b.ok(err)
		b.same("when it happened", textOf(when), textOf(e.OccurredAt))
	}
	f, err := t.ValidAt(once).Get(b.Context(), "json", "shift")
	b.ok(err)
	b.same("bounds that came as text", textOfInterval(sgam.Interval{From: once, To: &again}), textOfInterval(f.Valid))
}
