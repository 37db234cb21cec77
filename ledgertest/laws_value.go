package ledgertest

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/sgam-ledger/sgam"
)

func canonicalValues(b *bench) {
	t := b.tenant(b.ledger(Attribute{Name: "x"}), "t")
	for i, c := range []struct {
		spellings []string
		kept      string
	}{
		{[]string{`{"b":1,"a":2}`, ` { "a" : 2 , "b" : 1 } `, `{"\u0061":2,"b":1.0}`}, `{"a":2,"b":1}`},
		{[]string{`1`, `1.0`, `1e0`, `10e-1`, `0.1e1`}, `1`},
		{[]string{`0`, `-0`, `0.0`, `-0e5`}, `0`},
		{[]string{`100000000000000000000`, `1e20`}, `100000000000000000000`},
		{[]string{`0.1`, `1e-1`}, `0.1`},
		{[]string{`"é"`, `"\u00e9"`}, `"é"`},
		{[]string{`"e\u0301"`}, "\"e\u0301\""},
		{[]string{`"😀"`, `"\ud83d\ude00"`}, `"😀"`},
		{[]string{`"\/\b\t"`, `"/\u0008\u0009"`}, `"/\b\t"`},
		{[]string{`[ ]`, `[]`}, `[]`},
		{[]string{`true`}, `true`},
		{[]string{`""`}, `""`},
		{[]string{`{"a":null}`}, `{"a":null}`},
	} {
		subject := fmt.Sprint("s", i)
		for k, text := range c.spellings {
			want := sgam.Confirmed
			if k == 0 {
				want = sgam.Applied
			}
			b.apply(t, say(sgam.Assert, subject, "x", text, at(0), fmt.Sprintf("e%d-%d", i, k)), want)
		}
		f, err := t.Current().Get(b.Context(), subject, "x")
		b.ok(err)
		b.same("value of "+c.spellings[0], c.kept, string(f.Value))
	}
	// What looks alike and is not equal.
	for i, text := range []string{`7`, `"7"`, `"007"`, `[7]`, `{"a":7}`, `true`, `"true"`, `"é"`, "\"e\u0301\"", `"a"`, `"A"`, `"a "`} {
		b.apply(t, say(sgam.Assert, "alike", "x", text, at(0), fmt.Sprint("f", i)), sgam.Applied)
	}
	b.same("history of what looks alike", "12", counted(b, t.History(b.Context(), sgam.Slot{Subject: "alike", Attribute: "x"})))
}

func largeValues(b *bench) {
	t := b.tenant(b.ledger(Attribute{Name: "x"}), "t")
	large := `"` + strings.Repeat("0123456789abcdef", 10<<20/16) + `"`
	b.apply(t, say(sgam.Assert, "s", "x", large, at(0), "e1"), sgam.Applied)
	f, err := t.Current().Get(b.Context(), "s", "x")
	b.ok(err)
	if string(f.Value) != large {
		b.Errorf("a value of %d bytes came back as %d bytes", len(large), len(f.Value))
	}
	tooLarge := say(sgam.Assert, "s", "x", `"`+strings.Repeat("x", 64<<20)+`"`, at(1), "e2")
	r := b.apply(t, tooLarge, sgam.Rejected)
	b.same("fault of a value that is too large", "value length", r.Faults[0].Field+" "+r.Faults[0].Rule)
}

