package schema

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/go-playground/validator/v10"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/internal/canon"
)

// Types of random structs, and for each the rules worth trying. Many combinations are refused by the definition; those
// that are not must mean the same to the validator and to the schema.
var ruledTypes = []struct {
	typ   reflect.Type
	rules []string
}{
	{reflect.TypeFor[string](), []string{"min=1", "max=3", "len=2", "gte=2", "lte=1", "oneof=a bb 'c d'", "email", "uuid", "datetime=2006-01-02", "datetime=2006-01-02T15:04:05Z07:00"}},
	{reflect.TypeFor[int8](), []string{"min=1", "max=3", "len=2", "gte=-2", "lte=-1", "oneof=0 1 -2", "max=900"}},
	{reflect.TypeFor[int](), []string{"min=1", "max=3", "len=0", "gte=-2", "lte=-1", "oneof=0 1 -2"}},
	{reflect.TypeFor[uint8](), []string{"min=1", "max=3", "len=2", "gte=0", "lte=300", "oneof=0 1 2"}},
	{reflect.TypeFor[uint64](), []string{"min=1", "max=3", "len=2", "gte=0", "oneof=0 1 2"}},
	{reflect.TypeFor[float32](), []string{"min=0.1", "max=0.3", "len=0.5", "gte=-1", "lte=1e0"}},
	{reflect.TypeFor[float64](), []string{"min=0.1", "max=0.3", "len=0.5", "gte=-1", "lte=1e0"}},
	{reflect.TypeFor[bool](), nil},
	{reflect.TypeFor[*string](), []string{"min=1", "max=3", "oneof=a bb", "email"}},
	{reflect.TypeFor[*int](), []string{"min=1", "max=3", "len=2", "oneof=0 1 -2"}},
	{reflect.TypeFor[*bool](), nil},
	{reflect.TypeFor[[]string](), []string{"min=1", "max=2", "len=2", "dive", "dive,min=1", "dive,required", "dive,oneof=a bb", "dive,required,max=2"}},
	{reflect.TypeFor[[]int](), []string{"min=1", "max=2", "dive,min=1", "dive,required,gte=-1", "dive,required,min=1"}},
	{reflect.TypeFor[[]*string](), []string{"min=1", "dive", "dive,required", "dive,omitempty,min=1", "dive,min=1"}},
	{reflect.TypeFor[[2]int](), []string{"dive,min=1"}},
	{reflect.TypeFor[time.Time](), nil},
	{reflect.TypeFor[sgam.Date](), nil},
	{reflect.TypeFor[*sgam.Date](), nil},
}

var jsonOptions = []string{"", "", ",omitempty", ",omitzero"}

// drawStruct draws a struct type with up to four fields, some of them structs themselves.
func drawStruct(t *rapid.T, depth int) reflect.Type {
	n := rapid.IntRange(1, 4).Draw(t, "fields")
	fields := make([]reflect.StructField, n)
	for i := range fields {
		kind := rapid.IntRange(0, len(ruledTypes)+2*depth-1).Draw(t, "kind")
		var typ reflect.Type
		var rules []string
		if kind < len(ruledTypes) {
			typ, rules = ruledTypes[kind].typ, ruledTypes[kind].rules
		} else {
			typ = drawStruct(t, depth-1)
			switch rapid.IntRange(0, 3).Draw(t, "around") {
			case 0:
				typ = reflect.PointerTo(typ)
			case 1:
				typ, rules = reflect.SliceOf(typ), []string{"dive", "min=1,dive", "dive,required"}
			case 2:
				typ, rules = reflect.SliceOf(reflect.PointerTo(typ)), []string{"dive", "dive,required"}
			}
		}
		var words []string
		switch rapid.IntRange(0, 3).Draw(t, "presence") {
		case 0:
			words = append(words, "omitempty")
		case 1:
			words = append(words, "required")
		}
		for _, rule := range rapid.SliceOfNDistinct(rapid.SampledFrom(append(rules, "")), 0, min(2, len(rules)+1), rapid.ID).Draw(t, "rules") {
			if rule != "" && !strings.Contains(strings.Join(words, ","), "dive") {
				words = append(words, rule)
			}
		}
		options := rapid.SampledFrom(jsonOptions).Draw(t, "options")
		fields[i] = reflect.StructField{
			Name: fmt.Sprintf("F%d", i), Type: typ,
			Tag: reflect.StructTag(fmt.Sprintf(`json:"f%d%s" validate:%q`, i, options, strings.Join(words, ","))),
		}
	}
	return reflect.StructOf(fields)
}

