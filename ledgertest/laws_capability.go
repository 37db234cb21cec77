package ledgertest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sgam-ledger/sgam"
)

// capabilityLaws are what the product promises to those who use it, by the numbers under which its capabilities are
// listed. Each number stands for one sentence that a user can rely on, whatever the engine.
func capabilityLaws() []law {
	return []law{
		{"G1-record-shape", "a stored fact tells whose it is, what it says, since when, from where and how long it is kept; what lacks a part is not stored", recordShape},
		{"G2-delta-is-a-candidate", "what a model proposes is seen by no read until the ledger accepted it, and is always answered", deltaIsACandidate},
		{"G3-raw-episode-first", "what was observed is kept even when nothing could be made of it, and every fact leads back to what was observed", rawEpisodeFirst},
		{"G5-validate-and-reject", "what breaks its schema is refused with a code and the place of the fault, counted, and can be listed later", validateAndReject},
		{"G6-supersession-is-one-transaction", "a new value closes the old one, is stored and is linked to it, or nothing of it happens, wherever the storage fails", supersessionIsOneTransaction},
		{"G7-correction-keeps-history", "a value that is no longer believed stays in the history, linked to the one that took its place", correctionKeepsHistory},
		{"G8-the-mira-contract", "after a deadline moved, the current one is answered, the earlier one is still answered about its days, and a search by words finds the stale message first", miraContract},
		{"G9-hints-decide-nothing", "a model's verdict that two memories contradict each other closes nothing: the ledger is the same with and without it", hintsDecideNothing},
		{"G10-exact-lookup", "a question about one attribute is one exact lookup inside its tenant, for now and for a point in time, and never falls back to something similar", exactLookup},
		{"G13-write-preparation", "type, subject, scope, retention class, kind of source and schema version are in the ledger itself, readable without the program that wrote them", writePreparation},
		{"G22-two-principals", "when two agents write one thing, both are named, the attribute's policy decides, and both statements are kept", twoPrincipals},
		{"G25-provenance-never-decides", "how a writer came to its statement is kept with it, word by word, and changes no decision", provenanceNeverDecides},
		{"G26-sixteen-writers", "sixteen writers of one value at once all succeed, and leave one chain in which each took the place of the one before", sixteenWriters},
		{"instant-in-a-fold", "an hour that clocks show twice is two hours: an instant in it comes back as the instant that it is", inAFold},
		{"equal-statements-at-once", "of many who say the same at once one is the owner of the value, the others confirm it, and each one's source is kept", equalAtOnce},
	}
}

// filed is a delta with everything in it that a writer can say.
func filed(value, episode string, from time.Time) sgam.MemoryDelta {
	d := say(sgam.Assert, "mira", "passport.deadline", value, from, episode)
	d.Scope, d.MemoryType, d.SchemaVersion, d.Confidence, d.RetentionPolicy = "trip-7", "passport", 1, new(0.75), "documents-2y"
	return d
}

