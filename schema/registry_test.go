package schema_test

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/schema"
)

var _ sgam.Schemas = (*schema.Registry)(nil)

// version is a document of one string attribute.
func version(typ string, v int, rest string) []byte {
	doc := strings.NewReplacer("TYPE", typ, "VERSION", string(rune('0'+v)), "REST", rest).Replace(
		`{"type":"TYPE","version":VERSION,"attributes":[{"tag":1,"name":"TYPE_name","schema":{"type":"string"}REST}]}`)
	return []byte(doc)
}

func add(t *testing.T, reg *schema.Registry, doc []byte) sgam.TypeDocument {
	t.Helper()
	parsed, err := reg.Add(doc)
	require.NoError(t, err)
	return parsed
}

func TestDeclaredDocumentsComeInOrderOfTypeAndVersion(t *testing.T) {
	reg := schema.NewRegistry()
	docs, err := reg.Declared()
	require.NoError(t, err)
	assert.Empty(t, docs)
	add(t, reg, version("b", 2, ""))
	add(t, reg, version("b", 1, ""))
	add(t, reg, version("B", 1, ""))
	add(t, reg, version("a", 3, ""))
	docs, err = reg.Declared()
	require.NoError(t, err)
	var got []string
	for _, d := range docs {
		got = append(got, d.Type+string(rune('0'+d.Version)))
	}
	assert.Equal(t, []string{"B1", "a3", "b1", "b2"}, got)
}

func TestVersionsOfATypeFollowOneAnother(t *testing.T) {
	reg := schema.NewRegistry()
	add(t, reg, version("a", 3, ""))
	_, err := reg.Declared()
	require.NoError(t, err, "only the newest: the ledger has the ones before")
	add(t, reg, version("a", 5, ""))
	_, err = reg.Declared()
	require.ErrorIs(t, err, sgam.ErrSchemaGap)
	add(t, reg, version("a", 4, ""))
	_, err = reg.Declared()
	require.NoError(t, err)
}

func TestTheSameVersionAgain(t *testing.T) {
	reg := schema.NewRegistry()
	first := add(t, reg, version("a", 1, ""))
	assert.Equal(t, first, add(t, reg, version("a", 1, "")))
	assert.Equal(t, first, add(t, reg, version("a", 1, `,"title":"A"`)), "other words are no other version")
	_, err := reg.Add(version("a", 1, `,"unit":"EUR"`))
	require.ErrorIs(t, err, sgam.ErrSchemaDrift)
	docs, err := reg.Declared()
	require.NoError(t, err)
	assert.Len(t, docs, 1)
}

func TestNamesAreUniqueInARegistry(t *testing.T) {
	for _, c := range []struct {
		why, doc, path, place string
	}{
		{"a name that is a name", `{"type":"b","version":1,"attributes":[{"tag":1,"name":"a_name","schema":{"type":"string"}}]}`, "attributes/0/name", "the name of attribute 1 of type a version 1"},
		{"an alias that is a name", `{"type":"b","version":1,"attributes":[{"tag":1,"name":"b","aliases":["a_name"],"schema":{"type":"string"}}]}`, "attributes/0/aliases", "the name of attribute 1 of type a version 1"},
		{"a name that is an alias", `{"type":"b","version":1,"attributes":[{"tag":1,"name":"old","schema":{"type":"string"}}]}`, "attributes/0/name", "an alias of attribute 1 of type a version 1"},
		{"a name that is reserved", `{"type":"b","version":1,"attributes":[{"tag":1,"name":"gone","schema":{"type":"string"}}]}`, "attributes/0/name", "a reserved name of type a version 1"},
		{"a reservation of a name", `{"type":"b","version":1,"attributes":[{"tag":1,"name":"b","schema":{"type":"string"}}],"reserved":{"names":["a_name"]}}`, "reserved/names", "the name of attribute 1 of type a version 1"},
		{"a name that another tag of the type had", `{"type":"a","version":2,"attributes":[{"tag":2,"name":"a_name","schema":{"type":"string"}}]}`, "attributes/0/name", "the name of attribute 1 of type a version 1"},
	} {
		t.Run(c.why, func(t *testing.T) {
			reg := schema.NewRegistry()
			add(t, reg, []byte(`{"type":"a","version":1,"attributes":[{"tag":1,"name":"a_name","aliases":["old"],"schema":{"type":"string"}}],"reserved":{"names":["gone"]}}`))
			_, err := reg.Add([]byte(c.doc))
			de, ok := errors.AsType[*schema.DocumentError](err)
			require.True(t, ok, "%v", err)
			assert.Equal(t, "unique", de.Faults[0].Rule)
			assert.Equal(t, c.path, de.Faults[0].Field, "where the name was wanted")
			assert.Contains(t, de.Faults[0].Want, c.place, "where the name is")
			docs, err := reg.Declared()
			require.NoError(t, err)
			assert.Len(t, docs, 1, "what was refused is not declared")
		})
	}
	reg := schema.NewRegistry()
	add(t, reg, version("a", 1, ""))
	add(t, reg, []byte(`{"type":"a","version":2,"attributes":[{"tag":1,"name":"a_title","aliases":["a_name"],"schema":{"type":"string"}}]}`))
	add(t, reg, []byte(`{"type":"a","version":3,"attributes":[{"tag":2,"name":"a_other","schema":{"type":"string"}}],"reserved":{"tags":[1],"names":["a_name","a_title"]}}`))
	add(t, reg, []byte(`{"type":"b","version":1,"attributes":[{"tag":1,"name":"A_name","schema":{"type":"string"}}]}`))
}

