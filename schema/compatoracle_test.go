package schema

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// effort is how many times as much is tried with SGAM_ALL.
func effort(times int) int {
	if os.Getenv("SGAM_ALL") == "" {
		return 1
	}
	return times
}

// rapidChoices lets rapid make the choices, so that it can shrink them.
type rapidChoices struct{ t *rapid.T }

func (c rapidChoices) IntN(n int) int { return rapid.IntRange(0, n-1).Draw(c.t, "choice") }

// counterexample looks for a value that a verdict promises to be readable and that is not.
func counterexample(c *comparer, older, newer *drawnVersion, values chooser, n int) (value any, direction string, tried int) {
	c.attribute(older.attribute, newer.attribute)
	backward, forward := c.verdict()
	for _, d := range []struct {
		verdict  Verdict
		from, to *drawnVersion
		name     string
	}{{backward, older, newer, "backward"}, {forward, newer, older, "forward"}} {
		if d.verdict != VerdictOK {
			continue
		}
		for range n {
			v, ok := d.from.value(values)
			if !ok {
				continue
			}
			tried++
			if d.to.judge.schema.Validate(v) != nil {
				return v, d.name, tried
			}
		}
	}
	return nil, "", tried
}

// unkept says what is wrong with the changes between two versions; empty when nothing is. It adds to tried.
func unkept(older, newer *drawnVersion, values chooser, n int, tried *int) string {
	c := comparer{rows: ruleRows}
	v, direction, m := counterexample(&c, older, newer, values, n)
	*tried += m
	wrong := ""
	// A difference in meaning is a change with a name, and what means the same differs in words alone.
	meant := slices.ContainsFunc(c.found, func(change Change) bool { return change.kind != wordsChanged })
	same := display(withoutWords(older.schema)) == display(withoutWords(newer.schema))
	again := comparer{rows: ruleRows}
	again.attribute(older.attribute, newer.attribute)
	switch {
	case direction != "":
		wrong = direction + " is ok, and this is no value there: " + display(v)
	case meant == same:
		wrong = "the changes do not say whether the versions mean the same"
	case !reflect.DeepEqual(c.found, again.found):
		wrong = "the changes are others the second time"
	default:
		return ""
	}
	return fmt.Sprintf("%s\nolder %s\nnewer %s\nchanges %s", wrong, display(older.schema), display(newer.schema), display(c.found))
}

func TestWhatIsOKCanBeRead(t *testing.T) {
	t.Run("few pairs and many values", func(t *testing.T) {
		tried := 0
		for range effort(20) {
			rapid.Check(t, func(t *rapid.T) {
				older, newer, ok := drawPair(t, rapidChoices{t})
				if !ok {
					return // nothing that was drawn is in the profile
				}
				if wrong := unkept(older, newer, seeded(rapid.Uint64().Draw(t, "values")), 200, &tried); wrong != "" {
					t.Fatal(wrong)
				}
			})
		}
		t.Logf("%d values tried", tried)
		require.Greater(t, tried, 1000)
	})
	t.Run("many pairs and few values", func(t *testing.T) {
		c, tried := seeded(rand.Uint64()), 0
		for range effort(20) * 8000 {
			if older, newer, ok := drawPair(t, c); ok {
				require.Empty(t, unkept(older, newer, c, 12, &tried))
			}
		}
		t.Logf("%d values tried", tried)
		require.Greater(t, tried, 1000)
	})
}

