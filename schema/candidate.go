package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/internal/canon"
)

// Candidate is one entry of a model's answer.
type Candidate struct {
	// Delta is the change that the model proposes. Memory type and schema version are the form's; tenant, episode and known
	// time are never the model's to say: bring the episode along with From or FromID.
	Delta sgam.MemoryDelta
	// Unsure says that the model chose was_always and gave no evidence, or no start. Nobody can rewrite the past on that,
	// so Delta asserts, as now_is would.
	Unsure bool
	// Err says why the entry is no delta: a [*sgam.ValidationError] with paths from the root of the answer
	// ("candidates/3/statement/change"). Delta is empty then.
	Err error
}

// Decode reads a model's answer: the JSON that was written into the form. The candidates are in the order of the answer; one
// that cannot be read does not keep the others from being read. An answer that is no such object at all is a
// [*sgam.FieldError].
//
// What is read is not judged: attributes that do not exist, values outside their schema, an empty subject or a confidence
// of 7 are deltas, which [sgam.Tenant.Apply] rejects and lists. A null stands for what was left out, unless the value's own
// schema requires it. Evidence, reasoning, intent, what was compared and what is contradicted become the provenance.
func (f *Form) Decode(answer []byte) ([]Candidate, error) {
	entries, err := entriesOf(answer)
	if err != nil {
		return nil, err
	}
	out := make([]Candidate, len(entries))
	for i, raw := range entries {
		r := entryReader{form: f, at: fmt.Sprintf("%s/%d", fieldCandidates, i)}
		c := r.candidate(raw)
		if len(r.found) > 0 {
			c = Candidate{Err: &sgam.ValidationError{Code: "invalid", Faults: r.found}}
		}
		out[i] = c
	}
	return out, nil
}

// entriesOf splits an answer, without looking into its entries.
func entriesOf(answer []byte) ([]json.RawMessage, error) {
	want := `an object with nothing but the list "candidates"`
	if !json.Valid(answer) {
		return nil, &sgam.FieldError{Rule: "syntax", Want: "JSON: " + want}
	}
	dec := json.NewDecoder(bytes.NewReader(answer))
	var entries []json.RawMessage
	if brace, err := dec.Token(); err != nil || brace != json.Delim('{') {
		return nil, &sgam.FieldError{Rule: "type", Want: want}
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil || key != fieldCandidates || entries != nil {
			return nil, &sgam.FieldError{Rule: "unknown", Want: want}
		}
		if dec.Decode(&entries) != nil || entries == nil {
			return nil, &sgam.FieldError{Field: fieldCandidates, Rule: "type", Want: "a list"}
		}
	}
	if entries == nil {
		return nil, &sgam.FieldError{Field: fieldCandidates, Rule: "required", Want: "a list"}
	}
	return entries, nil
}

// entryReader reads one entry of an answer.
type entryReader struct {
	faults
	form *Form
	at   string
}

func (r *entryReader) candidate(raw json.RawMessage) Candidate {
	var c Candidate
	d := &c.Delta
	canonical, err := canon.Canonical(raw)
	if err != nil {
		r.malformed(err)
		return c
	}
	var statement json.RawMessage
	var from, to string
	r.read(canonical, r.at, map[string]any{
		fieldEvidence: &d.Provenance.Evidence, fieldCompared: &d.Provenance.Compared, fieldReasoning: &d.Provenance.Reasoning,
		fieldContradicts: &d.Provenance.Contradicts, fieldIntent: &d.Provenance.Intent, fieldSubject: &d.Subject,
		fieldStatement: &statement, fieldValidFrom: &from, fieldValidTo: &to, fieldConfidence: &d.Confidence,
	})
	d.ValidFrom, d.ValidTo = r.time(fieldValidFrom, from), r.time(fieldValidTo, to)
	if len(r.found) > 0 {
		return c
	}
	change := r.statement(statement, d)
	switch change {
	case nowIs:
		d.Op = sgam.Assert
	case wasAlways:
		d.Op = sgam.Correct
		if strings.TrimSpace(d.Provenance.Evidence) == "" || d.ValidFrom == nil {
			d.Op, c.Unsure = sgam.Assert, true
		}
	case noLonger:
		d.Op = sgam.End
	case neverWas:
		d.Op = sgam.Void
	default:
		r.add(r.at+"/"+fieldStatement+"/"+fieldChange, "enum", "one of "+strings.Join([]string{nowIs, wasAlways, noLonger, neverWas}, ", "))
	}
	return c
}

