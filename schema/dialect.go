package schema

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/sgam-ledger/sgam"
)

// Dialect is the part of JSON Schema that a model's endpoint accepts when it promises to keep to a schema.
type Dialect string

// The dialects. What an endpoint does not document as accepted counts as refused.
const (
	// OpenAI is response_format json_schema with strict true, and strict functions: "Structured Outputs, supported
	// schemas" of OpenAI's API documentation, as of October 2026, read together with the keywords that its SDK for Java
	// lets through.
	OpenAI Dialect = "openai"
	// Anthropic is output_config.format, and strict tools: "Structured outputs, JSON Schema limitations" of Anthropic's
	// API documentation, as of October 2026. Beyond the limits that it documents the service refuses a schema whose
	// compiled grammar is too large; how large nobody can know before.
	Anthropic Dialect = "anthropic"
	// Generic is what the engines for open models have in common (XGrammar in vLLM, Ollama, llama.cpp). Values travel as
	// text, so that a small model has one shape to fill in, and the limits are the stricter ones of the other two
	// dialects, which accept it too.
	Generic Dialect = "generic"
)

// dialectRules is what an endpoint documents.
type dialectRules struct {
	// keywords may stand in every schema, rootKeywords in the outermost one only.
	keywords, rootKeywords []string
	formats                []string
	// allRequired: an object must require each of its properties.
	allRequired bool
	// typed: the value of a candidate has the shape of its attribute. Otherwise it is text.
	typed  bool
	limits []limit
}

var portableKeywords = []string{
	"type", "properties", "required", "additionalProperties", "items", "enum", "const", "anyOf", "description", "title",
}

func (d Dialect) rules() (dialectRules, error) {
	unions := limit{"unions", 16, "union-typed parameters (anyOf, or a list of types)", "fewer types in one call, or fewer optional properties"}
	options := limit{"optional", 24, "optional parameters", "required properties that may be null"}
	sizes := []limit{
		{"depth", 10, "schemas inside one another", "dialect generic, which carries values as text"},
		{"properties", 5000, "properties", fewerTypes},
		{"enum_values", 1000, "values of enumerations", fewerTypes},
		{"enum_text", 15000, "characters in an enumeration of more than 250 strings", "a shorter enumeration"},
		{"text", 120000, "characters in names, enumerations and constants", fewerTypes},
	}
	switch d {
	case OpenAI:
		return dialectRules{
			keywords: append([]string{
				"$ref", "format", "pattern", "multipleOf", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minItems", "maxItems",
			}, portableKeywords...),
			rootKeywords: []string{"$schema", "$id", "$defs"},
			formats:      []string{"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"},
			allRequired:  true, typed: true, limits: sizes,
		}, nil
	case Anthropic:
		return dialectRules{
			keywords: append([]string{
				"$ref", "allOf", "default", "format", "minItems", "pattern",
			}, portableKeywords...),
			rootKeywords: []string{"$defs", "definitions"},
			formats:      []string{"date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"},
			typed:        true, limits: []limit{unions, options},
		}, nil
	case Generic:
		return dialectRules{keywords: portableKeywords, allRequired: true, limits: append(sizes, unions)}, nil
	}
	return dialectRules{}, &sgam.FieldError{Field: "dialect", Rule: "enum", Want: "one of openai, anthropic, generic"}
}

// limit is a documented limit: its name, the most that is allowed, what is counted, and what helps.
type limit struct {
	name         string
	most         int
	what, advice string
}

const fewerTypes = "fewer types in one call"

// LimitError says that a schema is larger than an endpoint allows.
type LimitError struct {
	Dialect Dialect
	// Limit is the limit's name: depth, properties, enum_values, enum_text, text, unions, optional.
	Limit string
	// Have is the count in the schema, Most the count that is allowed.
	Have, Most   int
	what, advice string
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("schema: %d %s, and %s takes %d: try %s", e.Have, e.what, e.Dialect, e.Most, e.advice)
}

// Form is what a model fills in: an object whose list "candidates" has one entry for each change of memory that the model
// found in a text. It is safe for concurrent use.
//
// An entry first quotes and reasons, then says what changes: evidence, compared, reasoning, contradicts, intent, subject,
// statement, valid_from, valid_to, confidence. The statement has attribute, change and value; in a dialect with typed
// values it has the shape of its attribute, and what takes an attribute's only value away is no_value_of and change.
//
// The words for a change are those that models choose well between:
//
//	now_is      assert: so it is from valid_from on, also when the text corrects what was said before
//	was_always  correct: what was said before was never true; it needs evidence and valid_from
//	no_longer   end
//	never_was   void
type Form struct {
	// Schema is the JSON Schema to send. Its properties are in the order in which the model should write them, so it has
	// to be sent as it is: a decoded and encoded copy would be sorted.
	Schema     json.RawMessage
	dialect    Dialect
	typed      bool
	attributes map[string]formAttribute
}

// formAttribute is what a form knows of an attribute, to read what was written into it.
type formAttribute struct {
	typ     string
	version int
	schema  map[string]any // normalised
}

// For makes the form for the memory types that a model may fill in: one version of each, the attributes in the order of
// the documents and their tags. Ask for few types at a time; a model chooses better from a short list.
//
// Every object is closed and requires all its properties, and what may be left out of a value may be null instead. Bounds,
// lengths, patterns and formats that the endpoint does not enforce, are in the descriptions in words; defaults are left
// out, since they would be no evidence. A model's answer is thus not valid just because the endpoint let it through: the
// ledger judges it.
//
// A document that does not parse is a [*DocumentError], a schema that the endpoint would find too large a [*LimitError],
// and an unknown dialect, no document at all, or a name that two documents share a [*sgam.FieldError].
func For(d Dialect, docs ...sgam.TypeDocument) (*Form, error) {
	rules, err := d.rules()
	if err != nil {
		return nil, err
	}
	f := &Form{dialect: d, typed: rules.typed, attributes: map[string]formAttribute{}}
	var offered []attribute
	for i := range docs {
		parsed, _, err := parse(docs[i].JSON)
		if err != nil {
			return nil, err
		}
		for _, a := range parsed.attributes {
			if _, taken := f.attributes[a.name]; taken {
				return nil, &sgam.FieldError{
					Field: "types/" + parsed.typ, Rule: "unique", Want: fmt.Sprintf("one version of each type: %q is there twice", a.name),
				}
			}
			f.attributes[a.name] = formAttribute{parsed.typ, parsed.version, a.schema}
		}
		offered = append(offered, parsed.attributes...)
	}
	if len(offered) == 0 {
		return nil, &sgam.FieldError{Field: "types", Rule: "required", Want: "at least one type"}
	}
	e := emitter{dialectRules: rules}
	if f.Schema, err = encode(e.form(offered)); err != nil {
		return nil, fmt.Errorf("schema: encode for %s: %w", d, err)
	}
	if l := inspect(d, rules, f.Schema); len(l.over) > 0 {
		return nil, &l.over[0]
	}
	return f, nil
}

// keyword says whether a keyword may stand in a schema.
func (r *dialectRules) keyword(key string, root bool) bool {
	return slices.Contains(r.keywords, key) || root && slices.Contains(r.rootKeywords, key)
}

// known lists the keywords in words.
func (r *dialectRules) known() string { return strings.Join(r.keywords, ", ") }
