package schema

import (
	"bytes"
	"encoding/json"
)

// ordered is a JSON object whose members stay in order: a model writes its answer in the order of the schema, so that
// order decides whether it quotes before it concludes.
type ordered []orderedMember

type orderedMember struct {
	key   string
	value any
}

// MarshalJSON writes the members in order.
func (o ordered) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		key, err := encode(m.key)
		if err != nil {
			return nil, err
		}
		value, err := encode(m.value)
		if err != nil {
			return nil, err
		}
		b.Write(append(append(key, ':'), value...))
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// with adds a member at the end.
func (o ordered) with(key string, value any) ordered {
	return append(o, orderedMember{key, value})
}

// encode writes JSON without escaping what only HTML needs escaped.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
