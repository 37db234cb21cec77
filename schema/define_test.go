package schema_test

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/ledgertest"
	"github.com/sgam-ledger/sgam/schema"
)

func TestSpecsThatAreRefused(t *testing.T) {
	for _, c := range []struct {
		why, field, rule string
		spec             schema.Spec
	}{
		{"an unknown policy", "attributes/0/conflict_policy", "enum", schema.Spec{Policy: "newest"}},
		{"an unknown sensitivity", "attributes/0/sensitivity", "enum", schema.Spec{Sensitivity: "high"}},
		{"ranks without source_rank", "attributes/0/ranks", "policy", schema.Spec{Ranks: []sgam.EpisodeKind{sgam.File}}},
		{"source_rank without ranks", "attributes/0/ranks", "required", schema.Spec{Policy: sgam.SourceRank}},
		{"a key without many", "attributes/0/key", "cardinality", schema.Spec{Key: "/a"}},
		{"a negative tag", "attributes/0/tag", "range", schema.Spec{Tag: -1}},
		{"an alias that is no name", "attributes/0/aliases/0", "name", schema.Spec{Aliases: []string{"a b"}}},
	} {
		t.Run(c.why, func(t *testing.T) {
			requireFault(t, define[string](&c.spec), c.field, c.rule)
		})
	}
	_, err := schema.Define[string](schema.NewRegistry(), "a b", 1, nil)
	requireFault(t, err, "type", "name")
	assert.Panics(t, func() { schema.MustDefine[string](schema.NewRegistry(), "a", 0, nil) })
}

func TestEveryFaultOfAGoTypeComesAtOnce(t *testing.T) {
	err := define[struct {
		A map[string]int `json:"a"`
		B []byte         `json:"b"`
		C *recursive     `json:"c"`
	}](nil)
	de, ok := errors.AsType[*schema.DocumentError](err)
	require.True(t, ok)
	assert.Len(t, de.Faults, 3)
	assert.Equal(t, "t", de.Type)
	assert.Equal(t, 1, de.Version)
}

func TestFieldsOfATypeAreFoundAgainWithTheirType(t *testing.T) {
	type person struct {
		Name      string     `json:"name"`
		Born      *sgam.Date `json:"born,omitempty" validate:"omitempty"`
		Allergies []string   `json:"allergies" validate:"dive,min=1"`
		Visits    []string   `json:"visits" validate:"max=3"`
	}
	reg := schema.NewRegistry()
	typ, err := schema.DefineType[person](reg, "person", 1, &schema.TypeSpec{
		Prefix: "person_", Fields: map[string]*schema.Spec{"allergies": {Many: true, Tag: 7}},
	})
	require.NoError(t, err)
	name, err := schema.AttributeOf[string](typ, "name")
	require.NoError(t, err)
	assert.Equal(t, "person_name", name.Name())
	_, err = schema.AttributeOf[sgam.Date](typ, "born")
	require.NoError(t, err, "without the pointer")
	_, err = schema.AttributeOf[*sgam.Date](typ, "born")
	require.ErrorContains(t, err, "sgam.Date")
	_, err = schema.AttributeOf[string](typ, "allergies")
	require.NoError(t, err, "an element of the set")
	_, err = schema.AttributeOf[[]string](typ, "visits")
	require.NoError(t, err, "a list as one value")
	_, err = schema.AttributeOf[string](typ, "person_name")
	require.ErrorContains(t, err, "person_name", "the field's name, not the attribute's")
	assert.Panics(t, func() { schema.MustAttributeOf[int](typ, "name") })

	docs, err := reg.Declared()
	require.NoError(t, err)
	assert.Equal(t, []sgam.AttributeName{
		{Tag: 1, Name: "person_name"}, {Tag: 2, Name: "person_born"}, {Tag: 7, Name: "person_allergies", Many: true}, {Tag: 8, Name: "person_visits"},
	}, docs[0].Attributes, "a tag that is left out is one more than the one before")
	specs, err := reg.Compile(docs[0])
	require.NoError(t, err)
	assert.Empty(t, specs[2].Check([]byte(`"nuts"`)))
	assert.NotEmpty(t, specs[2].Check([]byte(`""`)), "rules after dive hold for a member")
	assert.NotEmpty(t, specs[1].Check([]byte(`null`)), "an attribute is absent, never null")
}

