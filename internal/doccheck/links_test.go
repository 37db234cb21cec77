package main

import (
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
)

func TestLinks(t *testing.T) {
	t.Parallel()
	module := fstest.MapFS{"README.md": {}, "store.go": {}, "docs/there.md": {}, "docs/guide/two words.md": {}, "docs/guide/page.md": {}}
	for _, c := range []struct {
		name, text string
		faults     []string
	}{
		{name: "a neighbour", text: "See [it](page.md) and [that](two%20words.md).\n"},
		{name: "up and to a part of a page", text: "[a](../there.md#part \"title\") ![b](<../../store.go>) [c](../)\n"},
		{name: "other sites, mail and the page itself", text: "[a](https://example.com/gone.md) [b](mailto:a@example.com) [c](#part) [d](//example.com/x)\n"},
		{name: "a missing file", text: "\n[a](page.md) and [b](gone.md)\n", faults: []string{"docs/guide/page.md:2: the link to gone.md leads to no file"}},
		{name: "two on one line", text: "[a](gone.md)[b](../gone.md#x)\n", faults: []string{
			"docs/guide/page.md:1: the link to gone.md leads to no file", "docs/guide/page.md:1: the link to ../gone.md#x leads to no file",
		}},
		{name: "text over two lines", text: "[a\nb](gone.md)\n", faults: []string{"docs/guide/page.md:2: the link to gone.md leads to no file"}},
		{name: "a definition", text: "[a]: gone.md\n", faults: []string{"docs/guide/page.md:1: the link to gone.md leads to no file"}},
		{name: "markup", text: "<img src=\"gone.svg\">\n", faults: []string{"docs/guide/page.md:1: the link to gone.svg leads to no file"}},
		{name: "out of the module", text: "[a](../../../x)\n", faults: []string{"docs/guide/page.md:1: the link to ../../../x leads out of the module"}},
		{name: "from the top", text: "[a](/store.go)\n", faults: []string{"docs/guide/page.md:1: the link to /store.go is not relative"}},
		{name: "no URL", text: "[a](%zz)\n", faults: []string{"docs/guide/page.md:1: the link to %zz is not a URL"}},
		{name: "code", text: "`[a](gone.md)` is how\n```go\nx[i](gone.md)\n```\n~~~\n[a](gone.md)\n~~~\n"},
		{name: "after code", text: "```\nx\n```\n[a](gone.md)\n", faults: []string{"docs/guide/page.md:4: the link to gone.md leads to no file"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, prose, fault := split("docs/guide/page.md", c.text)
			assert.Empty(t, fault)
			assert.Equal(t, c.faults, brokenLinks(module, "docs/guide/page.md", prose))
		})
	}
}
