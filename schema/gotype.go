package schema

import (
	"encoding"
	"encoding/json"
	"fmt"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	invopop "github.com/invopop/jsonschema"

	"github.com/sgam-ledger/sgam"
)

// shape is what the JSON form of a Go type looks like, as far as its type tells. Generating a schema from a shape
// cannot fail half way: whatever has no closed, faithful JSON form is refused while the shape is made.
type shape struct {
	typ     reflect.Type // never a pointer
	pointer bool         // the type was a pointer to typ
	leaf    bool         // typ writes itself, as one JSON value
	elem    *shape       // of a slice or an array
	fields  []field      // of a struct, embedded ones included
}

// field is one field of a struct that has a JSON form.
type field struct {
	*shape
	path                string // in Go, for messages
	name                string // in JSON
	omitEmpty, omitZero bool
	tag                 reflect.StructTag
}

// judged reports whether validate tags inside a value of this shape judge it.
func (s *shape) judged() bool {
	return slices.ContainsFunc(s.fields, func(f field) bool {
		return f.rules() != "" || f.judged()
	})
}

// rules is the field's validate tag, empty when it has none.
func (f *field) rules() string {
	if tag := f.tag.Get("validate"); tag != "-" {
		return tag
	}
	return ""
}

// optional reports whether encoding/json may leave the field out.
func (f *field) optional() bool { return f.omitEmpty || f.omitZero }

// describer is a type that writes its own JSON and says what it writes.
type describer interface{ JSONSchema() *invopop.Schema }

var (
	// formatOf are the types that write themselves as a string of a format.
	formatOf = map[reflect.Type]string{
		reflect.TypeFor[time.Time](): "date-time",
		reflect.TypeFor[sgam.Date](): "date",
		reflect.TypeFor[uuid.UUID](): "uuid",
	}
	// instead says what to use for types whose JSON form is open, or means different things to different readers.
	instead = map[reflect.Type]string{
		reflect.TypeFor[time.Duration]():   "a string with format duration, or a whole number with a unit",
		reflect.TypeFor[json.Number]():     "an integer, a float, or a string with a pattern",
		reflect.TypeFor[json.RawMessage](): "a type with a closed form",
		reflect.TypeFor[url.URL]():         "a string with format uri",
	}
	typeDescriber = reflect.TypeFor[describer]()
	// writers are the interfaces by which a type makes its own JSON, which reflection cannot see through.
	writers = []reflect.Type{
		reflect.TypeFor[json.Marshaler](), reflect.TypeFor[json.Unmarshaler](),
		reflect.TypeFor[encoding.TextMarshaler](), reflect.TypeFor[encoding.TextUnmarshaler](),
	}
	// hooks are the other ways in which a type can change what the generator writes for it.
	hooks = []reflect.Type{
		reflect.TypeFor[interface{ JSONSchemaAlias() any }](),
		reflect.TypeFor[interface{ JSONSchemaProperty(string) any }](),
		reflect.TypeFor[interface{ JSONSchemaExtend(*invopop.Schema) }](),
		reflect.TypeFor[interface{ GetFieldDocString(string) string }](),
		reflect.TypeFor[interface{ EnumDescriptor() ([]byte, []int) }](),
	}
)

func implements(t, iface reflect.Type) bool {
	return t.Implements(iface) || reflect.PointerTo(t).Implements(iface)
}

// special finds out whether a type writes itself and says what; or says what to use instead of it.
func special(t reflect.Type) (leaf bool, want string) {
	is := func(iface reflect.Type) bool { return implements(t, iface) }
	switch {
	case formatOf[t] != "":
		return true, ""
	case instead[t] != "":
		return false, instead[t]
	case slices.ContainsFunc(hooks, is):
		return false, "a type that describes itself with JSONSchema alone"
	case is(typeDescriber):
		return true, ""
	case slices.ContainsFunc(writers, is):
		return false, "a type that does not write its own JSON, or that has a method JSONSchema to say what it writes"
	}
	return false, ""
}

