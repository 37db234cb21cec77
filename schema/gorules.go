package schema

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// rules is a validate tag, read. The tags are a notation: what they say is compiled into the schema, which alone judges.
type rules struct {
	omitEmpty bool // the zero value is not judged
	required  bool // the zero value is refused; a nil pointer or slice, for those
	list      []rule
	dive      *rules // for the elements of a slice
}

type rule struct{ name, param string }

// own reports whether there is any rule for the value itself, elements apart.
func (r *rules) own() bool { return r.required || len(r.list) > 0 }

const wantRules = "validate tags out of omitempty, required, oneof, min, max, len, gte, lte, email, uuid, datetime and dive"

// parseRules reads a validate tag.
func (f *faults) parseRules(tag, path string) *rules {
	r := &rules{}
	if tag == "" {
		return r
	}
	words := strings.Split(tag, ",")
	for i, word := range words {
		name, param, hasParam := strings.Cut(word, "=")
		param = strings.ReplaceAll(strings.ReplaceAll(param, "0x2C", ","), "0x7C", "|")
		needsParam := false
		switch name {
		case "omitempty":
			r.omitEmpty = true
			if i > 0 {
				f.add(path, "validate_tag", "omitempty before all other rules")
			}
		case "required":
			r.required = true
		case "dive":
			r.dive = f.parseRules(strings.Join(words[i+1:], ","), path+"[]")
			return r
		case "email", "uuid":
			r.list = append(r.list, rule{name, ""})
		case "oneof", "min", "max", "len", "gte", "lte", "datetime":
			needsParam = true
			r.list = append(r.list, rule{name, param})
		default:
			f.add(path, "validate_tag", wantRules)
			continue
		}
		if hasParam != needsParam || strings.Contains(word, "|") {
			f.add(path, "validate_tag", wantRules)
		}
	}
	if r.omitEmpty && r.required {
		f.add(path, "validate_tag", "omitempty or required, not both")
	}
	return r
}

// apply compiles the rules of one value, its elements apart, into its schema.
func (b *builder) apply(r *rules, s *shape, schema map[string]any, path string) {
	for _, one := range r.list {
		if s.leaf {
			b.add(path, "validate_tag", "no rule "+one.name+" on "+s.typ.String())
			continue
		}
		switch one.name {
		case "oneof":
			b.oneOf(one.param, s, schema, path)
		case "min", "gte":
			b.bound(one, s, schema, path, true, false)
		case "max", "lte":
			b.bound(one, s, schema, path, false, true)
		case "len":
			b.bound(one, s, schema, path, true, true)
		default:
			b.formatRule(one, s, schema, path)
		}
	}
	if r.required && !s.pointer {
		b.nonZero(s, schema, path)
	}
}

// oneOf compiles a list of values.
func (b *builder) oneOf(param string, s *shape, schema map[string]any, path string) {
	var values []any
	for _, word := range oneOfWords.FindAllString(param, -1) {
		word = strings.ReplaceAll(word, "'", "")
		switch {
		case s.typ.Kind() == reflect.String:
			values = append(values, word)
		case s.whole() && wholeNumber.MatchString(word):
			values = append(values, json.Number(word))
		default:
			b.add(path, "validate_tag", "oneof with strings for a string, or with whole numbers for an integer")
			return
		}
	}
	if _, twice := schema["enum"]; twice {
		b.add(path, "validate_tag", "one list of values")
	}
	schema["enum"] = values
}

var (
	oneOfWords  = regexp.MustCompile(`'[^']*'|\S+`)
	wholeNumber = regexp.MustCompile(`^(0|-?[1-9][0-9]*)$`)
)

