package schema

import (
	"errors"
	"regexp"
	"time"

	"github.com/go-playground/validator/v10"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/sgam-ledger/sgam"
)

// judge decides whether a value keeps one attribute's schema. It is safe for concurrent use.
type judge struct {
	schema *jsonschema.Schema
	at     map[string]*jsonschema.Schema // every schema inside, by its location
}

// location is where the compiler thinks that a schema stands. Nothing is ever loaded from there.
const location = "https://schema.sgam.invalid/"

// compile makes a normalised schema ready to judge values.
func compile(normal map[string]any) (*judge, error) {
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.UseLoader(deny{})
	c.AssertFormat()
	for name, check := range formats {
		if check != nil {
			c.RegisterFormat(&jsonschema.Format{Name: name, Validate: onText(check)})
		}
	}
	if err := c.AddResource(location, normal); err != nil {
		return nil, err
	}
	s, err := c.Compile(location)
	if err != nil {
		return nil, err
	}
	j := &judge{schema: s, at: map[string]*jsonschema.Schema{}}
	j.index(s)
	return j, nil
}

func (j *judge) index(s *jsonschema.Schema) {
	j.at[s.Location] = s
	for _, p := range s.Properties {
		j.index(p)
	}
	if s.Items2020 != nil {
		j.index(s.Items2020)
	}
	for _, b := range s.OneOf {
		j.index(b)
	}
}

// deny loads nothing: the compiler's own loader would read local files.
type deny struct{}

func (deny) Load(string) (any, error) { return nil, errNotLoaded }

var errNotLoaded = errors.New("schema: references to other documents are not followed")

// formats are the formats of the profile. A nil check leaves the format to the validation library; the others are
// narrower, so that what passes can be decoded: Go reads neither a leap second nor a lower-case t.
var formats = map[string]func(s string) error{
	"date": func(s string) error {
		d, err := sgam.ParseDate(s)
		if err == nil {
			_, err = d.MarshalText()
		}
		return err
	},
	"date-time": dateTime,
	"time":      func(s string) error { return dateTime("2000-01-01T" + s) },
	"duration":  nil,
	// One meaning of an address, whether it comes from a document or from a validate tag.
	"email": func(s string) error { return tagRules.Var(s, "email") },
	"uri":   nil,
	"uuid":  nil,
}

// rfc3339 is the shape of a time; Go's parser also takes one-digit hours and a comma before the fraction.
var rfc3339 = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$`)

func dateTime(s string) error {
	if !rfc3339.MatchString(s) {
		return errNotRFC3339
	}
	return new(time.Time).UnmarshalText([]byte(s))
}

var errNotRFC3339 = errors.New("schema: not RFC 3339")

var tagRules = validator.New(validator.WithRequiredStructEnabled())

// onText applies a check to strings; other types are the business of the keyword type.
func onText(check func(s string) error) func(v any) error {
	return func(v any) error {
		if s, ok := v.(string); ok {
			return check(s)
		}
		return nil
	}
}
