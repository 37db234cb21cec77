package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestBlocks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		text  string
		want  []block
		fault string
	}{
		{name: "a document without fences", text: "# Title\n\ngo is a word.\n"},
		{name: "other languages", text: "```sh\n./demo\n```\n\n```\nplain\n```\n\n```golang\nx\n```\n"},
		{
			name: "two blocks with their lines",
			text: "```go\na()\nb()\n```\ntext\n```go\nc()\n```\n",
			want: []block{{"d.md", 2, "a()\nb()\n"}, {"d.md", 7, "c()\n"}},
		},
		{
			name: "more in the info string",
			text: "```go title=\"x\"\na()\n```\n",
			want: []block{{"d.md", 2, "a()\n"}},
		},
		{
			name: "indented in a list",
			text: "* item\n\n  ```go\n  if x {\n  \ty()\n  }\n  ```\n",
			want: []block{{"d.md", 4, "if x {\n\ty()\n}\n"}},
		},
		{
			name: "a longer fence holds a shorter one",
			text: "````md\n```go\nnot code\n```\n````\n~~~go\na()\n```\n~~~\n",
			want: []block{{"d.md", 7, "a()\n```\n"}},
		},
		{
			name: "carriage returns",
			text: "```go\r\na()\r\n```\r\n",
			want: []block{{"d.md", 2, "a()\r\n"}},
		},
		{
			name: "an empty block is still a block",
			text: "```go\n```\n",
			want: []block{{"d.md", 2, ""}},
		},
		{
			name:  "a fence that is never closed",
			text:  "text\n```go\na()\n",
			fault: "d.md:2: this fence is never closed",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			blocks, _, fault := split("d.md", c.text)
			assert.Equal(t, c.want, blocks)
			assert.Equal(t, c.fault, fault)
		})
	}
}

func TestProgramsAreToldFromExcerpts(t *testing.T) {
	t.Parallel()
	for code, program := range map[string]bool{
		"package main\n":                          true,
		"// Command x does y.\npackage main\n":    true,
		"\n\npackage x_test\n":                    true,
		"x := 1\n":                                false,
		"// the package main of it\nx := 1\n":     false,
		"packages := 2\n":                         false,
		"x := `\npackage main`\n":                 false,
		"":                                        false,
		"func f() {}\n\npackage main\n":           false,
		"//go:build linux\n\npackage main\n":      true,
		"// one\n// two\n\n// three\npackage p\n": true,
	} {
		assert.Equal(t, program, block{code: code}.isProgram(), code)
	}
}

func TestExcerptsIgnoreWhiteSpaceAlone(t *testing.T) {
	t.Parallel()
	tests := testText{normal("func Example() {\n\tl, err := Open(ctx)\n\tif err != nil {\n\t\treturn\n\t}\n}\n")}
	assert.True(t, tests.contain("l, err := Open(ctx)\nif err != nil {\n  return\n}\n"))
	assert.False(t, tests.contain("l, err := Open(ctx, nil)\n"), "other arguments")
	assert.False(t, tests.contain(", err := Open(ctx)\n"), "begins inside of a word")
	assert.False(t, testText{}.contain("l, err := Open(ctx)\n"), "no tests")
	assert.False(t, tests.contain(strings.ToUpper("return\n")), "other case")
}