// bound compiles a bound of a length or of a number.
func (b *builder) bound(r rule, s *shape, schema map[string]any, path string, low, high bool) {
	var least, most string
	param := json.Number(r.param)
	switch kind := s.typ.Kind(); {
	case kind == reflect.String:
		least, most = "minLength", "maxLength"
	case kind == reflect.Slice:
		least, most = "minItems", "maxItems"
	case s.whole():
		least, most = "minimum", "maximum"
	case kind == reflect.Float32 || kind == reflect.Float64:
		least, most = "minimum", "maximum"
		f, err := strconv.ParseFloat(r.param, s.typ.Bits())
		if err != nil || f-f != 0 {
			b.add(path, "validate_tag", r.name+" with a number")
			return
		}
		param = json.Number(strconv.FormatFloat(f, 'g', -1, s.typ.Bits()))
	default:
		b.add(path, "validate_tag", "no rule "+r.name+" on "+s.typ.String())
		return
	}
	negative := strings.HasPrefix(r.param, "-")
	if !s.fraction() && (!wholeNumber.MatchString(r.param) || negative && !s.signed()) {
		b.add(path, "validate_tag", r.name+" with a whole number that the type can hold")
		return
	}
	if low {
		tighten(schema, least, param, 1)
	}
	if high {
		tighten(schema, most, param, -1)
	}
}

// tighten sets a bound unless a tighter one is there; sign is 1 for a lower bound and -1 for an upper one.
func tighten(schema map[string]any, key string, value json.Number, sign float64) {
	if there, ok := schema[key].(json.Number); ok {
		a, errA := there.Float64()
		v, errV := value.Float64()
		if errA == nil && errV == nil && a*sign >= v*sign {
			return
		}
	}
	schema[key] = value
}

// formatRule compiles a format.
func (b *builder) formatRule(r rule, s *shape, schema map[string]any, path string) {
	format := r.name
	if r.name == "datetime" {
		switch r.param {
		case time.DateOnly:
			format = "date"
		case time.RFC3339:
			format = "date-time"
		default:
			b.add(path, "validate_tag", fmt.Sprintf("datetime with layout %s or %s", time.DateOnly, time.RFC3339))
			return
		}
	}
	if there, ok := schema["format"]; s.typ.Kind() != reflect.String || ok && there != format {
		b.add(path, "validate_tag", "a string, and one format")
		return
	}
	schema["format"] = format
}

// nonZero compiles "required" for a value that cannot be nil: its zero value is refused.
func (b *builder) nonZero(s *shape, schema map[string]any, path string) {
	if s.leaf {
		b.add(path, "validate_tag", "no required on "+s.typ.String()+": it is always there; or a pointer to it")
		return
	}
	values, hasEnum := schema["enum"].([]any)
	kind := s.typ.Kind()
	switch {
	case kind == reflect.Slice:
	case kind == reflect.Bool:
		schema["const"] = true
	case hasEnum:
		var left []any
		for _, v := range values {
			if v != "" && v != json.Number("0") {
				left = append(left, v)
			}
		}
		schema["enum"] = left
	case kind == reflect.String:
		tighten(schema, "minLength", "1", 1)
	case s.whole() && !s.signed():
		tighten(schema, "minimum", "1", 1)
	case s.whole() || s.fraction():
		if !above(schema["minimum"], 1) && !above(schema["maximum"], -1) {
			b.add(path, "validate_tag",
				"no required on a number that may be negative: no schema can say \"not zero\"; min=1 says \"positive\"")
		}
	default:
		b.add(path, "validate_tag", "no required on "+s.typ.String()+": it is always there; or a pointer to it")
	}
}

// above reports whether a bound lies on the side of zero that sign names.
func above(bound any, sign float64) bool {
	n, ok := bound.(json.Number)
	if !ok {
		return false
	}
	f, err := n.Float64()
	return err == nil && f*sign > 0
}

func (s *shape) signed() bool {
	return s.typ.Kind() >= reflect.Int && s.typ.Kind() <= reflect.Int64
}

func (s *shape) whole() bool {
	return s.typ.Kind() >= reflect.Int && s.typ.Kind() <= reflect.Uint64
}

func (s *shape) fraction() bool {
	return s.typ.Kind() == reflect.Float32 || s.typ.Kind() == reflect.Float64
}
