package main

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sgam-ledger/sgam"
)

// terminal is a screen of a given width that a person looks at.
func terminal(out *bytes.Buffer, width int) *screen {
	s := newScreen(out, func(string) string { return "" })
	s.width, s.tty, s.color = width, true, true
	return s
}

func utc(s *screen) words { return words{s: s, zone: time.UTC, indent: "  "} }

func TestOnlyATerminalGetsColours(t *testing.T) {
	b := newBench(t)
	b.mira()
	for _, line := range []string{
		"get mira passport_deadline", "facts", "timeline mira passport_deadline", "history mira passport_deadline", "believed mira passport_deadline",
		"diff --known-from 2026-01-01", "explain mira passport_deadline", "outcomes", "verify", "schema list",
	} {
		assert.NotContains(t, b.ok("", append(strings.Fields(line), "--db", "agent.db")...).out, "\x1b", line)
	}
	assert.NotContains(t, b.ok("", "demo").out, "\x1b")

	var out bytes.Buffer // the control
	p := b.program("", &out, &out)
	p.out = terminal(&out, 80)
	require.Zero(t, p.run(t.Context(), []string{"timeline", "mira", "passport_deadline", "--db", "agent.db"}))
	assert.Contains(t, out.String(), "\x1b[")
}

func TestTheEnvironmentCanRefuseColours(t *testing.T) {
	for want, environments := range map[bool][]map[string]string{
		true:  {{}, {"TERM": "xterm-256color"}, {"NO_COLOR": "", "TERM": "xterm"}},
		false: {{"NO_COLOR": "1", "TERM": "xterm"}, {"NO_COLOR": "0"}, {"TERM": "dumb"}},
	} {
		for _, env := range environments {
			assert.Equal(t, want, wantsColor(func(name string) string { return env[name] }), "%v", env)
		}
	}
}

func TestLinesFitTheTerminal(t *testing.T) {
	for _, width := range []int{72, 80, 120} {
		b := newBench(t)
		b.mira()
		for _, line := range []string{
			"facts", "timeline mira passport_deadline", "believed mira passport_deadline", "outcomes", "diff --known-from 2026-01-01",
			"get mira passport_deadline", "history mira passport_deadline", "explain mira passport_deadline",
		} {
			var out bytes.Buffer
			p := b.program("", &out, &out)
			p.out = terminal(&out, width)
			p.out.color = false
			require.Zero(t, p.run(t.Context(), append(strings.Fields(line), "--db", "agent.db")), "%s: %s", line, out.String())
			for printed := range strings.Lines(out.String()) {
				assert.LessOrEqual(t, len([]rune(strings.TrimRight(printed, "\n"))), width, "%s: %s", line, printed)
			}
		}
	}
}

func TestMemoriesDoNotDriveTheTerminal(t *testing.T) {
	b := newBench(t)
	b.mira()
	nasty := "a\u009b31mred\u202eback\u2028line"
	b.apply(`{"op":"assert","subject":"eve","attribute":"city","confidence":1,"value":"` + nasty + `","provenance":{"reasoning":"` + nasty +
		`"},"episode":{"id":"e9","kind":"message","occurred_at":"2026-06-01T09:00Z","text":"` + nasty + `\u001b[2J\nsecond"}}`)
	for _, line := range []string{"get eve city", "facts --subject eve", "timeline eve city", "history eve city", "believed eve city", "explain eve city"} {
		out := b.ok("", append(strings.Fields(line), "--db", "agent.db")...).out
		for _, hidden := range []string{"\x1b", "\u009b", "\u202e", "\u2028"} {
			assert.NotContains(t, out, hidden, line)
		}
		assert.Contains(t, out, `a\u009b31mred\u202eback\u2028line`, line)
	}
	assert.Contains(t, b.ok("", "get", "eve", "city", "--db", "agent.db", "--json").out, "\u202e", "programs get what was said")
}

func TestTimesAreShownAsTheFlagsReadThem(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	require.NoError(t, err)
	for _, zone := range []*time.Location{time.UTC, berlin} {
		w := words{zone: zone}
		for _, at := range []string{"2026-06-03T10:00:00Z", "2026-06-03T10:00:07Z", "2026-06-03T10:00:07.000001Z", "0001-01-01T00:00:00Z", "1883-11-18T12:03:58-05:00"} {
			want, err := time.Parse(time.RFC3339Nano, at)
			require.NoError(t, err)
			got, err := sgam.ParseTime(w.at(want), nil)
			require.NoError(t, err, w.at(want))
			if _, offset := want.In(zone).Zone(); offset%60 == 0 { // offsets before standard time had seconds, which no text form has
				assert.True(t, want.Equal(got), "%s shown as %s", at, w.at(want))
			}
		}
	}
}

