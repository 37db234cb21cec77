package schema_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/ledgertest"
	"github.com/sgam-ledger/sgam/schema"
)

// orderVersion is a document with attributes as JSON.
func orderVersion(t *testing.T, n string, rest string) sgam.TypeDocument {
	t.Helper()
	doc, err := schema.ParseDocument([]byte(`{"type":"order","version":` + n + `,` + rest + `}`))
	require.NoError(t, err)
	return doc
}

func TestALensMendsARequiredPropertyThatIsNew(t *testing.T) {
	reg := schema.NewRegistry()
	const doc = `{"type":"order","version":%d,"attributes":[{"tag":1,"name":"total","schema":{"type":"object","properties":{%q:{"type":"string"}},"required":[%[2]q]}}]}`
	for n, property := range []string{"nr", "number"} {
		_, err := reg.Add(fmt.Appendf(nil, doc, n+1, property))
		require.NoError(t, err)
	}
	docs, err := reg.Declared()
	require.NoError(t, err)
	_, ok := errors.AsType[*schema.ForbiddenError](reg.Follows(docs[0], docs[1]))
	require.True(t, ok, "without a lens it is another attribute")
	require.NoError(t, reg.AddLens([]byte(`{"type":"order","version":2,"attributes":[{"tag":1,"ops":[{"op":"rename_prop","from":"nr","to":"number"}]}]}`)))
	docs, err = reg.Declared()
	require.NoError(t, err)
	require.NoError(t, reg.Follows(docs[0], docs[1]))
	r, err := schema.Check(schema.ModeBackward, docs[:1], docs[1], nil)
	require.NoError(t, err)
	require.True(t, r.OK)
	ledgertest.NewLedger(t, &sgam.Options{Schemas: reg})
}

func TestALedgerRefusesAVersionThatTheRulesForbid(t *testing.T) {
	const total, note = `{"tag":1,"name":"total","schema":{"type":"number"}}`, `{"tag":2,"name":"note","schema":{"type":"string"}}`
	first := orderVersion(t, "1", `"attributes":[`+total+`,`+note+`]`)
	for name, c := range map[string]struct{ rest, rule string }{
		"removed without reserving":             {`"attributes":[` + total + `]`, "SC04"},
		"a name on another tag":                 {`"attributes":[{"tag":1,"name":"note","schema":{"type":"number"}},{"tag":2,"name":"total","schema":{"type":"string"}}]`, "SC07"},
		"less sensitive":                        {`"attributes":[{"tag":1,"name":"total","sensitivity":"public","schema":{"type":"number"}},` + note + `]`, "SC36"},
		"less sensitive, and somebody says why": {`"attributes":[{"tag":1,"name":"total","sensitivity":"public","declassified":{"actor":"dpo","reason":"published"},"schema":{"type":"number"}},` + note + `]`, ""},
		"a required property more":              {"", "SC23"},
		"nothing forbidden":                     {`"attributes":[{"tag":1,"name":"sum","aliases":["total"],"schema":{"type":"number"}}],"reserved":{"tags":[2],"names":["note"]}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			older, rest := first, c.rest
			if c.rule == "SC23" {
				older = orderVersion(t, "1", `"attributes":[{"tag":1,"name":"total","schema":{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}}]`)
				rest = `"attributes":[{"tag":1,"name":"total","schema":{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"required":["a","b"]}}]`
			}
			l := ledgertest.NewLedger(t, &sgam.Options{Schemas: schema.Stored()})
			require.NoError(t, l.Register(t.Context(), older))
			err := l.Register(t.Context(), orderVersion(t, "2", rest))
			types, terr := l.Types(t.Context())
			require.NoError(t, terr)
			if c.rule == "" {
				require.NoError(t, err)
				require.Len(t, types, 2)
				return
			}
			forbidden, ok := errors.AsType[*schema.ForbiddenError](err)
			require.True(t, ok, "%v", err)
			require.Equal(t, c.rule, forbidden.Changes[0].Rule)
			require.NotEmpty(t, forbidden.Changes[0].Advice)
			require.Len(t, types, 1, "nothing was registered")
		})
	}
}
