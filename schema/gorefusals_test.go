package schema_test

import (
	"encoding/json"
	"errors"
	"net"
	"net/url"
	"testing"
	"time"

	"github.com/invopop/jsonschema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sgam-ledger/sgam/schema"
)

// define defines a one-attribute type of T in a registry of its own.
func define[T any](spec *schema.Spec) error {
	_, err := schema.Define[T](schema.NewRegistry(), "t", 1, spec)
	return err
}

type (
	recursive struct {
		Next *recursive `json:"next"`
	}
	recursiveList []recursiveList
	mutualA       struct {
		B []mutualB `json:"b"`
	}
	mutualB struct {
		A *mutualA `json:"a"`
	}
	silentMarshaler struct {
		A string `json:"a"`
	}
	silentUnmarshaler struct {
		A string `json:"a"`
	}
	aliased struct {
		A string `json:"a"`
	}
	extended struct {
		A string `json:"a"`
	}
	described struct{ Cents int64 }
	versioned struct{ V string }
	choice    struct{ V string }
	words     []string
	openEnded struct{}
	undefined struct{}
	ruled     struct {
		A string `json:"a" validate:"min=1"`
	}
	plainInner struct {
		A string `json:"a"`
	}
)

func (*silentMarshaler) MarshalJSON() ([]byte, error)  { return []byte(`1`), nil }
func (*silentUnmarshaler) UnmarshalText([]byte) error  { return nil }
func (aliased) JSONSchemaAlias() any                   { return "" }
func (extended) JSONSchemaExtend(s *jsonschema.Schema) { s.Type = "string" }
func (described) MarshalText() ([]byte, error)         { return []byte("1.00"), nil }
func (*described) UnmarshalText([]byte) error          { return nil }
func (described) JSONSchema() *jsonschema.Schema {
	return &jsonschema.Schema{Version: jsonschema.Version, ID: "https://example.com/money", Type: "string", Pattern: `^-?[0-9]+\.[0-9]{2}$`}
}
func (versioned) MarshalText() ([]byte, error) { return []byte("v1"), nil }
func (versioned) JSONSchema() *jsonschema.Schema {
	return &jsonschema.Schema{Type: "string", Const: "v1"}
}
func (choice) MarshalJSON() ([]byte, error) { return []byte(`{"k":"a"}`), nil }
func (choice) JSONSchema() *jsonschema.Schema {
	one := &jsonschema.Schema{Type: "object", Properties: jsonschema.NewProperties(), Required: []string{"k"}}
	one.Properties.Set("k", &jsonschema.Schema{Const: "a"})
	return &jsonschema.Schema{OneOf: []*jsonschema.Schema{one}}
}
func (words) JSONSchema() *jsonschema.Schema     { return sharedWords }
func (openEnded) JSONSchema() *jsonschema.Schema { return &jsonschema.Schema{Type: "object"} }
func (undefined) JSONSchema() *jsonschema.Schema { return nil }

// sharedWords is given out again and again: a definition must not write into it.
var sharedWords = &jsonschema.Schema{Type: "array", Items: &jsonschema.Schema{Type: "string"}}

func TestGoTypesThatAreRefused(t *testing.T) {
	for _, c := range []struct {
		why string
		err error
	}{
		{"a pointer at the top", define[*string](nil)},
		{"a pointer to a pointer", define[struct {
			A **string `json:"a"`
		}](nil)},
		{"an interface", define[any](nil)},
		{"a field of type any", define[struct {
			A any `json:"a"`
		}](nil)},
		{"a list of any", define[[]any](nil)},
		{"a map", define[map[string]int](nil)},
		{"a map inside", define[struct {
			A []map[int]string `json:"a"`
		}](nil)},
		{"raw JSON", define[json.RawMessage](nil)},
		{"json.Number", define[json.Number](nil)},
		{"bytes", define[[]byte](nil)},
		{"a duration", define[time.Duration](nil)},
		{"a URL", define[url.URL](nil)},
		{"an IP address", define[net.IP](nil)},
		{"a channel", define[chan int](nil)},
		{"a function", define[struct {
			A func() `json:"a"`
		}](nil)},
		{"a complex number", define[complex128](nil)},
		{"an address", define[uintptr](nil)},
		{"a struct that contains itself", define[recursive](nil)},
		{"a list that contains itself", define[recursiveList](nil)},
		{"structs that contain one another", define[mutualA](nil)},
		{"a type that writes its own JSON", define[silentMarshaler](nil)},
		{"a type that reads its own JSON", define[silentUnmarshaler](nil)},
		{"a type with an alias", define[aliased](nil)},
		{"a type that extends its schema", define[extended](nil)},
		{"an embedded pointer", define[struct {
			*plainInner
		}](nil)},
		{"an embedded string", define[struct {
			schema.Sensitivity
		}](nil)},
		{"an embedded time", define[struct {
			time.Time `json:""`
			B         string `json:"b"`
		}](nil)},
		{"an embedded struct with rules", define[struct {
			plainInner `validate:"required"`
		}](nil)},
	} {
		t.Run(c.why, func(t *testing.T) {
			de, ok := errors.AsType[*schema.DocumentError](c.err)
			require.True(t, ok, "%v", c.err)
			assert.Equal(t, "go_type", de.Faults[0].Rule, "%v", de)
			assert.NotEmpty(t, de.Faults[0].Field)
		})
	}
	require.NoError(t, define[struct {
		plainInner
		B *time.Time `json:"b"`
	}](nil), "embedding and pointers as such are fine")
}

func TestTypesThatDescribeThemselvesAreHeldToTheProfile(t *testing.T) {
	require.NoError(t, define[described](nil))
	require.NoError(t, define[struct {
		A *described  `json:"a"`
		B []described `json:"b"`
	}](nil))
	reg := schema.NewRegistry()
	schema.MustDefine[struct {
		V *versioned `json:"v"`
		C choice     `json:"c"`
		W words      `json:"w" jsonschema:"minItems=1,pattern=^a"`
		X words      `json:"x"`
	}](reg, "t", 1, nil)
	docs, err := reg.Declared()
	require.NoError(t, err)
	specs, err := reg.Compile(docs[0])
	require.NoError(t, err)
	assert.Nil(t, specs[0].Check([]byte(`{"c":{"k":"a"},"v":null,"w":["ab"],"x":[]}`)))
	assert.Equal(t, []string{`c/k enum: one of "a"`, `v enum: one of "v1", null`, "w/0 pattern: text that matches ^a"},
		said(specs[0].Check([]byte(`{"c":{"k":"b"},"v":"v2","w":["b"],"x":["b"]}`))))
	assert.ErrorContains(t, define[struct {
		C *choice `json:"c"`
	}](nil), "cannot allow null")

	requireFault(t, define[openEnded](nil), "attributes/0/schema/properties", "required")
	requireFault(t, define[undefined](nil), "attributes/0/schema/type", "required")
	requireFault(t, define[struct {
		A described `json:"a" validate:"max=3"`
	}](nil), `struct { A schema_test.described "json:\"a\" validate:\"max=3\"" }.A`, "validate_tag")
}