func recordShape(b *bench) {
	l := b.ledger(Attribute{Name: "passport.deadline", Value: "string", Retention: "documents"})
	t := b.tenant(l, "acme").As("agent-7")
	until := at(100)
	first := b.apply(t, filed(`"2026-07-15"`, "e1", at(0)).Until(until), sgam.Applied)
	b.clock.Advance(time.Hour)
	second := b.apply(t, filed(`"2026-06-30"`, "e2", at(2)).Until(until), sgam.Applied)
	f, err := t.ValidAt(at(3)).In("trip-7").Get(b.Context(), "mira", "passport.deadline")
	b.ok(err)
	text, err := json.Marshal(f)
	b.ok(err)
	var record map[string]any
	b.ok(json.Unmarshal(text, &record))
	for name, want := range map[string]any{
		"tenant_id": "acme", "memory_id": second.Memory.String(), "subject": "mira", "attribute": "passport.deadline", "value": "2026-06-30",
		"memory_type": "passport", "schema_version": 1.0, "valid_from": textOf(at(2)), "valid_to": textOf(until), "scope": "trip-7",
		"supersedes_memory_id": first.Memory.String(), "source_episode_id": "e2", "confidence": 0.75, "retention_policy": "documents-2y",
		"known_from": textOf(second.Known), "recorded_at": textOf(second.Known), "principal": "agent-7", "op": "assert",
	} {
		b.same(name, fmt.Sprint(want), fmt.Sprint(record[name]))
	}
	if _, open := record["known_to"]; open {
		b.Error("a belief that stands has an end")
	}
	slot := sgam.Slot{Scope: "trip-7", Subject: "mira", Attribute: "passport.deadline"}
	for was, err := range t.Believed(b.Context(), slot, at(3)) {
		b.ok(err)
		b.same("the belief that ended", textOfInterval(sgam.Interval{From: first.Known, To: &second.Known}), textOfInterval(was.Known))
		b.same("its memory", first.Memory.String(), was.Fact.ID.String())
		break
	}
	_, err = l.Tenant("")
	wantField(b, err, "tenant")
	for field, leaveOut := range map[string]func(*sgam.MemoryDelta){
		"subject":             func(d *sgam.MemoryDelta) { d.Subject = "" },
		"attribute":           func(d *sgam.MemoryDelta) { d.Attribute = "" },
		"value":               func(d *sgam.MemoryDelta) { d.Value = nil },
		"op":                  func(d *sgam.MemoryDelta) { d.Op = "" },
		"source_episode_id":   func(d *sgam.MemoryDelta) { d.Episode, d.EpisodeID = nil, "" },
		"episode/occurred_at": func(d *sgam.MemoryDelta) { d.Episode.OccurredAt = time.Time{} },
		"episode/kind":        func(d *sgam.MemoryDelta) { d.Episode.Kind = "" },
	} {
		d := filed(`"2026-01-01"`, "e3", at(4))
		leaveOut(&d)
		r, err := t.Apply(b.Context(), d)
		if err == nil {
			err = r.Err()
		}
		wantField(b, err, field)
		b.same("history without "+field, "2", counted(b, t.History(b.Context(), slot)))
		_, err = t.Episode(b.Context(), "e3")
		b.fails(sgam.ErrNotFound, err)
	}
	b.apply(t, filed(`"2026-01-01"`, "e3", at(4)), sgam.Applied) // with every part in its place it is stored
}

// proposed is a delta as a model writes it.
func proposed(b *bench, t *sgam.Tenant, attribute, value, more, episode string) sgam.MemoryDelta {
	b.Helper()
	deltas, err := t.Decode(strings.NewReader(fmt.Sprintf(`{"op":"assert","subject":"mira","attribute":%q,"value":%s,%s
		"valid_from":"2026-06-01","source_episode_id":%q,"episode":{"id":%q,"kind":"message","occurred_at":"2026-06-01T09:00:00Z"}}`,
		attribute, value, more, episode, episode)))
	b.ok(err)
	return deltas[0]
}

func deltaIsACandidate(b *bench) {
	t := b.tenant(b.ledger(Attribute{Name: "plain", Value: "integer"}, Attribute{Name: "sure", Policy: sgam.KeepHighestConfidence},
		Attribute{Name: "asked", Policy: sgam.ConfirmFirst}), "t")
	seen := func() string {
		var out []string
		for _, name := range []string{"plain", "sure", "asked"} {
			out = append(out, name+" "+answer(t.Current().Get(b.Context(), "mira", name))+", history "+
				counted(b, t.History(b.Context(), sgam.Slot{Subject: "mira", Attribute: name})))
		}
		return strings.Join(append(out, "facts "+counted(b, t.Current().Facts(b.Context(), sgam.Filter{}))), "; ")
	}
	for _, step := range []struct {
		attribute, value, more, episode string
		want                            sgam.Outcome
		why                             string
		visible                         bool
	}{
		{"plain", "1", "", "e1", sgam.Applied, "", true},
		{"plain", "1", "", "e2", sgam.Confirmed, "", true},
		{"plain", "1", "", "e1", sgam.Duplicate, "", false},
		{"plain", `"one"`, "", "e3", sgam.Rejected, "schema /value", false},
		{"nowhere", "1", "", "e3", sgam.Rejected, "unknown_attribute /attribute", false},
		{"asked", "1", "", "e4", sgam.Pending, "", false},
		{"sure", "1", `"confidence":0.9,`, "e5", sgam.Applied, "", true},
		{"sure", "2", `"confidence":0.1,`, "e6", sgam.Disputed, "", false},
	} {
		what := fmt.Sprintf("%s %s of %s", step.attribute, step.value, step.episode)
		before := seen()
		b.clock.Advance(time.Minute)
		d := proposed(b, t, step.attribute, step.value, step.more, step.episode)
		_, err := t.Preview(b.Context(), sgam.Batch{Deltas: []sgam.MemoryDelta{d}})
		b.ok(err)
		b.same("seen of a candidate, "+what, before, seen())
		r := b.apply(t, d, step.want)
		if got := r.Code + " " + pointerOf(r); step.want == sgam.Rejected && got != step.why {
			b.Errorf("%s: want rejected for %s, got %s", what, step.why, got)
		}
		if changed := seen() != before; changed != step.visible {
			b.Errorf("%s, %s: what reads see has changed: %t\n  before %s\n  after  %s", what, r.Outcome, changed, before, seen())
		}
	}
	b.same("candidates that are held", "2", counted(b, t.Held(b.Context())))
}

