package migrate_test

import (
	"encoding/json"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/ledgertest"
	"github.com/sgam-ledger/sgam/migrate"
	"github.com/sgam-ledger/sgam/schema"
)

// versionOf is a version of a memory type whose one property has another name in each version, and the lens into it.
func versionOf(t *testing.T, version int, sensitivity string) sgam.TypeDocument {
	t.Helper()
	document := func(v int) sgam.TypeDocument {
		doc, err := schema.ParseDocument(fmt.Appendf(nil, `{"type":"thing","version":%d,"attributes":[{"tag":1,"name":"thing_a","sensitivity":%q,"declassified":{"actor":"ann","reason":"published"},
			"schema":{"type":"object","properties":{"p%d":{"type":"string"}},"required":["p%d"]}}]}`, v, sensitivity, v, v))
		require.NoError(t, err)
		return doc
	}
	doc := document(version)
	if version > 1 {
		lens, err := schema.ParseLens(fmt.Appendf(nil, `{"type":"thing","version":%d,"attributes":[{"tag":1,"ops":[
			{"op":"rename_prop","from":"p%d","to":"p%d"}]}]}`, version, version-1, version), document(version-1), doc)
		require.NoError(t, err)
		doc.Lens = &lens
	}
	return doc
}

// counted are schemas that count the conversions of values to a newer version.
type counted struct {
	lenient
	ups *atomic.Int64
}

func (c counted) Steps(older, newer sgam.TypeDocument) ([]sgam.AttributeStep, error) {
	steps, err := c.lenient.Steps(older, newer)
	for i, s := range steps {
		if s.Up != nil {
			steps[i].Up = func(value sgam.Converted) (sgam.Converted, error) {
				c.ups.Add(1)
				return s.Up(value)
			}
		}
	}
	return steps, err
}

func say(t *testing.T, l *sgam.Ledger, tenant, subject string, version int, value string) {
	t.Helper()
	handle, err := l.Tenant(tenant)
	require.NoError(t, err)
	r, err := handle.Apply(t.Context(), sgam.MemoryDelta{
		Op: sgam.Assert, Subject: subject, Attribute: "thing_a", Value: json.RawMessage(value), SchemaVersion: version,
	}.From(sgam.Episode{ID: subject, Kind: sgam.Message, OccurredAt: dayOne}))
	require.NoError(t, err)
	require.NoError(t, r.Err())
}

func shown(t *testing.T, l *sgam.Ledger, tenant string) string {
	t.Helper()
	handle, err := l.Tenant(tenant)
	require.NoError(t, err)
	f, err := handle.Current().Get(t.Context(), "s", "thing_a")
	require.NoError(t, err)
	return string(f.Value)
}

func TestAMigrationGoesThroughSeveralVersions(t *testing.T) {
	l := ledgertest.NewLedger(t, &sgam.Options{Schemas: lenient{schema.Stored()}})
	require.NoError(t, l.Register(t.Context(), versionOf(t, 1, "internal")))
	say(t, l, "acme", "s", 1, `{"p1":"x"}`)
	require.NoError(t, l.Register(t.Context(), versionOf(t, 2, "internal")))
	say(t, l, "beta", "s", 2, `{"p2":"y"}`)
	require.NoError(t, l.Register(t.Context(), versionOf(t, 3, "internal")))

	plan, err := migrate.Draw(t.Context(), l, migrate.Options{Type: "thing"})
	require.NoError(t, err)
	require.Equal(t, [2]int{1, 3}, [2]int{plan.From, plan.To})
	require.Len(t, plan.Steps, 2)
	require.Len(t, plan.Tenants, 1)
	require.Equal(t, "acme", plan.Tenants[0].Tenant)
	require.Equal(t, []migrate.LeftOut{{Tenant: "beta", Why: "version 2, not 1"}}, plan.LeftOut)
	other, err := migrate.Draw(t.Context(), l, migrate.Options{Type: "thing", From: 2})
	require.NoError(t, err)
	require.Equal(t, "beta", other.Tenants[0].Tenant)

	for _, p := range []*migrate.Plan{plan, other} {
		require.NoError(t, migrate.Run(t.Context(), l, p, nil))
		_, err = migrate.Verify(t.Context(), l, p.Target(""))
		require.NoError(t, err)
		require.NoError(t, migrate.Cutover(t.Context(), l, p.Target("")))
	}
	require.JSONEq(t, `{"p3":"x"}`, shown(t, l, "acme"))
	require.JSONEq(t, `{"p3":"y"}`, shown(t, l, "beta"))

	// One version further, the oldest values go the whole way.
	require.NoError(t, migrate.Contract(t.Context(), l, migrate.Target{Type: "thing"}, nil))
	require.NoError(t, l.Register(t.Context(), versionOf(t, 4, "internal")))
	last, err := migrate.Draw(t.Context(), l, migrate.Options{Type: "thing"})
	require.NoError(t, err)
	require.Len(t, last.Tenants, 2)
	require.NoError(t, migrate.Run(t.Context(), l, last, nil))
	_, err = migrate.Verify(t.Context(), l, migrate.Target{Type: "thing"})
	require.NoError(t, err)
	require.NoError(t, migrate.Cutover(t.Context(), l, migrate.Target{Type: "thing"}))
	require.JSONEq(t, `{"p4":"x"}`, shown(t, l, "acme"))
	require.JSONEq(t, `{"p4":"y"}`, shown(t, l, "beta"))
}

