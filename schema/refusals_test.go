package schema_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/schema"
)

// attributes wraps the attributes of a document, each without its braces.
func attributes(list ...string) string {
	return `{"type":"t","version":1,"attributes":[{` + strings.Join(list, "},{") + `}]}`
}

// valued wraps a value schema in a document.
func valued(s string) string {
	return attributes(`"tag":1,"name":"a","schema":` + s)
}

// repeat nests a piece of text n times.
func repeat(open, inner, end string, n int) string {
	return strings.Repeat(open, n) + inner + strings.Repeat(end, n)
}

// requireFault fails unless err is a DocumentError with this fault, which must say what is wanted.
func requireFault(t *testing.T, err error, field, rule string) {
	t.Helper()
	de, ok := errors.AsType[*schema.DocumentError](err)
	require.True(t, ok, "a DocumentError, not %v", err)
	for _, f := range de.Faults {
		if f.Field == field && f.Rule == rule {
			require.NotEmpty(t, f.Want)
			return
		}
	}
	require.Failf(t, "fault not found", "%s: %s\nin %v", field, rule, err)
}

func TestDocumentsThatAreRefused(t *testing.T) {
	const a = `"tag":1,"name":"a","schema":{"type":"string"}`
	for _, c := range []struct{ why, doc, field, rule string }{
		{"nothing", ``, "", "syntax"},
		{"no object", `[]`, "", "type"},
		{"null", `null`, "", "type"},
		{"a key twice", `{"type":"t","type":"u"}`, "type", "duplicate_key"},
		{"NUL in a string", `{"type":"a\u0000"}`, "type", "nul"},
		{"invalid UTF-8", "{\"type\":\"\xff\"}", "type", "utf8"},
		{"a number that no double holds", `{"version":9007199254740993}`, "version", "number"},
		{"more than 64 KiB", `{"type":"` + strings.Repeat("a", 64<<10) + `"}`, "", "size"},
		{"an unknown key", `{"type":"t","version":1,"attributes":[{` + a + `}],"owner":"me"}`, "owner", "unknown"},
		{"a number for a text", `{"type":1}`, "type", "type"},
		{"a text for a boolean", `{"draft":"no"}`, "draft", "type"},
		{"a text for a list of attributes", `{"attributes":"a"}`, "attributes", "type"},
		{"a text for a list of names", attributes(a + `,"aliases":"b"`), "attributes/0/aliases", "type"},
		{"a text for a list of tags", `{"type":"t","version":1,"attributes":[{` + a + `}],"reserved":{"tags":"1"}}`, "reserved/tags", "type"},
		{"a null", `{"type":"t","version":1,"attributes":[{` + a + `}],"title":null}`, "title", "type"},
		{"no type", `{"version":1,"attributes":[{` + a + `}]}`, "type", "name"},
		{"a type with a space", `{"type":"a b","version":1,"attributes":[{` + a + `}]}`, "type", "name"},
		{"a type with a letter beyond ASCII", `{"type":"größe","version":1,"attributes":[{` + a + `}]}`, "type", "name"},
		{"a type of 129 bytes", `{"type":"` + strings.Repeat("a", 129) + `","version":1,"attributes":[{` + a + `}]}`, "type", "name"},
		{"no version", `{"type":"t","attributes":[{` + a + `}]}`, "version", "range"},
		{"version 0", `{"type":"t","version":0,"attributes":[{` + a + `}]}`, "version", "range"},
		{"a negative version", `{"type":"t","version":-1,"attributes":[{` + a + `}]}`, "version", "range"},
		{"a broken version", `{"type":"t","version":1.5,"attributes":[{` + a + `}]}`, "version", "type"},
		{"a version as text", `{"type":"t","version":"1","attributes":[{` + a + `}]}`, "version", "type"},
		{"no attributes", `{"type":"t","version":1}`, "attributes", "required"},
		{"an empty list of attributes", `{"type":"t","version":1,"attributes":[]}`, "attributes", "required"},
		{"1025 attributes", `{"type":"t","version":1,"attributes":[` + strings.TrimSuffix(strings.Repeat("{},", 1025), ",") + `]}`, "attributes", "range"},
		{"an attribute that is no object", `{"type":"t","version":1,"attributes":["a"]}`, "attributes/0", "type"},
		{"an unknown key of an attribute", attributes(a + `,"policy":"supersede"`), "attributes/0/policy", "unknown"},
		{"no tag", attributes(`"name":"a","schema":{"type":"string"}`), "attributes/0/tag", "range"},
		{"tag 0", attributes(`"tag":0,"name":"a","schema":{"type":"string"}`), "attributes/0/tag", "range"},
		{"a tag beyond 31 bits", attributes(`"tag":2147483648,"name":"a","schema":{"type":"string"}`), "attributes/0/tag", "range"},
		{"no name", attributes(`"tag":1,"schema":{"type":"string"}`), "attributes/0/name", "name"},
		{"a name with a slash", attributes(`"tag":1,"name":"a/b","schema":{"type":"string"}`), "attributes/0/name", "name"},
		{"an empty alias", attributes(a + `,"aliases":[""]`), "attributes/0/aliases/0", "name"},
		{"a null alias", attributes(a + `,"aliases":[null]`), "attributes/0/aliases/0", "name"},
		{"an alias that is its own name", attributes(a + `,"aliases":["a"]`), "attributes/0/aliases", "unique"},
		{"the same alias twice", attributes(a + `,"aliases":["b","b"]`), "attributes/0/aliases", "unique"},
		{"the same tag twice", attributes(a, `"tag":1,"name":"b","schema":{"type":"string"}`), "attributes/1/tag", "unique"},
		{"the same name twice", attributes(a, `"tag":2,"name":"a","schema":{"type":"string"}`), "attributes/1/name", "unique"},
		{"an alias that another attribute has for a name", attributes(a, `"tag":2,"name":"b","aliases":["a"],"schema":{"type":"string"}`), "attributes/1/aliases", "unique"},
		{"a reserved tag", `{"type":"t","version":1,"attributes":[{` + a + `}],"reserved":{"tags":[1]}}`, "attributes/0/tag", "reserved"},
		{"a reserved name", `{"type":"t","version":1,"attributes":[{` + a + `}],"reserved":{"names":["a"]}}`, "attributes/0/name", "reserved"},
		{"reserved tag 0", `{"type":"t","version":1,"attributes":[{` + a + `}],"reserved":{"tags":[0]}}`, "reserved/tags/0", "range"},
		{"a tag reserved twice", `{"type":"t","version":1,"attributes":[{` + a + `}],"reserved":{"tags":[5,5]}}`, "reserved/tags/1", "unique"},
		{"a reserved name that is no name", `{"type":"t","version":1,"attributes":[{` + a + `}],"reserved":{"names":["x y"]}}`, "reserved/names/0", "name"},
		{"a name reserved twice", `{"type":"t","version":1,"attributes":[{` + a + `}],"reserved":{"names":["x","x"]}}`, "reserved/names/1", "unique"},
		{"an unknown key of reserved", `{"type":"t","version":1,"attributes":[{` + a + `}],"reserved":{"tag":[5]}}`, "reserved/tag", "unknown"},
		{"an unknown cardinality", attributes(a + `,"cardinality":"several"`), "attributes/0/cardinality", "enum"},
		{"an unknown policy", attributes(a + `,"conflict_policy":"newest"`), "attributes/0/conflict_policy", "enum"},
		{"an empty policy", attributes(a + `,"conflict_policy":""`), "attributes/0/conflict_policy", "enum"},
		{"an unknown sensitivity", attributes(a + `,"sensitivity":"high"`), "attributes/0/sensitivity", "enum"},
		{"a retention class that is no name", attributes(a + `,"retention":"7 years"`), "attributes/0/retention", "name"},
		{"ranks without source_rank", attributes(a + `,"ranks":["message"]`), "attributes/0/ranks", "policy"},
		{"source_rank without ranks", attributes(a + `,"conflict_policy":"source_rank"`), "attributes/0/ranks", "required"},
		{"an unknown kind of episode", attributes(a + `,"conflict_policy":"source_rank","ranks":["mail"]`), "attributes/0/ranks/0", "enum"},
		{"a kind of episode twice", attributes(a + `,"conflict_policy":"source_rank","ranks":["file","file"]`), "attributes/0/ranks/1", "unique"},
		{"no schema", attributes(`"tag":1,"name":"a"`), "attributes/0/schema", "required"},
	} {
		t.Run(c.why, func(t *testing.T) {
			_, err := schema.ParseDocument([]byte(c.doc))
			requireFault(t, err, c.field, c.rule)
		})
	}
}