// Every value that has the place at which a change breaks reading is a witness that it does.
func TestWhatBreaksHasAWitness(t *testing.T) {
	breaks, witnesses := 0, 0
	c := seeded(2)
	for range effort(6) * 3000 {
		older, newer, ok := drawPair(t, c)
		if !ok {
			continue
		}
		cmp := comparer{rows: ruleRows}
		cmp.attribute(older.attribute, newer.attribute)
		for _, change := range cmp.found {
			if change.Backward != VerdictBreak {
				continue
			}
			breaks++
			place := strings.Split(strings.TrimPrefix(change.Path, "attributes/1/schema/"), "/")
			found := false
			for range 200 {
				v, ok := older.value(c)
				if ok && hasPlace(older.schema, v, place[:len(place)-2]) {
					found = true
					require.Error(t, newer.judge.schema.Validate(v), "%s\nolder %s\nnewer %s", display(v), display(older.schema), display(newer.schema))
				}
			}
			if found {
				witnesses++
			} else {
				require.True(t, empty(older.schema), "no witness for %s\nolder %s\nnewer %s", change.Path, display(older.schema), display(newer.schema))
			}
		}
	}
	t.Logf("%d of %d breaks have a witness, and the others are where no value can be", witnesses, breaks)
	require.Positive(t, witnesses)
	require.Greater(t, witnesses*10, breaks*9)
}

// hasPlace reports whether a value has something at a place of its schema.
func hasPlace(s map[string]any, v any, place []string) bool {
	if len(place) == 0 || v == nil {
		return v != nil
	}
	switch place[0] {
	case "properties":
		object, _ := v.(map[string]any)
		name := unescape(place[1])
		part, ok := object[name]
		properties, _ := s["properties"].(map[string]any)
		return ok && hasPlace(asSchema(properties[name]), part, place[2:])
	case "items":
		list, _ := v.([]any)
		for _, item := range list {
			if hasPlace(asSchema(s["items"]), item, place[1:]) {
				return true
			}
		}
		return false
	default:
		branches, union := s["oneOf"].([]any)
		if !union {
			branches = []any{asBranch(s)}
		}
		object, _ := v.(map[string]any)
		constant := unescape(place[1])
		for _, by := range []string{"k", "m"} {
			if branch := byConstant(branches, by)[constant]; branch != nil && object[by] == constant {
				return hasPlace(branch, v, place[2:])
			}
		}
		return false
	}
}

func unescape(token string) string {
	return strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
}

// empty reports whether some schema of a version has no value as far as drawing can tell: a list that must be empty, or
// bounds, patterns and formats that exclude one another.
func empty(s map[string]any) bool {
	for _, at := range placesOf(s) {
		if base, _ := typeAndNull(at); base == "array" && countOf(at["maxItems"], 1) == 0 {
			return true
		}
		j, err := compile(at)
		if err != nil {
			return false
		}
		if base, _ := typeAndNull(at); base != "object" && base != "array" {
			c := seeded(3)
			if v := drawValid(c, at, j.schema); v == nil || j.schema.Validate(v) != nil {
				return true
			}
		}
	}
	return false
}

// The oracle has to see each mistake that a rule could make: a kind of change that is not ok one way must not be ok.
func TestEachWrongRuleIsCaught(t *testing.T) {
	type mistake struct {
		kind    changeKind
		forward bool
	}
	open := map[mistake]bool{}
	for kind, r := range ruleRows {
		if !r.values || otherThanSchemas[kind] {
			continue
		}
		if r.backward != VerdictOK {
			open[mistake{kind, false}] = true
		}
		if r.forward != VerdictOK {
			open[mistake{kind, true}] = true
		}
	}
	require.NotEmpty(t, open)
	c := seeded(4)
	for range 20000 {
		if len(open) == 0 {
			break
		}
		older, newer, ok := drawPair(t, c)
		if !ok {
			continue
		}
		right := comparer{rows: ruleRows}
		right.attribute(older.attribute, newer.attribute)
		for _, change := range right.found {
			for _, forward := range []bool{false, true} {
				m := mistake{change.kind, forward}
				if !open[m] {
					continue
				}
				wrong := comparer{rows: maps.Clone(ruleRows)}
				r := wrong.rows[change.kind]
				direction := "backward"
				if forward {
					r.forward, direction = VerdictOK, "forward"
				} else {
					r.backward = VerdictOK
				}
				wrong.rows[change.kind] = r
				if _, found, _ := counterexample(&wrong, older, newer, c, 50); found == direction {
					delete(open, m)
				}
			}
		}
	}
	for m := range open {
		assert.Fail(t, "a wrong rule passes", "%s kind %d forward %v", ruleRows[m.kind].rule, m.kind, m.forward)
	}
}
