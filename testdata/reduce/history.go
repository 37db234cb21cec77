package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// unit is what is taken whole or left out whole. An empty attribute means all attributes of the subject.
type unit struct{ subject, attribute string }

func (u unit) String() string {
	if u.attribute == "" {
		return u.subject
	}
	return u.subject + " " + u.attribute
}

// history is a replayable record and the questions about it, in file order.
type history struct {
	facts     []line[statement]
	questions []line[question]
}

// line is one line of a file, without its newline, and what it says.
type line[T any] struct {
	raw  []byte
	said T
}

// statement is the part of a fact that the choice looks at. Value is nil for void and end.
type statement struct {
	RecordedAt time.Time       `json:"recorded_at"`
	Op         string          `json:"op"`
	Subject    string          `json:"subject"`
	Attribute  string          `json:"attribute"`
	Value      json.RawMessage `json:"value"`
	ValidFrom  time.Time       `json:"valid_from"`
	ValidTo    *time.Time      `json:"valid_to"`
}

func (s statement) slot() unit { return unit{s.Subject, s.Attribute} }

// question is the part of a question that the choice looks at. Expect is the JSON text null where no value is expected.
type question struct {
	Subject     string            `json:"subject"`
	Attribute   string            `json:"attribute"`
	Expect      json.RawMessage   `json:"expect"`
	OtherSource []json.RawMessage `json:"also_acceptable_sources"`
}

func (q question) slot() unit { return unit{q.Subject, q.Attribute} }

// unitOf names the unit that a slot belongs to.
func unitOf(slot unit, perAttribute bool) unit {
	if perAttribute {
		return slot
	}
	return unit{subject: slot.subject}
}

// only returns the part of the history that is about the kept units.
func (h history) only(kept map[unit]bool, perAttribute bool) history {
	var small history
	for _, f := range h.facts {
		if kept[unitOf(f.said.slot(), perAttribute)] {
			small.facts = append(small.facts, f)
		}
	}
	for _, q := range h.questions {
		if kept[unitOf(q.said.slot(), perAttribute)] {
			small.questions = append(small.questions, q)
		}
	}
	return small
}

func readHistory(dir string) (history, error) {
	facts, err := readLines[statement](filepath.Join(dir, "dev.facts.jsonl.gz"))
	if err != nil {
		return history{}, err
	}
	questions, err := readLines[question](filepath.Join(dir, "dev.questions.jsonl.gz"))
	return history{facts, questions}, err
}

func readLines[T any](path string) (lines []line[T], err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() // only read
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	sc := bufio.NewScanner(bytes.NewReader(text))
	sc.Buffer(nil, len(text)+1)
	for sc.Scan() {
		l := line[T]{raw: bytes.Clone(sc.Bytes())}
		if err := json.Unmarshal(l.raw, &l.said); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, len(lines)+1, err)
		}
		lines = append(lines, l)
	}
	return lines, sc.Err()
}

func writeHistory(dir string, h history) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := writeGzip(filepath.Join(dir, "facts.jsonl.gz"), join(h.facts)); err != nil {
		return err
	}
	return writeGzip(filepath.Join(dir, "questions.jsonl.gz"), join(h.questions))
}

func join[T any](lines []line[T]) []byte {
	var text []byte
	for _, l := range lines {
		text = append(append(text, l.raw...), '\n')
	}
	return text
}

// writeGzip leaves the header's time and name empty: the same text gives the same file.
func writeGzip(path string, text []byte) error {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := z.Write(text); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	return os.WriteFile(path, b.Bytes(), 0o644)
}

func copyFiles(from, to string, files []file) error {
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	for _, f := range files {
		text, err := os.ReadFile(filepath.Join(from, f.from))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(to, f.to), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}