func TestIntervalsSayTheirOpenEnds(t *testing.T) {
	w := utc(nil)
	to := day(2026, 6, 30)
	for want, i := range map[string]sgam.Interval{
		"at all times":                                   {},
		"until 2026-06-30 00:00Z":                        {To: &to},
		"from 2026-06-01 00:00Z on":                      {From: day(2026, 6, 1)},
		"from 2026-06-01 00:00Z until 2026-06-30 00:00Z": {From: day(2026, 6, 1), To: &to},
	} {
		assert.Equal(t, want, w.during(i))
	}
	assert.Equal(t, "open start", w.from(sgam.Interval{}))
	assert.Equal(t, "open end", w.until(sgam.Interval{}))
}

func TestNamesAreQuotedWhereTextFormsNeedIt(t *testing.T) {
	for want, slot := range map[string]sgam.Slot{
		`mira.passport_deadline`:           {Subject: "mira", Attribute: "passport_deadline"},
		`drupal/7.eol_date`:                {Subject: "drupal/7", Attribute: "eol_date"},
		`"drupal/7.1".eol_date`:            {Subject: "drupal/7.1", Attribute: "eol_date"},
		`"a b"."Hotels_1.city"`:            {Subject: "a b", Attribute: "Hotels_1.city"},
		`session-7:mira.allergies["dust"]`: {Scope: "session-7", Subject: "mira", Attribute: "allergies", Member: []byte(`"dust"`)},
		`"a\"b".c`:                         {Subject: `a"b`, Attribute: "c"},
	} {
		assert.Equal(t, want, slotName(slot))
	}
}

func TestDrawingsKeepTheOrderAndTheScale(t *testing.T) {
	to := func(d int) *time.Time { at := day(2026, 6, d); return &at }
	spans := []sgam.Interval{{To: to(1)}, {From: day(2026, 6, 1), To: to(11)}, {From: day(2026, 6, 11), To: to(31)}, {From: day(2026, 7, 1)}}
	d := newDrawing(36, spans, day(2026, 6, 16))
	assert.Equal(t, "◀━━", d.bar(spans[0], "━"))
	assert.Equal(t, "   ━━━━━━━━━━", d.bar(spans[1], "━"), "ten days are ten columns")
	assert.Equal(t, strings.Repeat(" ", 13)+strings.Repeat("━", 19), d.bar(spans[2], "━"), "twenty days are twenty, less the rounding")
	assert.Equal(t, strings.Repeat(" ", 32)+"━━━▶", d.bar(spans[3], "━"))
	assert.Equal(t, strings.Repeat(" ", 18)+"▲ now", d.mark(day(2026, 6, 16), "now", 40))
	assert.Equal(t, strings.Repeat(" ", 14)+"now ▲", d.mark(day(2026, 6, 16), "now", 20))

	one := newDrawing(20, []sgam.Interval{{From: day(2026, 6, 1), To: to(2)}, {From: day(2126, 6, 1)}})
	assert.Equal(t, "━", one.bar(sgam.Interval{From: day(2026, 6, 1), To: to(2)}, "━"), "what is short is still seen")
	point := newDrawing(20, []sgam.Interval{{From: day(2026, 6, 1)}})
	assert.Equal(t, strings.Repeat("━", 19)+"▶", point.bar(sgam.Interval{From: day(2026, 6, 1)}, "━"))
	always := newDrawing(5, []sgam.Interval{{}})
	assert.Equal(t, "◀━━━▶", always.bar(sgam.Interval{}, "━"))
}

func TestLongListsKeepEveryRow(t *testing.T) {
	var out bytes.Buffer
	s := newScreen(&out, func(string) string { return "" })
	l := s.list(column{name: "N"}, column{name: "WHAT"})
	for i := range 2*listPart + 3 {
		l.add(count(i, "row", "rows"), "x")
	}
	l.flush()
	require.NoError(t, s.flush())
	lines := strings.Split(strings.TrimRight(out.String(), "\n"), "\n")
	assert.Len(t, lines, 2*listPart+4)
	assert.Equal(t, 1, strings.Count(out.String(), "WHAT"))
	assert.True(t, strings.HasPrefix(lines[len(lines)-1], "1,002 rows"))
}

func TestNarrowListsAreCutWhereTheyMayBe(t *testing.T) {
	var out bytes.Buffer
	s := terminal(&out, 30)
	s.color = false
	l := s.list(column{name: "FIXED"}, column{name: "LONG", flex: yields})
	l.add("0123456789", strings.Repeat("x", 40))
	l.flush()
	require.NoError(t, s.flush())
	assert.Equal(t, "FIXED       LONG\n0123456789  "+strings.Repeat("x", 17)+"…\n", out.String())
}

// brokenPipe is an output that cannot be written.
type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

func TestAnOutputThatFailsIsReported(t *testing.T) {
	b := newBench(t)
	b.mira()
	var out, errOut bytes.Buffer
	p := b.program("", &out, &errOut)
	p.out = newScreen(brokenPipe{}, func(string) string { return "" })
	assert.Equal(t, exitUnreadable, p.run(t.Context(), []string{"facts", "--db", "agent.db"}))
	assert.Equal(t, "sgam: write the output: no space left on device\n", errOut.String())
}
