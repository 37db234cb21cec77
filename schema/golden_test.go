package schema_test

import (
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/schema"
)

var update = flag.Bool("update", false, "write the golden documents anew")

type (
	price struct {
		Amount   string `json:"amount" jsonschema:"pattern=^[0-9]+\\.[0-9]{2}$"`
		Currency string `json:"currency" validate:"len=3"`
	}
	orderItem struct {
		SKU      string   `json:"sku" validate:"required,max=20"`
		Quantity uint16   `json:"quantity" validate:"min=1"`
		Price    *price   `json:"price"`
		Note     *string  `json:"note,omitempty"`
		Tags     []string `json:"tags,omitzero" jsonschema:"uniqueItems=true" validate:"omitempty,max=5,dive,oneof=gift fragile 'keep cold'"`
	}
	delivery struct {
		Due     sgam.Date  `json:"due" jsonschema:"title=Due,description=The day\\, in the customer's zone" `
		Sent    *time.Time `json:"sent"`
		Parcel  uuid.UUID  `json:"parcel"`
		Contact string     `json:"contact,omitempty" validate:"omitempty,email"`
		Level   *string    `json:"level" validate:"omitempty,oneof=low high"`
	}
	person struct {
		Name      string    `json:"name" validate:"required"`
		Born      sgam.Date `json:"born"`
		Allergies []string  `json:"allergies" validate:"dive,min=2"`
		Weight    float32   `json:"weight"`
	}
	everyNumber struct {
		A int     `json:"a"`
		B int8    `json:"b"`
		C int16   `json:"c"`
		D int32   `json:"d"`
		E int64   `json:"e"`
		F uint    `json:"f"`
		G uint8   `json:"g"`
		H uint16  `json:"h"`
		I uint32  `json:"i"`
		J uint64  `json:"j"`
		K float32 `json:"k"`
		L float64 `json:"l" jsonschema:"multipleOf=0.01,exclusiveMinimum=0,default=1.5,example=2"`
		M bool    `json:"m"`
		N [3]int8 `json:"n"`
	}
)

// goDefined are the definitions whose documents are kept in testdata/golden, as NAME.in.json the way a person would
// write them, and as NAME.json in canonical form.
var goDefined = map[string]func(*schema.Registry) error{
	"deadline": func(r *schema.Registry) error {
		_, err := schema.Define[sgam.Date](r, "passport_deadline", 1, nil)
		return err
	},
	"status": func(r *schema.Registry) error {
		_, err := schema.Define[string](r, "ticket.status", 3, &schema.Spec{
			Tag: 4, Aliases: []string{"ticket.state", "Ticket"}, Policy: sgam.SourceRank,
			Ranks:       []sgam.EpisodeKind{sgam.UserConfirmation, sgam.BusinessEvent, sgam.Message},
			Sensitivity: schema.Personal, Retention: "tickets_2y", Title: "Status", Description: "Where the ticket stands.",
			Rules: "oneof=open 'on hold' closed", Draft: true,
		})
		return err
	},
	"item": func(r *schema.Registry) error {
		_, err := schema.Define[orderItem](r, "order_item", 1, &schema.Spec{Many: true, Key: "/sku", Policy: sgam.KeepHighestConfidence})
		return err
	},
	"delivery": func(r *schema.Registry) error {
		_, err := schema.Define[delivery](r, "delivery", 1, &schema.Spec{Policy: sgam.ConfirmFirst, Sensitivity: schema.Secret})
		return err
	},
	"numbers": func(r *schema.Registry) error {
		_, err := schema.Define[everyNumber](r, "numbers", 1, &schema.Spec{Policy: sgam.Immutable, Unit: "EUR"})
		return err
	},
	"person": func(r *schema.Registry) error {
		_, err := schema.DefineType[person](r, "person", 2, &schema.TypeSpec{
			Prefix: "person_", Title: "Person", Description: "Someone we know.", ReservedTags: []int{9, 2}, ReservedNames: []string{"person_nick", "person_age"},
			Fields: map[string]*schema.Spec{
				"born": {Tag: 3, Sensitivity: schema.Personal}, "allergies": {Many: true, Sensitivity: schema.Special}, "weight": {Unit: "kg"},
			},
		})
		return err
	},
}

func TestGoAndJSONDefineTheSameDocument(t *testing.T) {
	for name, define := range goDefined {
		t.Run(name, func(t *testing.T) {
			reg := schema.NewRegistry()
			require.NoError(t, define(reg))
			docs, err := reg.Declared()
			require.NoError(t, err)
			require.Len(t, docs, 1)

			path := filepath.Join("testdata", "golden", name+".json")
			if *update {
				require.NoError(t, os.WriteFile(path, append(docs[0].JSON, '\n'), 0o644))
			}
			golden, err := os.ReadFile(path)
			require.NoError(t, err)
			want := strings.TrimSuffix(string(golden), "\n")
			assert.Equal(t, want, string(docs[0].JSON))
			sum := sha256.Sum256([]byte(want))
			assert.Equal(t, hex.EncodeToString(sum[:]), docs[0].Hash)

			written, err := os.ReadFile(filepath.Join("testdata", "golden", name+".in.json"))
			require.NoError(t, err)
			parsed, err := schema.ParseDocument(written)
			require.NoError(t, err)
			assert.Equal(t, docs[0], parsed)

			again, err := schema.ParseDocument(parsed.JSON)
			require.NoError(t, err)
			assert.Equal(t, parsed, again, "the canonical form is its own canonical form")
		})
	}
}

