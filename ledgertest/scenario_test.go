package ledgertest_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/ledgertest"
)

// play runs a scenario in memory.
func play(t *testing.T, text string) []ledgertest.Failure {
	t.Helper()
	s, err := ledgertest.ParseScenario("s", strings.NewReader(text))
	require.NoError(t, err)
	clock := ledgertest.NewClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	failures, err := s.Run(t.Context(), ledgertest.NewLedger(t, s.Options(clock)), clock)
	require.NoError(t, err)
	return failures
}

const told = `attribute many many
> 2026-01-01 e1 s.x = 1 as m1
> 2026-01-02 e2 s.x = 2 as m2
> 2026-01-03 e3 s.many = "a"
> 2026-01-03 e4 s.many = "b"
`

// Each wrong expectation is found, and told with what was asked, wanted and answered.
func TestWrongExpectationsAreFound(t *testing.T) {
	for name, c := range map[string]struct{ line, want, got string }{
		"a value":               {`? s.x => 3`, `3`, `2`},
		"a type":                {`? s.x => "2"`, `"2"`, `2`},
		"no value":              {`? s.x => unknown`, `unknown`, `2`},
		"a source":              {`? s.x => 2 from e1`, `2 from e1`, `2 from e2`},
		"a memory":              {`? s.x => 2 by m1`, `2 by m1`, `2 by m2`},
		"bounds":                {`? valid 2026-01-01 s.x => 1 over [2026-01-01, –)`, `1 over [2026-01-01T00:00:00Z, –)`, `1 over [2026-01-01T00:00:00Z, 2026-01-02T00:00:00Z)`},
		"an error":              {`? s.x => error many_valued`, `error many_valued`, `2`},
		"no error":              {`? s.many => 1`, `1`, `error many_valued`},
		"another error":         {`? s.many => error one_scope`, `error one_scope`, `error many_valued`},
		"a list too short":      {"? members s.many\n  \"a\"", `"a"`, "\"a\"\n         \"b\""},
		"a list too long":       {"? members s.many\n  \"a\"\n  \"b\"\n  \"c\"", "\"a\"\n         \"b\"\n         \"c\"", "\"a\"\n         \"b\""},
		"another member":        {"? members s.many\n  \"b\"\n  \"c\"", "\"b\"\n         \"c\"", "\"a\"\n         \"b\""},
		"an order":              {"? timeline s.x\n  [2026-01-02, –) 2\n  [2026-01-01, 2026-01-02) 1", "", ""},
		"nothing":               {`? history s.x => nothing`, `nothing`, "assert 1\n         assert 2"},
		"an outcome":            {`> 2026-01-04 e5 s.x = 2 => applied`, `applied`, `confirmed`},
		"an outcome left out":   {`> 2026-01-04 e2 s.x = 2 from 2026-01-02`, `applied`, `duplicate`},
		"a rejection left out":  {`> 2026-01-04 e5 s.x = 2 until 2026-01-04`, `applied`, `rejected invalid`},
		"a displaced region":    {`> 2026-01-04 e5 s.x = 3 => applied displaces m2 split [2026-01-04, –)`, `applied displaces m2 split [2026-01-04T00:00:00Z, –)`, `applied displaces m2 ended [2026-01-04T00:00:00Z, –)`},
		"nothing displaced":     {`> 2026-01-04 e5 s.x = 3 => applied displaces nothing`, `applied displaces nothing`, `applied displaces m2 ended [2026-01-04T00:00:00Z, –)`},
		"an error of a call":    {`> known 2026-01-01 e5 s.x = 3`, `a decision`, `error known_time`},
		"a call that decided":   {"> 2026-01-04 {\n e5 s.x = 3\n} => error known_time", `error known_time`, `a decision`},
		"an episode":            {`? episode e1 => file`, `file`, `message`},
		"the cause of a change": {`? diff 2026-01-01 2026-01-02 => s.x [2026-01-02, –) 1 -> 2 cause m1`, `s.x [2026-01-02T00:00:00Z, –) 1 -> 2 cause m1`, `s.x [2026-01-02T00:00:00Z, –) 1 -> 2 cause m2`},
	} {
		t.Run(name, func(t *testing.T) {
			failures := play(t, told+c.line+"\n")
			require.Len(t, failures, 1)
			require.Positive(t, failures[0].Line)
			require.Contains(t, told+c.line, failures[0].Asked)
			if c.want != "" {
				require.Equal(t, c.want, failures[0].Want)
				require.Equal(t, c.got, failures[0].Got)
			}
			require.Contains(t, failures[0].String(), "want")
		})
	}
}

func TestRightExpectationsAreNot(t *testing.T) {
	require.Empty(t, play(t, told+"? s.x => 2 by m2 from e2\n? members s.many\n  \"b\"\n  \"a\"\n? tenants => scenario\n? explain s.x => 2 principal \"\" parts 2\n"))
}

