package schema

import (
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sgam-ledger/sgam"
)

// eachLens runs a law over drawn lenses, each with values of both versions.
func eachLens(t *testing.T, law func(t *rapid.T, l *drawnLens)) {
	t.Helper()
	const values = 100
	rapid.Check(t, func(t *rapid.T) {
		d := &lensDraw{t: t}
		l, _ := d.lens(d.root(3), 1, values)
		law(t, &l)
	})
}

func TestLawEveryValueGoesUp(t *testing.T) {
	values := 0
	eachLens(t, func(t *rapid.T, l *drawnLens) {
		for _, v := range l.older {
			_, err := l.step.Up(sgam.Converted{Value: []byte(v)})
			require.NoError(t, err, "%s of %s", v, l)
			values++
		}
	})
	t.Logf("%d values", values)
}

// roundTrip reports whether the way there and back with what was left out on the way ends where it began. Where nothing
// was left out it is the way back that a reader has, too. The error is that of the way there.
func roundTrip(there, back func(*trip, *datum) (*datum, error), value string) (bool, error) {
	out, err := run(there, value, nil)
	if err != nil {
		return false, err
	}
	again, err := run(back, out.value, out.lost)
	return err == nil && again.value == value, nil
}

func TestLawTheWayBackFindsTheValue(t *testing.T) {
	values, lossy := 0, 0
	eachLens(t, func(t *rapid.T, l *drawnLens) {
		for _, v := range l.older {
			found, err := roundTrip(l.ops.up, l.ops.down, v)
			require.NoError(t, err)
			require.True(t, found, "%s of %s", v, l)
			values++
			if up, err := l.step.Up(sgam.Converted{Value: []byte(v)}); err == nil && up.Lossy {
				lossy++
			}
		}
	})
	t.Logf("%d values, %d lossy", values, lossy)
	assert.Positive(t, lossy)
	assert.Less(t, lossy, values)
}

func TestLawTheWayUpFindsTheNewerValue(t *testing.T) {
	values, outside := 0, 0
	eachLens(t, func(t *rapid.T, l *drawnLens) {
		for _, w := range l.newer {
			found, err := roundTrip(l.ops.down, l.ops.up, w)
			if err != nil {
				outside++
				_, ok := errors.AsType[*sgam.FieldError](err)
				require.True(t, ok, "%v", err)
				continue
			}
			require.True(t, found, "%s of %s", w, l)
			values++
		}
	})
	t.Logf("%d values, %d outside the domain", values, outside)
	assert.Greater(t, values, outside)
}

func TestLawAStepIsAsHonestAsItsOperations(t *testing.T) {
	eachLens(t, func(t *rapid.T, l *drawnLens) {
		for _, side := range []struct {
			there, back func(sgam.Converted) (sgam.Converted, error)
			values      []string
		}{{l.step.Up, l.step.Down, l.older}, {l.step.Down, l.step.Up, l.newer}} {
			for _, v := range side.values {
				out, err := side.there(sgam.Converted{Value: []byte(v)})
				if err != nil || out.Lossy || len(out.Defaulted) > 0 {
					continue
				}
				again, err := side.back(sgam.Converted{Value: out.Value})
				require.NoError(t, err, "%s of %s", v, l)
				require.Equal(t, v, string(again.Value), "%s", l)
			}
		}
	})
}

func TestLawTwoStepsAreTheirOperationsOneAfterAnother(t *testing.T) {
	values := 0
	rapid.Check(t, func(t *rapid.T) {
		d := &lensDraw{t: t}
		first, middle := d.lens(d.root(2), 1, 25)
		second, _ := d.lens(middle, 2, 25)
		all := append(slices.Clone(first.ops), second.ops...)
		for _, v := range first.older {
			one, err := first.step.Up(sgam.Converted{Value: []byte(v)})
			require.NoError(t, err)
			two, err := second.step.Up(one)
			require.NoError(t, err)
			at, err := run(all.up, v, nil)
			require.NoError(t, err)
			require.Equal(t, string(two.Value), at.value)
			require.Equal(t, at.defaulted, two.Defaulted, "what the first step filled in stays filled in: %s: %s, %s", v, &first, &second)
			require.Equal(t, one.Lossy || two.Lossy, len(at.lost) > 0, "%s: %s, %s", v, &first, &second)
			found, err := roundTrip(all.up, all.down, v)
			require.NoError(t, err)
			require.True(t, found)
			values++
		}
		for _, w := range second.newer {
			one, err := run(second.ops.down, w, nil)
			if err != nil {
				continue
			}
			two, err := run(first.ops.down, one.value, nil)
			at, errAt := run(all.down, w, nil)
			require.Equal(t, err == nil, errAt == nil)
			require.Equal(t, two.value, at.value)
		}
	})
	t.Logf("%d values", values)
}

func TestLawALensMakesTheNextSchema(t *testing.T) {
	eachLens(t, func(t *rapid.T, l *drawnLens) {
		older, newer := l.both.older.tagged(1), l.both.newer.tagged(1)
		var f faults
		m := matcher{faults: &f, version: 2}
		made := m.match(l.ops.reshape(&f, older.schema), newer.schema, "schema")
		require.Empty(t, f.found)
		got, err := canonical(made)
		require.NoError(t, err)
		want, err := canonical(newer.schema)
		require.NoError(t, err)
		require.Equal(t, string(want), string(got), "%s", l)
	})
}

