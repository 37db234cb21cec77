package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/sgam-ledger/sgam"
)

// maxFaults is how many faults of one value are listed; a last one then counts the rest.
const maxFaults = 64

// check judges a canonical value: all faults, in order of place and rule, none of which carries anything of the value
// but names of properties.
func (j *judge) check(value []byte) []sgam.FieldError {
	var v any
	if err := json.Unmarshal(value, &v); err != nil {
		return []sgam.FieldError{{Rule: "syntax", Want: "JSON"}}
	}
	return j.checkDecoded(v)
}

// checkDecoded judges a value that is decoded already.
func (j *judge) checkDecoded(v any) []sgam.FieldError {
	err := j.schema.Validate(v)
	if err == nil {
		return nil
	}
	c := collector{judge: j, root: v}
	if ve, ok := errors.AsType[*jsonschema.ValidationError](err); ok {
		c.collect(ve)
	} else {
		c.add("", "schema", describe(j.schema))
	}
	slices.SortFunc(c.found, func(a, b sgam.FieldError) int {
		return strings.Compare(a.Field+"\x00"+a.Rule+"\x00"+a.Want, b.Field+"\x00"+b.Rule+"\x00"+b.Want)
	})
	c.found = slices.Compact(c.found)
	if n := len(c.found) - maxFaults; n > 0 {
		c.found = c.found[:maxFaults:maxFaults]
		c.add("", "more", fmt.Sprintf("%d further faults mended too", n))
	}
	return c.found
}

// collector turns what the validation library found into faults.
type collector struct {
	faults
	judge *judge
	root  any
}

func (c *collector) collect(e *jsonschema.ValidationError) {
	at := ""
	for _, token := range e.InstanceLocation {
		at = join(at, token)
	}
	s := c.judge.at[e.SchemaURL]
	switch k := e.ErrorKind.(type) {
	case *kind.Schema, *kind.Group:
		for _, cause := range e.Causes {
			c.collect(cause)
		}
	case *kind.OneOf:
		c.union(e, s, at)
	case *kind.Type:
		c.add(at, "type", describe(s))
	case *kind.Const:
		c.add(at, "const", describe(s))
	case *kind.Enum:
		c.add(at, "enum", describe(s))
	case *kind.Format:
		c.add(at, "format", describe(s))
	case *kind.Required:
		for _, name := range k.Missing {
			c.add(join(at, name), "required", describe(s.Properties[name]))
		}
	case *kind.AdditionalProperties:
		c.additional(k, s, at)
	case *kind.MinLength:
		c.add(at, "minLength", "at least "+count(k.Want, "character"))
	case *kind.MaxLength:
		c.add(at, "maxLength", "at most "+count(k.Want, "character"))
	case *kind.Pattern:
		c.add(at, "pattern", "text that matches "+k.Want)
	case *kind.MinItems:
		c.add(at, "minItems", "at least "+count(k.Want, "item"))
	case *kind.MaxItems:
		c.add(at, "maxItems", "at most "+count(k.Want, "item"))
	case *kind.UniqueItems:
		c.add(at, "uniqueItems", "items that all differ")
	case *kind.Minimum:
		c.add(at, "minimum", "at least "+decimal(k.Want))
	case *kind.Maximum:
		c.add(at, "maximum", "at most "+decimal(k.Want))
	case *kind.ExclusiveMinimum:
		c.add(at, "exclusiveMinimum", "more than "+decimal(k.Want))
	case *kind.ExclusiveMaximum:
		c.add(at, "exclusiveMaximum", "less than "+decimal(k.Want))
	case *kind.MultipleOf:
		c.add(at, "multipleOf", "a multiple of "+decimal(k.Want))
	default:
		c.add(at, "schema", describe(c.judge.schema))
	}
}

