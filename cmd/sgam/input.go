package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/internal/canon"
)

// maxLine is the longest line of input: a value of the greatest size, with everything around it.
const maxLine = 128 << 20

// inputLine is one line of input: a delta, or an episode alone.
type inputLine struct {
	at      string // file:line
	delta   *sgam.MemoryDelta
	episode *sgam.Episode
	fault   error // why it is neither
}

// inputs reads JSON lines from files in order; "-" is standard input.
type inputs struct {
	stdin io.Reader
	names []string
	t     *sgam.Tenant
	// seen is told how many bytes were read.
	seen func(int)
}

// check fails on a file that cannot be opened, before anything is written.
func (in *inputs) check() (size int64, err error) {
	for _, name := range in.names {
		if name == "-" {
			size = -1
			continue
		}
		f, err := openInput(name)
		if err != nil {
			return 0, err
		}
		info, err := f.Stat()
		if err := errors.Join(err, f.Close()); err != nil {
			return 0, err
		}
		if size >= 0 {
			size += info.Size()
		}
	}
	return size, nil
}

// errEnough ends the reading early.
var errEnough = errors.New("enough")

// each calls do with every line that is not empty. It returns early, and lets the reading end, when do fails.
func (in *inputs) each(ctx context.Context, do func(inputLine) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for _, name := range in.names {
		if err := in.file(ctx, name, do); err != nil {
			return err
		}
	}
	return nil
}

func (in *inputs) file(ctx context.Context, name string, do func(inputLine) error) (err error) {
	var r io.ReadCloser = io.NopCloser(in.stdin)
	if name == "-" {
		name = "stdin"
	} else if r, err = openInput(name); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	read := readLines(ctx, r)
	for {
		// Whoever types may be waited for, so an interruption must not wait for the next line.
		select {
		case <-ctx.Done():
			return ctx.Err()
		case line, more := <-read:
			if !more {
				return nil
			}
			if line.err != nil {
				return usage("%s:%d: %w", name, line.number, line.err)
			}
			if in.seen != nil {
				in.seen(len(line.text) + 1)
			}
			if len(bytes.TrimSpace(line.text)) == 0 {
				continue
			}
			parsed := in.parse(line.text)
			parsed.at = fmt.Sprintf("%s:%d", name, line.number)
			if err := do(parsed); err != nil {
				return err
			}
		}
	}
}

// rawLine is a line as it was read, or why it could not be.
type rawLine struct {
	number int
	text   []byte
	err    error
}

// readLines reads one line ahead, until the context ends.
func readLines(ctx context.Context, r io.Reader) <-chan rawLine {
	out := make(chan rawLine)
	send := func(line rawLine) bool {
		select {
		case out <- line:
			return true
		case <-ctx.Done():
			return false
		}
	}
	go func() {
		defer close(out)
		lines := bufio.NewScanner(r)
		lines.Buffer(make([]byte, 64<<10), maxLine)
		n := 0
		for lines.Scan() {
			n++
			text := bytes.Clone(lines.Bytes())
			if n == 1 {
				text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")) // the byte order mark that some editors write
			}
			if !send(rawLine{number: n, text: text}) {
				return
			}
		}
		switch err := lines.Err(); {
		case errors.Is(err, bufio.ErrTooLong):
			send(rawLine{number: n + 1, err: fmt.Errorf("the line is longer than %d MiB", maxLine>>20)})
		case err != nil:
			send(rawLine{number: n + 1, err: err})
		}
	}()
	return out
}

// parse reads one line. A line of which the only field is an episode is an episode.
func (in *inputs) parse(text []byte) inputLine {
	if !json.Valid(text) {
		return inputLine{fault: notJSON(text)}
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(text, &fields) != nil {
		return inputLine{fault: &sgam.FieldError{Rule: "type", Want: "one JSON object a line"}}
	}
	if raw, ok := fields["episode"]; ok && len(fields) == 1 {
		var e sgam.Episode
		// A delta is judged whole when it is decoded; here only the wrapping could hide a doubled field.
		if _, err := canon.Canonical(text); err != nil {
			return inputLine{fault: placed(err)}
		}
		if err := json.Unmarshal(raw, &e); err != nil {
			if fe, ok := fieldError(err); ok {
				return inputLine{fault: fe.At("episode")}
			}
			return inputLine{fault: &sgam.FieldError{Field: "episode", Rule: "type", Want: "an episode"}}
		}
		return inputLine{episode: &e}
	}
	deltas, err := in.t.Decode(bytes.NewReader(text))
	if err != nil {
		return inputLine{fault: unplaced(err)}
	}
	return inputLine{delta: &deltas[0]}
}

// notJSON says why a line is no JSON document.
func notJSON(text []byte) error {
	_, err := canon.Canonical(text)
	switch fe, ok := fieldError(placed(err)); {
	case !ok || fe.Rule == "syntax" || fe.Rule == "trailing":
	case fe.Rule == "depth":
		fe.Field, _, _ = strings.Cut(fe.Field, "/") // the rest of the path is as deep as the line
		return fe
	default:
		return fe
	}
	var document json.RawMessage
	if errors.Is(json.NewDecoder(bytes.NewReader(text)).Decode(&document), io.ErrUnexpectedEOF) {
		return &sgam.FieldError{Rule: "syntax", Want: "one JSON object a line, and this one is not finished"}
	}
	return &sgam.FieldError{Rule: "syntax", Want: "one JSON object a line"}
}

// placed is a fault of canonical form as the fault of a field.
func placed(err error) error {
	ce, ok := errors.AsType[*canon.Error](err)
	if !ok {
		return err
	}
	return &sgam.FieldError{Field: strings.TrimPrefix(ce.Pointer, "/"), Rule: ce.Rule, Want: ce.Want}
}

// openInput opens a file that the command line names.
func openInput(name string) (*os.File, error) {
	f, err := os.Open(name) //nolint:gosec // the user names the file
	if err != nil {
		return nil, usage("%w", fileFault(err))
	}
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return nil, errors.Join(usage("%s is a folder: want a file", name), f.Close())
	}
	return f, nil
}
