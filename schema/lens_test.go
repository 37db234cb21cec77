package schema_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/schema"
)

// contact is two versions of a type, and what is between them, from testdata.
func contact(t *testing.T, name string) []byte {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", "lens", name+".json"))
	require.NoError(t, err)
	return raw
}

// contacts is a registry with both versions of the type, and the lens.
func contacts(t *testing.T) *schema.Registry {
	t.Helper()
	reg := schema.NewRegistry()
	for _, name := range []string{"contact1", "contact2"} {
		_, err := reg.Add(contact(t, name))
		require.NoError(t, err)
	}
	require.NoError(t, reg.AddLens(contact(t, "lens.in")))
	return reg
}

// stepsOf are the steps between the only two versions of a registry, by tag.
func stepsOf(t *testing.T, reg *schema.Registry) map[int]sgam.AttributeStep {
	t.Helper()
	docs, err := reg.Declared()
	require.NoError(t, err)
	require.Len(t, docs, 2)
	steps, err := schema.Stored().Steps(docs[0], docs[1])
	require.NoError(t, err)
	byTag := map[int]sgam.AttributeStep{}
	for _, s := range steps {
		byTag[s.Tag] = s
	}
	return byTag
}

func TestALensStandsWithTheVersionItLeadsTo(t *testing.T) {
	docs, err := contacts(t).Declared()
	require.NoError(t, err)
	require.Len(t, docs, 2)
	assert.Nil(t, docs[0].Lens)
	require.NotNil(t, docs[1].Lens)
	want := strings.TrimSuffix(string(contact(t, "lens")), "\n")
	if *update {
		require.NoError(t, os.WriteFile(filepath.Join("testdata", "lens", "lens.json"), append(docs[1].Lens.JSON, '\n'), 0o644))
	}
	assert.Equal(t, want, string(docs[1].Lens.JSON), "canonical")

	plain, err := schema.ParseDocument(contact(t, "contact2"))
	require.NoError(t, err)
	assert.Equal(t, plain.Hash, docs[1].Hash, "the hash of a document is not that of its lens")

	again, err := schema.ParseLens(docs[1].Lens.JSON, docs[0], docs[1])
	require.NoError(t, err)
	assert.Equal(t, *docs[1].Lens, again, "the canonical form is its own canonical form")
}

func TestValuesGoOverByTheirLens(t *testing.T) {
	steps := stepsOf(t, contacts(t))
	for _, c := range []struct {
		why         string
		tag         int
		older       string
		up          sgam.Converted
		back        string
		lossyBack   bool
		defaultBack []string
	}{
		{why: "all of it", tag: 1, older: `{"city":"Köln","kind":"m","name":"Mira Berg","nr":"42","street":"Ring 1"}`,
			up:   sgam.Converted{Value: []byte(`{"address":{"city":"Köln","country":"DE","street":"Ring 1"},"first":"Mira","kind":"mobile","last":"Berg","number":42}`), Defaulted: []string{"/address/country"}},
			back: `{"city":"Köln","kind":"m","name":"Mira Berg","nr":"42","street":"Ring 1"}`},
		{why: "what has to go", tag: 1, older: `{"city":"","fax":"1","kind":"pager","name":"M B","nr":"0","street":""}`,
			up:   sgam.Converted{Value: []byte(`{"address":{"city":"","country":"DE","street":""},"first":"M","kind":"other","last":"B","number":0}`), Defaulted: []string{"/address/country", "/kind"}, Lossy: true},
			back: `{"city":"","kind":"m","name":"M B","nr":"0","street":""}`, lossyBack: true, defaultBack: []string{"/kind"}},
		{why: "another unit", tag: 2, older: `1.15`, up: sgam.Converted{Value: []byte(`115`)}, back: `1.15`},
		{why: "around what identifies a member", tag: 3, older: `{"price":"1.5","sku":"A-1"}`, up: sgam.Converted{Value: []byte(`{"price":{"amount":"1.5"},"sku":"A-1"}`)}, back: `{"price":"1.5","sku":"A-1"}`},
	} {
		t.Run(c.why, func(t *testing.T) {
			up, err := steps[c.tag].Up(sgam.Converted{Value: []byte(c.older)})
			require.NoError(t, err)
			assert.Equal(t, string(c.up.Value), string(up.Value))
			assert.Equal(t, c.up, up)
			down, err := steps[c.tag].Down(sgam.Converted{Value: up.Value})
			require.NoError(t, err)
			assert.Equal(t, c.back, string(down.Value))
			assert.Equal(t, c.lossyBack, down.Lossy)
			assert.Equal(t, c.defaultBack, down.Defaulted)
		})
	}
}

