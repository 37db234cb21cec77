package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// stream writes events in short: a word for the action, then the test, then what was printed.
func stream(lines ...string) string {
	var b strings.Builder
	for _, line := range lines {
		action, rest, _ := strings.Cut(line, " ")
		test, output, printed := strings.Cut(rest, "|")
		b.WriteString(`{"Action":"` + action + `","Package":"example.com/p"`)
		if test != "" {
			b.WriteString(`,"Test":"` + test + `"`)
		}
		if printed {
			b.WriteString(`,"Output":"` + output + `\n"`)
		}
		b.WriteString("}\n")
	}
	return b.String()
}

func TestOutcomes(t *testing.T) {
	t.Parallel()
	pass := []string{"run TestGood", "output TestGood|=== RUN   TestGood", "output TestGood|chatter", "pass TestGood"}
	fail := []string{"run TestBad", "output TestBad|=== RUN   TestBad", "output TestBad|    p_test.go:4: two is not three", "fail TestBad"}
	skip := []string{"run TestFar", "output TestFar|    p_test.go:3: noise", "output TestFar|    p_test.go:4: needs ptrace", "output TestFar|--- SKIP: TestFar (0.00s)", "skip TestFar"}

	for _, c := range []struct {
		name    string
		args    []string
		in      string
		code    int
		prints  []string
		without []string
	}{
		{
			name: "what passes is one line a package",
			in:   stream(append(pass, "pass ")...), code: 0,
			prints:  []string{"ok    example.com/p", "1 passed, 0 failed, 0 skipped\n"},
			without: []string{"chatter", "skipped:"},
		},
		{
			name: "a failing test shows what it printed, its neighbour does not",
			in:   stream(append(append(pass, fail...), "fail ")...), code: 1,
			prints:  []string{"two is not three", "FAIL  example.com/p", "1 passed, 1 failed, 0 skipped\n"},
			without: []string{"=== RUN", "chatter"},
		},
		{
			name: "a skip is listed with its last words and does no harm",
			in:   stream(append(append(pass, skip...), "pass ")...), code: 0,
			prints:  []string{"skipped:\n  example.com/p TestFar: needs ptrace\n", "1 passed, 0 failed, 1 skipped\n"},
			without: []string{"noise"},
		},
		{
			name: "many skips of one reason are one line",
			in: stream(append(pass, "run A", "output A|x_test.go:1: no server", "skip A", "run B", "output B|x_test.go:1: no server", "skip B",
				"run C", "output C|x_test.go:1: no server", "skip C", "run D", "output D|x_test.go:2: no server", "skip D",
				"run E", "output E|x_test.go:3: no disk", "skip E", "pass ")...), code: 0,
			prints:  []string{"skipped:\n  example.com/p A and 3 more: no server\n  example.com/p E: no disk\n", "1 passed, 0 failed, 5 skipped\n"},
			without: []string{"  example.com/p B"},
		},
		{
			name: "under -strict a skip is a failure",
			args: []string{"-strict"},
			in:   stream(append(append(pass, skip...), "pass ")...), code: 1,
			prints: []string{"skipped, though it should have run:\n  example.com/p TestFar: needs ptrace\n", "1 passed, 1 failed, 0 skipped\n"},
		},
		{
			name: "under -strict an allowed reason remains a skip",
			args: []string{"-strict", "-allow", "strace", "-allow", "^needs ptrace$"},
			in:   stream(append(append(pass, skip...), "pass ")...), code: 0,
			prints:  []string{"skipped:\n  example.com/p TestFar", "1 passed, 0 failed, 1 skipped\n"},
			without: []string{"should have run"},
		},
		{
			name: "a skip without a reason says so",
			args: []string{"-strict", "-allow", "ptrace"},
			in:   stream(append(pass, "run TestMute", "skip TestMute", "pass ")...), code: 1,
			prints: []string{"TestMute: no reason given"},
		},
		{
			name: "a test that a deadline cut off has failed",
			in:   stream(append(pass, "run TestSlow", "output TestSlow|panic: test timed out", "fail ")...), code: 1,
			prints: []string{"panic: test timed out", "TestSlow did not finish", "1 passed, 1 failed, 0 skipped\n"},
		},
		{
			name: "a package that breaks outside of its tests is a failure",
			in:   stream(append(pass, "output |exit status 4", "fail ")...), code: 1,
			prints: []string{"exit status 4", "1 passed, 1 failed, 0 skipped\n"},
		},
		{
			name: "a package that breaks after a failing test says why too",
			in:   stream(append(fail, "output |exit status 4", "fail ")...), code: 1,
			prints: []string{"two is not three", "exit status 4", "0 passed, 1 failed, 0 skipped\n"},
		},
		{
			name: "a package without a verdict is a failure",
			in:   stream(pass...), code: 1,
			prints: []string{"FAIL  example.com/p  cut off", "1 passed, 1 failed, 0 skipped\n"},
		},
		{
			name: "a compiler's words come with the failed build, once",
			in: `{"ImportPath":"example.com/p [example.com/p.test]","Action":"build-output","Output":"p.go:2: cannot use x\n"}` + "\n" +
				`{"ImportPath":"example.com/p [example.com/p.test]","Action":"build-fail"}` + "\n" +
				`{"Action":"output","Package":"example.com/p","Output":"FAIL\texample.com/p [build failed]\n"}` + "\n" +
				`{"Action":"fail","Package":"example.com/p","FailedBuild":"example.com/p [example.com/p.test]"}` + "\n",
			code:    1,
			prints:  []string{"p.go:2: cannot use x\n", "0 passed, 1 failed, 0 skipped\n"},
			without: []string{"[build failed]"},
		},
		{
			name: "benchmarks that ran count, though they get no verdict",
			in:   stream("run BenchmarkGet", "output BenchmarkGet|BenchmarkGet-2 1 24086 ns/op", "run BenchmarkGet/small", "pass "), code: 0,
			prints: []string{"2 passed, 0 failed, 0 skipped\n"},
		},
		{
			name: "a benchmark cut off by an exit has failed",
			in:   stream("run BenchmarkGet", "output |exit status 2", "fail "), code: 1,
			prints: []string{"BenchmarkGet did not finish", "exit status 2", "0 passed, 1 failed, 0 skipped\n"},
		},
		{
			name: "a package without tests is not worth a line",
			in:   stream(append(pass, "pass ")...) + `{"Action":"start","Package":"example.com/q"}` + "\n" + `{"Action":"skip","Package":"example.com/q"}` + "\n", code: 0,
			prints: []string{"1 passed, 0 failed, 0 skipped\n"}, without: []string{"example.com/q"},
		},
		{
			name: "packages without any test are nothing",
			in:   stream("start ", "pass "), code: 1,
			prints: []string{"nothing ran", "0 passed, 1 failed, 0 skipped\n"},
		},
		{
			name: "an empty stream is nothing",
			in:   "", code: 1,
			prints: []string{"nothing ran", "0 passed, 1 failed, 0 skipped\n"},
		},
		{
			name: "what is no event is passed on",
			in:   "go: a message of its own\n{ broken\n" + stream(append(pass, "pass ")...), code: 0,
			prints: []string{"go: a message of its own\n", "{ broken\n", "1 passed"},
		},
		{
			name: "a last line without a line end still counts",
			in:   strings.TrimSuffix(stream(append(pass, "pass ")...), "\n"), code: 0,
			prints: []string{"1 passed, 0 failed, 0 skipped\n"}, without: []string{"cut off"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var out, complaints strings.Builder
			code := run(c.args, strings.NewReader(c.in), &out, &complaints)
			assert.Equal(t, c.code, code, out.String())
			assert.Empty(t, complaints.String())
			for _, want := range c.prints {
				assert.Contains(t, out.String(), want)
			}
			for _, unwanted := range c.without {
				assert.NotContains(t, out.String(), unwanted)
			}
		})
	}
}

