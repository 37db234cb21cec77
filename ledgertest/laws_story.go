package ledgertest

import (
	"embed"
	"path"
	"strings"
)

//go:embed testdata/*.scenario
var storyFiles embed.FS

// stories are the laws that are told as scenarios: the first lines of each file say why it is there.
func stories() []law {
	entries, err := storyFiles.ReadDir("testdata")
	if err != nil {
		panic(err) // the files are part of the program
	}
	var out []law
	for _, e := range entries {
		text, err := storyFiles.ReadFile(path.Join("testdata", e.Name()))
		if err != nil {
			panic(err)
		}
		out = append(out, law{"story-" + strings.TrimSuffix(e.Name(), ".scenario"), preface(string(text)), func(b *bench) {
			s, err := ParseScenario(e.Name(), strings.NewReader(string(text)))
			b.ok(err)
			b.clock = NewClock(start)
			opts := s.Options(b.clock)
			opts.Rand = IDs(1)
			failures, err := s.Run(b.Context(), b.open(b.fresh(b.TB), opts), b.clock)
			for _, f := range failures {
				b.Errorf("%s: %s", e.Name(), f)
			}
			b.ok(err)
		}})
	}
	return out
}

// preface is the comment at the head of a scenario.
func preface(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		comment, ok := strings.CutPrefix(line, "#")
		if !ok {
			break
		}
		lines = append(lines, strings.TrimSpace(comment))
	}
	return strings.Join(lines, " ")
}