func TestEqualValuesAreConvertedOnce(t *testing.T) {
	schemas := counted{lenient{schema.Stored()}, new(atomic.Int64)}
	l := ledgertest.NewLedger(t, &sgam.Options{Schemas: schemas})
	require.NoError(t, l.Register(t.Context(), versionOf(t, 1, "internal")))
	for i := range 300 {
		say(t, l, "acme", fmt.Sprint(i), 1, fmt.Sprintf(`{"p1":"%d"}`, i%3))
	}
	require.NoError(t, l.Register(t.Context(), versionOf(t, 2, "internal")))
	plan, err := migrate.Draw(t.Context(), l, migrate.Options{Type: "thing"})
	require.NoError(t, err)
	require.Equal(t, int64(3), schemas.ups.Load())
	require.NoError(t, migrate.Run(t.Context(), l, plan, &migrate.RunOptions{BatchSize: 10}))
	require.LessOrEqual(t, schemas.ups.Load(), int64(3+2*3), "both converters may meet a value for the first time")
	for i := range 300 {
		handle, err := l.Tenant("acme")
		require.NoError(t, err)
		f, err := handle.Current().AtVersion("thing", 2).Get(t.Context(), fmt.Sprint(i), "thing_a")
		require.NoError(t, err)
		require.JSONEq(t, fmt.Sprintf(`{"p2":"%d"}`, i%3), string(f.Value))
	}
}

func TestExamplesAreMaskedByTheStricterVersion(t *testing.T) {
	l := ledgertest.NewLedger(t, &sgam.Options{Schemas: lenient{schema.Stored()}})
	require.NoError(t, l.Register(t.Context(), versionOf(t, 1, "special")))
	say(t, l, "acme", "s", 1, `{"p1":"x"}`)
	require.NoError(t, l.Register(t.Context(), versionOf(t, 2, "internal")))
	plan, err := migrate.Draw(t.Context(), l, migrate.Options{Type: "thing"})
	require.NoError(t, err)
	report, err := migrate.DryRun(t.Context(), l, plan)
	require.NoError(t, err)
	example := report.Tenants[0].Attributes[0].Examples[0]
	require.True(t, example.Masked)
	require.JSONEq(t, `{"p2":"string"}`, string(example.After))
}

func TestAValueThatOnlyTheNewVersionAllowsIsALossOnTheWayBack(t *testing.T) {
	l := types(t,
		one+`,"schema":{"type":"string","enum":["x"]}},{"tag":2,"name":"thing_b","schema":{"type":"string"}}]}`, `"x"`,
		two+`,"schema":{"type":"string","enum":["x","y"]}},{"tag":2,"name":"thing_b","schema":{"type":"string","maxLength":3}}]}`, "")
	plan, err := migrate.Draw(t.Context(), l, migrate.Options{Type: "thing"})
	require.NoError(t, err)
	require.Equal(t, int64(1), plan.Tenants[0].Attributes[0].Recorded, "what no lens touches needs no other form")
	require.NoError(t, migrate.Run(t.Context(), l, plan, nil))
	_, err = migrate.Verify(t.Context(), l, plan.Target(""))
	require.NoError(t, err)
	require.NoError(t, migrate.Cutover(t.Context(), l, plan.Target("")))
	say(t, l, "acme", "t", 2, `"x"`)
	require.NoError(t, migrate.Rollback(t.Context(), l, plan.Target(""), false), "what both versions allow is no loss")

	again, err := migrate.Draw(t.Context(), l, migrate.Options{Type: "thing"})
	require.NoError(t, err)
	require.NoError(t, migrate.Run(t.Context(), l, again, nil))
	_, err = migrate.Verify(t.Context(), l, again.Target(""))
	require.NoError(t, err)
	require.NoError(t, migrate.Cutover(t.Context(), l, again.Target("")))
	say(t, l, "acme", "u", 2, `"y"`)
	require.ErrorIs(t, migrate.Rollback(t.Context(), l, again.Target(""), false), migrate.ErrLossy)
}
