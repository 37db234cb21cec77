package ledgertest_test

import (
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/ledgertest"
)

func TestAClockStandsJumpsTicksAndGoesBack(t *testing.T) {
	noon := time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)
	c := ledgertest.NewClock(noon)
	require.Equal(t, noon, c.Now())
	require.Equal(t, noon, c.Now())
	c.Advance(time.Hour)
	require.Equal(t, noon.Add(time.Hour), c.Now())
	c.Advance(-2 * time.Hour)
	require.Equal(t, noon.Add(-time.Hour), c.Now())
	c.Tick(time.Second)
	require.Equal(t, noon.Add(-time.Hour), c.Now())
	require.Equal(t, noon.Add(-time.Hour+time.Second), c.Now())
	c.Tick(0)
	c.Set(noon)
	require.Equal(t, noon, c.Now())
}

func TestIDsRepeatThemselvesForASeed(t *testing.T) {
	read := func(seed uint64) [32]byte {
		var b [32]byte
		_, err := io.ReadFull(ledgertest.IDs(seed), b[:])
		require.NoError(t, err)
		return b
	}
	first := read(7)
	require.Equal(t, first, read(7))
	require.NotEqual(t, read(7), read(8))
	require.NotEqual(t, read(1), read(1<<40))
}

func TestDeclaredAttributesJudgeTheTypeOfAValue(t *testing.T) {
	for kind, c := range map[string]struct{ good, bad []string }{
		"string":  {[]string{`""`, `"7"`}, []string{`7`, `true`, `["a"]`}},
		"integer": {[]string{`7`, `-7.0`, `1e3`}, []string{`7.5`, `"7"`, `true`}},
		"number":  {[]string{`7`, `7.5`}, []string{`"7.5"`, `false`}},
		"boolean": {[]string{`true`, `false`}, []string{`1`, `"true"`}},
		"object":  {[]string{`{}`, `{"a":1}`}, []string{`[]`, `"a"`}},
		"array":   {[]string{`[]`, `[1]`}, []string{`{}`, `1`}},
		"date":    {[]string{`"2026-02-28"`}, []string{`"2026-02-30"`, `"soon"`, `20260228`}},
		"":        {[]string{`1`, `"a"`, `[]`, `{}`, `true`}, nil},
	} {
		schemas := ledgertest.NewSchemas(ledgertest.Attribute{Name: "a", Value: kind})
		docs, err := schemas.Declared()
		require.NoError(t, err)
		require.Len(t, docs, 1)
		specs, err := schemas.Compile(docs[0])
		require.NoError(t, err)
		for _, value := range c.good {
			require.Empty(t, specs[0].Check([]byte(value)), "%s %s", kind, value)
		}
		for _, value := range c.bad {
			require.Equal(t, []sgam.FieldError{{Rule: "type", Want: kind}}, specs[0].Check([]byte(value)), "%s %s", kind, value)
		}
	}
	_, err := sgam.New(t.Context(), ledgertest.NewStore(nil), &sgam.Options{Schemas: ledgertest.NewSchemas(ledgertest.Attribute{Name: "a", Value: "money"})})
	require.ErrorContains(t, err, `unknown value type "money"`)
}

func TestTypesAreNamedByWhatStandsBeforeTheFirstDot(t *testing.T) {
	for name, want := range map[string]string{"a": "observed", "a.b": "a", "a.b.c": "a", ".b": "observed", "Service_1.@intent": "Service_1"} {
		require.Equal(t, want, ledgertest.TypeName(name))
	}
}
