package schema

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sgam-ledger/sgam"
)

// city is a version whose one attribute has the given schema.
func city(t *testing.T, version int, schema string) sgam.TypeDocument {
	t.Helper()
	return docOf(t, version, inSchema(schema))
}

func withLens(doc sgam.TypeDocument) sgam.TypeDocument {
	return withLensFor(doc, 3)
}

// withLensFor is a document into which a lens leads that converts one attribute.
func withLensFor(doc sgam.TypeDocument, tag int) sgam.TypeDocument {
	doc.Lens = &sgam.LensDocument{JSON: fmt.Appendf(nil, `{"attributes":[{"tag":%d,"ops":[]}]}`, tag)}
	return doc
}

func TestModesAskForTheirDirection(t *testing.T) {
	const loose, tight, wide, narrow = `{"type":"string"}`, `{"type":"string","maxLength":3}`, `{"type":"number"}`, `{"type":"integer"}`
	for _, test := range []struct {
		name, older, newer string
		passes             []Mode
	}{
		{"same", loose, loose, []Mode{ModeNone, ModeBackward, ModeForward, ModeFull}},
		{"relaxed", tight, loose, []Mode{ModeNone, ModeBackward}},
		{"tightened", loose, tight, []Mode{ModeNone, ModeForward}},
		{"widened", narrow, wide, []Mode{ModeNone, ModeBackward}},
		{"another type", loose, wide, []Mode{ModeNone}},
		{"forbidden", union("a"), `{"oneOf":[{"type":"object","required":["j"],"properties":{"j":{"const":"a"}}}]}`, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, mode := range []Mode{ModeNone, ModeBackward, ModeForward, ModeFull} {
				for _, m := range []Mode{mode, mode + "-transitive"} {
					if m == "none-transitive" {
						continue
					}
					r, err := Check(m, []sgam.TypeDocument{city(t, 1, test.older)}, city(t, 2, test.newer), nil)
					require.NoError(t, err)
					assert.Equal(t, slices.Contains(test.passes, mode), r.OK, "mode %s: %s", m, display(r))
				}
			}
		})
	}
}

func TestTransitiveModesLookAtEveryOlderVersion(t *testing.T) {
	// Each step of three relaxes or keeps; over two of them a bound is back that was gone.
	history := []sgam.TypeDocument{
		city(t, 2, `{"type":"string","maxLength":3}`), city(t, 1, `{"type":"string"}`), city(t, 3, `{"type":"string","maxLength":3}`),
	}
	newer := city(t, 4, `{"type":"string","maxLength":4}`)
	r, err := Check(ModeBackward, history, newer, nil)
	require.NoError(t, err)
	assert.True(t, r.OK)
	require.Len(t, r.Compared, 1)
	assert.Equal(t, 3, r.Compared[0].Version)

	r, err = Check(ModeBackwardTransitive, history, newer, nil)
	require.NoError(t, err)
	assert.False(t, r.OK)
	require.Len(t, r.Compared, 3)
	for i, version := range []int{3, 2, 1} {
		assert.Equal(t, version, r.Compared[i].Version)
		require.Len(t, r.Compared[i].Findings, 1)
		assert.Equal(t, version == 1, r.Compared[i].Findings[0].Fails != "", "version %d", version)
	}
	assert.Equal(t, "backward data", r.Compared[2].Findings[0].Fails)
}

func TestDraftsLaterVersionsAndOtherTypesAreNotCompared(t *testing.T) {
	newer := city(t, 3, `{"type":"string"}`)
	other, err := ParseDocument([]byte(`{"type":"other","version":1,` + attributes(1, "z") + `}`))
	require.NoError(t, err)
	draft := docOf(t, 2, `"draft":true,`+inSchema(`{"type":"integer"}`))
	ignored := []sgam.TypeDocument{draft, other, city(t, 4, `{"type":"integer"}`), newer}
	r, err := Check(ModeFullTransitive, ignored, newer, nil)
	require.NoError(t, err)
	assert.True(t, r.OK)
	assert.Empty(t, r.Compared)

	r, err = Check(ModeFullTransitive, append(ignored, city(t, 1, `{"type":"integer"}`)), newer, nil)
	require.NoError(t, err)
	assert.False(t, r.OK)
}