func TestWhatALensMakesIsJudgedByTheVersionItLeadsTo(t *testing.T) {
	steps := stepsOf(t, contacts(t))
	for _, c := range []struct {
		why, value, field, rule string
		tag                     int
		down                    bool
	}{
		{why: "outside the domain", tag: 1, value: `{"city":"","kind":"m","name":"Mira","nr":"42","street":""}`, field: "name", rule: "separator"},
		{why: "a bound of the newer version", tag: 1, value: `{"city":"","kind":"m","name":"M B","nr":"100000","street":""}`, field: "nr", rule: "maximum"},
		{why: "a bound of the older version", tag: 1, value: `{"address":{"city":"","country":"DE","street":"` + strings.Repeat("x", 31) + `"},"first":"M","kind":"mobile","last":"B","number":1}`, field: "address/street", rule: "maxLength", down: true},
		{why: "a kind of value that the older version has not", tag: 2, value: `1.5`, field: "", rule: "multipleOf", down: true},
	} {
		t.Run(c.why, func(t *testing.T) {
			convert := steps[c.tag].Up
			if c.down {
				convert = steps[c.tag].Down
			}
			_, err := convert(sgam.Converted{Value: []byte(c.value)})
			var fe *sgam.FieldError
			require.ErrorAs(t, err, &fe)
			assert.Equal(t, c.field, fe.Field)
			assert.Equal(t, c.rule, fe.Rule)
		})
	}
}

func TestALensKeepsTheMemberThatAValueIs(t *testing.T) {
	reg := contacts(t)
	docs, err := reg.Declared()
	require.NoError(t, err)
	older, err := reg.Compile(docs[0])
	require.NoError(t, err)
	newer, err := reg.Compile(docs[1])
	require.NoError(t, err)
	const order = 2
	require.NotNil(t, older[order].Identity)
	value := []byte(`{"price":"1.5","sku":"A-1"}`)
	up, err := stepsOf(t, reg)[older[order].Tag].Up(sgam.Converted{Value: value})
	require.NoError(t, err)
	was, err := older[order].Identity(value)
	require.NoError(t, err)
	is, err := newer[order].Identity(up.Value)
	require.NoError(t, err)
	assert.Equal(t, `"A-1"`, string(was))
	assert.Equal(t, string(was), string(is))
}

// twoVersions declares two versions of a type with one attribute each.
func twoVersions(t *testing.T, older, newer string) *schema.Registry {
	t.Helper()
	reg := schema.NewRegistry()
	add(t, reg, []byte(`{"type":"t","version":1,"attributes":[{"tag":1,"name":"a",`+older+`}]}`))
	add(t, reg, []byte(`{"type":"t","version":2,"attributes":[{"tag":1,"name":"a",`+newer+`}]}`))
	return reg
}

func TestWithoutALensValuesGoOverAsFarAsTheRulesLetThem(t *testing.T) {
	const none = "goes over as it is"
	for _, c := range []struct {
		why, older, newer, value, up, down string
	}{
		{"the same", `"schema":{"type":"string"}`, `"schema":{"type":"string"},"title":"T"`, `"x"`, none, none},
		{"a bound that is relaxed", `"schema":{"type":"string","maxLength":3}`, `"schema":{"type":"string","maxLength":5}`, `"abcd"`, none, "maxLength"},
		{"a bound that is tightened", `"schema":{"type":"string"}`, `"schema":{"type":"string","maxLength":3}`, `"abcd"`, "maxLength", none},
		{"a bound that the value keeps", `"schema":{"type":"string"}`, `"schema":{"type":"string","maxLength":3}`, `"abc"`, "", none},
		{"a constant that is added", `"schema":{"enum":["a"]}`, `"schema":{"enum":["a","b"]}`, `"a"`, none, "lens"},
		{"another type", `"schema":{"type":"string"}`, `"schema":{"type":"boolean"}`, `"a"`, "lens", "lens"},
		{"another cardinality", `"schema":{"type":"string"}`, `"schema":{"type":"string"},"cardinality":"many"`, `"a"`, "lens", "lens"},
	} {
		t.Run(c.why, func(t *testing.T) {
			step := stepsOf(t, twoVersions(t, c.older, c.newer))[1]
			for _, side := range []struct {
				convert func(sgam.Converted) (sgam.Converted, error)
				want    string
			}{{step.Up, c.up}, {step.Down, c.down}} {
				if side.want == none {
					assert.Nil(t, side.convert)
					continue
				}
				require.NotNil(t, side.convert)
				out, err := side.convert(sgam.Converted{Value: []byte(c.value)})
				if side.want == "" {
					require.NoError(t, err)
					assert.Equal(t, sgam.Converted{Value: []byte(c.value)}, out)
					continue
				}
				var fe *sgam.FieldError
				require.ErrorAs(t, err, &fe)
				assert.Equal(t, side.want, fe.Rule)
			}
		})
	}
}