func TestTypeSpecsThatAreRefused(t *testing.T) {
	type two struct {
		A string   `json:"a"`
		B []string `json:"b" validate:"min=1"`
	}
	for _, c := range []struct {
		why, field, rule string
		spec             schema.TypeSpec
	}{
		{"a field that is not there", "Fields/c", "spec", schema.TypeSpec{Fields: map[string]*schema.Spec{"c": nil}}},
		{"rules beside the tag", "schema_test.two.A", "spec", schema.TypeSpec{Fields: map[string]*schema.Spec{"a": {Rules: "min=1"}}}},
		{"a draft attribute", "schema_test.two.A", "spec", schema.TypeSpec{Fields: map[string]*schema.Spec{"a": {Draft: true}}}},
		{"a rule about the size of a set", "schema_test.two.B", "validate_tag", schema.TypeSpec{Fields: map[string]*schema.Spec{"b": {Many: true}}}},
		{"a tag twice", "attributes/1/tag", "unique", schema.TypeSpec{Fields: map[string]*schema.Spec{"a": {Tag: 2}, "b": {Tag: 2}}}},
		{"a reserved tag", "attributes/0/tag", "reserved", schema.TypeSpec{ReservedTags: []int{1}}},
		{"a reserved name", "attributes/1/name", "reserved", schema.TypeSpec{ReservedNames: []string{"b"}}},
		{"a prefix that is no name", "attributes/0/name", "name", schema.TypeSpec{Prefix: "my "}},
	} {
		t.Run(c.why, func(t *testing.T) {
			_, err := schema.DefineType[two](schema.NewRegistry(), "two", 1, &c.spec)
			requireFault(t, err, c.field, c.rule)
		})
	}
	_, err := schema.DefineType[string](schema.NewRegistry(), "t", 1, nil)
	requireFault(t, err, "string", "go_type")
	_, err = schema.DefineType[time.Time](schema.NewRegistry(), "t", 1, nil)
	requireFault(t, err, reflect.TypeFor[time.Time]().String(), "go_type")
	_, err = schema.DefineType[struct {
		A []*string `json:"a"`
	}](schema.NewRegistry(), "t", 1, &schema.TypeSpec{Fields: map[string]*schema.Spec{"a": {Many: true}}})
	require.ErrorContains(t, err, "no pointers")
	assert.Panics(t, func() { schema.MustDefineType[string](schema.NewRegistry(), "t", 1, nil) })
}

func TestTypedAttributesGoThroughALedger(t *testing.T) {
	reg := schema.NewRegistry()
	deadline := schema.MustDefine[sgam.Date](reg, "passport_deadline", 1, nil)
	item := schema.MustDefine[orderItem](reg, "order_item", 1, &schema.Spec{Many: true, Key: "/sku"})
	l := ledgertest.NewLedger(t, &sgam.Options{Schemas: reg})
	tenant, err := l.Tenant("acme")
	require.NoError(t, err)
	june3 := time.Date(2026, time.June, 3, 10, 0, 0, 0, time.UTC)
	episode := sgam.Episode{ID: "e1", Kind: sgam.Message, OccurredAt: june3, Text: "…"}
	apply := func(d sgam.MemoryDelta) sgam.Receipt {
		rc, err := tenant.Apply(t.Context(), d.From(episode))
		require.NoError(t, err)
		return rc
	}

	day := sgam.Date{Year: 2026, Month: time.June, Day: 30}
	require.NoError(t, apply(deadline.Assert("mira", day, june3)).Err())
	got, err := deadline.Get(t.Context(), tenant.Current(), "mira")
	require.NoError(t, err)
	assert.Equal(t, day, got.V)
	assert.Equal(t, "passport_deadline", got.MemoryType)
	assert.Equal(t, 1, got.SchemaVersion)

	for _, one := range []orderItem{{SKU: "a", Quantity: 1}, {SKU: "b", Quantity: 1}, {SKU: "a", Quantity: 2}} {
		require.NoError(t, apply(item.Assert("mira", one, june3)).Err())
	}
	quantities := map[string]uint16{}
	for member, err := range item.Members(t.Context(), tenant.Current(), "mira") {
		require.NoError(t, err)
		quantities[member.V.SKU] += member.V.Quantity
	}
	assert.Equal(t, map[string]uint16{"a": 2, "b": 1}, quantities, "the key tells members apart")

	rejected := apply(item.Assert("mira", orderItem{Tags: []string{"heavy"}}, june3)).Err()
	ve, ok := errors.AsType[*sgam.ValidationError](rejected)
	require.True(t, ok, "%v", rejected)
	assert.Equal(t, "schema", ve.Code)
	assert.Equal(t, []string{
		"value/quantity minimum: at least 1", "value/sku minLength: at least 1 character", `value/tags/0 enum: one of "gift", "fragile", "keep cold"`,
	}, said(ve.Faults))
}