func TestLinesThatAreNoScenarioAreRefusedByNumber(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"an unknown beginning":  {"say hello", `s:1: a line begins with`},
		"a time without offset": {"\n> 2026-01-01T00:00 e1 s.x = 1", `s:2: want a time`},
		"a slot without a dot":  {"> 2026-01-01 e1 x = 1", `s:1: want subject.attribute`},
		"a value that is none":  {"> 2026-01-01 e1 s.x = one", `s:1: want a JSON value`},
		"a word too many":       {"> 2026-01-01 e1 s.x = 1 loudly", `s:1: unexpected "loudly"`},
		"an unknown clause":     {"? s.x => 1 sort of", `s:1: unknown clause "sort"`},
		"a clause twice":        {"? s.x => 1 from e1 from e2", `s:1: clause "from" is there twice`},
		"an interval":           {"? s.x => 1 over 2026", `s:1: want an interval`},
		"a bound":               {"? s.x => 1 over [soon, –)", `s:1: want a time or –`},
		"no answer":             {"? timeline s.x\n? s.x => 1", `s:2: the read of line 1 has no answer`},
		"no answer at the end":  {"? timeline s.x", `s:1: the read of line 1 has no answer`},
		"an indented line":      {"  [–, –) 1", `s:1: an indented line`},
		"an open call":          {"# a\n> 2026-01-01 {\n e1 s.x = 1", `s:2: the call that begins here has no }`},
		"a command in a call":   {"> 2026-01-01 {\n accept m1\n}", `s:2: a call with { } holds statements`},
		"an attribute twice":    {"attribute x\nattribute x", `s:2: attribute "x" is declared already`},
		"declared too late":     {"> 2026-01-01 e1 s.x = 1\nattribute x", `s:2: attribute "x" is declared already, or was written`},
		"an attribute's value":  {"attribute x value=money", `s:1: unknown value type "money"`},
		"an attribute's word":   {"attribute x nice", `s:1: unknown property "nice"`},
		"an episode's word":     {"> 2026-01-01 e1(mood=good) s.x = 1", `s:1: unknown property "mood"`},
		"an episode left open":  {"> 2026-01-01 e1(kind=file s.x = 1", `s:1:`},
		"a clock's word":        {"clock speed=2s", `s:1: unknown property "speed=2s"`},
		"a clock's duration":    {"clock jump=far", `s:1: want a duration`},
		"a withdrawal":          {"> 2026-01-01 withdraw everything", `s:1: want memory, episode or source`},
		"a displaced region":    {"> 2026-01-01 e1 s.x = 1 => applied displaces m1 gone [–, –)", `s:1: want replaced, ended`},
		"a valid instant":       {"? believed s.x => nothing", `s:1: want at TIME`},
		"a line without an end": {"? s.x => \"" + strings.Repeat("x", 2<<20), `s:1:`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ledgertest.ParseScenario("s", strings.NewReader(c.text))
			require.ErrorContains(t, err, c.want)
		})
	}
}

func TestAScenarioThatCannotGoOnSaysWhere(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"an unknown label":    {"> 2026-01-01 withdraw memory m7 => error not_found", `s:1: no statement was labelled "m7"`},
		"an unknown guard":    {"> 2026-01-01 e1 s.x = 1 expect m7 => rejected guard", `s:1: no statement was labelled "m7"`},
		"an unknown memory":   {"? memory m7 => error not_found", `s:1: no statement was labelled "m7"`},
		"a tenant of no name": {"tenant \"\"", `s:1:`},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := ledgertest.ParseScenario("s", strings.NewReader(c.text))
			require.NoError(t, err)
			clock := ledgertest.NewClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
			_, err = s.Run(t.Context(), ledgertest.NewLedger(t, s.Options(clock)), clock)
			require.ErrorContains(t, err, c.want)
		})
	}
}

func TestAClosedLedgerEndsARunUnlessItIsExpected(t *testing.T) {
	s, err := ledgertest.ParseScenario("s", strings.NewReader("> 2026-01-01 e1 s.x = 1 => error closed\n? s.x => error closed\n? s.x => 1"))
	require.NoError(t, err)
	clock := ledgertest.NewClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	l, err := sgam.New(t.Context(), ledgertest.NewStore(nil), s.Options(clock))
	require.NoError(t, err)
	tenant, err := l.Tenant("t")
	require.NoError(t, err)
	require.NotNil(t, tenant)
	require.NoError(t, l.Close())
	_, err = s.Run(t.Context(), l, clock)
	require.ErrorIs(t, err, sgam.ErrClosed)
}

// Whatever a scenario says, reading it ends in a scenario or in an error that names the line.
func FuzzParseScenario(f *testing.F) {
	files, err := os.ReadDir("testdata")
	require.NoError(f, err)
	for _, file := range files {
		if !strings.HasSuffix(file.Name(), ".scenario") {
			continue
		}
		text, err := os.ReadFile("testdata/" + file.Name())
		require.NoError(f, err)
		f.Add(string(text))
	}
	f.Add("? in s1,\"\" valid – known 2026-01-01 members \"a.b\".\"c d\" => error x y")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ledgertest.ParseScenario("s", strings.NewReader(text))
		if err != nil {
			require.Regexp(t, `^s:\d+: `, err.Error())
			return
		}
		_, err = s.Schemas().Declared()
		require.NoError(t, err)
	})
}
