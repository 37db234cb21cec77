package schema

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The profile lets no such reference through; should one ever get past it, the compiler must not read it either.
func TestTheCompilerLoadsNothing(t *testing.T) {
	for _, ref := range []string{"file:///etc/hostname", "https://example.com/schema.json", "other.json"} {
		_, err := compile(map[string]any{"$ref": ref})
		assert.ErrorContains(t, err, errNotLoaded.Error(), ref)
	}
	j, err := compile(map[string]any{"type": "string"})
	require.NoError(t, err)
	assert.Nil(t, j.check([]byte(`"x"`)))
}
