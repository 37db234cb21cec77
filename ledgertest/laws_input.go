package ledgertest

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/sgam-ledger/sgam"
)

func inputLaws() []law {
	return []law{
		{"bad-input", "what is refused leaves its outcome and nothing else: no fact, no episode, no value", badInput},
		{"malformed-calls", "a call that cannot be decided is an error, and leaves nothing at all", malformedCalls},
		{"values-stay-hidden", "no error, receipt or outcome ever shows a value of a memory", valuesStayHidden},
		{"canonical-values", "equal values are equal however they are spelt, and come back in one form, byte for byte", canonicalValues},
		{"large-values", "a value of many megabytes is kept whole, a larger one than allowed is refused by size", largeValues},
		{"decode", "a model's JSON is read strictly: what it does not say clearly is not guessed", decodeLaw},
		{"episode-time", "a statement needs a time: its own or its episode's, never the moment of writing", episodeTime},
	}
}

// marker is a value that must not be seen outside of facts.
const marker = "hunter2-XYZZY"

// badDelta is a delta that must be rejected.
type badDelta struct {
	change func(*sgam.MemoryDelta)
	code   string
	field  string
}

func value(text string) func(*sgam.MemoryDelta) {
	return func(d *sgam.MemoryDelta) { d.Value = json.RawMessage(text) }
}

func badDeltas() map[string]badDelta {
	at7 := at(-7)
	return map[string]badDelta{
		"no JSON":                  {value(marker), "invalid", "value"},
		"JSON cut off":             {value(`{"a":"` + marker), "invalid", "value"},
		"text after the JSON":      {value(`1 "` + marker + `"`), "invalid", "value"},
		"a doubled key":            {value(`{"a":"` + marker + `","a":1}`), "invalid", "value"},
		"a doubled key, escaped":   {value(`{"a":"` + marker + `","\u0061":1}`), "invalid", "value"},
		"U+0000":                   {value(`"` + marker + `\u0000"`), "invalid", "value"},
		"invalid UTF-8":            {value("\"" + marker + "\xff\""), "invalid", "value"},
		"half a surrogate pair":    {value(`"` + marker + `\ud800"`), "invalid", "value"},
		"a number beyond doubles":  {value(`9007199254740993`), "invalid", "value"},
		"a doubled key that tells": {value(`{"` + marker + `":1,"` + marker + `":2}`), "invalid", "value"},
		"an infinite number":       {value(`{"n":1e999}`), "invalid", "value"},
		"too deep":                 {value(strings.Repeat("[", 129) + strings.Repeat("]", 129)), "invalid", ""},
		"much too deep":            {value(strings.Repeat(`{"a":`, 100000)), "invalid", ""},
		"null":                     {value(`null`), "invalid", "value"},
		"no value":                 {value(``), "invalid", "value"},
		"a value of an end":        {func(d *sgam.MemoryDelta) { d.Op = sgam.End }, "invalid", "value"},
		"another JSON type":        {func(d *sgam.MemoryDelta) { d.Attribute = "n" }, "schema", "value"},
		"no such attribute":        {func(d *sgam.MemoryDelta) { d.Attribute = "nowhere" }, "unknown_attribute", "attribute"},
		"no attribute":             {func(d *sgam.MemoryDelta) { d.Attribute = "" }, "invalid", "attribute"},
		"another case":             {func(d *sgam.MemoryDelta) { d.Attribute = "X" }, "unknown_attribute", "attribute"},
		"an attribute in bytes":    {func(d *sgam.MemoryDelta) { d.Attribute = "x\xff" }, "invalid", "attribute"},
		"a huge attribute":         {func(d *sgam.MemoryDelta) { d.Attribute = strings.Repeat("x", 1<<20) }, "invalid", "attribute"},
		"another memory type":      {func(d *sgam.MemoryDelta) { d.MemoryType = "other" }, "unknown_type", "memory_type"},
		"another version":          {func(d *sgam.MemoryDelta) { d.SchemaVersion = 2 }, "schema_version", "schema_version"},
		"a negative version":       {func(d *sgam.MemoryDelta) { d.SchemaVersion = -1 }, "invalid", "schema_version"},
		"no subject":               {func(d *sgam.MemoryDelta) { d.Subject = "" }, "invalid", "subject"},
		"a subject too long":       {func(d *sgam.MemoryDelta) { d.Subject = strings.Repeat("é", 257) }, "invalid", "subject"},
		"a line break":             {func(d *sgam.MemoryDelta) { d.Subject = "a\nb" }, "invalid", "subject"},
		"a C1 control":             {func(d *sgam.MemoryDelta) { d.Subject = "a\u0085b" }, "invalid", "subject"},
		"a subject in bytes":       {func(d *sgam.MemoryDelta) { d.Subject = "\xc3" }, "invalid", "subject"},
		"a scope too long":         {func(d *sgam.MemoryDelta) { d.Scope = sgam.Scope(strings.Repeat("x", 513)) }, "invalid", "scope"},
		"no operation":             {func(d *sgam.MemoryDelta) { d.Op = "" }, "invalid", "op"},
		"an operation of sweeps":   {func(d *sgam.MemoryDelta) { d.Op = sgam.Expire }, "invalid", "op"},
		"withdraw as a delta":      {func(d *sgam.MemoryDelta) { d.Op = sgam.Withdraw }, "invalid", "op"},
		"confidence of 2":          {func(d *sgam.MemoryDelta) { d.Confidence = new(2.0) }, "invalid", "confidence"},
		"confidence below 0":       {func(d *sgam.MemoryDelta) { d.Confidence = new(-0.1) }, "invalid", "confidence"},
		"confidence of no number":  {func(d *sgam.MemoryDelta) { d.Confidence = new(math.NaN()) }, "invalid", "confidence"},
		"an inverted interval":     {func(d *sgam.MemoryDelta) { d.ValidTo = &at7 }, "invalid", "valid_to"},
		"evidence in bytes":        {func(d *sgam.MemoryDelta) { d.Provenance.Evidence = "\xff" }, "invalid", "provenance/evidence"},
		"an unknown episode":       {func(d *sgam.MemoryDelta) { *d = d.FromID("nobody") }, "episode", "source_episode_id"},
		"two episodes":             {func(d *sgam.MemoryDelta) { d.EpisodeID = "other" }, "episode", "source_episode_id"},
		"an episode of no time":    {func(d *sgam.MemoryDelta) { d.Episode.OccurredAt = start.AddDate(-3000, 0, 0) }, "episode", "episode/occurred_at"},
		"an episode of no kind":    {func(d *sgam.MemoryDelta) { d.Episode.Kind = "rumour" }, "episode", "episode/kind"},
		"an episode in bytes":      {func(d *sgam.MemoryDelta) { d.Episode.Text = "\xff" }, "episode", "episode/text"},
		"a body that is no JSON":   {func(d *sgam.MemoryDelta) { d.Episode.Body = json.RawMessage(marker) }, "episode", "episode/body"},
	}
}

