package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sgam-ledger/sgam"
)

var update = flag.Bool("update", false, "write the outputs of the transcripts anew")

// Transcripts are Markdown pages that run in one folder:
//
//	<!-- file NAME -->   makes the block that follows a file, which is there before the first command
//	```console           holds "$ sgam …" lines, each with everything that it prints, standard error after standard output
//	<!-- clock TIME -->  sets the clock
//
// A command has to exit with 0 unless its line ends in "; echo $?". "< NAME" gives it a file as standard input.
func TestTranscriptsShowWhatIsPrinted(t *testing.T) {
	pages, err := filepath.Glob(filepath.Join(packageDir, "testdata", "*.md"))
	require.NoError(t, err)
	require.NotEmpty(t, pages)
	guide := filepath.Join(packageDir, "..", "..", "docs", "guide")
	for _, page := range append(pages, filepath.Join(guide, "command-line.md"), filepath.Join(guide, "replay.md")) {
		t.Run(strings.TrimSuffix(filepath.Base(page), ".md"), func(t *testing.T) { playPage(t, page) })
	}
}

var (
	clockLine = regexp.MustCompile(`^<!-- clock (\S+) -->$`)
	fileLine  = regexp.MustCompile(`^<!-- file (\S+) -->$`)
	fenceLine = regexp.MustCompile("^```(\\S+)$")
)

func playPage(t *testing.T, page string) {
	t.Helper()
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	b := newBench(t)
	blocks := blocksOf(t, string(text))
	for _, block := range blocks {
		if block.file != "" {
			b.file(block.file, strings.Join(block.body, ""))
		}
	}
	var out strings.Builder
	commands := 0
	for _, block := range blocks {
		if block.clock != nil {
			b.clock.Set(*block.clock)
		}
		out.WriteString(block.head)
		for _, line := range block.body {
			command, ok := strings.CutPrefix(line, "$ ")
			if ok && block.console {
				commands++
				out.WriteString(line + b.play(strings.TrimSpace(command)))
			} else if !block.console {
				out.WriteString(line)
			}
		}
	}
	require.NotZero(t, commands, "no command in %s", page)
	if *update {
		require.NoError(t, os.WriteFile(page, []byte(out.String()), 0o644))
		return
	}
	want, got := strings.Split(string(text), "\n"), strings.Split(out.String(), "\n")
	for i := range max(len(want), len(got)) {
		if i >= len(want) || i >= len(got) || want[i] != got[i] {
			t.Fatalf("%s:%d differs; go test ./cmd/sgam -run Transcripts -update writes it anew\nwant %s\ngot  %s", page, i+1,
				strings.Join(want[min(i, len(want)):min(i+3, len(want))], "\n     "), strings.Join(got[min(i, len(got)):min(i+3, len(got))], "\n     "))
		}
	}
}

// block is a line of a page, or the inside of a fence with the line that opens it.
type block struct {
	head    string
	body    []string
	console bool
	file    string
	clock   *time.Time
}

func blocksOf(t *testing.T, page string) (blocks []block) {
	t.Helper()
	lines := strings.SplitAfter(page, "\n")
	for i := 0; i < len(lines); i++ {
		one := block{head: lines[i]}
		line := strings.TrimRight(lines[i], "\n")
		if m := clockLine.FindStringSubmatch(line); m != nil {
			at, err := sgam.ParseTime(m[1], nil)
			require.NoError(t, err)
			one.clock = &at
		}
		if m := fenceLine.FindStringSubmatch(line); m != nil {
			one.console = m[1] == "console"
			if i > 0 {
				if named := fileLine.FindStringSubmatch(strings.TrimRight(lines[i-1], "\n")); named != nil {
					one.file = named[1]
				}
			}
			for i++; lines[i] != "```\n"; i++ {
				one.body = append(one.body, lines[i])
			}
			i-- // the closing fence is a line of its own
		}
		blocks = append(blocks, one)
	}
	return blocks
}

// play runs one line of a transcript and returns what it prints.
func (b *bench) play(line string) string {
	b.t.Helper()
	line, showCode := strings.CutSuffix(line, "; echo $?")
	words := shellWords(b.t, line)
	require.Equal(b.t, "sgam", words[0], line)
	stdin := ""
	for i, w := range words {
		if w == "<" {
			content, err := os.ReadFile(words[i+1])
			require.NoError(b.t, err)
			stdin, words = string(content), words[:i]
			break
		}
	}
	r := b.run(stdin, words[1:]...)
	said := r.out + r.err
	if showCode {
		return said + fmt.Sprintln(r.code)
	}
	require.Zero(b.t, r.code, "%s\n%s", line, said)
	return said
}

// shellWords splits a line the way a shell does, as far as quotes go.
func shellWords(t *testing.T, line string) []string {
	t.Helper()
	var words []string
	var word strings.Builder
	quote, open := rune(0), false
	for _, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '\'' || r == '"'):
			quote, open = r, true
		case quote == 0 && r == ' ':
			if open {
				words = append(words, word.String())
				word.Reset()
				open = false
			}
		default:
			word.WriteRune(r)
			open = true
		}
	}
	require.Zero(t, quote, "an open quote in %q", line)
	if open {
		words = append(words, word.String())
	}
	return words
}
