package schema_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/schema"
)

func TestTagsThatAreRefused(t *testing.T) {
	for _, c := range []struct {
		why, rule string
		err       error
	}{
		{"a number written as text", "json_tag", define[struct {
			A int `json:"a,string"`
		}](nil)},
		{"an inlined struct", "json_tag", define[struct {
			A plainInner `json:"a,inline"`
		}](nil)},
		{"the name -", "json_tag", define[struct {
			A int `json:"-,"` //nolint:staticcheck // the tag under test
		}](nil)},
		{"a name that encoding/json ignores", "json_tag", define[struct {
			A int `json:"a\\b"` //nolint:staticcheck // the tag under test
		}](nil)},
		{"the same name twice", "json_tag", define[struct {
			A int `json:"B"`
			B int
		}](nil)},
		{"the same name in an embedded struct", "json_tag", define[struct {
			plainInner
			B int `json:"a"`
		}](nil)},
		{"omitempty on a struct", "json_tag", define[struct {
			A plainInner `json:"a,omitempty"`
		}](nil)},
		{"omitempty on a time", "json_tag", define[struct {
			A time.Time `json:"a,omitempty"`
		}](nil)},
		{"omitempty on an array", "json_tag", define[struct {
			A [2]int `json:"a,omitempty"`
		}](nil)},
		{"omitempty for the validator alone", "json_tag", define[struct {
			A string `json:"a" validate:"omitempty,min=2"`
		}](nil)},
		{"omitempty on a list that must not be empty", "json_tag", define[struct {
			A []string `json:"a,omitempty" validate:"omitempty,min=1"`
		}](nil)},
		{"rules on what may be left out", "validate_tag", define[struct {
			A string `json:"a,omitempty" validate:"email"`
		}](nil)},
		{"rules inside what may be left out", "validate_tag", define[struct {
			A ruled `json:"a,omitzero"`
		}](nil)},
		{"an unknown rule", "validate_tag", define[struct {
			A string `json:"a" validate:"hostname"`
		}](nil)},
		{"a rule about another field", "validate_tag", define[struct {
			A string `json:"a" validate:"eqfield=B"`
		}](nil)},
		{"one rule or another", "validate_tag", define[struct {
			A string `json:"a" validate:"email|uuid"`
		}](nil)},
		{"an empty rule", "validate_tag", define[struct {
			A string `json:"a" validate:"min=1,"`
		}](nil)},
		{"a rule without its parameter", "validate_tag", define[struct {
			A string `json:"a" validate:"min"`
		}](nil)},
		{"a parameter too many", "validate_tag", define[struct {
			A string `json:"a" validate:"email=x"`
		}](nil)},
		{"omitempty and required", "validate_tag", define[struct {
			A string `json:"a,omitempty" validate:"omitempty,required"`
		}](nil)},
		{"omitempty after a rule", "validate_tag", define[struct {
			A string `json:"a,omitempty" validate:"min=1,omitempty"`
		}](nil)},
		{"a length in hexadecimal", "validate_tag", define[struct {
			A string `json:"a" validate:"min=0x10"`
		}](nil)},
		{"a bound below zero for an unsigned number", "validate_tag", define[struct {
			A uint `json:"a" validate:"min=-1"`
		}](nil)},
		{"a bound that is no number", "validate_tag", define[struct {
			A float64 `json:"a" validate:"min=low"`
		}](nil)},
		{"an infinite bound", "validate_tag", define[struct {
			A float64 `json:"a" validate:"max=Inf"`
		}](nil)},
		{"a bound on a boolean", "validate_tag", define[struct {
			A bool `json:"a" validate:"min=1"`
		}](nil)},
		{"a bound on a time", "validate_tag", define[struct {
			A time.Time `json:"a" validate:"gte"`
		}](nil)},
		{"values for a float", "validate_tag", define[struct {
			A float64 `json:"a" validate:"oneof=1 2"`
		}](nil)},
		{"text values for a number", "validate_tag", define[struct {
			A int `json:"a" validate:"oneof=one two"`
		}](nil)},
		{"two lists of values", "validate_tag", define[struct {
			A string `json:"a" validate:"oneof=a b,oneof=b c"`
		}](nil)},
		{"a format of a number", "validate_tag", define[struct {
			A int `json:"a" validate:"email"`
		}](nil)},
		{"two formats", "validate_tag", define[struct {
			A string `json:"a" validate:"email,uuid"`
		}](nil)},
		{"a layout that is no format", "validate_tag", define[struct {
			A string `json:"a" validate:"datetime=02.01.2006"`
		}](nil)},
		{"a number that must not be zero", "validate_tag", define[struct {
			A int `json:"a" validate:"required"`
		}](nil)},
		{"a struct that must not be zero", "validate_tag", define[struct {
			A plainInner `json:"a" validate:"required"`
		}](nil)},
		{"a date that must not be zero", "validate_tag", define[struct {
			A sgam.Date `json:"a" validate:"required"`
		}](nil)},
		{"a UUID that must not be zero", "validate_tag", define[struct {
			A uuid.UUID `json:"a" validate:"required"`
		}](nil)},
		{"an array that must not be zero", "validate_tag", define[struct {
			A [2]int `json:"a" validate:"required"`
		}](nil)},
		{"dive into a string", "validate_tag", define[struct {
			A string `json:"a" validate:"dive,min=1"`
		}](nil)},
		{"rules in elements that the validator would not see", "validate_tag", define[struct {
			A []ruled `json:"a"`
		}](nil)},
		{"elements that may be left out", "validate_tag", define[struct {
			A []string `json:"a" validate:"dive,omitempty,min=1"`
		}](nil)},
		{"rules that the validator skips", "validate_tag", define[struct {
			A ruled `json:"a" validate:"-"`
		}](nil)},
		{"rules on a field that is not written", "validate_tag", define[struct {
			A string `json:"-" validate:"min=1"`
			B string `json:"b"`
		}](nil)},
		{"rules of a scalar that are unknown", "validate_tag", define[string](&schema.Spec{Rules: "lowercase"})},
		{"a scalar that is left out", "validate_tag", define[int](&schema.Spec{Rules: "required"})},
		{"an unknown word for the generator", "jsonschema_tag", define[struct {
			A string `json:"a" jsonschema:"colour=red"`
		}](nil)},
		{"a word that does not apply", "jsonschema_tag", define[struct {
			A int `json:"a" jsonschema:"minLength=1"`
		}](nil)},
		{"a bound that does not parse", "jsonschema_tag", define[struct {
			A int `json:"a" jsonschema:"minimum=low"`
		}](nil)},
		{"nullable without a pointer", "jsonschema_tag", define[struct {
			A string `json:"a" jsonschema:"nullable"`
		}](nil)},
		{"required for the generator", "jsonschema_tag", define[struct {
			A string `json:"a,omitempty" jsonschema:"required"`
		}](nil)},
		{"a union of types", "jsonschema_tag", define[struct {
			A string `json:"a" jsonschema:"oneof_type=string;integer"`
		}](nil)},
		{"uniqueItems=false", "jsonschema_tag", define[struct {
			A []string `json:"a" jsonschema:"uniqueItems=false"`
		}](nil)},
		{"extras", "jsonschema_tag", define[struct {
			A string `json:"a" jsonschema_extras:"x=y"`
		}](nil)},
	} {
		t.Run(c.why, func(t *testing.T) {
			de, ok := errors.AsType[*schema.DocumentError](c.err)
			require.True(t, ok, "%v", c.err)
			assert.Equal(t, c.rule, de.Faults[0].Rule, "%v", de)
		})
	}
}

func TestTagsThatContradictOneAnotherAreRefused(t *testing.T) {
	requireFault(t, define[struct {
		A string `json:"a" validate:"min=3,max=2"`
	}](nil), "attributes/0/schema/properties/a/minLength", "range")
	requireFault(t, define[struct {
		A uint8 `json:"a" validate:"min=256"`
	}](nil), "attributes/0/schema/properties/a", "range")
	requireFault(t, define[struct {
		A string `json:"a" validate:"oneof=a" jsonschema:"default=b"`
	}](nil), "attributes/0/schema/properties/a/default", "default")
	requireFault(t, define[struct {
		A string `json:"a" jsonschema:"format=ipv4"`
	}](nil), "attributes/0/schema/properties/a/format", "format")
	requireFault(t, define[struct {
		A float64 `json:"a" jsonschema:"maximum=9007199254740993"`
	}](nil), "attributes/0/schema/properties/a/maximum", "number")
}