// malformed tells what the canonical form refuses. Inside the value the path ends: its keys are content.
func (r *entryReader) malformed(err error) {
	fe := sgam.FieldError{Field: r.at, Rule: "syntax", Want: "JSON"}
	if ce, ok := errors.AsType[*canon.Error](err); ok {
		fe.Rule, fe.Want = ce.Rule, ce.Want
		for i, name := range strings.Split(strings.TrimPrefix(ce.Pointer, "/"), "/") {
			if !isName(name) || i > 1 {
				break
			}
			fe.Field = join(fe.Field, name)
		}
	}
	r.found = append(r.found, fe)
}

// statement reads what changes, and returns the word for it.
func (r *entryReader) statement(raw json.RawMessage, d *sgam.MemoryDelta) (change string) {
	at := r.at + "/" + fieldStatement
	if raw == nil {
		r.add(at, "required", "an object with attribute, change and value")
		return nowIs
	}
	var value json.RawMessage
	var none string
	r.read(raw, at, map[string]any{fieldAttribute: &d.Attribute, fieldNoValueOf: &none, fieldChange: &change, fieldValue: &value})
	switch {
	case len(r.found) > 0:
		return nowIs // one fault is enough
	case d.Attribute == "":
		d.Attribute = none
	case none != "":
		r.add(at+"/"+fieldNoValueOf, "unique", "attribute or no_value_of, not both")
	}
	a, known := r.form.attributes[d.Attribute]
	if known {
		d.MemoryType, d.SchemaVersion = a.typ, a.version
	}
	if value == nil {
		return change
	}
	at += "/" + fieldValue
	if !r.form.typed {
		if value = r.fromText(value, a, at); value == nil {
			return change
		}
	}
	d.Value = r.withoutNulls(a.schema, value, at)
	return change
}

// fromText makes a value out of its text form; nil after a fault. The text of what is no known attribute stays text.
func (r *entryReader) fromText(raw json.RawMessage, a formAttribute, at string) json.RawMessage {
	var text string
	if json.Unmarshal(raw, &text) != nil {
		r.add(at, "type", "text")
		return nil
	}
	if base, _ := baseType(a.schema); a.schema == nil || base == "string" {
		return raw
	}
	value, err := canon.Canonical([]byte(text))
	if err != nil {
		r.add(at, "syntax", "JSON in the text: "+textForm(a.schema))
		return nil
	}
	return value
}

// read reads the members of an object into what the known names point to. A null is a member that was left out.
func (r *entryReader) read(raw json.RawMessage, at string, known map[string]any) {
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) != nil || members == nil {
		r.add(at, "type", "an object")
		return
	}
	for _, name := range sortedKeys(members) {
		into, ok := known[name]
		switch value := members[name]; {
		case !ok && isName(name):
			r.add(join(at, name), "unknown", "one of "+strings.Join(sortedKeys(known), ", "))
		case !ok: // a name that is none may be content
			r.add(at, "unknown", "one of "+strings.Join(sortedKeys(known), ", "))
		case string(value) == "null":
		case json.Unmarshal(value, into) != nil:
			want := "text"
			if name == fieldConfidence {
				want = "a number"
			}
			r.add(join(at, name), "type", want)
		}
	}
}

func (r *entryReader) time(name, text string) *time.Time {
	if text == "" {
		return nil
	}
	t, err := sgam.ParseTime(text, nil)
	if err != nil {
		r.add(r.at+"/"+name, "format", meansTime)
		return nil
	}
	return &t
}

// withoutNulls leaves out of a value the optional properties that are null. What no schema is known of stays as it is.
func (r *entryReader) withoutNulls(schema map[string]any, value json.RawMessage, at string) json.RawMessage {
	if schema == nil {
		return value
	}
	var v any
	err := json.Unmarshal(value, &v)
	if err == nil {
		value, err = canonical(leaveOut(schema, v))
	}
	if err != nil {
		r.add(at, "syntax", "JSON")
	}
	return value
}

func leaveOut(schema map[string]any, v any) any {
	switch v := v.(type) {
	case []any:
		items := asSchema(schema["items"])
		for i := range v {
			v[i] = leaveOut(items, v[i])
		}
	case map[string]any:
		if branches, ok := schema["oneOf"].([]any); ok {
			schema = branchOf(branches, v)
		}
		properties, _ := schema["properties"].(map[string]any)
		required, _ := schema["required"].([]any)
		for name, part := range v {
			if property, known := properties[name]; known && part == nil && !slices.Contains(required, any(name)) {
				delete(v, name)
			} else if known {
				v[name] = leaveOut(asSchema(property), part)
			}
		}
	}
	return v
}

// branchOf finds the branch of a tagged union that a value claims to be; nil when it claims none.
func branchOf(branches []any, v map[string]any) map[string]any {
	tag := discriminator(branches)
	for _, b := range branches {
		properties, _ := asSchema(b)["properties"].(map[string]any)
		if asSchema(properties[tag])["const"] == v[tag] {
			return asSchema(b)
		}
	}
	return nil
}
