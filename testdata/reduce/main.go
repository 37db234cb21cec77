// Command reduce makes the small histories beside it out of full ones, and the still smaller one that `sgam demo` shows.
//
//	go run ./testdata/reduce -from HISTORIES -to testdata -demo cmd/sgam/demodata
//
// HISTORIES holds a folder for each history, with its licence, dev.facts.jsonl.gz and dev.questions.jsonl.gz; where
// services have variants, also schemas.json.gz and schema_migrations.json.gz. From each history it takes whole units, a
// unit being a subject or one attribute of a subject, with every fact and every question about them: an answer depends on
// all facts of its (subject, attribute) and on no other, so it stays right. Lines are copied byte for byte and in order, so
// facts recorded together stay together and numbers keep their spelling.
//
// Which units are taken follows from the input alone (see choose), and the gzip headers carry neither time nor name, so
// a second run with the same Go release writes the same bytes.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

func main() {
	from := flag.String("from", "", "folder with the full histories (required)")
	to := flag.String("to", "", "folder to write the reduced histories to (required)")
	demo := flag.String("demo", "", "folder to write the demo's history to (empty: none)")
	flag.Parse()
	if err := run(os.Stdout, *from, *to, *demo); err != nil {
		fmt.Fprintln(os.Stderr, "reduce:", err)
		os.Exit(1)
	}
}

// run reduces every history under from and reports on w what it kept.
func run(w io.Writer, from, to, demo string) error {
	if from == "" || to == "" {
		return errors.New("-from and -to are required")
	}
	for _, p := range plans {
		h, err := readHistory(filepath.Join(from, p.name))
		if err != nil {
			return err
		}
		kept, err := choose(h.units(p.perAttribute), p.limits, p.always)
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		small := h.only(kept, p.perAttribute)
		if err := writeHistory(filepath.Join(to, p.name), small); err != nil {
			return err
		}
		if err := copyFiles(filepath.Join(from, p.name), filepath.Join(to, p.name), p.copied); err != nil {
			return err
		}
		if p.variants {
			if err := writeVariants(filepath.Join(from, p.name), filepath.Join(to, p.name)); err != nil {
				return err
			}
		}
		if err := report(w, p.name, small.units(p.perAttribute)); err != nil {
			return err
		}
	}
	if err := copyFiles(filepath.Join(from, "sequenced"), filepath.Join(to, "sequenced"), sequencedFiles); err != nil {
		return err
	}
	if demo == "" {
		return nil
	}
	return writeDemo(filepath.Join(from, "endoflife"), demo)
}

// writeDemo writes the facts about demoCycles, uncompressed so that anyone can read and search them, and their licence.
func writeDemo(from, to string) error {
	h, err := readHistory(from)
	if err != nil {
		return err
	}
	kept := make(map[unit]bool)
	for _, u := range demoCycles {
		kept[u] = true
	}
	small := h.only(kept, false)
	if found := len(small.units(false)); found != len(kept) {
		return fmt.Errorf("demo: %d of %d release cycles found", found, len(kept))
	}
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(to, "eol.facts.jsonl"), join(small.facts), 0o644); err != nil {
		return err
	}
	return copyFiles(from, to, []file{{"LICENSE.txt", "LICENSE.endoflife.txt"}})
}

// report writes one line for a reduced history: its size, and how often each trait occurs in it.
func report(w io.Writer, name string, units []*profile) error {
	var all profile
	for _, p := range units {
		all.facts += p.facts
		all.questions += p.questions
		for t := range all.traits {
			all.traits[t] += p.traits[t]
		}
	}
	_, err := fmt.Fprintf(w, "%s: %d units, %d facts, %d questions", name, len(units), all.facts, all.questions)
	for t, n := range all.traits {
		if err == nil && n > 0 {
			_, err = fmt.Fprintf(w, ", %d %s", n, traitNames[t])
		}
	}
	if err == nil {
		_, err = fmt.Fprintln(w)
	}
	return err
}