func TestStepsAreThoseOfTheAttributesThatBothVersionsHave(t *testing.T) {
	reg := schema.NewRegistry()
	older := add(t, reg, []byte(`{"type":"t","version":1,"attributes":[{"tag":1,"name":"a","schema":{"type":"string"}},{"tag":2,"name":"b","schema":{"type":"string"}}]}`))
	newer := add(t, reg, []byte(`{"type":"t","version":2,"attributes":[{"tag":2,"name":"bb","aliases":["b"],"schema":{"type":"string"}},{"tag":3,"name":"c","schema":{"type":"string"}}],"reserved":{"tags":[1],"names":["a"]}}`))
	steps, err := reg.Steps(older, newer)
	require.NoError(t, err)
	assert.Equal(t, []sgam.AttributeStep{{Tag: 2}}, steps)
	again, err := reg.Steps(older, newer)
	require.NoError(t, err)
	assert.Equal(t, steps, again)
}

func TestStepsTakeOnlyWhatIsWhatItsHashSays(t *testing.T) {
	docs, err := contacts(t).Declared()
	require.NoError(t, err)
	older, newer := docs[0], docs[1]
	reg := schema.Stored()
	for range 2 { // what has been compiled once is looked at again
		_, err = reg.Steps(older, newer)
		require.NoError(t, err)

		_, err = reg.Steps(newer, older)
		require.ErrorIs(t, err, sgam.ErrSchemaGap)
		_, err = reg.Steps(older, older)
		require.ErrorIs(t, err, sgam.ErrSchemaGap)

		forged := older
		forged.JSON = append([]byte(" "), older.JSON...)
		_, err = reg.Steps(forged, newer)
		require.ErrorContains(t, err, "hash")

		forged = newer
		forged.Lens = &sgam.LensDocument{JSON: newer.Lens.JSON, Hash: newer.Hash}
		_, err = reg.Steps(older, forged)
		require.ErrorContains(t, err, "hash")
	}
	claimed, next := older, newer
	claimed.Version, next.Version = 2, 3
	_, err = reg.Steps(claimed, next)
	require.ErrorContains(t, err, "not what its document says")

	other, err := schema.ParseDocument([]byte(strings.Replace(string(newer.JSON), `"maximum":99999,"minimum":0,"type":"integer"`, `"type":"boolean"`, 1)))
	require.NoError(t, err)
	other.Lens = newer.Lens
	_, err = reg.Steps(older, other)
	var de *schema.DocumentError
	require.ErrorAs(t, err, &de, "a lens that does not fit the documents")
}

func TestTheSameLensAgain(t *testing.T) {
	reg := contacts(t)
	require.NoError(t, reg.AddLens(contact(t, "lens")), "in another spelling")
	other := strings.Replace(string(contact(t, "lens")), `"default":"DE"`, `"default":"FR"`, 1)
	require.ErrorIs(t, reg.AddLens([]byte(other)), sgam.ErrSchemaDrift)
	docs, err := reg.Declared()
	require.NoError(t, err)
	assert.Equal(t, strings.TrimSuffix(string(contact(t, "lens")), "\n"), string(docs[1].Lens.JSON))
	doc, err := reg.Add(contact(t, "contact2"))
	require.NoError(t, err)
	assert.NotNil(t, doc.Lens, "the document that is there has its lens")
}

func TestALensNeedsBothOfItsVersions(t *testing.T) {
	for _, names := range [][]string{nil, {"contact1"}, {"contact2"}} {
		reg := schema.NewRegistry()
		for _, name := range names {
			add(t, reg, contact(t, name))
		}
		require.ErrorIs(t, reg.AddLens(contact(t, "lens")), sgam.ErrSchemaGap, "%v", names)
	}
	require.Error(t, schema.Stored().AddLens(contact(t, "lens")))
}

func TestLensesAreSafeForConcurrentUse(t *testing.T) {
	reg := contacts(t)
	docs, err := reg.Declared()
	require.NoError(t, err)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			assert.NoError(t, reg.AddLens(contact(t, "lens")))
			steps, err := reg.Steps(docs[0], docs[1])
			if !assert.NoError(t, err) {
				return
			}
			for range 50 {
				out, err := steps[1].Up(sgam.Converted{Value: []byte(`2.5`)})
				assert.NoError(t, err)
				assert.Equal(t, `250`, string(out.Value))
			}
		})
	}
	wg.Wait()
}