func TestARegistryOfWhatIsStoredDeclaresNothing(t *testing.T) {
	reg := schema.Stored()
	_, err := reg.Add(version("a", 1, ""))
	require.Error(t, err)
	_, err = schema.Define[string](reg, "a", 1, nil)
	require.Error(t, err)
	docs, err := reg.Declared()
	require.NoError(t, err)
	assert.Empty(t, docs)
	doc, err := schema.ParseDocument(version("a", 1, ""))
	require.NoError(t, err)
	specs, err := reg.Compile(doc)
	require.NoError(t, err)
	assert.Nil(t, specs[0].Check([]byte(`"x"`)))
}

func TestCompiledSpecsAreThoseOfTheDocumentInItsOrder(t *testing.T) {
	doc, err := schema.ParseDocument([]byte(attributes(
		`"tag":2,"name":"b","cardinality":"many","key":"/id","conflict_policy":"immutable","sensitivity":"secret","retention":"r1","schema":{"type":"object","properties":{"id":{"type":"string"}},"required":["id"]}`,
		`"tag":1,"name":"a","aliases":["z","y"],"conflict_policy":"source_rank","ranks":["file","message"],"schema":{"type":"integer"}`)))
	require.NoError(t, err)
	assert.Equal(t, []sgam.AttributeName{{Tag: 1, Name: "a", Aliases: []string{"y", "z"}}, {Tag: 2, Name: "b", Many: true}}, doc.Attributes)
	doc.Attributes[0], doc.Attributes[1] = doc.Attributes[1], doc.Attributes[0]
	reg := schema.Stored()
	for range 2 { // the second time from the cache
		specs, err := reg.Compile(doc)
		require.NoError(t, err)
		require.Len(t, specs, 2)
		assert.Equal(t, "b", specs[0].Name)
		assert.True(t, specs[0].Many)
		assert.Equal(t, sgam.Immutable, specs[0].Policy)
		assert.Equal(t, "secret", specs[0].Sensitivity)
		assert.Equal(t, "r1", specs[0].Retention)
		assert.NotNil(t, specs[0].Identity)
		assert.Equal(t, doc.Attributes[1], specs[1].AttributeName)
		assert.Equal(t, sgam.SourceRank, specs[1].Policy)
		assert.Equal(t, []sgam.EpisodeKind{sgam.File, sgam.Message}, specs[1].Ranks)
		assert.Equal(t, "internal", specs[1].Sensitivity)
		assert.Nil(t, specs[1].Identity)
		assert.Nil(t, specs[1].Check([]byte(`7`)))
		assert.NotNil(t, specs[1].Check([]byte(`"7"`)))
	}
}

func TestDocumentsThatAreNotWhatTheySayAreNotCompiled(t *testing.T) {
	doc, err := schema.ParseDocument(version("a", 1, ""))
	require.NoError(t, err)
	reg := schema.Stored()
	_, err = reg.Compile(doc)
	require.NoError(t, err)

	other := doc
	other.JSON = []byte(strings.Replace(string(doc.JSON), `"string"`, `"integer"`, 1))
	_, err = reg.Compile(other)
	require.ErrorContains(t, err, "hash", "a changed document")

	other = doc
	other.Attributes = []sgam.AttributeName{{Tag: 1, Name: "b"}}
	_, err = reg.Compile(other)
	require.ErrorContains(t, err, `"b"`, "an attribute that the document does not have")
}

func TestARegistryIsSafeForConcurrentUse(t *testing.T) {
	reg := schema.NewRegistry()
	add(t, reg, version("a", 1, ""))
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			_, err := reg.Add(version("b", 1+i, ""))
			assert.NoError(t, err)
			doc, err := schema.ParseDocument(version("a", 1, ""))
			assert.NoError(t, err)
			specs, err := reg.Compile(doc)
			if assert.NoError(t, err) {
				assert.Nil(t, specs[0].Check([]byte(`"x"`)))
				assert.Len(t, specs[0].Check([]byte(`1`)), 1)
			}
		})
	}
	wg.Wait()
	docs, err := reg.Declared()
	require.NoError(t, err)
	assert.Len(t, docs, 9)
}