func TestKeysThatAreRefused(t *testing.T) {
	const sku = `"schema":{"type":"object","properties":{"sku":{"type":"string"},"note":{"type":"string"},"old":{"type":["string","null"]},` +
		`"part":{"type":"object","properties":{"no":{"type":"integer"},"hint":{"type":"string"}},"required":["no"]}},"required":["sku","old","part"]}`
	item := func(rest string) string { return attributes(`"tag":1,"name":"a",` + sku + rest) }
	for _, key := range []string{"/sku", "/part", "/part/no"} {
		_, err := schema.ParseDocument([]byte(item(`,"cardinality":"many","key":"` + key + `"`)))
		require.NoError(t, err, key)
	}
	for _, c := range []struct{ why, doc, rule string }{
		{"a key without many", item(`,"key":"/sku"`), "cardinality"},
		{"a key that is no pointer", item(`,"cardinality":"many","key":"sku"`), "pointer"},
		{"a malformed escape", item(`,"cardinality":"many","key":"/sk~u"`), "pointer"},
		{"a property that is not there", item(`,"cardinality":"many","key":"/size"`), "pointer"},
		{"a property that may be left out", item(`,"cardinality":"many","key":"/note"`), "pointer"},
		{"a property that may be null", item(`,"cardinality":"many","key":"/old"`), "pointer"},
		{"a property inside that may be left out", item(`,"cardinality":"many","key":"/part/hint"`), "pointer"},
		{"a property of a string", item(`,"cardinality":"many","key":"/sku/0"`), "pointer"},
		{"a union where one branch lacks it", attributes(`"tag":1,"name":"a","cardinality":"many","key":"/sku","schema":{"oneOf":[` +
			`{"type":"object","properties":{"kind":{"const":"a"},"sku":{"type":"string"}},"required":["kind","sku"]},` +
			`{"type":"object","properties":{"kind":{"const":"b"}},"required":["kind"]}]}`), "pointer"},
	} {
		t.Run(c.why, func(t *testing.T) {
			_, err := schema.ParseDocument([]byte(c.doc))
			requireFault(t, err, "attributes/0/key", c.rule)
		})
	}
}