func TestTheSameVersionWithAnotherMeaningIsDrift(t *testing.T) {
	newer := city(t, 1, `{"type":"string"}`)
	_, err := Check(ModeNone, []sgam.TypeDocument{city(t, 1, `{"type":"integer"}`)}, newer, nil)
	require.ErrorIs(t, err, sgam.ErrSchemaDrift)
	_, err = Check(ModeNone, []sgam.TypeDocument{city(t, 1, `{"type":"string","title":"words"}`)}, newer, nil)
	require.NoError(t, err)
	_, err = Check(ModeNone, []sgam.TypeDocument{docOf(t, 1, `"draft":true,`+inSchema(`{"type":"integer"}`))}, newer, nil)
	require.NoError(t, err)
}

func TestALensOnTheWayMakesTheVerdictLensPass(t *testing.T) {
	a, b, c := city(t, 1, `{"type":"string"}`), city(t, 2, `{"type":"integer"}`), city(t, 3, `{"type":"integer"}`)
	for _, test := range []struct {
		name    string
		history []sgam.TypeDocument
		newer   sgam.TypeDocument
		ok      bool
	}{
		{"none", []sgam.TypeDocument{a}, b, false},
		{"into the newer one", []sgam.TypeDocument{a}, withLens(b), true},
		{"into the newer one, for another attribute", []sgam.TypeDocument{a}, withLensFor(b, 4), false},
		{"into one between", []sgam.TypeDocument{a, withLens(b)}, c, true},
		{"none into one between", []sgam.TypeDocument{a, b}, c, false},
		{"into the oldest, which leads from elsewhere", []sgam.TypeDocument{withLens(a), b}, c, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			r, err := Check(ModeFullTransitive, test.history, test.newer, nil)
			require.NoError(t, err)
			assert.Equal(t, test.ok, r.OK, display(r))
		})
	}
	// A lens is no look at the data.
	r, err := Check(ModeBackward, []sgam.TypeDocument{city(t, 1, `{"enum":["a","b"]}`)}, withLens(city(t, 2, `{"enum":["a"]}`)), nil)
	require.NoError(t, err)
	assert.Equal(t, "backward data", r.Compared[0].Findings[0].Fails)
}

func TestADefaultThatALensMayHaveFilledInIsFixed(t *testing.T) {
	a := city(t, 1, object(`"p":{"type":"string","default":"a"}`))
	b := withLens(city(t, 2, object(`"p":{"type":"string","default":"a"}`)))
	c := city(t, 3, object(`"p":{"type":"string","default":"a"}`))
	d := city(t, 4, object(`"p":{"type":"string","default":"b"}`))
	r, err := Check(ModeBackward, []sgam.TypeDocument{a, b, c}, d, nil)
	require.NoError(t, err)
	assert.False(t, r.OK, "the lens is two versions back")
	r, err = Check(ModeBackward, []sgam.TypeDocument{a, c}, d, nil)
	require.NoError(t, err)
	assert.True(t, r.OK)
}

func TestDeclassifyingTakesAnActorAndAReason(t *testing.T) {
	older := []sgam.TypeDocument{docOf(t, 1, inAttribute(`,"sensitivity":"secret"`))}
	newer := docOf(t, 2, inAttribute(`,"sensitivity":"public"`))
	r, err := Check(ModeNone, older, newer, nil)
	require.NoError(t, err)
	assert.False(t, r.OK)
	assert.Equal(t, "forbidden", r.Compared[0].Findings[0].Fails)

	who := &Declassification{Actor: "mira", Reason: "published"}
	r, err = Check(ModeFull, older, newer, &CheckOptions{Declassify: who})
	require.NoError(t, err)
	assert.True(t, r.OK)
	assert.Equal(t, who, r.Compared[0].Findings[0].Declassified)

	for _, half := range []Declassification{{Actor: "mira"}, {Reason: "published"}, {Actor: " ", Reason: "x"}} {
		_, err = Check(ModeFull, older, newer, &CheckOptions{Declassify: &half})
		fault := new(sgam.FieldError)
		require.ErrorAs(t, err, &fault)
		assert.Equal(t, "declassify", fault.Field)
	}
}

