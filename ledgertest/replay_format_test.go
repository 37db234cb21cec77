package ledgertest_test

import (
	"bytes"
	"compress/gzip"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/ledgertest"
)

const history = `{"recorded_at":"2026-01-01T00:00:00Z","op":"assert","subject":"s","attribute":"a","value":"x","valid_from":"2026-01-01","valid_to":null,"source":"one"}
{"recorded_at":"2026-01-02T00:00:00Z","op":"correct","subject":"s","attribute":"a","value":"y","valid_from":"2026-01-01","valid_to":null,"source":"two"}
{"recorded_at":"2026-01-02T00:00:00Z","op":"correct","subject":"s","attribute":"t.n","value":1.50,"valid_from":null,"valid_to":"2026-01-05","source":"three"}
{"recorded_at":"2026-01-03T00:00:00Z","op":"assert","subject":"s","attribute":"a","value":"x","valid_from":"2026-01-01","valid_to":null,"source":"one"}
{"recorded_at":"2026-01-04T00:00:00Z","op":"end","subject":"s","attribute":"a","valid_from":"2026-01-04T01:00:00+01:00","valid_to":null,"source":"four"}
{"recorded_at":"2026-01-05T00:00:00Z","op":"void","subject":"s","attribute":"t.n","value":null,"valid_from":"2026-01-02","valid_to":"2026-01-03","source":"four"}
`

func loaded(t *testing.T, facts string) (*sgam.Tenant, ledgertest.Load) {
	t.Helper()
	attributes, err := ledgertest.InferAttributes(t.Context(), strings.NewReader(facts))
	require.NoError(t, err)
	clock := ledgertest.NewClock(time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC))
	l := ledgertest.NewLedger(t, &sgam.Options{Schemas: ledgertest.NewSchemas(attributes...), Clock: clock.Now})
	tenant, err := l.Tenant("t")
	require.NoError(t, err)
	load, err := ledgertest.LoadFacts(t.Context(), tenant, strings.NewReader(facts), nil)
	require.NoError(t, err)
	return tenant, load
}

func TestAHistoryIsLoadedCallByCall(t *testing.T) {
	tenant, load := loaded(t, history)
	require.Equal(t, 6, load.Lines)
	require.Equal(t, 5, load.Calls)
	require.Equal(t, 4, load.Sources)
	require.Equal(t, map[sgam.Outcome]int{sgam.Applied: 6}, load.Outcomes)
	episode, err := tenant.Episode(t.Context(), "three")
	require.NoError(t, err)
	require.Equal(t, time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC), episode.OccurredAt)
}

func TestInferredTypesFollowTheNameAndTheJSONType(t *testing.T) {
	attributes, err := ledgertest.InferAttributes(t.Context(), strings.NewReader(history))
	require.NoError(t, err)
	require.Equal(t, []ledgertest.Attribute{
		{Name: "a", Type: "observed", Value: "string"}, {Name: "t.n", Type: "t", Value: "number"},
	}, attributes)

	_, err = ledgertest.InferAttributes(t.Context(), strings.NewReader(history+strings.Replace(strings.Split(history, "\n")[0], `"x"`, "7", 1)))
	require.ErrorContains(t, err, "line 7: attribute \"a\" holds a number here and a string in line 1")
}

func TestQuestionsAreComparedExactlyAndByType(t *testing.T) {
	tenant, _ := loaded(t, history)
	ask := func(subject, attribute, valid, known, expect, more string) string {
		return `{"subject":"` + subject + `","attribute":"` + attribute + `","valid_at":` + valid + `,"known_at":` + known +
			`,"kind":"k","expect":` + expect + more + "}\n"
	}
	for name, c := range map[string]struct {
		question string
		right    bool
	}{
		"a value":                       {ask("s", "a", `"2026-01-01"`, `"2026-01-01"`, `"x"`, ""), true},
		"another value":                 {ask("s", "a", `"2026-01-01"`, `"2026-01-01"`, `"y"`, ""), false},
		"the second before":             {ask("s", "a", `"2026-01-01"`, `"2026-01-01T23:59:59Z"`, `"x"`, ""), true},
		"the very second":               {ask("s", "a", `"2026-01-01"`, `"2026-01-02T00:00:00Z"`, `"y"`, ""), true},
		"said again by the same source": {ask("s", "a", `"2026-01-01"`, `"2026-01-03"`, `"x"`, `,"expect_source":"one"`), true},
		"another source":                {ask("s", "a", `"2026-01-01"`, `"2026-01-03"`, `"x"`, `,"expect_source":"two"`), false},
		"a source that is also good":    {ask("s", "a", `"2026-01-01"`, `"2026-01-03"`, `"x"`, `,"expect_source":"two","also_acceptable_sources":["one"]`), true},
		"a number, spelt otherwise":     {ask("s", "t.n", `"2026-01-01"`, "null", "15e-1", ""), true},
		"a number as text":              {ask("s", "t.n", `"2026-01-01"`, "null", `"1.5"`, ""), false},
		"absent is no value":            {ask("s", "a", "null", "null", "null", `,"expect_source":null`), true},
		"voided is no value":            {ask("s", "t.n", `"2026-01-02"`, "null", "null", ""), true},
		"unknown is no value":           {ask("s", "a", "null", `"2025-12-31"`, "null", ""), true},
		"an attribute of nothing":       {ask("s", "b", "null", "null", "null", ""), true},
		"a value where there is none":   {ask("s", "a", "null", "null", `"x"`, ""), false},
		"no value where there is one":   {ask("s", "a", `"2026-01-01"`, "null", "null", ""), false},
		"the end of an interval":        {ask("s", "t.n", `"2026-01-05"`, "null", "null", ""), true},
	} {
		t.Run(name, func(t *testing.T) {
			card, err := ledgertest.AskQuestions(t.Context(), tenant, strings.NewReader(c.question), nil)
			require.NoError(t, err)
			want := ledgertest.Score{Wrong: 1}
			if c.right {
				want = ledgertest.Score{Right: 1}
			}
			require.Equal(t, want, card.Kinds["k"], "%v", card.Wrong)
			require.Len(t, card.Wrong, want.Wrong)
		})
	}
}

