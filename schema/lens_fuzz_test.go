package schema

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/internal/canon"
)

// FuzzLens: nothing panics, a lens that is accepted is its own canonical form, and its operations keep their laws on
// any value, whatever the schemas say.
func FuzzLens(f *testing.F) {
	lens, err := os.ReadFile(filepath.Join("testdata", "lens", "lens.in.json"))
	require.NoError(f, err)
	for _, seed := range []struct{ lens, value string }{
		{string(lens), `{"city":"","fax":"1","kind":"pager","name":"M B","nr":"0","street":""}`},
		{string(lens), `{"address":{"city":"","country":"DE","street":""},"first":"M","kind":"other","last":"B","number":0}`},
		{`{"type":"t","version":2,"attributes":[{"tag":1,"ops":[{"op":"each","ops":[{"op":"map_enum","pairs":[["a",1],["b",1],[null,2]],"down_fallback":"c"}]}]}]}`, `["a","b",null]`},
		{`{"type":"t","version":2,"attributes":[{"tag":1,"ops":[{"op":"join","props":["a","b"],"into":"c","separator":"--"},{"op":"unwrap","prop":"c"}]}]}`, `{"a":"x-","b":""}`},
		{`{"type":"t","version":2,"attributes":[{"tag":1,"ops":[{"op":"nest","props":["a"],"into":"b"},{"op":"unnest","props":["a","c"],"from":"b"},{"op":"add","prop":"x","default":{}}]}]}`, `{"a":[]}`},
		{`{"type":"t","version":2,"attributes":[{"tag":1,"ops":[{"op":"affine","a":"-5/9","b":"1/7"},{"op":"cast","from":"number","to":"string"}]}]}`, `1e308`},
		{`{"type":"t","version":2,"attributes":[{"tag":1,"ops":[{"op":"in","path":"/a~1b","ops":[{"op":"drop","prop":"c","default":null}]}]}]}`, `{"a/b":{"c":null}}`},
		{`{"type":"t","version":2,"attributes":[{"tag":1,"ops":[{"op":"many_to_one"}]}]}`, `"`},
		{`null`, `null`},
	} {
		f.Add([]byte(seed.lens), []byte(seed.value))
	}
	older, err := ParseDocument([]byte(`{"type":"t","version":1,"attributes":[{"tag":1,"name":"a","schema":{"type":"object","properties":{"a":{"type":"string"}}}}]}`))
	require.NoError(f, err)
	newer, err := ParseDocument([]byte(`{"type":"t","version":2,"attributes":[{"tag":1,"name":"a","schema":{"type":"object","properties":{"b":{"type":"string"}}}}]}`))
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, raw, value []byte) {
		if _, err := ParseLens(raw, older, newer); err != nil {
			_, ok := errors.AsType[*DocumentError](err)
			require.True(t, ok, "%v", err)
		}
		l, doc, err := readLens(raw)
		if err != nil {
			assert.NotEmpty(t, err.Error())
			return
		}
		_, again, err := readLens(doc.JSON)
		require.NoError(t, err)
		require.Equal(t, doc, again)
		if value, err = canon.Canonical(value); err != nil {
			return
		}
		for _, a := range l.attributes {
			for _, way := range [][2]func(*trip, *datum) (*datum, error){{a.ops.up, a.ops.down}, {a.ops.down, a.ops.up}} {
				found, err := roundTrip(way[0], way[1], string(value))
				require.Equal(t, err == nil, found)
				if err != nil {
					_, ok := errors.AsType[*sgam.FieldError](err)
					require.True(t, ok, "%v", err)
				}
			}
		}
	})
}