// drawValue draws a value near the bounds that the rules name. Nil slices are drawn only where they can be left out or
// are refused: elsewhere the package comment declares a difference.
func drawValue(t *rapid.T, v reflect.Value, mayBeNil bool) {
	switch v.Type() {
	case reflect.TypeFor[time.Time]():
		v.Set(reflect.ValueOf(rapid.SampledFrom([]time.Time{{}, time.Date(2026, 6, 30, 9, 0, 0, 5000, time.UTC)}).Draw(t, "time")))
		return
	case reflect.TypeFor[sgam.Date]():
		v.Set(reflect.ValueOf(sgam.Date{Year: 2026, Month: time.June, Day: rapid.IntRange(1, 30).Draw(t, "day")}))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(rapid.SampledFrom([]string{
			"", "a", "é", "bb", "日本", "c d", "abc", "four", "mira@example.com", "mira@example", "Mira <mira@example.com>", "ü@example.org",
			"123e4567-e89b-12d3-a456-426614174000", "123E4567-E89B-12D3-A456-426614174000", "{123e4567-e89b-12d3-a456-426614174000}",
			"2026-06-30", "2026-02-30", "2026-6-30", "2026-06-30T09:00:00Z", "2026-06-30T09:00:00.5+02:00", "2026-06-30t09:00:00z",
			"2026-06-30T23:59:60Z", "2026-06-30T09:00:00", "2026-13-01T09:00:00Z",
		}).Draw(t, "string"))
	case reflect.Int, reflect.Int8:
		v.SetInt(rapid.Int64Range(-3, 4).Draw(t, "int"))
	case reflect.Uint8, reflect.Uint64:
		v.SetUint(rapid.Uint64Range(0, 4).Draw(t, "uint"))
	case reflect.Float32, reflect.Float64:
		v.SetFloat(rapid.SampledFrom([]float64{0, 0.1, 0.1 + 1e-9, 0.3, 0.30000001, 0.5, 1, -1, -1.5, 1e10}).Draw(t, "float"))
	case reflect.Bool:
		v.SetBool(rapid.Bool().Draw(t, "bool"))
	case reflect.Pointer:
		if rapid.IntRange(0, 2).Draw(t, "nil") > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			drawValue(t, v.Elem(), false)
		}
	case reflect.Slice:
		if mayBeNil && rapid.IntRange(0, 2).Draw(t, "nil") == 0 {
			return
		}
		n := rapid.IntRange(0, 3).Draw(t, "len")
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		fallthrough
	case reflect.Array:
		for i := range v.Len() {
			drawValue(t, v.Index(i), false)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			tag := v.Type().Field(i).Tag
			left := strings.Contains(tag.Get("json"), ",omit") || strings.HasPrefix(tag.Get("validate"), "required")
			drawValue(t, v.Field(i), left)
		}
	default:
		t.Fatalf("no values for type %s", v.Type())
	}
}

// judgeOfType compiles the schema of a type; nil when the definition is refused.
func judgeOfType(typ reflect.Type) func(value []byte) []sgam.FieldError {
	reg := NewRegistry()
	var b builder
	schema := b.value(typ, "")
	d := &document{typ: "t", version: 1, attributes: []attribute{(&Spec{}).attribute("t", 1, schema)}}
	if reg.define(d, &b.faults) != nil {
		return nil
	}
	docs, err := reg.Declared()
	if err != nil {
		return nil
	}
	specs, err := reg.Compile(docs[0])
	if err != nil {
		return nil
	}
	return specs[0].Check
}

func TestSchemaAndValidateTagsJudgeAlike(t *testing.T) {
	judgeOf := validator.New(validator.WithRequiredStructEnabled())
	valid, invalid := 0, 0
	types := rapid.Custom(func(t *rapid.T) reflect.Type { return drawStruct(t, 1) })
	rapid.Check(t, func(t *rapid.T) {
		typ := types.Filter(func(typ reflect.Type) bool { return judgeOfType(typ) != nil }).Draw(t, "type")
		check := judgeOfType(typ)
		for range 20 {
			v := reflect.New(typ)
			drawValue(t, v.Elem(), false)
			raw, err := json.Marshal(v.Interface())
			require.NoError(t, err)
			value, err := canon.Canonical(raw)
			require.NoError(t, err)
			tags := judgeOf.Struct(v.Interface())
			faults := check(value)
			if (tags == nil) != (len(faults) == 0) {
				t.Fatalf("type %s\nvalue %s\ntags say %v\nschema says %+v", typ, value, tags, faults)
			}
			if tags == nil {
				valid++
			} else {
				invalid++
			}
		}
	})
	t.Logf("%d values valid, %d invalid", valid, invalid)
	require.Positive(t, valid)
	require.Positive(t, invalid)
}