func TestSchemasOutsideTheProfile(t *testing.T) {
	object := func(rest string) string { return `{"type":"object","properties":{"a":{"type":"string"}}` + rest + `}` }
	for _, c := range []struct{ why, schema, at, rule string }{
		{"a boolean schema", `true`, "", "type"},
		{"a list", `[]`, "", "type"},
		{"no type", `{}`, "/type", "required"},
		{"only a title", `{"title":"x"}`, "/type", "required"},
		{"an unknown type", `{"type":"date"}`, "/type", "type"},
		{"null alone", `{"type":"null"}`, "/type", "type"},
		{"no type in a list", `{"type":[]}`, "/type", "type"},
		{"a null type", `{"type":null}`, "/type", "type"},
		{"two types", `{"type":["string","integer"]}`, "/type", "type"},
		{"a type twice", `{"type":["string","string"]}`, "/type", "type"},
		{"null at the top", `{"type":["string","null"]}`, "/type", "type"},
		{"null among the values at the top", `{"enum":["a",null]}`, "/type", "type"},
		{"a constant null", `{"const":null}`, "/type", "type"},
		{"values of two types", `{"enum":["a",1]}`, "/type", "type"},
		{"no values", `{"type":"string","enum":[]}`, "/enum", "type"},
		{"values that are no list", `{"type":"string","enum":"a"}`, "/enum", "type"},
		{"a value twice", `{"enum":["a","a"]}`, "/enum", "unique"},
		{"a value of another type", `{"type":"string","enum":["a",1]}`, "/enum/1", "enum"},
		{"a value that another keyword forbids", `{"type":"string","maxLength":1,"enum":["a","bb"]}`, "/enum/1", "enum"},
		{"a list as a value", `{"type":"string","enum":[["a"]]}`, "/enum", "type"},
		{"enum of objects", object(`,"enum":[{}]`), "/enum", "keyword"},
		{"const and enum", `{"type":"string","const":"a","enum":["a"]}`, "/const", "keyword"},
		{"a constant of another type", `{"type":"integer","const":1.5}`, "/const", "const"},
		{"a default that is no value", `{"type":"integer","default":"1"}`, "/default", "default"},
		{"an example that is no value", `{"type":"string","format":"date","examples":["2026-02-30"]}`, "/examples/0", "examples"},
		{"examples that are no list", `{"type":"string","examples":"x"}`, "/examples", "type"},
		{"a title that is no text", `{"type":"string","title":1}`, "/title", "type"},
		{"deprecated that is no boolean", `{"type":"string","deprecated":"yes"}`, "/deprecated", "type"},
		{"a keyword of another type", `{"type":"integer","minLength":1}`, "/minLength", "keyword"},
		{"an unknown keyword", `{"type":"string","color":"red"}`, "/color", "keyword"},
		{"an unknown format", `{"type":"string","format":"hostname"}`, "/format", "format"},
		{"a format that is no text", `{"type":"string","format":1}`, "/format", "format"},
		{"a negative length", `{"type":"string","minLength":-1}`, "/minLength", "range"},
		{"a broken length", `{"type":"string","maxLength":1.5}`, "/maxLength", "range"},
		{"a huge length", `{"type":"string","maxLength":1e10}`, "/maxLength", "range"},
		{"lengths that exclude one another", `{"type":"string","minLength":3,"maxLength":2}`, "/minLength", "range"},
		{"a pattern with a look-ahead", `{"type":"string","pattern":"(?=a)"}`, "/pattern", "pattern"},
		{"a pattern that is no text", `{"type":"string","pattern":1}`, "/pattern", "type"},
		{"a pattern of 513 bytes", `{"type":"string","pattern":"` + strings.Repeat("a", 513) + `"}`, "/pattern", "size"},
		{"a bound that is no number", `{"type":"integer","minimum":"1"}`, "/minimum", "range"},
		{"a multiple of 0", `{"type":"number","multipleOf":0}`, "/multipleOf", "range"},
		{"a multiple below 0", `{"type":"number","multipleOf":-1}`, "/multipleOf", "range"},
		{"bounds that exclude one another", `{"type":"number","minimum":2,"maximum":1}`, "", "range"},
		{"open bounds that meet", `{"type":"number","exclusiveMinimum":1,"maximum":1}`, "", "range"},
		{"open bounds that meet from above", `{"type":"number","minimum":1,"exclusiveMaximum":1}`, "", "range"},
		{"an array without items", `{"type":"array"}`, "/items", "required"},
		{"items in positions", `{"type":"array","items":[{"type":"string"}]}`, "/items", "type"},
		{"uniqueItems that is no boolean", `{"type":"array","items":{"type":"string"},"uniqueItems":1}`, "/uniqueItems", "type"},
		{"an object without properties", `{"type":"object"}`, "/properties", "required"},
		{"an object with no properties", `{"type":"object","properties":{}}`, "/properties", "required"},
		{"a property without a name", `{"type":"object","properties":{"":{"type":"string"}}}`, "/properties/", "name"},
		{"an open object", object(`,"additionalProperties":true`), "/additionalProperties", "keyword"},
		{"a schema for the rest", object(`,"additionalProperties":{"type":"string"}`), "/additionalProperties", "keyword"},
		{"required that is no list", object(`,"required":"a"`), "/required", "type"},
		{"a required property that is not there", object(`,"required":["b"]`), "/required", "property"},
		{"a property required twice", object(`,"required":["a","a"]`), "/required", "unique"},
		{"a nullable enum without null", `{"type":"array","items":{"type":["string","null"],"enum":["a"]}}`, "/items/enum", "enum"},
		{"a nullable constant", `{"type":"array","items":{"type":["string","null"],"const":"a"}}`, "/items/const", "const"},
		{"a fault deep inside", `{"type":"array","items":` + object(`,"not":{}`) + `}`, "/items/not", "keyword"},
		{"a property name with a slash in the path", `{"type":"object","properties":{"a/b":{"type":"x"}}}`, "/properties/a~1b/type", "type"},

		{"another dialect", `{"$schema":"http://json-schema.org/draft-07/schema#","type":"string"}`, "/$schema", "keyword"},
		{"a dialect further inside", `{"type":"array","items":{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"string"}}`, "/items/$schema", "keyword"},
		{"definitions further inside", `{"type":"array","items":` + object(`,"$defs":{}`) + `}`, "/items/$defs", "keyword"},
		{"definitions that are no object", `{"type":"string","$defs":[]}`, "/$defs", "type"},
		{"a fault in a definition that is not used", `{"type":"string","$defs":{"x":{"type":"y"}}}`, "/$defs/x/type", "type"},
		{"a reference to a file", `{"$ref":"file:///etc/hostname"}`, "/$ref", "ref"},
		{"a reference to a network", `{"$ref":"https://example.com/s.json"}`, "/$ref", "ref"},
		{"a reference to the root", `{"type":"array","items":{"$ref":"#"}}`, "/items/$ref", "ref"},
		{"a reference into properties", `{"type":"object","properties":{"a":{"type":"string"},"b":{"$ref":"#/properties/a"}}}`, "/properties/b/$ref", "ref"},
		{"a reference to nothing", `{"$ref":"#/$defs/x","$defs":{}}`, "/$ref", "ref"},
		{"a reference that is no text", `{"$ref":1}`, "/$ref", "ref"},
		{"a reference with a sibling", `{"$ref":"#/$defs/x","minLength":1,"$defs":{"x":{"type":"string"}}}`, "/minLength", "keyword"},
		{"a definition that contains itself", `{"$ref":"#/$defs/x","$defs":{"x":{"type":"array","items":{"$ref":"#/$defs/x"}}}}`, "/$defs/x/items/$ref", "ref"},
		{"definitions that contain one another", `{"$ref":"#/$defs/x","$defs":{"x":{"$ref":"#/$defs/y"},"y":{"$ref":"#/$defs/x"}}}`, "/$defs/y/$ref", "ref"},

		{"a union beside other keywords", `{"oneOf":[{"type":"object","properties":{"k":{"const":"a"}},"required":["k"]}],"minLength":1}`, "/minLength", "keyword"},
		{"a union of another type", `{"type":"string","oneOf":[{"type":"object","properties":{"k":{"const":"a"}},"required":["k"]}]}`, "/type", "type"},
		{"an empty union", `{"oneOf":[]}`, "/oneOf", "type"},
		{"a union of scalars", `{"oneOf":[{"type":"string"},{"type":"integer"}]}`, "/oneOf", "discriminator"},
		{"a union without constants", `{"oneOf":[` + object(`,"required":["a"]`) + `,` + object(`,"required":["a"]`) + `]}`, "/oneOf", "discriminator"},
		{"a union with the same constant twice", `{"oneOf":[{"type":"object","properties":{"k":{"const":"a"}},"required":["k"]},{"type":"object","properties":{"k":{"const":"a"}},"required":["k"]}]}`, "/oneOf", "discriminator"},
		{"a union whose constant may be left out", `{"oneOf":[{"type":"object","properties":{"k":{"const":"a"}}},{"type":"object","properties":{"k":{"const":"b"}},"required":["k"]}]}`, "/oneOf", "discriminator"},
		{"a union told apart by numbers", `{"oneOf":[{"type":"object","properties":{"k":{"const":1}},"required":["k"]},{"type":"object","properties":{"k":{"const":2}},"required":["k"]}]}`, "/oneOf", "discriminator"},
		{"17 schemas inside one another", repeat(`{"type":"array","items":`, `{"type":"string"}`, `}`, 16), "", "depth"},
	} {
		t.Run(c.why, func(t *testing.T) {
			_, err := schema.ParseDocument([]byte(valued(c.schema)))
			requireFault(t, err, "attributes/0/schema"+c.at, c.rule)
		})
	}
}

