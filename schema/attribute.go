package schema

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/sgam-ledger/sgam"
)

// Sensitivity says who an attribute's values concern and how carefully they must be kept.
type Sensitivity string

// The sensitivities, from the least to the most sensitive.
const (
	Public   Sensitivity = "public"
	Internal Sensitivity = "internal"
	Personal Sensitivity = "personal"
	// Special is what the law protects specially: health, belief, origin and the like.
	Special Sensitivity = "special"
	Secret  Sensitivity = "secret"
)

var (
	sensitivities = []Sensitivity{Public, Internal, Personal, Special, Secret}
	policies      = []sgam.ConflictPolicy{
		sgam.Supersede, sgam.KeepHighestConfidence, sgam.SourceRank, sgam.Immutable, sgam.ConfirmFirst,
	}
	episodeKinds = []sgam.EpisodeKind{
		sgam.Message, sgam.ToolResult, sgam.BusinessEvent, sgam.File, sgam.Ticket, sgam.UserConfirmation,
	}
)

// attribute is one attribute of a document, decoded. Its zero values are not the defaults: decoding fills those in.
type attribute struct {
	path                     string // where it stood in the document as sent
	tag                      int
	name, title, description string
	aliases                  []string
	many                     bool
	key                      string // JSON pointer, empty for the whole value
	policy                   sgam.ConflictPolicy
	ranks                    []sgam.EpisodeKind
	sensitivity              Sensitivity
	declassified             *Declassification // who lowered the sensitivity
	retention, unit          string
	schema                   map[string]any // normalised
}

// attribute reads one attribute of a document.
func (f *faults) attribute(raw json.RawMessage, path string) attribute {
	a := attribute{path: path, policy: sgam.Supersede, sensitivity: Internal}
	before := len(f.found)
	cardinality := "one"
	var schema, declassified json.RawMessage
	var ranks []string
	f.members(raw, path, map[string]any{
		"tag": &a.tag, "name": &a.name, "aliases": &a.aliases, "title": &a.title, "description": &a.description,
		"cardinality": &cardinality, "key": &a.key, "conflict_policy": (*string)(&a.policy), "ranks": &ranks,
		"sensitivity": (*string)(&a.sensitivity), "retention": &a.retention, "unit": &a.unit, "schema": &schema,
		"declassified": &declassified,
	})
	if len(f.found) > before {
		return a
	}
	if a.tag < 1 || a.tag > maxTag {
		f.add(path+"/tag", "range", "a whole number from 1 on")
	}
	f.name(path+"/name", a.name)
	for i, alias := range a.aliases {
		f.name(path+"/aliases/"+strconv.Itoa(i), alias)
	}
	slices.Sort(a.aliases)
	switch cardinality {
	case "one":
	case "many":
		a.many = true
	default:
		f.add(path+"/cardinality", "enum", "one or many")
	}
	oneOf(f, path+"/conflict_policy", a.policy, policies)
	oneOf(f, path+"/sensitivity", a.sensitivity, sensitivities)
	a.declassified = f.declassification(declassified, path+"/declassified")
	f.ranks(&a, ranks, path+"/ranks")
	if a.retention != "" {
		f.name(path+"/retention", a.retention)
	}
	if schema == nil {
		f.add(path+"/schema", "required", "the JSON Schema of the value")
		return a
	}
	before = len(f.found)
	a.schema = f.profile(schema, path+"/schema")
	if len(f.found) == before {
		f.key(&a, path+"/key")
	}
	return a
}

// declassification reads who lowered the sensitivity of an attribute, and why.
func (f *faults) declassification(raw json.RawMessage, path string) *Declassification {
	if raw == nil {
		return nil
	}
	d := &Declassification{}
	f.members(raw, path, map[string]any{"actor": &d.Actor, "reason": &d.Reason})
	for field, text := range map[string]string{"actor": d.Actor, "reason": d.Reason} {
		if strings.TrimSpace(text) == "" {
			f.add(path+"/"+field, "required", "who lowers the sensitivity, and why")
		}
	}
	return d
}

// oneOf checks a word against a closed list.
func oneOf[S ~string](f *faults, path string, s S, list []S) {
	if slices.Contains(list, s) {
		return
	}
	words := make([]string, len(list))
	for i, w := range list {
		words[i] = string(w)
	}
	f.add(path, "enum", "one of "+strings.Join(words, ", "))
}

// ranks checks the order of episode kinds, which policy source_rank needs and no other may have.
func (f *faults) ranks(a *attribute, ranks []string, path string) {
	if a.policy != sgam.SourceRank {
		if len(ranks) > 0 {
			f.add(path, "policy", "no ranks, or conflict_policy source_rank")
		}
		return
	}
	if len(ranks) == 0 {
		f.add(path, "required", "the episode kinds from the strongest to the weakest")
	}
	for i, r := range ranks {
		at := path + "/" + strconv.Itoa(i)
		kind := sgam.EpisodeKind(r)
		oneOf(f, at, kind, episodeKinds)
		if slices.Contains(a.ranks, kind) {
			f.add(at, "unique", "each episode kind once")
		}
		a.ranks = append(a.ranks, kind)
	}
}

// key checks that the pointer of a many-valued attribute finds something in every valid value.
func (f *faults) key(a *attribute, path string) {
	switch {
	case a.key == "":
		return
	case !a.many:
		f.add(path, "cardinality", "no key, or cardinality many")
		return
	}
	tokens, ok := pointerTokens(a.key)
	if !ok {
		f.add(path, "pointer", "a JSON pointer such as /sku")
		return
	}
	if !identifies(a.schema, tokens) {
		f.add(path, "pointer", "the pointer of a property that every value has: required, and never null")
	}
}

// tree is the attribute as JSON values; plain leaves titles, descriptions and examples out. What is empty is left out;
// cardinality, conflict policy and sensitivity are always there.
func (a *attribute) tree(plain bool) map[string]any {
	out := map[string]any{
		"tag": a.tag, "name": a.name, "cardinality": "one",
		"conflict_policy": a.policy, "sensitivity": a.sensitivity, "schema": a.schema,
	}
	if a.many {
		out["cardinality"] = "many"
	}
	if len(a.aliases) > 0 {
		out["aliases"] = a.aliases
	}
	if len(a.ranks) > 0 {
		out["ranks"] = a.ranks
	}
	if a.declassified != nil {
		out["declassified"] = a.declassified
	}
	put(out, "key", a.key)
	put(out, "retention", a.retention)
	put(out, "unit", a.unit)
	if plain {
		out["schema"] = withoutWords(a.schema)
		return out
	}
	put(out, "title", a.title)
	put(out, "description", a.description)
	return out
}

// named is what the registry of the ledger knows of the attribute.
func (a *attribute) named() sgam.AttributeName {
	return sgam.AttributeName{Tag: a.tag, Name: a.name, Aliases: a.aliases, Many: a.many}
}