// inspect finds the shape of a type. The stack holds the types around it.
func (f *faults) inspect(t reflect.Type, path string, stack []reflect.Type) *shape {
	s := &shape{typ: t}
	if t.Kind() == reflect.Pointer {
		s.pointer, s.typ = true, t.Elem()
		t = s.typ
	}
	refuse := func(want string) *shape {
		f.add(path, "go_type", want)
		return s
	}
	leaf, want := special(t)
	if want != "" {
		return refuse(want)
	}
	if leaf {
		s.leaf = true
		return s
	}
	if slices.Contains(stack, t) {
		return refuse("a type that does not contain itself")
	}
	stack = append(slices.Clip(stack), t)
	switch t.Kind() {
	case reflect.Bool, reflect.String, reflect.Float32, reflect.Float64,
		reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
	case reflect.Slice, reflect.Array:
		if t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8 {
			return refuse("a string: bytes would be base64, which no schema of the profile describes")
		}
		s.elem = f.inspect(t.Elem(), path+"[]", stack)
	case reflect.Struct:
		f.fields(s, t, path, stack)
	case reflect.Map:
		return refuse("a struct, or a slice of structs: the keys of a map are not closed")
	case reflect.Interface:
		return refuse("a concrete type: an interface has no closed form")
	default:
		return refuse("a type with a JSON form that can be read back")
	}
	return s
}

// fields adds the fields of t to a struct's shape; embedded structs are looked into, as encoding/json does.
func (f *faults) fields(s *shape, t reflect.Type, path string, stack []reflect.Type) {
	for i := range t.NumField() {
		sf := t.Field(i)
		at := path + "." + sf.Name
		tag, tagged := sf.Tag.Lookup("json")
		options := strings.Split(tag, ",")
		rules := sf.Tag.Get("validate")
		switch {
		case !sf.IsExported() && !sf.Anonymous:
			continue
		case tag == "-":
			if rules != "" && rules != "-" {
				f.add(at, "validate_tag", "no rules on a field that is not in the JSON")
			}
			continue
		case sf.Anonymous && options[0] == "":
			f.embedded(s, sf, at, stack)
			continue
		}
		own := field{path: at, name: options[0], tag: sf.Tag}
		if !tagged || own.name == "" {
			own.name = sf.Name
		}
		if !isName(own.name) || own.name == "-" {
			f.add(at, "json_tag", fmt.Sprintf("a name of 1 to %d of the characters A-Z a-z 0-9 _ . @ -", maxName))
			continue
		}
		for _, option := range options[1:] {
			switch option {
			case "omitempty":
				own.omitEmpty = true
			case "omitzero":
				own.omitZero = true
			default:
				f.add(at, "json_tag", "no options but omitempty and omitzero")
			}
		}
		if slices.ContainsFunc(s.fields, func(other field) bool { return other.name == own.name }) {
			f.add(at, "json_tag", fmt.Sprintf("a name of its own: another field is %q too", own.name))
			continue
		}
		own.shape = f.inspect(sf.Type, at, stack)
		if rules == "-" && own.judged() {
			f.add(at, "validate_tag", "no - on a field with rules inside: the schema has them all the same")
		}
		s.fields = append(s.fields, own)
	}
}

// embedded adds the fields of an embedded struct.
func (f *faults) embedded(s *shape, sf reflect.StructField, at string, stack []reflect.Type) {
	leaf, want := special(sf.Type)
	switch {
	case leaf || want != "" || sf.Type.Kind() != reflect.Struct || slices.Contains(stack, sf.Type):
		f.add(at, "go_type", "an embedded struct, or a field with a name")
	case sf.Tag.Get("validate") != "" || sf.Tag.Get("json") != "" || sf.Tag.Get("jsonschema") != "":
		f.add(at, "go_type", "no tags on an embedded struct")
	default:
		f.fields(s, sf.Type, at, append(slices.Clip(stack), sf.Type))
	}
}
