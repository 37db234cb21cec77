package archtest

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// rule is one law of the tree. A breach and its message are told by the samples: each in bad has to be found, none in good.
type rule struct {
	name  string
	why   string
	check func(tree) []finding
	bad   []sample
	good  []sample
}

// sample is a small module, example.com/m, that keeps a rule or breaks it.
type sample struct {
	name  string
	files map[string]string
	says  string // part of the finding
}

var rules = slices.Concat(importRules, shapeRules, []rule{clockRule, sqlRule}, globalRules)

func TestTreeKeepsItsRules(t *testing.T) {
	t.Parallel()
	whole := mustReadTree(t)
	for _, r := range rules {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			findings := r.check(whole)
			slices.SortFunc(findings, byPlace)
			for _, f := range findings {
				t.Errorf("%s\n\tsince %s", f, r.why)
			}
		})
	}
}

func TestEachRuleFindsItsBreach(t *testing.T) {
	t.Parallel()
	for _, r := range rules {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			require.NotEmpty(t, r.bad, "a rule that nothing breaks proves nothing")
			for _, s := range r.bad {
				findings := r.check(parseSample(t, s))
				require.NotEmpty(t, findings, "%s is not found", s.name)
				assert.Contains(t, findings[0].message, s.says, s.name)
			}
			for _, s := range r.good {
				assert.Empty(t, r.check(parseSample(t, s)), s.name)
			}
		})
	}
}

func parseSample(t *testing.T, s sample) tree {
	t.Helper()
	parsed, err := parseTree("example.com/m", s.files)
	require.NoError(t, err, s.name)
	return parsed
}