func TestCompressedAndPlainHistoriesAreTheSame(t *testing.T) {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, err := w.Write([]byte(history))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	plain, err := ledgertest.InferAttributes(t.Context(), strings.NewReader(history))
	require.NoError(t, err)
	unpacked, err := ledgertest.InferAttributes(t.Context(), &packed)
	require.NoError(t, err)
	require.Equal(t, plain, unpacked)
}

func TestLinesThatAreNotOfTheFormatAreRefusedByNumber(t *testing.T) {
	first := strings.Split(history, "\n")[0]
	for name, c := range map[string]struct{ line, want string }{
		"no JSON":            {"nonsense", "line 2: not JSON"},
		"cut off":            {first[:40], "line 2: not JSON"},
		"a doubled field":    {strings.Replace(first, `"op"`, `"op":"void","op"`, 1), "line 2: not JSON that can be kept"},
		"an unknown field":   {strings.Replace(first, `"op"`, `"colour":1,"op"`, 1), "line 2"},
		"a field forgotten":  {strings.Replace(first, `"valid_to":null,`, "", 1), `line 2: field "valid_to" is missing`},
		"an unknown op":      {strings.Replace(first, "assert", "upsert", 1), `line 2: field "op"`},
		"no value":           {strings.Replace(first, `"x"`, "null", 1), `line 2: field "value" is missing`},
		"a value of an end":  {strings.Replace(first, "assert", "end", 1), `line 2: field "value"`},
		"no source":          {strings.Replace(first, `"one"`, `""`, 1), `line 2: field "source"`},
		"no offset":          {strings.Replace(first, "00Z", "00", 1), `line 2: field "recorded_at"`},
		"not in order":       {strings.Replace(first, "2026-01-01T", "2025-01-01T", 1), `line 2: field "recorded_at" is earlier`},
		"a number as a time": {strings.Replace(first, `"2026-01-01"`, "7", 1), "line 2"},
	} {
		t.Run(name, func(t *testing.T) {
			l := ledgertest.NewLedger(t, &sgam.Options{Schemas: ledgertest.NewSchemas(ledgertest.Attribute{Name: "a"})})
			tenant, err := l.Tenant("t")
			require.NoError(t, err)
			_, err = ledgertest.LoadFacts(t.Context(), tenant, strings.NewReader(first+"\n"+c.line), nil)
			require.ErrorContains(t, err, c.want)
			require.NotContains(t, err.Error(), `"x"`)
		})
	}
}

func TestRejectedStatementsAreCountedAndToldWithoutValues(t *testing.T) {
	l := ledgertest.NewLedger(t, &sgam.Options{Schemas: ledgertest.NewSchemas(ledgertest.Attribute{Name: "a", Value: "number"})})
	tenant, err := l.Tenant("t")
	require.NoError(t, err)
	load, err := ledgertest.LoadFacts(t.Context(), tenant, strings.NewReader(strings.Split(history, "\n")[0]), nil)
	require.NoError(t, err)
	require.Equal(t, map[sgam.Outcome]int{sgam.Rejected: 1}, load.Outcomes)
	require.Len(t, load.Refused, 1)
	require.Contains(t, load.Refused[0], "line 1: sgam: rejected (schema)")
}

