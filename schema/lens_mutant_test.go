package schema

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// mutant is an operation with one direction replaced.
type mutant struct {
	op
	wrongUp, wrongDown func(*trip, *datum) (*datum, error)
}

func (m *mutant) up(t *trip, v *datum) (*datum, error) {
	if m.wrongUp != nil {
		return m.wrongUp(t, v)
	}
	return m.op.up(t, v)
}

func (m *mutant) down(t *trip, w *datum) (*datum, error) {
	if m.wrongDown != nil {
		return m.wrongDown(t, w)
	}
	return m.op.down(t, w)
}

// brokenLaws are the laws that an operation breaks on some values of the older version. The twin has other defaults.
func brokenLaws(o, twin op, values []string) map[string]bool {
	broken := map[string]bool{}
	for _, v := range values {
		if found, err := roundTrip(o.up, o.down, v); err == nil && !found {
			broken["the way back"] = true
		}
		if invented(o.up, twin.up, v) {
			broken["no invented evidence"] = true
		}
	}
	return broken
}

func TestTheLawsCatchAWrongOperation(t *testing.T) {
	number := func(change func(float64) float64) func(*trip, *datum) (*datum, error) {
		return func(_ *trip, d *datum) (*datum, error) {
			v, ok := d.scalar.(float64)
			require.True(t, ok)
			return d.with(change(v)), nil
		}
	}
	forgetful := func(right op) func(*trip, *datum) (*datum, error) {
		return func(t *trip, d *datum) (*datum, error) { return right.up(&trip{kept: t.kept, lost: complement{}}, d) }
	}
	for _, c := range []struct {
		why, op string
		values  []string
		wrong   func(right op) *mutant
		law     string
	}{
		{"rename_prop that does not rename back", `{"op":"rename_prop","from":"a","to":"b"}`, []string{`{"a":1}`},
			func(right op) *mutant {
				return &mutant{op: right, wrongDown: func(_ *trip, w *datum) (*datum, error) { return w, nil }}
			}, "the way back"},
		{"drop that is silent about the loss", `{"op":"drop","prop":"a"}`, []string{`{}`, `{"a":1}`},
			func(right op) *mutant { return &mutant{op: right, wrongUp: forgetful(right)} }, "the way back"},
		{"drop that puts the default in the place of what was there", `{"op":"drop","prop":"a","default":0}`, []string{`{"a":0}`, `{"a":1}`},
			func(right op) *mutant {
				return &mutant{op: right, wrongDown: func(t *trip, w *datum) (*datum, error) { return right.down(&trip{lost: t.lost}, w) }}
			}, "the way back"},
		{"add that passes the default off as said", `{"op":"add","prop":"a","default":0}`, []string{`{}`},
			func(right op) *mutant {
				return &mutant{op: right, wrongUp: func(t *trip, v *datum) (*datum, error) {
					w, err := right.up(t, v)
					if err == nil {
						w = newDatum(w.plain("", new([]string)), "")
					}
					return w, err
				}}
			}, "no invented evidence"},
		{"map_enum that is silent about a fallback", `{"op":"map_enum","pairs":[["a","b"]],"up_fallback":"b"}`, []string{`"a"`, `"z"`},
			func(right op) *mutant { return &mutant{op: right, wrongUp: forgetful(right)} }, "the way back"},
		{"cast that takes every spelling", `{"op":"cast","from":"string","to":"integer"}`, []string{`"7"`, `"007"`},
			func(right op) *mutant {
				return &mutant{op: right, wrongUp: func(_ *trip, v *datum) (*datum, error) {
					n, err := strconv.Atoi(fmt.Sprint(v.scalar))
					return v.with(float64(n)), err
				}}
			}, "the way back"},
		{"cast that rounds", `{"op":"cast","from":"number","to":"integer"}`, []string{`7`, `7.5`},
			func(right op) *mutant {
				return &mutant{op: right, wrongUp: number(math.Trunc)}
			}, "the way back"},
		{"affine by doubles", `{"op":"affine","a":"3","b":"0"}`, []string{`0.1`},
			func(right op) *mutant {
				return &mutant{op: right, wrongUp: number(func(v float64) float64 { return v * 3 })}
			}, "the way back"},
		{"nest that writes over a property", `{"op":"nest","props":["a"],"into":"in"}`, []string{`{"a":1}`, `{"a":1,"in":2}`},
			func(right op) *mutant {
				return &mutant{op: right, wrongUp: func(_ *trip, v *datum) (*datum, error) {
					return newDatum(tree{"in": tree{"a": v.members["a"].scalar}}, ""), nil
				}}
			}, "the way back"},
		{"split that leaves the rest in the last part", `{"op":"split","prop":"n","into":["a","b"],"separator":" "}`, []string{`{"n":"x y"}`, `{"n":"x y z"}`},
			func(right op) *mutant {
				return &mutant{op: right, wrongUp: func(_ *trip, v *datum) (*datum, error) {
					parts := strings.SplitN(fmt.Sprint(v.members["n"].scalar), " ", 2)
					return newDatum(tree{"a": parts[0], "b": parts[1]}, ""), nil
				}}
			}, "the way back"},
		{"each that takes all items for one", `{"op":"each","ops":[{"op":"drop","prop":"a"}]}`, []string{`[{"a":1}]`, `[{"a":1},{"a":2}]`},
			func(right op) *mutant {
				around, ok := right.(*each)
				require.True(t, ok)
				inner := around.ops
				all := func(way func(*trip, *datum) (*datum, error)) func(*trip, *datum) (*datum, error) {
					return func(t *trip, d *datum) (*datum, error) {
						out := &datum{isArray: true}
						for _, item := range d.items {
							item, err := way(t, item)
							if err != nil {
								return nil, err
							}
							out.items = append(out.items, item)
						}
						return out, nil
					}
				}
				return &mutant{op: right, wrongUp: all(inner.up), wrongDown: all(inner.down)}
			}, "the way back"},
	} {
		t.Run(c.why, func(t *testing.T) {
			right := opsOf(t, "["+c.op+"]")
			twin := otherEvidence(right)
			assert.Empty(t, brokenLaws(right[0], twin[0], c.values), "the right one breaks none")
			wrong, wrongTwin := c.wrong(right[0]), c.wrong(twin[0])
			assert.Contains(t, brokenLaws(wrong, wrongTwin, c.values), c.law)
		})
	}
}