// additional names the properties that an object may not have, as far as they look like names: anything else could be
// content that strayed into a key.
func (c *collector) additional(k *kind.AdditionalProperties, s *jsonschema.Schema, at string) {
	want := "only " + strings.Join(sortedKeys(s.Properties), ", ")
	for _, name := range k.Properties {
		if isName(name) {
			c.add(join(at, name), "additional", want)
		} else {
			c.add(at, "additional", want)
		}
	}
}

// union reports the faults of the branch that the value claims to be, or that it claims none.
func (c *collector) union(e *jsonschema.ValidationError, s *jsonschema.Schema, at string) {
	object, _ := lookup(c.root, e.InstanceLocation).(map[string]any)
	name := tagOf(s)
	var words []string
	for i, branch := range s.OneOf {
		constant := *branch.Properties[name].Const
		if object[name] == constant && i < len(e.Causes) {
			c.collect(e.Causes[i])
			return
		}
		words = append(words, display(constant))
	}
	rule := "enum"
	if _, present := object[name]; !present {
		rule = "required"
	}
	c.add(join(at, name), rule, "one of "+strings.Join(words, ", "))
}

// tagOf finds the discriminator of a compiled union, as [discriminator] does in the document.
func tagOf(s *jsonschema.Schema) string {
	for _, name := range sortedKeys(s.OneOf[0].Properties) {
		seen := map[any]bool{}
		for _, branch := range s.OneOf {
			p := branch.Properties[name]
			if p == nil || p.Const == nil || !slices.Contains(branch.Required, name) {
				break
			}
			if text, ok := (*p.Const).(string); ok {
				seen[text] = true
			}
		}
		if len(seen) == len(s.OneOf) {
			return name
		}
	}
	return ""
}

// lookup finds the part of a value at a location that the validation library reported.
func lookup(v any, at []string) any {
	for _, token := range at {
		switch part := v.(type) {
		case map[string]any:
			v = part[token]
		case []any:
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(part) {
				return nil
			}
			v = part[i]
		}
	}
	return v
}

// describe says in words what a schema wants, for a person or a model that has to mend a value.
func describe(s *jsonschema.Schema) string {
	if s.Const != nil {
		return display(*s.Const)
	}
	if s.Enum != nil {
		const shown = 32
		var words []string
		for i, v := range s.Enum.Values {
			if i == shown {
				words = append(words, fmt.Sprintf("… (%d in all)", len(s.Enum.Values)))
				break
			}
			words = append(words, display(v))
		}
		if len(words) == 1 {
			return words[0]
		}
		return "one of " + strings.Join(words, ", ")
	}
	var words []string
	for _, t := range s.Types.ToStrings() {
		switch {
		case t == "string" && s.Format != nil:
			words = append(words, formatWords[s.Format.Name])
		default:
			words = append(words, typeWords[t])
		}
	}
	slices.SortStableFunc(words, func(a, b string) int {
		switch {
		case a == b:
			return 0
		case a == "null":
			return 1
		case b == "null":
			return -1
		}
		return 0
	})
	return strings.Join(words, " or ")
}

var typeWords = map[string]string{
	"string": "a string", "number": "a number", "integer": "a whole number", "boolean": "true or false",
	"array": "a list", "object": "an object", "null": "null",
}

var formatWords = map[string]string{
	"date":      "a date such as 2026-06-30",
	"date-time": "a time with an offset such as 2026-06-30T09:00:00Z",
	"time":      "a time of day with an offset such as 09:00:00Z",
	"duration":  "an ISO 8601 duration such as P1DT12H",
	"email":     "an e-mail address such as mira@example.com",
	"uri":       "an absolute URI such as https://example.com/",
	"uuid":      "a UUID such as 123e4567-e89b-12d3-a456-426614174000",
}

// display shows a constant of a schema as JSON.
func display(v any) string {
	raw, err := canonical(v)
	if err != nil {
		return "a constant"
	}
	return string(raw)
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

// decimal shows a bound as JSON would.
func decimal(r *big.Rat) string {
	f, _ := r.Float64()
	return display(f)
}