func badInput(b *bench) {
	t := b.tenant(b.ledger(Attribute{Name: "x"}, Attribute{Name: "n", Value: "integer"}), "t").As("bot")
	b.apply(t, say(sgam.Assert, "s", "x", "1", at(0), "first"), sgam.Applied)
	slot := sgam.Slot{Subject: "s", Attribute: "x"}
	rejected := 0
	for name, c := range badDeltas() {
		d := say(sgam.Assert, "s", "x", `"`+marker+`"`, at(0), "e of "+name)
		own := *d.Episode
		d.Episode = &own
		c.change(&d)
		r, err := t.Apply(b.Context(), d)
		if err != nil || r.Outcome != sgam.Rejected {
			b.Errorf("%s: want a rejected receipt, got %s and %v", name, r.Outcome, err)
			continue
		}
		rejected++
		if r.Code != c.code || c.field != "" && r.Faults[0].Field != c.field || r.Faults[0].Rule == "" {
			b.Errorf("%s: want code %q and field %q, got %q and %+v", name, c.code, c.field, r.Code, r.Faults)
		}
		b.fails(sgam.ErrRejected, r.Err())
		if !r.Memory.IsZero() {
			b.Errorf("%s: a rejected delta has a memory id", name)
		}
		b.same(name+": history", "1", counted(b, t.History(b.Context(), slot)))
		_, err = t.Episode(b.Context(), "e of "+name)
		b.fails(sgam.ErrNotFound, err)
		last, n := sgam.OutcomeRecord{}, 0
		for o, err := range t.Outcomes(b.Context(), sgam.Rejected) {
			b.ok(err)
			last = o
			n++
		}
		b.same(name+": outcomes", fmt.Sprint(rejected), fmt.Sprint(n))
		if last.Code != r.Code || last.Pointer != "/"+r.Faults[0].Field || last.Principal != "bot" || !last.Known.Equal(r.Known) && !r.Known.IsZero() {
			b.Errorf("%s: the outcome %+v is not of the receipt %+v", name, last, r)
		}
		if !utf8.ValidString(last.Attribute) || len(last.Attribute) > 512 {
			b.Errorf("%s: an attribute name of %d bytes is kept as it came", name, len(last.Attribute))
		}
	}
	f, err := t.Current().Get(b.Context(), "s", "x")
	b.ok(err)
	b.same("value after all of it", "1", string(f.Value))
}

