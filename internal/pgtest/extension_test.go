package pgtest

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestADatabaseIsGivenAnExtension(t *testing.T) {
	c := started(t, false)
	require.NoError(t, c.Extend(t.Context(), "postgres", "periods"))
	require.NoError(t, c.Do(t.Context(), "postgres", "DO $$ BEGIN ASSERT (SELECT count(*) FROM pg_extension WHERE extname = 'periods') = 1; END $$"))
}

func TestAnExtensionThatIsNotInstalledIsNamedWithItsCure(t *testing.T) {
	c := started(t, false)
	err := c.Extend(t.Context(), "postgres", "nothing_by_this_name")
	require.ErrorIs(t, err, ErrMissing)
	require.ErrorContains(t, err, "-nothing_by_this_name")
}
