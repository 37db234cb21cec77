package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"golang.org/x/term"
)

// screen is an output that knows whether a person looks at it. Its first failed write is kept and returned by flush.
type screen struct {
	w     *bufio.Writer
	width int  // columns, unbounded when it is not a terminal
	tty   bool // a terminal
	color bool
	fault error
}

func newScreen(w io.Writer, getenv func(string) string) *screen {
	s := &screen{w: bufio.NewWriter(w), width: math.MaxInt}
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return s
	}
	s.tty, s.width = true, 80
	if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
		s.width = width
	}
	s.color = wantsColor(getenv)
	return s
}

// wantsColor asks what the environment of a terminal says: https://no-color.org and terminals that have none.
func wantsColor(getenv func(string) string) bool {
	return getenv("NO_COLOR") == "" && getenv("TERM") != "dumb"
}

// Write is for the libraries that print by themselves.
func (s *screen) Write(b []byte) (int, error) {
	n, err := s.w.Write(b)
	s.keep(err)
	return n, err
}

func (s *screen) printf(format string, args ...any) {
	_, err := fmt.Fprintf(s.w, format, args...)
	s.keep(err)
}

func (s *screen) println(parts ...string) {
	s.printf("%s\n", strings.TrimRight(strings.Join(parts, ""), " "))
}

// json prints one document on one line.
func (s *screen) json(v any) {
	enc := json.NewEncoder(s.w)
	enc.SetEscapeHTML(false)
	s.keep(enc.Encode(v))
}

func (s *screen) keep(err error) {
	if s.fault == nil {
		s.fault = err
	}
}

func (s *screen) flush() error {
	s.keep(s.w.Flush())
	return s.fault
}

// ink is how a piece of text stands out.
type ink = text.Colors

var (
	plain  ink
	strong = ink{text.Bold}
	quiet  = ink{text.Faint}
	good   = ink{text.FgGreen}
	odd    = ink{text.FgYellow}
	bad    = ink{text.FgRed}
	link   = ink{text.FgCyan}
)

// paint colours text, on a terminal only.
func (s *screen) paint(i ink, words string) string {
	if !s.color || len(i) == 0 || words == "" {
		return words
	}
	return text.Escape(words, i.EscapeSeq())
}

// column is one column of a list.
type column struct {
	name string
	// flex lets the column be cut when the list is wider than the terminal. Of several, the widest gives way; a source
	// does so before the others.
	flex flex
	// wrap breaks a flexible column's text into lines instead of cutting it.
	wrap bool
	// right aligns numbers.
	right bool
	ink   ink
}

// flex is by how many columns wider than it is a column counts when one has to give way; zero is not at all.
type flex int

const (
	yields      flex = 1
	yieldsFirst flex = 9
)

// list prints rows in aligned columns. It holds back a part of the rows at a time, so that a long list neither waits for
// its end nor fills the memory.
type list struct {
	s       *screen
	columns []column
	rows    [][]string
	indent  string
	printed bool
	bare    bool // without a line of names
}

const listPart = 500

func (s *screen) list(columns ...column) *list { return &list{s: s, columns: columns} }

// add appends a row; cells may be coloured already.
func (l *list) add(cells ...string) {
	l.rows = append(l.rows, cells)
	if len(l.rows) == listPart {
		l.flush()
	}
}

// least is the narrowest that a flexible column is cut to.
const least = 8

func (l *list) flush() {
	if len(l.rows) == 0 {
		return
	}
	const gap = "  "
	widths := make([]int, len(l.columns))
	total := text.StringWidth(l.indent)
	for i, c := range l.columns {
		if !l.bare {
			widths[i] = text.StringWidth(c.name)
		}
		for _, row := range l.rows {
			widths[i] = max(widths[i], text.StringWidthWithoutEscSequences(row[i]))
		}
		total += widths[i] + len(gap)
	}
	for over := total - len(gap) - l.s.width; over > 0; over-- {
		gives := -1
		for i, c := range l.columns {
			if c.flex > 0 && widths[i] > least && (gives < 0 || widths[i]+int(c.flex) > widths[gives]+int(l.columns[gives].flex)) {
				gives = i
			}
		}
		if gives < 0 {
			break
		}
		widths[gives]--
	}
	t := table.NewWriter()
	t.SetStyle(table.Style{
		Box:     table.BoxStyle{PaddingRight: gap},
		Options: table.OptionsNoBordersAndSeparators,
	})
	t.SuppressTrailingSpaces()
	var aligned []table.ColumnConfig
	for i, c := range l.columns {
		if c.right {
			aligned = append(aligned, table.ColumnConfig{Number: i + 1, Align: text.AlignRight})
		}
	}
	t.SetColumnConfigs(aligned)
	if !l.printed && !l.bare {
		t.AppendRow(l.cells(widths, func(i int) string { return l.s.paint(quiet, l.columns[i].name) }))
	}
	for _, row := range l.rows {
		t.AppendRow(l.cells(widths, func(i int) string { return l.s.paint(l.columns[i].ink, row[i]) }))
	}
	for line := range strings.Lines(t.Render()) {
		l.s.println(l.indent, strings.TrimRight(line, "\n"))
	}
	l.rows, l.printed = l.rows[:0], true
}

func (l *list) cells(widths []int, cell func(i int) string) table.Row {
	row := make(table.Row, len(widths))
	for i := range widths {
		if l.columns[i].wrap {
			row[i] = text.WrapSoft(cell(i), widths[i])
			continue
		}
		row[i] = cut(cell(i), widths[i])
	}
	return row
}

// cut shortens text to so many columns and says so with an ellipsis.
func cut(s string, width int) string { return text.Snip(s, width, "…") }

// wrap breaks text that is wider than the terminal into lines, each after the given indent.
func (s *screen) wrap(indent, words string) string { return wrapTo(s.width, indent, words) }

func wrapTo(width int, indent, words string) string {
	lines := []string{words}
	if width < math.MaxInt {
		lines = strings.Split(text.WrapSoft(words, max(20, width-text.StringWidth(indent))), "\n")
	}
	for i := range lines {
		lines[i] = indent + strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}

// unbuffered is the screen for what has to appear at once.
func (s *screen) unbuffered() io.Writer { return unbuffered{s} }

type unbuffered struct{ s *screen }

func (u unbuffered) Write(b []byte) (int, error) {
	n, err := u.s.Write(b)
	if err == nil {
		err = u.s.flush()
	}
	return n, err
}