func TestKeywordsOutsideTheProfileAreNamedWithTheirPlace(t *testing.T) {
	for _, keyword := range []string{
		"not", "if", "then", "else", "allOf", "anyOf", "patternProperties", "propertyNames", "unevaluatedProperties", "unevaluatedItems",
		"dependentRequired", "dependentSchemas", "dependencies", "contains", "minContains", "maxContains", "prefixItems", "minProperties",
		"maxProperties", "$dynamicRef", "$dynamicAnchor", "$recursiveRef", "$anchor", "$id", "$comment", "$vocabulary", "definitions", "nullable",
		"readOnly", "writeOnly", "contentEncoding", "contentMediaType", "contentSchema", "discriminator", "x-other",
	} {
		t.Run(keyword, func(t *testing.T) {
			doc := valued(fmt.Sprintf(`{"type":"object","properties":{"p":{"type":"string",%q:{}}}}`, keyword))
			_, err := schema.ParseDocument([]byte(doc))
			field := "attributes/0/schema/properties/p/" + keyword
			requireFault(t, err, field, "keyword")
			assert.ErrorContains(t, err, field)
		})
	}
	_, err := schema.ParseDocument([]byte(valued(`{"type":"object","properties":{"p":{"type":"string","x-sgam-note":{}}}}`)))
	require.NoError(t, err, "without such a keyword the same document is accepted")
}

