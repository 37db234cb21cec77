//go:build cgo

package sqlite

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A question about what holds now, or held at a point in time, is one statement, and each step of its plan begins with the
// tenant: however many tenants and facts a file holds, the lookup never leaves the tenant's own part of a key.
func TestG17ALookupLeadsWithTheTenant(t *testing.T) {
	s, err := current.open(context.Background(), newPath(t), nil)
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Close()) }()
	for _, st := range []*statement{stPointCurrent, stPointKnown} {
		steps := plan(t, s.writes.conn, st)
		// The registry is the ledger's, and its newest revision the end of an index.
		steps = slices.DeleteFunc(steps, func(step string) bool { return strings.HasSuffix(step, "_by_revision") })
		require.Empty(t, strangers(steps), st.name)
		for _, step := range []string{
			"(tenant_id=? AND name=?)",
			"(tenant_id=? AND scope=? AND subject_id=? AND attribute_id=? AND member=?)",
			"SEARCH g USING PRIMARY KEY (tenant_id=? AND slot_id=? AND node=? AND valid_from=?)",
			"SEARCH f USING PRIMARY KEY (tenant_id=? AND fact_id=?)",
		} {
			require.Contains(t, strings.Join(steps, "\n"), step, st.name)
		}
	}
	require.Len(t, strangers(plan(t, s.writes.conn, &statement{name: "a scan", text: "SELECT op FROM facts WHERE confidence = 1"})), 1,
		"a lookup that leaves the tenant would be noticed")
}

// strangers are the steps of a plan that read a table by anything but a key that the tenant leads.
func strangers(steps []string) []string {
	own := regexp.MustCompile(`^SEARCH \w+ USING .*\(tenant_id=\?|^SEARCH t USING .*\(name=\?\)`)
	var out []string
	for _, step := range steps {
		table := strings.HasPrefix(step, "SEARCH ") || strings.HasPrefix(step, "SCAN ") && step != "SCAN CONSTANT ROW" && step != "SCAN nodes"
		if table && !own.MatchString(step) {
			out = append(out, step)
		}
	}
	return out
}