func decodeLaw(b *bench) {
	t := b.tenant(b.ledger(Attribute{Name: "x"}), "t")
	good := `{"op":"assert","subject":"s","attribute":"x","value":{"a":[1,"2"]},"valid_from":"2026-06-03 12:00+02:00","valid_to":"2026-06-04",` +
		`"source_episode_id":"e1","expect_current":"none","episode":{"id":"e1","kind":"message","occurred_at":"2026-06-01T00:00:00Z"}}`
	for _, text := range []string{good, "[" + good + "]", good + "\n" + good, " \n" + good + "\n\n"} {
		deltas, err := t.Decode(strings.NewReader(text))
		b.ok(err)
		if len(deltas) != strings.Count(text, `"op"`) {
			b.Fatalf("%d deltas read of %d", len(deltas), strings.Count(text, `"op"`))
		}
		b.same("valid_from", "2026-06-03T10:00:00Z", textOf(*deltas[0].ValidFrom))
		b.same("valid_to", "2026-06-04T00:00:00Z", textOf(*deltas[0].ValidTo))
		if deltas[0].ExpectCurrent == nil || !deltas[0].ExpectCurrent.IsZero() {
			b.Error(`expect_current "none" is not a guard for none`)
		}
	}
	deltas, err := t.Decode(strings.NewReader(good))
	b.ok(err)
	b.apply(t, deltas[0], sgam.Applied)
	for name, c := range map[string]struct{ from, to, field string }{
		"no offset":          {"2026-06-03 12:00+02:00", "2026-06-03T12:00:00", "deltas/0/valid_from"},
		"a time in words":    {`"2026-06-04"`, `"yesterday"`, "deltas/0/valid_to"},
		"a number as a time": {`"2026-06-04"`, `1780000000`, "deltas/0/valid_to"},
		"an unknown field":   {`"op"`, `"colour":1,"op"`, "deltas/0/colour"},
		"a doubled field":    {`"op"`, `"op":"end","op"`, "deltas/0/op"},
		"a memory id":        {`"none"`, `"m1"`, "deltas/0/expect_current"},
		"an episode's time":  {"2026-06-01T00:00:00Z", "2026-06-01T00:00:00", "deltas/0/episode/occurred_at"},
		"a subject's type":   {`"subject":"s"`, `"subject":7`, "deltas/0/subject"},
		"not an object":      {good, `"assert"`, "deltas/0"},
		"cut off":            {`}}`, `}`, "deltas/0"},
	} {
		_, err := t.Decode(strings.NewReader(strings.Replace(good, c.from, c.to, 1)))
		fe, ok := errors.AsType[*sgam.FieldError](err)
		if !ok || fe.Field != c.field {
			b.Errorf("%s: want a fault of %q, got %v", name, c.field, err)
		}
	}
}

func episodeTime(b *bench) {
	t := b.tenant(b.ledger(Attribute{Name: "x"}), "t")
	b.clock.Advance(1000 * 24 * 60 * 60 * 1e9)
	d := sgam.MemoryDelta{Op: sgam.Assert, Subject: "s", Attribute: "x", Value: json.RawMessage("1")}
	r := b.apply(t, d.From(sgam.Episode{ID: "e1", Kind: sgam.Message, OccurredAt: at(1)}), sgam.Applied)
	if !r.Assumed {
		b.Error("the receipt does not say that valid_from was assumed")
	}
	b.same("reach", textOfInterval(sgam.Interval{From: at(1)}), textOfInterval(*r.Reach))
	d.Value = json.RawMessage("2")
	r = b.apply(t, d.FromID("e1"), sgam.Applied)
	b.same("reach from a stored episode", textOfInterval(sgam.Interval{From: at(1)}), textOfInterval(*r.Reach))
	if !r.Assumed {
		b.Error("the receipt does not say that a stored episode's time was assumed")
	}
	r = b.apply(t, d.From(sgam.Episode{ID: "e2", Kind: sgam.Message}), sgam.Rejected)
	b.same("fault", "episode/occurred_at required", r.Faults[0].Field+" "+r.Faults[0].Rule)
	// Recorded long after it was true: the two times differ, and can be asked for separately.
	f, err := t.ValidAt(at(1)).Get(b.Context(), "s", "x")
	b.ok(err)
	if !f.RecordedAt.After(f.Valid.From) {
		b.Errorf("recorded at %s, valid from %s", textOf(f.RecordedAt), textOf(f.Valid.From))
	}
	_, err = t.ValidAt(at(1)).KnownAt(at(2)).Get(b.Context(), "s", "x")
	b.fails(sgam.ErrUnknown, err)
}