func TestAllFaultsOfADocumentComeAtOnce(t *testing.T) {
	_, err := schema.ParseDocument([]byte(`{"type":"a b","version":0,"attributes":[
		{"tag":1,"name":"a","sensitivity":"high","schema":{"type":"string","not":{},"format":"ip"}},
		{"tag":1,"name":"a","cardinality":"few","schema":{"type":"array"}}]}`))
	for _, f := range [][2]string{
		{"type", "name"}, {"version", "range"}, {"attributes/0/sensitivity", "enum"}, {"attributes/0/schema/not", "keyword"},
		{"attributes/0/schema/format", "format"}, {"attributes/1/tag", "unique"}, {"attributes/1/name", "unique"},
		{"attributes/1/cardinality", "enum"}, {"attributes/1/schema/items", "required"},
	} {
		requireFault(t, err, f[0], f[1])
	}
	fe, ok := errors.AsType[*sgam.FieldError](err)
	require.True(t, ok)
	assert.Equal(t, "type", fe.Field)
}

func TestALongListOfFaultsIsCutInTheMessageAlone(t *testing.T) {
	_, err := schema.ParseDocument([]byte(valued(`{"type":"string","a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1,"h":1,"i":1,"j":1,"k":1}`)))
	de, ok := errors.AsType[*schema.DocumentError](err)
	require.True(t, ok)
	assert.Len(t, de.Faults, 11)
	assert.ErrorContains(t, err, "; and 1 more")
}

