// Package schema says what a memory may look like: memory types with attributes, each with a schema for its values, and
// the rules by which the ledger keeps them.
//
// A program declares its types once, in Go or in JSON, and hands the [Registry] to the ledger:
//
//	var identity = schema.NewRegistry()
//	var Deadline = schema.MustDefine[sgam.Date](identity, "passport_deadline", 1, nil)
//
//	l, err := sqlite.Open(ctx, "agent.db", &sgam.Options{Schemas: identity})
//
// A program that declares nothing of its own, such as a command line or an auditor, opens a ledger with [Stored].
//
// # Documents
//
// A version of a memory type is one JSON document. Whether it came from Go or from JSON, its canonical form is the same:
//
//	{
//	  "type": "order", "version": 1, "draft": false, "title": "…", "description": "…",
//	  "attributes": [{
//	    "tag": 1,                       identity of the attribute for ever, unique in the type
//	    "name": "order_item",           unique in the registry, like each alias
//	    "aliases": ["basket_item"],     earlier names
//	    "cardinality": "many",          one (default) or many
//	    "key": "/sku",                  with many: what identifies a member; without it the whole value does
//	    "conflict_policy": "supersede", the default; or keep_highest_confidence, source_rank, immutable, confirm_first
//	    "ranks": ["ticket", "message"], with source_rank: episode kinds from the strongest to the weakest
//	    "sensitivity": "internal",      the default; or public, personal, special, secret
//	    "declassified": {"actor": "…", "reason": "…"},   where it is lower than in the version before
//	    "retention": "orders_7y",       name of a retention class
//	    "unit": "EUR", "title": "…", "description": "…",
//	    "schema": {…}                   what a value looks like
//	  }],
//	  "reserved": {"tags": [2], "names": ["order_note"]}
//	}
//
// Only type, version, attributes, tag, name and schema are required; unknown keys are refused. Names are 1 to 128 of the
// characters A-Z a-z 0-9 _ . @ -, and case matters. A document has at most 64 KiB and 1024 attributes.
//
// # Schemas of values
//
// A value schema is JSON Schema 2020-12 in a closed profile, small enough that two versions can be compared:
//
//   - type: one of string, number, integer, boolean, array, object; null may stand beside it inside a value
//   - enum and const of scalars
//   - strings: minLength, maxLength, pattern (RE2, at most 512 bytes), format out of date, date-time, time, duration,
//     email, uri and uuid; formats are enforced
//   - numbers: minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf
//   - arrays: items (required), minItems, maxItems, uniqueItems
//   - objects: properties (required) and required; additionalProperties is false, said or not
//   - oneOf as a tagged union: objects that all require one property, with a string constant of its own each
//   - $ref into $defs at the root of the same schema, without cycles; they are inlined
//   - title, description, examples, deprecated, default, and keys that begin with x-sgam-
//
// Everything else is refused, as are constants, defaults and examples that the schema itself would not allow, and more
// than 16 schemas inside one another. Nothing is ever loaded from a file or a network.
//
// # Lenses
//
// Where a version changes values in a way that no reader can bridge, a lens takes them from the version before to that
// one and back: a JSON document with operations for each attribute, by tag, that [Registry.AddLens] declares.
//
//	{"type": "contact", "version": 2, "attributes": [{"tag": 3, "ops": [
//	  {"op": "rename_prop", "from": "nr", "to": "number"},
//	  {"op": "add", "prop": "country", "default": "DE"},      a default if, and only if, the newer version requires it
//	  {"op": "drop", "prop": "fax"},                          a default for the way back if the older one requires it
//	  {"op": "nest", "props": ["zip", "city"], "into": "address"},
//	  {"op": "unnest", "props": ["first", "last"], "from": "name"},            all properties of the inner object
//	  {"op": "split", "prop": "name", "into": ["first", "last"], "separator": " "},      text of exactly two parts
//	  {"op": "join", "props": ["y", "m"], "into": "month", "separator": "-"},
//	  {"op": "in", "path": "/address/city", "ops": […]},      on a part of an object; where there is none, nothing
//	  {"op": "each", "ops": […]},                             on the items of a list
//	  {"op": "wrap", "prop": "amount"},                       v becomes {"amount": v}; unwrap is the other way
//	  {"op": "cast", "from": "string", "to": "integer"},      string and integer, number or boolean; integer and number
//	  {"op": "affine", "a": "9/5", "b": "32"},                a·v + b, in exact fractions
//	  {"op": "map_enum", "pairs": [["m", "mobile"]], "up_fallback": "other", "down_fallback": "m"}
//	]}]}
//
// Operations run one after another, and backwards on the way down. The names of a pair are those of the older and the
// newer version; the first pair that has a value counts. Null stays null, unless map_enum names it or wrap puts it into
// an object. What an operation does not know how to convert without a guess, such as text "007" as an integer, or a
// result that a JSON number does not hold exactly, is a [*sgam.FieldError] at its place in the value. What comes out is
// judged by the version that it is for. Defaults and fallbacks are listed as such ([sgam.Converted]). What one version
// cannot hold is not carried along: the ledger keeps every encoding of a fact, and so the value as it was written.
//
// A lens must make of the schemas of the older version those of the newer one, and is refused otherwise. An attribute
// that keeps its tag needs no operation for a new name. What identifies a member of a many-valued attribute stays as it
// is, as does the cardinality; for more than that, declare a new attribute.
//
// # Models
//
// [For] makes the JSON Schema in which a model proposes changes of memory, in the [Dialect] of the endpoint that has to
// keep to it, and [Form.Decode] and [Form.DecodeReply] make deltas of what it answers. [Lint] says what an endpoint
// would refuse in any schema. An answer that an endpoint let through is not yet valid: bounds and patterns are in the
// descriptions only, and the ledger judges every delta by the full schema.
//
// # Go types
//
// [Define] and [DefineType] read a Go type as encoding/json writes it. Understood are booleans, strings, integers,
// floats, structs, slices of anything but bytes, arrays, pointers inside a value, [time.Time] (date-time),
// [sgam.Date] (date), uuid.UUID (uuid), and types with a method JSONSchema() *jsonschema.Schema of
// github.com/invopop/jsonschema. Maps, interfaces, json.RawMessage, byte slices, types that contain themselves and types
// that write their own JSON without saying what are refused.
//
// A field is required unless its json tag says omitempty or omitzero. A pointer may be null, or left out if its tag says
// so. Integers have the bounds of their type, and none goes beyond ±(2⁵³−1), where JSON numbers stop being exact.
//
// A validate tag (github.com/go-playground/validator) is read as a notation: required, oneof, min, max, len, gte, lte,
// email, uuid and datetime are compiled into the schema, omitempty and dive are understood, and every other word is
// refused. The schema alone judges; it says what the validator would say, except that
//
//   - a nil slice that is not left out is written as null, which is no array: say omitempty or omitzero;
//   - datetime wants RFC 3339 to the letter, where Go's parser also takes a comma before the fraction and one-digit hours.
//
// A jsonschema tag may add title, description, pattern, format, default, example, enum, multipleOf and the bounds.
package schema