func TestARemovedAttributeTakesADisposition(t *testing.T) {
	older := []sgam.TypeDocument{docOf(t, 1, attributes(1, "a", 2, "b"))}
	newer := docOf(t, 2, attributes(1, "a")+reserved("2", `"b"`))
	for mode, ok := range map[Mode]bool{ModeNone: true, ModeBackward: false, ModeForward: false} {
		r, err := Check(mode, older, newer, nil)
		require.NoError(t, err)
		assert.Equal(t, ok, r.OK, mode)
	}
	r, err := Check(ModeBackward, older, newer, &CheckOptions{Dispositions: map[string]Disposition{"b": Erase}})
	require.NoError(t, err)
	assert.True(t, r.OK)
	r, err = Check(ModeForward, older, newer, &CheckOptions{Dispositions: map[string]Disposition{"b": KeepReadable}})
	require.NoError(t, err)
	assert.Equal(t, "forward lens", r.Compared[0].Findings[0].Fails)
	r, err = Check(ModeBackward, older, newer, &CheckOptions{Dispositions: map[string]Disposition{"a": Expire}})
	require.NoError(t, err)
	assert.False(t, r.OK, "it is for another attribute")
}

func TestDecisionsAreAskedForOnce(t *testing.T) {
	of := func(version int, sensitivity, members string) sgam.TypeDocument {
		return docOf(t, version, strings.Replace(members, `"tag":1,`, `"tag":1,"sensitivity":"`+sensitivity+`",`, 1))
	}
	const after = `,"reserved":{"tags":[2],"names":["b"]}`
	a, b, c := of(1, "secret", attributes(1, "a", 2, "b")), of(2, "public", attributes(1, "a")+after), of(3, "public", attributes(1, "a")+after)
	r, err := Check(ModeBackwardTransitive, []sgam.TypeDocument{a}, b, nil)
	require.NoError(t, err)
	assert.Equal(t, "forbidden", r.Compared[0].Findings[0].Fails)
	assert.Equal(t, "no disposition", r.Compared[0].Findings[1].Fails)
	r, err = Check(ModeBackwardTransitive, []sgam.TypeDocument{a, b}, c, nil)
	require.NoError(t, err)
	assert.True(t, r.OK, display(r))
	assert.Len(t, r.Compared[1].Findings, 2)
}

func TestAllowPassesWhatIsSeenToElsewhere(t *testing.T) {
	for _, test := range []struct {
		older, newer string
		least        Verdict
	}{
		{`{"type":"string"}`, `{"type":"integer"}`, VerdictLens},
		{`{"type":"string"}`, `{"type":"string","maxLength":1}`, VerdictData},
		{`{"type":"number"}`, `{"type":"integer"}`, VerdictDataLens},
		{object(`"p":{"type":"string"}`), object(`"p":{"type":"string"},"q":{"type":"string"}`, "q"), VerdictBreak},
	} {
		for allow := VerdictOK; allow <= VerdictDataLens; allow++ {
			r, err := Check(ModeBackward, []sgam.TypeDocument{city(t, 1, test.older)}, city(t, 2, test.newer), &CheckOptions{Allow: allow})
			require.NoError(t, err)
			assert.Equal(t, allow >= test.least, r.OK, "%s allowed for %s", allow, test.least)
		}
	}
}

func TestWrongOptionsAreRefused(t *testing.T) {
	doc := city(t, 1, `{"type":"string"}`)
	for _, test := range []struct {
		mode  Mode
		opts  CheckOptions
		field string
	}{
		{"sideways", CheckOptions{}, "mode"},
		{"none-transitive", CheckOptions{}, "mode"},
		{"", CheckOptions{}, "mode"},
		{ModeFull, CheckOptions{Allow: VerdictBreak}, "allow"},
		{ModeFull, CheckOptions{Dispositions: map[string]Disposition{"z": "burn"}}, "dispositions/z"},
	} {
		_, err := Check(test.mode, nil, doc, &test.opts)
		fault := new(sgam.FieldError)
		require.ErrorAs(t, err, &fault)
		assert.Equal(t, test.field, fault.Field)
	}
	_, err := Check(ModeFull, nil, doc, &CheckOptions{})
	require.NoError(t, err)
}

