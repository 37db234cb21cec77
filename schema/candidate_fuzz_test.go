package schema_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sgam-ledger/sgam/schema"
)

// Whatever a model writes, it is read without a panic, and never says whose memory it is, where it was said or when it was
// learned.
func FuzzFormDecode(f *testing.F) {
	doc := readDocument(f, "dialect", "order.in.json")
	f.Add(answerOf(entry(`{"attribute":"order_item","change":"now_is","value":{"sku":"A-1","quantity":1,"note":null,"wrap":null,"link":"a:b","tags":[]}}`)))
	f.Add(answerOf(entry(`{"attribute":"order_payment","change":"was_always","value":{"kind":"cash","currency":null}}`, "valid_from", `"2026-06-30"`)))
	f.Add(answerOf(entry(`{"no_value_of":"order_due","change":"no_longer"}`, "tenant_id", `"other"`)))
	f.Add(answerOf(entry(`{"attribute":"order_item","change":"now_is","value":"{\"sku\":null}"}`), `7`, `{}`))
	f.Add([]byte(`{"candidates":[{"statement":{"attribute":"order_payment","change":"now_is","value":{"kind":{}}}}]}`))
	forms := make([]*schema.Form, len(dialects))
	for i, d := range dialects {
		forms[i] = formFor(f, d, doc)
	}
	f.Fuzz(func(t *testing.T, answer []byte) {
		for _, form := range forms {
			candidates, err := form.Decode(answer)
			if err != nil {
				assert.Nil(t, candidates)
				continue
			}
			for _, c := range candidates {
				require.Equal(t, c.Err != nil, c.Delta.Op == "", "a delta, or an error")
				assert.Empty(t, c.Delta.TenantID)
				assert.Empty(t, c.Delta.EpisodeID)
				assert.Nil(t, c.Delta.Episode)
				assert.Nil(t, c.Delta.ExpectCurrent)
				assert.Empty(t, c.Delta.IdempotencyKey)
			}
		}
	})
}

func FuzzLint(f *testing.F) {
	for _, d := range dialects {
		f.Add([]byte(formFor(f, d, readDocument(f, "dialect", "order.in.json")).Schema))
	}
	f.Add([]byte(`{"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"allOf":[{"$ref":"#"}]}},"type":["object"],"anyOf":[{"properties":{"a":1}},true],"pattern":"\\b"}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, d := range dialects {
			faults := schema.Lint(d, raw)
			assert.Equal(t, faults, schema.Lint(d, raw), "the same faults in the same order")
			for i := range faults {
				assert.NotEmpty(t, faults[i].Rule)
				assert.NotEmpty(t, faults[i].Want)
			}
		}
	})
}
