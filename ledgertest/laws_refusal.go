package ledgertest

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/sgam-ledger/sgam"
)

// judged is a schema with rules of every sort for values of one type.
type judged struct{ *Schemas }

// Compile lets every value be an object with a country out of two, a year from 2000 on, and nothing else.
func (judged) Compile(doc sgam.TypeDocument) ([]sgam.AttributeSpec, error) {
	specs := make([]sgam.AttributeSpec, len(doc.Attributes))
	for i, a := range doc.Attributes {
		specs[i] = sgam.AttributeSpec{AttributeName: a, Policy: sgam.Supersede, Check: judgeVisa}
	}
	return specs, nil
}

func judgeVisa(value []byte) []sgam.FieldError {
	var fields map[string]any
	if err := json.Unmarshal(value, &fields); err != nil {
		return []sgam.FieldError{{Rule: "type", Want: "an object"}}
	}
	var faults []sgam.FieldError
	country, named := fields["country"]
	year, dated := fields["year"].(float64)
	switch {
	case !named:
		faults = append(faults, sgam.FieldError{Field: "country", Rule: "required"})
	case country != "IT" && country != "NO":
		faults = append(faults, sgam.FieldError{Field: "country", Rule: "enum"})
	}
	if dated && year < 2000 {
		faults = append(faults, sgam.FieldError{Field: "year", Rule: "range"})
	}
	for name := range fields {
		if name != "country" && name != "year" {
			faults = append(faults, sgam.FieldError{Field: name, Rule: "unknown"})
		}
	}
	return faults
}

// tally counts decisions as an observer of the ledger is told them.
type tally struct{ decided map[string]int }

func (o tally) Decided(_, attribute string, outcome sgam.Outcome, code string) {
	o.decided[strings.TrimSpace(fmt.Sprint(attribute, " ", outcome, " ", code))]++
}
func (tally) Read(string, sgam.QueryKind, int, time.Duration) {}
func (tally) Retried(string, int, error)                      {}
func (tally) Refused(string, error)                           {}

func validateAndReject(b *bench) {
	opts := b.options(1)
	counts := tally{map[string]int{}}
	opts.Schemas, opts.Observe = judged{NewSchemas(Attribute{Type: "travel", Name: "visa"})}, counts
	place := b.fresh(b.TB)
	l := b.open(place, opts)
	t := b.tenant(l, "t")
	b.apply(t, say(sgam.Assert, "mira", "visa", `{"country":"IT","year":2026}`, at(0), "good"), sgam.Applied)
	var want []string
	for i, c := range []struct {
		value  string
		change func(*sgam.MemoryDelta)
		why    string
	}{
		{`{"country":"IT"}`, func(d *sgam.MemoryDelta) { d.MemoryType = "rumour" }, "unknown_type /memory_type"},
		{`{"country":"IT"}`, func(d *sgam.MemoryDelta) { d.Attribute = "passport" }, "unknown_attribute /attribute"},
		{`{"country":"IT"}`, func(d *sgam.MemoryDelta) { d.SchemaVersion = 7 }, "schema_version /schema_version"},
		{`[]`, nil, "schema /value"},
		{`{"country":"FR"}`, nil, "schema /value/country"},
		{`{"country":"IT","year":1999}`, nil, "schema /value/year"},
		{`{"year":2026}`, nil, "schema /value/country"},
		{`{"country":"IT","colour":"red"}`, nil, "schema /value/colour"},
	} {
		d := say(sgam.Assert, "mira", "visa", c.value, at(1), fmt.Sprint("bad", i))
		if c.change != nil {
			c.change(&d)
		}
		r := b.apply(t, d, sgam.Rejected)
		b.same("why "+c.value+" is refused", c.why, r.Code+" "+pointerOf(r))
		if _, typed := errors.AsType[*sgam.FieldError](r.Err()); !typed {
			b.Errorf("%s: no typed error, but %v", c.value, r.Err())
		}
		want = append(want, c.why)
	}
	_, err := t.Decode(strings.NewReader(`{"op":"assert","subject":"mira","colour":"red"}`))
	wantField(b, err, "deltas/0/colour")
	b.ok(l.Close())
	again := b.tenant(b.open(place, opts), "t")
	var listed []string
	for o, err := range again.Outcomes(b.Context(), sgam.Rejected) {
		b.ok(err)
		listed = append(listed, o.Code+" "+o.Pointer)
	}
	b.same("listed later", strings.Join(want, "\n"), strings.Join(listed, "\n"))
	b.same("counted", "map[passport rejected unknown_attribute:1 visa applied:1 visa rejected schema:5 visa rejected schema_version:1 visa rejected unknown_type:1]", fmt.Sprint(counts.decided))
	b.same("facts", "1", counted(b, again.Current().Facts(b.Context(), sgam.Filter{})))
}