const sequencedCase = `[{"name":"c","source":"s","licence":"l","overlaps_allowed":false,"steps":[
 {"op":"put","key":"k","value":1,"valid_from":null,"valid_to":null,"primitive":[{"op":"assert","key":"k","value":1,"valid_from":null,"valid_to":null}]},
 {"op":"put","key":"k","value":2,"valid_from":"2026-01-02","valid_to":"2026-01-01","expect_error":"reversed_period","primitive":[]},
 {"op":"retract","key":"k","valid_from":"2026-01-01","valid_to":"2026-01-02","primitive":[{"op":"retract","key":"k","valid_from":"2026-01-01","valid_to":"2026-01-02"}]}],
 "expect":[STATE]}]`

func TestCasesAreComparedByRowsAndByInstants(t *testing.T) {
	for name, c := range map[string]struct {
		state string
		right bool
	}{
		"rows":                  {`{"after_step":3,"rows_coalesced":[{"key":"k","value":1,"valid_from":null,"valid_to":"2026-01-01"},{"key":"k","value":1,"valid_from":"2026-01-02","valid_to":null}]}`, true},
		"rows of other keys":    {`{"after_step":3,"keys":["j"],"rows_coalesced":[]}`, true},
		"rows as known earlier": {`{"after_step":3,"known_step":1,"rows_coalesced":[{"key":"k","value":1,"valid_from":null,"valid_to":null}]}`, true},
		"rows before all steps": {`{"after_step":3,"known_step":0,"rows_coalesced":[]}`, true},
		"a row too few":         {`{"after_step":3,"rows_coalesced":[{"key":"k","value":1,"valid_from":null,"valid_to":"2026-01-01"}]}`, false},
		"another bound":         {`{"after_step":1,"rows_coalesced":[{"key":"k","value":1,"valid_from":null,"valid_to":"2026-01-01"}]}`, false},
		"another type":          {`{"after_step":1,"rows_coalesced":[{"key":"k","value":"1","valid_from":null,"valid_to":null}]}`, false},
		"values":                {`{"after_step":1,"valid_at":"2026-01-01","values":{"k":1}}`, true},
		"values that are gone":  {`{"after_step":3,"valid_at":"2026-01-01","values":{}}`, true},
		"values, as known then": {`{"after_step":3,"known_step":2,"valid_at":"2026-01-01","values":{"k":1}}`, true},
		"a value that is gone":  {`{"after_step":3,"valid_at":"2026-01-01","values":{"k":1}}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			l := ledgertest.NewLedger(t, &sgam.Options{Schemas: ledgertest.NewSchemas(ledgertest.CaseAttribute())})
			card, err := ledgertest.PlayCases(t.Context(), l, "f", strings.NewReader(strings.Replace(sequencedCase, "STATE", c.state, 1)), nil)
			require.NoError(t, err)
			require.Equal(t, ledgertest.Score{Right: 1}, card.Kinds["must_fail"])
			delete(card.Kinds, "must_fail")
			want := ledgertest.Score{Wrong: 1}
			if c.right {
				want = ledgertest.Score{Right: 1}
			}
			require.Equal(t, want, card.Total(), "%v", card.Wrong)
		})
	}
}

func TestCasesThatAreNotOfTheFormatAreRefused(t *testing.T) {
	good := `{"after_step":1,"rows_coalesced":[]}`
	for name, c := range map[string]struct{ text, want string }{
		"no list":             {`{}`, "not a list of cases, each an object with a name, steps and expect: it is not a list"},
		"steps of text":       {`[{"name":"c","steps":"none"}]`, `field "steps" is not a list`},
		"no primitive steps":  {strings.Replace(sequencedCase, `,"primitive":[]`, "", 1), `step 2: field "primitive" is missing`},
		"an unknown step":     {strings.Replace(sequencedCase, `{"op":"assert"`, `{"op":"merge"`, 1), "unknown primitive step"},
		"an unknown error":    {strings.Replace(sequencedCase, "reversed_period", "bad_luck", 1), "unknown class of error"},
		"a step too many":     {strings.Replace(sequencedCase, "STATE", `{"after_step":4,"rows_coalesced":[]}`, 1), "there is no step 4"},
		"known later":         {strings.Replace(sequencedCase, "STATE", `{"after_step":1,"known_step":2,"rows_coalesced":[]}`, 1), "there is no step 2"},
		"nothing to compare":  {strings.Replace(sequencedCase, "STATE", `{"after_step":1}`, 1), "rows_coalesced"},
		"values at no moment": {strings.Replace(sequencedCase, "STATE", `{"after_step":1,"values":{}}`, 1), "valid_at"},
	} {
		t.Run(name, func(t *testing.T) {
			l := ledgertest.NewLedger(t, &sgam.Options{Schemas: ledgertest.NewSchemas(ledgertest.CaseAttribute())})
			_, err := ledgertest.PlayCases(t.Context(), l, "f", strings.NewReader(strings.Replace(c.text, "STATE", good, 1)), nil)
			require.ErrorContains(t, err, c.want)
		})
	}
}
