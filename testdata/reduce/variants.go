package main

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// names are what one spelling of a service calls itself, its slots and its intents. A position means the same in every
// spelling.
type names struct {
	Service string   `json:"service"`
	Slots   []string `json:"slots"`
	Intents []string `json:"intents"`
}

// service is a service with its other spellings.
type service struct {
	names
	Variants []names `json:"variants"`
}

// schemas is the part of schemas.json.gz that is kept: the order of slots and intents.
type schemas struct {
	Services []struct {
		Name    string  `json:"service_name"`
		Slots   []named `json:"slots"`
		Intents []named `json:"intents"`
	} `json:"services"`
}

type named struct {
	Name string `json:"name"`
}

// renames is the part of schema_migrations.json.gz that is kept.
type renames struct {
	Migrations []rename `json:"migrations"`
}

type rename struct {
	From    string            `json:"from_service"`
	To      string            `json:"to_service"`
	Slots   map[string]string `json:"slots"`
	Intents map[string]string `json:"intents"`
}

// writeVariants writes what each service is called in each spelling.
func writeVariants(from, to string) error {
	var all schemas
	if err := readGzip(filepath.Join(from, "schemas.json.gz"), &all); err != nil {
		return err
	}
	var changes renames
	if err := readGzip(filepath.Join(from, "schema_migrations.json.gz"), &changes); err != nil {
		return err
	}
	services, err := pair(all, changes)
	if err != nil {
		return err
	}
	text, err := json.Marshal(services)
	if err != nil {
		return err
	}
	return writeGzip(filepath.Join(to, "variants.json.gz"), append(text, '\n'))
}

// pair puts the names of each variant at the positions of the names that they replace.
func pair(all schemas, changes renames) ([]service, error) {
	services := make([]service, len(all.Services))
	at := make(map[string]*service)
	for i, s := range all.Services {
		services[i].names = names{s.Name, list(s.Slots), list(s.Intents)}
		at[s.Name] = &services[i]
	}
	for _, r := range changes.Migrations {
		s := at[r.From]
		if s == nil {
			return nil, fmt.Errorf("%s is a variant of %s, which is no service", r.To, r.From)
		}
		slots, err := renamed(s.Slots, r.Slots)
		if err != nil {
			return nil, fmt.Errorf("%s: slot %w", r.To, err)
		}
		intents, err := renamed(s.Intents, r.Intents)
		if err != nil {
			return nil, fmt.Errorf("%s: intent %w", r.To, err)
		}
		s.Variants = append(s.Variants, names{r.To, slots, intents})
	}
	return services, nil
}

func renamed(old []string, to map[string]string) ([]string, error) {
	now := make([]string, len(old))
	for i, name := range old {
		var known bool
		if now[i], known = to[name]; !known {
			return nil, fmt.Errorf("%s has no new name", name)
		}
	}
	return now, nil
}

func list(of []named) []string {
	all := make([]string, len(of))
	for i, n := range of {
		all[i] = n.Name
	}
	return all
}

// readGzip decodes a compressed JSON document.
func readGzip(path string, into any) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close() // only read
	z, err := gzip.NewReader(f)
	if err == nil {
		err = json.NewDecoder(z).Decode(into)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}
