package schema_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sgam-ledger/sgam/schema"
)

// hashes are the two digests of a canonical document as another program makes them: over the document, and over the document
// without its words.
const hashes = `
const sorted = v => Array.isArray(v) ? v.map(sorted) : v && typeof v === "object"
	? Object.fromEntries(Object.keys(v).sort().map(k => [k, sorted(v[k])])) : v;
const schema = s => {
	const out = {...s};
	for (const word of ["title", "description", "examples"]) delete out[word];
	if (out.properties) out.properties = Object.fromEntries(Object.entries(out.properties).map(([k, v]) => [k, schema(v)]));
	if (out.items) out.items = schema(out.items);
	if (out.oneOf) out.oneOf = out.oneOf.map(schema);
	return out;
};
const plain = d => {
	const {title, description, ...rest} = d;
	return {...rest, attributes: d.attributes.map(a => { const {title, description, ...r} = a; return {...r, schema: schema(a.schema)}; })};
};
const sha = v => require("crypto").createHash("sha256").update(JSON.stringify(sorted(v))).digest("hex");
const lines = require("fs").readFileSync(0, "utf8").split("\n").filter(l => l !== "");
process.stdout.write(lines.map(l => { const d = JSON.parse(l); return sha(d) + " " + sha(plain(d)); }).join("\n"));
`

func TestNodeMakesTheSameHashes(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node not found: cross-check not run")
	}
	files, err := filepath.Glob("testdata/golden/*.in.json")
	require.NoError(t, err)
	require.Greater(t, len(files), 3)
	var lines, want []string
	words := 0
	for _, name := range files {
		raw, err := os.ReadFile(name)
		require.NoError(t, err)
		doc, err := schema.ParseDocument(raw)
		require.NoError(t, err, name)
		lines, want = append(lines, string(doc.JSON)), append(want, doc.Hash+" "+doc.Semantic)
		if doc.Hash != doc.Semantic {
			words++
		}
	}
	require.Positive(t, words, "some document has words, which one digest leaves out")
	command := exec.CommandContext(t.Context(), node, "-e", hashes)
	command.Stdin = strings.NewReader(strings.Join(lines, "\n"))
	var complaint bytes.Buffer
	command.Stderr = &complaint
	output, err := command.Output()
	require.NoError(t, err, "%s", complaint.String())
	require.Equal(t, want, strings.Split(string(output), "\n"))
}