func TestTallyGrowsByALineARun(t *testing.T) {
	t.Parallel()
	tally := filepath.Join(t.TempDir(), "tally")
	good := stream("run TestGood", "pass TestGood", "pass ")
	bad := stream("run TestBad", "fail TestBad", "run TestFar", "skip TestFar", "fail ")
	var out strings.Builder
	require.Equal(t, 0, run([]string{"-tally", tally}, strings.NewReader(good), &out, &out))
	require.Equal(t, 1, run([]string{"-tally", tally}, strings.NewReader(bad), &out, &out))

	written, err := os.ReadFile(tally)
	require.NoError(t, err)
	assert.Equal(t, "1 0 0\n0 1 1\n", string(written))
}

func TestUnusableTallyIsAFailure(t *testing.T) {
	t.Parallel()
	var out, complaints strings.Builder
	code := run([]string{"-tally", t.TempDir()}, strings.NewReader(stream("run TestGood", "pass TestGood", "pass ")), &out, &complaints)
	assert.Equal(t, 1, code)
	assert.Contains(t, complaints.String(), "testreport:")
}

func TestWrongCalls(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{
		"unknown flag":         {"-colour"},
		"reason is no pattern": {"-allow", "("},
		"stray argument":       {"input.json"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out, complaints strings.Builder
			assert.Equal(t, 2, run(args, strings.NewReader(""), &out, &complaints))
			assert.NotEmpty(t, complaints.String())
		})
	}
}

// A machine without time zone data takes an unknown TZ for UTC, silently, and a run "in Auckland" would prove nothing.
func TestZoneOfTheRunIsTheOneThatWasAsked(t *testing.T) {
	t.Parallel()
	name := strings.TrimPrefix(os.Getenv("TZ"), ":")
	if name == "" {
		return // the machine's own zone was asked, whichever that is
	}
	zone, err := time.LoadLocation(name)
	require.NoError(t, err)
	for _, month := range []time.Month{time.January, time.July} {
		day := time.Date(2026, month, 1, 12, 0, 0, 0, time.UTC)
		assert.Equal(t, day.In(zone).Format(time.RFC3339), day.In(time.Local).Format(time.RFC3339))
	}
}
