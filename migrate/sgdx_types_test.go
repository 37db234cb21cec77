package migrate_test

import (
	"encoding/json"
	"iter"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sgam-ledger/sgam/internal/canon"
	"github.com/sgam-ledger/sgam/schema"
)

// spelling is what a service, its slots and its intents are called in one of its variants.
type spelling struct {
	Service string   `json:"service"`
	Slots   []string `json:"slots"`
	Intents []string `json:"intents"`
}

// service is a service as a memory type. Version 1 is its own spelling, the later ones are its variants in some order.
// The attribute with tag n is its nth slot, and the last one the intent that is being pursued.
type service struct {
	spelling
	Variants []spelling `json:"variants"`
}

const noIntent = "NONE"

// theServices reads the services with their variants in an order that follows from the seed.
func theServices(tb testing.TB, seed uint64) []*service {
	tb.Helper()
	var all []*service
	require.NoError(tb, json.Unmarshal(wholeFile(tb, "../testdata/sgd/variants.json.gz"), &all))
	random := rand.New(rand.NewPCG(seed, seed))
	for _, s := range all {
		random.Shuffle(len(s.Variants), func(i, j int) { s.Variants[i], s.Variants[j] = s.Variants[j], s.Variants[i] })
	}
	return all
}

func (s *service) newest() int { return len(s.Variants) + 1 }

// in is the spelling of a version.
func (s *service) in(version int) *spelling {
	if version == 1 {
		return &s.spelling
	}
	return &s.Variants[version-2]
}

// intent is the tag of the attribute for the intent.
func (s *service) intent() int { return len(s.Slots) + 1 }

func (s *service) tags() iter.Seq[int] {
	return func(yield func(int) bool) {
		for tag := 1; tag <= s.intent() && yield(tag); tag++ {
		}
	}
}

// intents are the words for the intents in a version. Every other version takes new ones, so that there are versions in which
// an attribute keeps its values; the data set gives no slot the same name twice.
func (s *service) intents(version int) []string { return s.in(version - (version-1)%2).Intents }

// attribute is the name of an attribute in a version.
func (s *service) attribute(version, tag int) string {
	if tag == s.intent() {
		return s.in(version).Service + ".@active_intent"
	}
	return s.in(version).Service + "." + s.in(version).Slots[tag-1]
}

// tag finds an attribute by its first name.
func (s *service) tag(tb testing.TB, attribute string) int {
	tb.Helper()
	for tag := range s.tags() {
		if s.attribute(1, tag) == attribute {
			return tag
		}
	}
	require.Fail(tb, "no such attribute", attribute)
	return 0
}

// form is what somebody said in the shape of a version: a slot's words stand alone in version 1 and under the slot's name
// later, an intent has the version's own word.
func (s *service) form(tb testing.TB, version, tag int, said string) string {
	tb.Helper()
	var value any = said
	switch {
	case tag == s.intent() && said != noIntent:
		value = s.intents(version)[slices.Index(s.Intents, said)]
	case tag != s.intent() && version > 1:
		value = map[string]string{s.in(version).Slots[tag-1]: said}
	}
	raw, err := json.Marshal(value)
	require.NoError(tb, err)
	text, err := canon.Canonical(raw)
	require.NoError(tb, err)
	return string(text)
}

type object = map[string]any

// document is the schema of a version. Names are never given up.
func (s *service) document(tb testing.TB, version int) []byte {
	tb.Helper()
	var attributes []object
	for tag := range s.tags() {
		shape := object{"type": "string"}
		switch {
		case tag == s.intent():
			shape["enum"] = append(slices.Clone(s.intents(version)), noIntent)
		case version > 1:
			name := s.in(version).Slots[tag-1]
			shape = object{"type": "object", "properties": object{name: shape}, "required": []string{name}}
		}
		aliases := []string{}
		for v := 1; v < version; v++ {
			if old := s.attribute(v, tag); old != s.attribute(version, tag) {
				aliases = append(aliases, old)
			}
		}
		attributes = append(attributes, object{"tag": tag, "name": s.attribute(version, tag), "aliases": aliases, "schema": shape})
	}
	text, err := json.Marshal(object{"type": s.Service, "version": version, "attributes": attributes})
	require.NoError(tb, err)
	return text
}

// lens leads into a version. It has nothing to do for an attribute whose values stay as they are.
func (s *service) lens(tb testing.TB, version int) []byte {
	tb.Helper()
	var attributes []object
	for tag := range s.tags() {
		if !s.changes(version, tag) {
			continue
		}
		op := object{"op": "wrap", "prop": ""}
		switch {
		case tag == s.intent():
			pairs := [][2]string{{noIntent, noIntent}}
			for i, intent := range s.intents(version - 1) {
				pairs = append(pairs, [2]string{intent, s.intents(version)[i]})
			}
			op = object{"op": "map_enum", "pairs": pairs}
		case version == 2:
			op["prop"] = s.in(version).Slots[tag-1]
		default:
			op = object{"op": "rename_prop", "from": s.in(version - 1).Slots[tag-1], "to": s.in(version).Slots[tag-1]}
		}
		attributes = append(attributes, object{"tag": tag, "ops": []object{op}})
	}
	text, err := json.Marshal(object{"type": s.Service, "version": version, "attributes": attributes})
	require.NoError(tb, err)
	return text
}

// changes reports whether a version has the values of an attribute in another shape than the one before.
func (s *service) changes(version, tag int) bool {
	switch {
	case tag == s.intent():
		return !slices.Equal(s.intents(version), s.intents(version-1))
	case version == 2:
		return true
	}
	return s.in(version).Slots[tag-1] != s.in(version - 1).Slots[tag-1]
}

// same reports whether an attribute has one shape in two versions and all between them.
func (s *service) same(a, b, tag int) bool {
	for version := min(a, b) + 1; version <= max(a, b); version++ {
		if s.changes(version, tag) {
			return false
		}
	}
	return true
}

// renamed counts the slots that variants call by another name than the service itself.
func renamed(services []*service) int {
	n := 0
	for _, s := range services {
		for _, v := range s.Variants {
			for i, slot := range v.Slots {
				if slot != s.Slots[i] {
					n++
				}
			}
		}
	}
	return n
}

// declared declares every version of the services up to one.
func declared(tb testing.TB, services []*service, upTo int) *schema.Registry {
	tb.Helper()
	types := schema.NewRegistry()
	for _, s := range services {
		for version := 1; version <= min(upTo, s.newest()); version++ {
			_, err := types.Add(s.document(tb, version))
			require.NoError(tb, err)
			if version > 1 {
				require.NoError(tb, types.AddLens(s.lens(tb, version)))
			}
		}
	}
	return types
}