func TestLimitsAreReachedAndNotPassed(t *testing.T) {
	_, err := schema.ParseDocument([]byte(valued(repeat(`{"type":"array","items":`, `{"type":"string"}`, `}`, 15))))
	require.NoError(t, err, "16 schemas inside one another")

	_, err = schema.ParseDocument([]byte(valued(`{"type":"string","pattern":"` + strings.Repeat("a", 512) + `"}`)))
	require.NoError(t, err, "a pattern of 512 bytes")

	var many []string
	for i := range 600 {
		many = append(many, fmt.Sprintf(`"tag":%d,"name":"a%d","schema":{"type":"string"}`, i+1, i))
	}
	_, err = schema.ParseDocument([]byte(attributes(many...)))
	requireFault(t, err, "", "size") // of the canonical form: as sent it is shorter
	doc, err := schema.ParseDocument([]byte(attributes(many[:400]...)))
	require.NoError(t, err)
	assert.Len(t, doc.Attributes, 400)
}

func TestReferencesThatMultiplyAreBounded(t *testing.T) {
	var defs []string
	for i := range 14 {
		defs = append(defs, fmt.Sprintf(`"d%d":{"type":"object","properties":{"a":{"$ref":"#/$defs/d%d"},"b":{"$ref":"#/$defs/d%d"}}}`, i, i+1, i+1))
	}
	defs = append(defs, `"d14":{"type":"string"}`)
	_, err := schema.ParseDocument([]byte(valued(`{"$ref":"#/$defs/d0","$defs":{` + strings.Join(defs, ",") + `}}`)))
	de, ok := errors.AsType[*schema.DocumentError](err)
	require.True(t, ok)
	assert.Equal(t, "size", de.Faults[0].Rule)

	var wide []string // each attribute keeps the limit, the document does not
	for i := range 9 {
		wide = append(wide, fmt.Sprintf(`"tag":%d,"name":"a%d","schema":{"$ref":"#/$defs/d6","$defs":{%s}}`, i+1, i, strings.Join(defs[6:], ",")))
	}
	_, err = schema.ParseDocument([]byte(attributes(wide...)))
	requireFault(t, err, "attributes/8/schema", "size")

	small := append([]string{`"d0":{"type":"object","properties":{"a":{"$ref":"#/$defs/d10"},"b":{"$ref":"#/$defs/d10"}}}`}, defs[10:]...)
	_, err = schema.ParseDocument([]byte(valued(`{"$ref":"#/$defs/d0","$defs":{` + strings.Join(small, ",") + `}}`)))
	require.NoError(t, err)
}