func TestSpellingDoesNotChangeTheDocument(t *testing.T) {
	want, err := schema.ParseDocument([]byte(attributes(
		`"tag":1,"name":"a","aliases":["b","c"],"schema":{"type":"object","properties":{"x":{"type":"integer","minimum":1},"y":{"type":["string","null"]}},"required":["x","y"]}`,
		`"tag":2,"name":"d","schema":{"type":"string","enum":["p","q"]}`)))
	require.NoError(t, err)
	for why, doc := range map[string]string{
		"order of keys, aliases, attributes and required": `{"version":1,"attributes":[{"schema":{"enum":["p","q"],"type":"string"},"name":"d","tag":2},` +
			`{"schema":{"required":["y","x"],"properties":{"y":{"type":["null","string"]},"x":{"minimum":1,"type":"integer"}},"type":"object"},"aliases":["c","b"],"tag":1,"name":"a"}],"type":"t"}`,
		"defaults written out": `{"type":"t","version":1,"draft":false,"title":"","description":"","reserved":{"tags":[],"names":[]},"attributes":[` +
			`{"tag":1,"name":"a","aliases":["b","c"],"cardinality":"one","key":"","conflict_policy":"supersede","ranks":[],"sensitivity":"internal","retention":"","unit":"","title":"",` +
			`"schema":{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","additionalProperties":false,"title":"","examples":[],"deprecated":false,` +
			`"properties":{"x":{"type":"integer","minimum":1.0},"y":{"type":["string","null"],"minLength":0}},"required":["x","y"]}},` +
			`{"tag":2,"name":"d","schema":{"type":["string"],"enum":["p","q"]}}]}`,
		"a type that the constants imply": attributes(
			`"tag":1,"name":"a","aliases":["b","c"],"schema":{"type":"object","properties":{"x":{"type":"integer","minimum":1},"y":{"type":["string","null"]}},"required":["x","y"]}`,
			`"tag":2,"name":"d","schema":{"enum":["p","q"]}`),
		"definitions instead of repetition": attributes(
			`"tag":1,"name":"a","aliases":["b","c"],"schema":{"$ref":"#/$defs/top","$defs":{"top":{"type":"object","properties":{"x":{"$ref":"#/$defs/n~1m"},"y":{"type":["string","null"]}},`+
				`"required":["x","y"]},"n/m":{"type":"integer","minimum":1},"unused":{"type":"boolean"}}}`,
			`"tag":2,"name":"d","schema":{"type":"string","enum":["p","q"]}`),
	} {
		t.Run(why, func(t *testing.T) {
			got, err := schema.ParseDocument([]byte(doc))
			require.NoError(t, err)
			assert.Equal(t, string(want.JSON), string(got.JSON))
			assert.Equal(t, want, got)
		})
	}
}

func TestWordsChangeTheHashAndNotTheMeaning(t *testing.T) {
	plain := func(extra, name string) string {
		return `{"type":"t","version":1,` + extra + `"attributes":[{"tag":1,"name":"a","schema":{"type":"object","properties":{"title":{"type":"string"` + name + `}}}}]}`
	}
	parse := func(doc string) sgam.TypeDocument {
		d, err := schema.ParseDocument([]byte(doc))
		require.NoError(t, err)
		return d
	}
	base := parse(plain("", ""))
	for _, doc := range []string{
		plain(`"title":"T",`, ""), plain(`"description":"D",`, ""), plain("", `,"title":"T"`), plain("", `,"description":"D"`), plain("", `,"examples":["x"]`),
		strings.Replace(plain("", ""), `"tag":1`, `"tag":1,"title":"T","description":"D"`, 1),
	} {
		d := parse(doc)
		assert.NotEqual(t, base.Hash, d.Hash, doc)
		assert.Equal(t, base.Semantic, d.Semantic, doc)
	}
	for _, doc := range []string{
		plain(`"draft":true,`, ""), plain(`"reserved":{"tags":[2]},`, ""), plain("", `,"default":"x"`), plain("", `,"x-sgam-y":1`), plain("", `,"deprecated":true`),
		strings.Replace(plain("", ""), `{"title":{`, `{"heading":{`, 1),
		strings.Replace(plain("", ""), `"tag":1`, `"tag":1,"unit":"EUR"`, 1),
	} {
		assert.NotEqual(t, base.Semantic, parse(doc).Semantic, doc)
	}
}
