package schema_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/internal/canon"
	"github.com/sgam-ledger/sgam/schema"
)

// FuzzParseDocument: nothing panics, and what is accepted is its own canonical form and can be compiled.
func FuzzParseDocument(f *testing.F) {
	files, err := filepath.Glob(filepath.Join("testdata", "golden", "*.json"))
	require.NoError(f, err)
	require.NotEmpty(f, files)
	for _, name := range files {
		raw, err := os.ReadFile(name)
		require.NoError(f, err)
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		doc, err := schema.ParseDocument(raw)
		if err != nil {
			assert.NotEmpty(t, err.Error())
			return
		}
		again, err := schema.ParseDocument(doc.JSON)
		require.NoError(t, err)
		require.Equal(t, doc, again)
		specs, err := schema.Stored().Compile(doc)
		require.NoError(t, err)
		for _, spec := range specs {
			spec.Check([]byte(`null`))
			if spec.Identity != nil {
				_, err := spec.Identity([]byte(`null`))
				require.Error(t, err)
			}
		}
	})
}

// FuzzCheck: nothing panics, a verdict is the same each time, and a value that the schema of a Go type accepts can be
// decoded into that type.
func FuzzCheck(f *testing.F) {
	types := map[string]reflect.Type{
		"item": reflect.TypeFor[orderItem](), "delivery": reflect.TypeFor[delivery](), "numbers": reflect.TypeFor[everyNumber](),
	}
	judges := map[reflect.Type]func([]byte) []sgam.FieldError{}
	for name, typ := range types {
		reg := schema.NewRegistry()
		require.NoError(f, goDefined[name](reg))
		docs, err := reg.Declared()
		require.NoError(f, err)
		specs, err := reg.Compile(docs[0])
		require.NoError(f, err)
		judges[typ] = specs[0].Check
	}
	for _, seed := range []string{
		`{"sku":"A-1","quantity":2,"price":null}`,
		`{"sku":"A-1","quantity":2,"price":{"amount":"19.90","currency":"EUR"},"note":"x","tags":["gift","keep cold"]}`,
		`{"sku":"","quantity":-1,"price":{},"note":null,"tags":["x","x"],"zz":[]}`,
		`{"due":"2026-06-30","sent":null,"parcel":"123e4567-e89b-12d3-a456-426614174000","level":null}`,
		`{"due":"2026-06-30","sent":"2026-06-30T09:00:00.5+02:00","parcel":"123e4567-e89b-12d3-a456-426614174000","level":"low","contact":"mira@example.com"}`,
		`{"due":"0000-00-00","sent":"2026-06-30T9:00:60z","parcel":"{}","level":"","contact":"@"}`,
		`{"a":1,"b":-128,"c":3,"d":4,"e":-9007199254740991,"f":6,"g":255,"h":8,"i":4294967295,"j":9007199254740991,"k":3.4028235e38,"l":0.01,"m":true,"n":[1,2,3]}`,
		`{"a":1e300,"b":128,"c":1.5,"d":"4","e":9007199254740992,"f":-1,"g":256,"h":65536,"i":-0,"j":1e16,"k":1e39,"l":0,"m":1,"n":[1,2]}`,
		`null`, `"`, `[[[[]]]]`, `1e999`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		value, err := canon.Canonical(raw)
		for typ, check := range judges {
			faults := check(raw) // what is not canonical is judged without a panic, too
			assert.Equal(t, faults, check(raw))
			for _, fault := range faults {
				assert.NotEmpty(t, fault.Rule)
				assert.NotEmpty(t, fault.Want)
			}
			if err == nil && check(value) == nil {
				require.NoError(t, json.Unmarshal(value, reflect.New(typ).Interface()), "%s accepted as %s", value, typ)
			}
		}
	})
}