func TestDocumentsOfDifferentTypesAreNotCompared(t *testing.T) {
	doc := city(t, 1, `{"type":"string"}`)
	other, err := ParseDocument([]byte(`{"type":"other","version":1,` + attributes(1, "z") + `}`))
	require.NoError(t, err)
	_, err = Compare(doc, other)
	fault := new(sgam.FieldError)
	require.ErrorAs(t, err, &fault)
	assert.Equal(t, "type", fault.Field)
	broken := new(DocumentError)
	_, err = Compare(doc, sgam.TypeDocument{JSON: []byte(`{}`)})
	require.ErrorAs(t, err, &broken)
	_, err = Compare(sgam.TypeDocument{JSON: []byte(`{}`)}, doc)
	require.ErrorAs(t, err, &broken)
}

func TestASetIsCheckedVersionByVersion(t *testing.T) {
	a, b, c := city(t, 1, `{"type":"integer"}`), city(t, 2, `{"type":"number"}`), city(t, 3, `{"type":"integer"}`)
	other, err := ParseDocument([]byte(`{"type":"other","version":1,` + attributes(1, "z") + `}`))
	require.NoError(t, err)
	reports, err := CheckSet(ModeBackward, []sgam.TypeDocument{a}, []sgam.TypeDocument{c, other, b, a}, true, nil)
	require.NoError(t, err)
	require.Len(t, reports, 4)
	for i, want := range []struct {
		typ     string
		version int
		ok      bool
	}{{"other", 1, true}, {"t", 1, true}, {"t", 2, true}, {"t", 3, false}} {
		assert.Equal(t, want.typ, reports[i].Type)
		assert.Equal(t, want.version, reports[i].Version)
		assert.Equal(t, want.ok, reports[i].OK, display(reports[i]))
	}
	_, err = CheckSet("sideways", nil, []sgam.TypeDocument{a}, false, nil)
	require.Error(t, err)
}

func TestAReportIsJSON(t *testing.T) {
	r, err := Check(ModeBackward, []sgam.TypeDocument{city(t, 1, `{"type":"string"}`)}, city(t, 2, `{"type":"string","maxLength":3,"title":"City"}`), nil)
	require.NoError(t, err)
	raw, err := json.Marshal(r)
	require.NoError(t, err)
	assert.JSONEq(t, `{"type":"t","version":2,"mode":"backward","ok":false,"compared":[{"version":1,"findings":[
		{"rule":"SC01","path":"attributes/3/schema/title","attribute":"a","new":"City","backward":"ok","forward":"ok"},
		{"rule":"SC16","path":"attributes/3/schema/maxLength","attribute":"a","new":3,"backward":"data","forward":"ok","needs":["scan"],
		 "advice":"scan the stored values first: each has to keep the new rule","fails":"backward data"}]}]}`, string(raw))
	var again Report
	require.NoError(t, json.Unmarshal(raw, &again))
	assert.Equal(t, VerdictData, again.Compared[0].Findings[1].Backward)
}

func TestVerdictsAreWords(t *testing.T) {
	for v := VerdictOK; v <= VerdictForbid; v++ {
		word, err := v.MarshalText()
		require.NoError(t, err)
		var again Verdict
		require.NoError(t, again.UnmarshalText(word))
		assert.Equal(t, v, again)
	}
	require.Error(t, new(Verdict).UnmarshalText([]byte("fine")))
	assert.Equal(t, "verdict 9", Verdict(9).String())
	assert.Equal(t, VerdictDataLens, VerdictLens.And(VerdictData))
	assert.Equal(t, VerdictBreak, VerdictBreak.And(VerdictLens))
	assert.Equal(t, VerdictLens, VerdictOK.And(VerdictLens))
}

func TestTheVerdictOnAnAttributeIsAboutItsValuesAlone(t *testing.T) {
	of := func(members string) *attribute {
		d, _, err := parse([]byte(`{"type":"t","version":1,` + inAttribute(members) + `}`))
		require.NoError(t, err)
		return &d.attributes[0]
	}
	backward, forward := attributeVerdict(
		of(`,"sensitivity":"secret"`), of(`,"name":"b","sensitivity":"public","retention":"r","conflict_policy":"immutable","title":"x"`))
	assert.Equal(t, VerdictOK, backward)
	assert.Equal(t, VerdictOK, forward)
	backward, forward = attributeVerdict(of(`,"cardinality":"many"`), of(`,"sensitivity":"secret","unit":"EUR"`))
	assert.Equal(t, VerdictDataLens, backward)
	assert.Equal(t, VerdictLens, forward)
}