// otherEvidence is the same operations with other defaults and fallbacks.
func otherEvidence(list ops) ops {
	const other = "other evidence"
	changed := func(l literal) literal {
		if l.set {
			l.value = other
		}
		return l
	}
	out := make(ops, len(list))
	for i, o := range list {
		switch o := o.(type) {
		case *addProp:
			twin := *o
			twin.def = changed(twin.def)
			out[i] = &twin
		case *dropProp:
			twin := *o
			twin.def = changed(twin.def)
			out[i] = &twin
		case *mapEnum:
			twin := *o
			twin.upFallback, twin.downFallback = changed(twin.upFallback), changed(twin.downFallback)
			out[i] = &twin
		case *inPath:
			twin := *o
			twin.ops = otherEvidence(twin.ops)
			out[i] = &twin
		case *each:
			twin := *o
			twin.ops = otherEvidence(twin.ops)
			out[i] = &twin
		default:
			out[i] = o
		}
	}
	return out
}

// leaves are the parts of a value, by pointer; what is filled in counts as one part.
func leaves(d *datum, pointer string, out map[string]string) {
	switch {
	case !d.filled && d.members != nil:
		out[pointer] = "{}"
		for name, part := range d.members {
			leaves(part, pointer+"/"+join("", name), out)
		}
	case !d.filled && d.isArray:
		out[pointer] = "[]"
		for _, item := range d.items {
			leaves(item, pointer+"/0", out)
		}
	case d.filled:
		out[pointer] = "filled"
	default:
		raw, _ := canonical(d.scalar)
		out[pointer] = string(raw)
	}
}

// invented says whether something of the result comes from what the lens says and is not marked as filled in: with other
// defaults, all else is the same.
func invented(there, twin func(*trip, *datum) (*datum, error), value string) bool {
	convert := func(way func(*trip, *datum) (*datum, error)) map[string]string {
		v, err := decodeDatum([]byte(value))
		if err != nil {
			return nil
		}
		w, err := way(&trip{lost: complement{}}, v)
		if err != nil {
			return nil
		}
		out := map[string]string{}
		leaves(w, "", out)
		return out
	}
	a, b := convert(there), convert(twin)
	return a != nil && b != nil && !assert.ObjectsAreEqual(a, b)
}

func TestLawNoInventedEvidence(t *testing.T) {
	filled := 0
	eachLens(t, func(t *rapid.T, l *drawnLens) {
		twin := otherEvidence(l.ops)
		for _, v := range l.older {
			require.False(t, invented(l.ops.up, twin.up, v), "%s of %s", v, l)
			if out, err := run(l.ops.up, v, nil); err == nil && len(out.defaulted) > 0 {
				filled++
				other, err := run(twin.up, v, nil)
				if err == nil { // text is in no domain of an operation on what was filled in
					require.Equal(t, out.defaulted, other.defaulted)
					require.NotEqual(t, out.value, other.value)
				}
			}
		}
		for _, w := range l.newer {
			require.False(t, invented(l.ops.down, twin.down, w), "%s of %s", w, l)
		}
	})
	t.Logf("%d values with something filled in", filled)
	assert.Positive(t, filled)
}

const conversionsOnly = "SGAM_TEST_CONVERSIONS"

// conversions is what a fixed lens makes of fixed values, and its documents.
func conversions(t *testing.T) string {
	t.Helper()
	gen := rapid.Custom(func(t *rapid.T) []string {
		d := &lensDraw{t: t}
		l, _ := d.lens(d.object(3), 1, 20)
		out := []string{l.doc.Hash, string(l.doc.JSON)}
		for _, v := range l.older {
			up, err := l.step.Up(sgam.Converted{Value: []byte(v)})
			require.NoError(t, err)
			out = append(out, string(up.Value), strings.Join(up.Defaulted, " "))
			if down, err := l.step.Down(sgam.Converted{Value: up.Value}); err != nil {
				out = append(out, err.Error())
			} else {
				out = append(out, string(down.Value), strings.Join(down.Defaulted, " "))
			}
		}
		return out
	})
	var out []string
	for seed := range 20 {
		out = append(out, gen.Example(seed)...)
	}
	return strings.Join(out, "\n")
}

func TestLawTheSameBytesInEveryProcess(t *testing.T) {
	if os.Getenv(conversionsOnly) != "" {
		require.NoError(t, os.WriteFile(os.Getenv(conversionsOnly), []byte(conversions(t)), 0o600))
		return
	}
	want := conversions(t)
	require.Equal(t, want, conversions(t), "again in the same process")
	program, err := os.Executable()
	require.NoError(t, err)
	for _, env := range [][]string{{"TZ=Asia/Kathmandu", "LC_ALL=tr_TR.UTF-8"}, {"TZ=UTC", "LC_ALL=C", "LANG=C"}} {
		file := t.TempDir() + "/conversions"
		cmd := exec.CommandContext(t.Context(), program, "-test.run=^TestLawTheSameBytesInEveryProcess$")
		cmd.Env = append(append(os.Environ(), env...), conversionsOnly+"="+file)
		output, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", output)
		got, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Equal(t, want, string(got), "%v", env)
	}
}