// pointerOf is the JSON pointer of a receipt's first fault.
func pointerOf(r sgam.Receipt) string {
	if len(r.Faults) == 0 {
		return ""
	}
	return "/" + r.Faults[0].Field
}

func rawEpisodeFirst(b *bench) {
	place, opts := b.fresh(b.TB), b.options(1, Attribute{Name: "x"})
	l := b.open(place, opts)
	t := b.tenant(l, "t")
	told := func(e sgam.Episode) string {
		text, err := json.Marshal(e)
		b.ok(err)
		return string(text)
	}
	var kept []sgam.Episode
	for i, kind := range []sgam.EpisodeKind{sgam.Message, sgam.ToolResult, sgam.BusinessEvent, sgam.File, sgam.Ticket, sgam.UserConfirmation} {
		e := sgam.Episode{
			ID: "raw-" + string(kind), Kind: kind, SourceID: "source-1", OccurredAt: at(i), Session: "session-1", Thread: "thread-1",
			Sequence: int64(i + 1), Actor: "mira", Text: "what was seen", Body: json.RawMessage(`{"rows":[1,2]}`),
			Metadata: json.RawMessage(`{"call_id":"c1","tool":"search"}`),
		}
		kept = append(kept, e)
		if i%2 == 0 {
			b.ok(t.Record(b.Context(), e))
			continue
		}
		// An extraction that failed: the episode comes with a delta that nobody can use.
		receipts, err := t.ApplyBatch(b.Context(), sgam.Batch{
			Episodes: []sgam.Episode{e}, Deltas: []sgam.MemoryDelta{say(sgam.Assert, "s", "nowhere", "1", at(0), "").FromID(e.ID)},
		})
		b.ok(err)
		b.same("the delta of "+e.ID, string(sgam.Rejected), string(receipts[0].Outcome))
	}
	b.ok(l.Close())
	t = b.tenant(b.open(place, opts), "t")
	for _, e := range kept {
		got, err := t.Episode(b.Context(), e.ID)
		b.ok(err)
		b.same("an episode without facts", told(e), told(got))
	}
	b.apply(t, say(sgam.Assert, "s", "x", "1", at(0), "").FromID(kept[0].ID), sgam.Applied)
	r := b.apply(t, say(sgam.Assert, "s", "x", "2", at(1), "").FromID("nobody"), sgam.Rejected)
	b.same("a fact of no episode", "episode /source_episode_id", r.Code+" "+pointerOf(r))
	stranger := b.tenant(b.open(place, opts), "stranger")
	b.apply(stranger, say(sgam.Assert, "s", "x", "1", at(0), "").FromID(kept[0].ID), sgam.Rejected)

	for seed := range uint64(3) {
		p, err := newPlayer(b.Context(), b.fresh(b.TB), seed)
		b.ok(err)
		b.Cleanup(func() { p.close(b.TB) })
		for step, a := range randomHistory(seed, 40) {
			_, err := p.play(step, a)
			b.ok(err)
		}
		if facts := sourced(b, p); facts < 10 {
			b.Fatalf("seed %d: only %d facts", seed, facts)
		}
	}
}

// sourced looks the episode of every fact of a random history up, and counts the facts. Only a withdrawal has none.
func sourced(b *bench, p *player) int {
	b.Helper()
	facts := 0
	for _, name := range randomTenants {
		t := b.tenant(p.l, name)
		for _, slot := range randomSlots() {
			for e, err := range t.History(b.Context(), slot) {
				b.ok(err)
				if e.Fact.Op == sgam.Withdraw {
					continue
				}
				facts++
				if _, err := t.Episode(b.Context(), e.Fact.Episode); err != nil {
					b.Errorf("the episode %q of a fact: %v", e.Fact.Episode, err)
				}
			}
		}
	}
	return facts
}

