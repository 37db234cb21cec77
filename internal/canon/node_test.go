package canon_test

import (
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sgam-ledger/sgam/internal/canon"
)

// readLines is the part that both programs share: one line in, one line out.
const readLines = `require("fs").readFileSync(0, "utf8").split("\n").filter(l => l !== "").map(answer).join("\n")`

// askNode runs a JavaScript function named answer over lines and returns what it
// says to each. ECMAScript defines the form that RFC 8785 prescribes, so an engine
// of it is an independent judge.
func askNode(t *testing.T, answer string, lines []string) []string {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node not found: cross-check not run")
	}
	command := exec.CommandContext(t.Context(), node, "-e", "const answer = "+answer+"; process.stdout.write("+readLines+")")
	command.Stdin = strings.NewReader(strings.Join(lines, "\n"))
	var complaint bytes.Buffer
	command.Stderr = &complaint
	output, err := command.Output()
	require.NoError(t, err, "%s", complaint.String())
	answers := strings.Split(string(output), "\n")
	require.Len(t, answers, len(lines))
	return answers
}

func TestNodePrintsTheSameNumbers(t *testing.T) {
	source := rand.New(rand.NewPCG(8785, 1))
	var doubles []float64
	for range 5000 {
		if f := math.Float64frombits(source.Uint64()); !math.IsNaN(f) && !math.IsInf(f, 0) {
			doubles = append(doubles, f)
		}
		doubles = append(doubles,
			math.Ldexp(source.Float64(), source.IntN(160)-80),   // around the changes of layout
			float64(source.Int64())*float64(source.IntN(2)*2-1), // integers beyond 2^53
			float64(source.IntN(1_000_000))/100,                 // prices
			math.Float64frombits(source.Uint64()>>12),           // subnormals
		)
	}
	for e := range 2098 { // every power of two, and its neighbours
		f := math.Ldexp(1, e-1074)
		doubles = append(doubles, f, -math.Nextafter(f, 0), math.Nextafter(f, math.MaxFloat64))
	}
	for e := -323; e <= 308; e++ { // every power of ten
		f, err := strconv.ParseFloat("1e"+strconv.Itoa(e), 64)
		require.NoError(t, err)
		doubles = append(doubles, f, -math.Nextafter(f, 0), math.Nextafter(f, math.MaxFloat64))
	}

	bits := make([]string, len(doubles))
	for i, f := range doubles {
		bits[i] = strconv.FormatUint(math.Float64bits(f), 16)
	}
	// The double itself is handed over, so that no parser of decimals is trusted.
	printed := askNode(t, `l => { const b = Buffer.alloc(8); b.writeBigUInt64BE(BigInt("0x" + l)); return JSON.stringify(b.readDoubleBE(0)) }`, bits)
	for i, f := range doubles {
		for _, layout := range []byte("ef") {
			sent := strconv.FormatFloat(f, layout, -1, 64)
			got, err := canon.Canonical([]byte(sent))
			require.NoError(t, err, sent)
			require.Equal(t, printed[i], string(got), sent)
		}
		got, err := canon.Canonical([]byte(printed[i]))
		require.NoError(t, err, printed[i])
		require.Equal(t, printed[i], string(got))
	}
}

func TestNodePrintsTheSameDocuments(t *testing.T) {
	document := rapid.Custom(func(t *rapid.T) string {
		value := drawValue(t, 3)
		if rapid.Bool().Draw(t, "text alone") {
			value = drawText(t, "text")
		}
		return strings.NewReplacer("\n", " ", "\r", " ").Replace(spell(t, value)) // both are white space here
	})
	documents := make([]string, 4000)
	for i := range documents {
		documents[i] = document.Example(i)
	}
	const canonicalise = `l => {
	  const write = v => v === null || typeof v !== "object" ? JSON.stringify(v)
	    : Array.isArray(v) ? "[" + v.map(write).join(",") + "]"
	    : "{" + Object.keys(v).sort().map(k => JSON.stringify(k) + ":" + write(v[k])).join(",") + "}";
	  return write(JSON.parse(l));
	}`
	printed := askNode(t, canonicalise, documents)
	for i, sent := range documents {
		got, err := canon.Canonical([]byte(sent))
		require.NoError(t, err, "%q", sent)
		require.Equal(t, printed[i], string(got), "%q", sent)
	}
}

// What is refused for its bytes is what ECMAScript cannot print back either, or
// prints as something that is not a character.
func TestNodeShowsHalvesOfSurrogatePairsThatAreRefusedHere(t *testing.T) {
	halves := []string{`"\ud800"`, `"\udfff"`, `"\ude02\ud83d"`, `"x\ud83dx"`}
	for i, wellFormed := range askNode(t, `l => JSON.stringify(JSON.parse(l).isWellFormed())`, halves) {
		assert.Equal(t, "false", wellFormed)
		assert.Equal(t, "surrogate", refusal(t, halves[i]).Rule)
	}
	pairs := []string{`"\ud83d\ude02"`, `"\udbff\udfff"`}
	for i, wellFormed := range askNode(t, `l => JSON.stringify(JSON.parse(l).isWellFormed())`, pairs) {
		assert.Equal(t, "true", wellFormed)
		assert.True(t, json.Valid([]byte(canonical(t, pairs[i]))))
	}
}