func malformedCalls(b *bench) {
	t := b.tenant(b.ledger(Attribute{Name: "x"}), "t")
	good := say(sgam.Assert, "s", "x", "1", at(0), "e1")
	noEpisode := good.FromID("")
	_, err := t.Apply(b.Context(), noEpisode)
	wantField(b, err, "source_episode_id")
	_, err = t.ApplyBatch(b.Context(), sgam.Batch{Deltas: []sgam.MemoryDelta{good, noEpisode}})
	wantField(b, err, "deltas/1/source_episode_id")
	_, err = t.ApplyBatch(b.Context(), sgam.Batch{Deltas: []sgam.MemoryDelta{good}, Episodes: []sgam.Episode{{ID: "e2", Kind: sgam.Message}}})
	wantField(b, err, "episodes/0/occurred_at")
	_, err = t.ApplyBatch(b.Context(), sgam.Batch{Deltas: []sgam.MemoryDelta{good}, KnownAt: new(at(0).AddDate(9000, 0, 0))})
	wantField(b, err, "known_at")
	_, err = t.As("a\nb").Apply(b.Context(), good)
	wantField(b, err, "principal")
	for _, w := range []sgam.Withdrawal{{}, {Episode: "e", Memory: sgam.MemoryID{1}}, {SourceID: "s"}, {SourceKind: sgam.File}, {Episode: "e", Reason: "\xff"}} {
		_, err = t.Withdraw(b.Context(), w)
		if _, ok := errors.AsType[*sgam.FieldError](err); !ok {
			b.Errorf("withdraw %+v: want a fault, got %v", w, err)
		}
	}
	b.same("outcomes", "0", counted(b, t.Outcomes(b.Context())))
	for _, id := range []string{"e1", "e2"} {
		_, err = t.Episode(b.Context(), id)
		b.fails(sgam.ErrNotFound, err)
	}
	_, err = t.Current().Get(b.Context(), "s", "nowhere")
	wantField(b, err, "attribute")
	_, err = t.Current().Get(b.Context(), "", "x")
	wantField(b, err, "subject")
	_, err = t.Current().In("a\nb").Get(b.Context(), "s", "x")
	wantField(b, err, "scope")
	wantField(b, firstError(t.Current().Facts(b.Context(), sgam.Filter{Types: []string{"nowhere"}})), "types")
	wantField(b, firstError(t.Current().Facts(b.Context(), sgam.Filter{Attributes: []string{"nowhere"}})), "attribute")
	b.fails(sgam.ErrEmptyInterval, firstError(t.Diff(b.Context(), at(1), at(0), sgam.Filter{})))
	receipts, err := t.ApplyBatch(b.Context(), sgam.Batch{})
	b.ok(err)
	b.same("receipts of an empty call", "0", fmt.Sprint(len(receipts)))
}

func wantField(b *bench, err error, field string) {
	b.Helper()
	fe, ok := errors.AsType[*sgam.FieldError](err)
	if !ok || fe.Field != field {
		b.Errorf("want a fault of %q, got %v", field, err)
	}
}

func valuesStayHidden(b *bench) {
	l := b.ledger(Attribute{Name: "x", Value: "string"}, Attribute{Name: "n", Value: "integer"}, Attribute{Name: "asked", Policy: sgam.ConfirmFirst},
		Attribute{Name: "fixed", Policy: sgam.Immutable}, Attribute{Name: "many", Many: true})
	t := b.tenant(l, "t")
	secret := `"` + marker + `"`
	var shown []string
	for i, d := range []sgam.MemoryDelta{
		say(sgam.Assert, "s", "x", secret, at(0), "e1"), say(sgam.Assert, "s", "n", secret, at(0), "e2"), say(sgam.Assert, "s", "asked", secret, at(0), "e3"),
		say(sgam.Assert, "s", "fixed", secret, at(0), "e4"), say(sgam.Assert, "s", "fixed", `"`+marker+`2"`, at(0), "e5"),
		say(sgam.Assert, "s", "many", secret, at(0), "e6"), say(sgam.End, "s", "x", secret, at(0), "e7"), say(sgam.Assert, "s", "nowhere", secret, at(0), "e8"),
		say(sgam.Assert, "s", "x", secret, at(0), "e1"), say(sgam.End, "s", "x", "", at(1), "e9"),
	} {
		d.IdempotencyKey = fmt.Sprint("k", i%3)
		r, err := t.Apply(b.Context(), d)
		text, jerr := json.Marshal(r)
		b.ok(jerr)
		shown = append(shown, fmt.Sprintf("%+v %s %v %v", r, text, err, r.Err()))
	}
	for o, err := range t.Outcomes(b.Context()) {
		shown = append(shown, fmt.Sprintf("%+v %v", o, err))
	}
	_, err := t.Current().Get(b.Context(), "s", "x")
	shown = append(shown, fmt.Sprint(err))
	_, err = t.Current().Get(b.Context(), "s", "many")
	shown = append(shown, fmt.Sprint(err))
	_, err = t.Decode(strings.NewReader(`{"op":"assert","value":` + secret + `,"valid_from":` + secret + `}`))
	shown = append(shown, fmt.Sprint(err))
	_, err = t.Decode(strings.NewReader(`{"op":` + secret + `,"confidence":` + secret + `}`))
	shown = append(shown, fmt.Sprint(err))
	if i := slices.IndexFunc(shown, func(s string) bool { return strings.Contains(s, marker) }); i >= 0 {
		b.Errorf("a value is shown in: %s", shown[i])
	}
	f, err := t.ValidAt(at(0)).Get(b.Context(), "s", "x")
	b.ok(err)
	b.same("the value itself", secret, string(f.Value))
}