func writePreparation(b *bench) {
	place := b.fresh(b.TB)
	schemas := NewSchemas(Attribute{Name: "passport.deadline", Tag: 1, Retention: "documents"}, Attribute{Name: "diet.allergy", Many: true, Retention: "health"})
	opts := b.options(1)
	opts.Schemas = schemas
	l := b.open(place, opts)
	t := b.tenant(l, "t")
	allergy := say(sgam.Assert, "mira", "diet.allergy", `"nuts"`, at(0), "e1")
	allergy.Scope, allergy.Episode.Kind = "trip-7", sgam.ToolResult
	b.apply(t, allergy, sgam.Applied)
	deadline := say(sgam.Assert, "mira", "passport.deadline", `"2026-07-15"`, at(0), "e2")
	deadline.Episode.Kind = sgam.Ticket
	b.apply(t, deadline, sgam.Applied)
	own := say(sgam.Assert, "tom", "passport.deadline", `"2026-08-01"`, at(0), "e3")
	own.RetentionPolicy = "documents-2y"
	b.apply(t, own, sgam.Applied)
	// The program moves on: a new version, under which the class of what is written from now on is another.
	b.ok(l.Register(b.Context(), schemas.Next("passport", Attribute{Name: "passport.deadline", Tag: 1, Retention: "short"})))
	late := say(sgam.Assert, "ada", "passport.deadline", `"2026-09-01"`, at(0), "e4")
	b.apply(t, late, sgam.Applied)
	b.ok(l.Close())

	bare := *opts
	bare.Schemas, bare.ReadOnly = nil, true
	t = b.tenant(b.open(place, &bare), "t")
	var got []string
	for f, err := range t.Current().In("", "trip-7").Facts(b.Context(), sgam.Filter{}) {
		b.ok(err)
		source, err := t.Episode(b.Context(), f.Episode)
		b.ok(err)
		got = append(got, fmt.Sprintf("%s %q.%s in %q, kept as %s, from a %s, version %d", f.MemoryType, f.Subject, f.Attribute, f.Scope,
			f.RetentionPolicy, source.Kind, f.SchemaVersion))
	}
	slices.Sort(got)
	b.same("what the ledger itself knows", `diet "mira".diet.allergy in "trip-7", kept as health, from a tool_result, version 1
passport "ada".passport.deadline in "", kept as short, from a message, version 2
passport "mira".passport.deadline in "", kept as documents, from a ticket, version 1
passport "tom".passport.deadline in "", kept as documents-2y, from a message, version 1`, strings.Join(got, "\n"))
}

func twoPrincipals(b *bench) {
	t := b.tenant(b.ledger(Attribute{Name: "plain"}, Attribute{Name: "sure", Policy: sgam.KeepHighestConfidence}), "t")
	planner, booker := t.As("planner"), t.As("booker")
	statement := func(attribute, value, episode string, confidence float64) sgam.MemoryDelta {
		d := say(sgam.Assert, "mira", attribute, value, at(0), episode)
		d.Confidence = &confidence
		return d
	}
	authors := func(attribute string) string {
		var out []string
		for e, err := range t.History(b.Context(), sgam.Slot{Subject: "mira", Attribute: attribute}) {
			b.ok(err)
			out = append(out, e.Fact.Principal+" "+string(e.Fact.Value))
		}
		return strings.Join(out, ", ")
	}
	first := b.apply(planner, statement("plain", `"Rome"`, "e1", 0.9), sgam.Applied)
	second := b.apply(booker, statement("plain", `"Oslo"`, "e2", 0.2), sgam.Applied)
	b.same("what the later one took the place of", first.Memory.String(), second.Supersedes.String())
	f, err := t.Current().Get(b.Context(), "mira", "plain")
	b.ok(err)
	b.same("the later one holds", `booker "Oslo"`, f.Principal+" "+string(f.Value))
	b.same("both are in the history", `planner "Rome", booker "Oslo"`, authors("plain"))

	strong := b.apply(planner, statement("sure", `"Rome"`, "e3", 0.9), sgam.Applied)
	weak := b.apply(booker, statement("sure", `"Oslo"`, "e4", 0.2), sgam.Disputed)
	f, err = t.Current().Get(b.Context(), "mira", "sure")
	b.ok(err)
	b.same("the surer one holds", `planner "Rome"`, f.Principal+" "+string(f.Value))
	for h, err := range t.Held(b.Context()) {
		b.ok(err)
		b.same("the one that lost", fmt.Sprint("booker ", weak.Memory, []sgam.MemoryID{strong.Memory}), fmt.Sprint(h.Principal, " ", h.Memory, h.LostTo))
	}
	var audit []string
	for o, err := range t.Outcomes(b.Context()) {
		b.ok(err)
		audit = append(audit, fmt.Sprint(o.Principal, " ", o.Outcome))
	}
	b.same("the audit", "planner applied, booker applied, planner applied, booker disputed", strings.Join(audit, ", "))
	if _, err := t.As("anna").Accept(b.Context(), weak.Memory); err != nil {
		b.Errorf("accept: %v", err)
	}
	b.same("accepted by a third, it stays its author's", `planner "Rome", booker "Oslo"`, authors("sure"))
}
