package schema

import (
	"fmt"
	"maps"
	"slices"
)

// matcher compares what a lens makes of the older schema with the schema of the newer version.
type matcher struct {
	*faults
	path    string // of the operations
	version int    // the newer one
}

// match puts the newer schema where the lens leaves it open, and adds a fault for what the lens cannot have meant. What
// comes out has no open place unless there is a fault; whether values go over from it is for the table of rules to say.
func (m *matcher) match(made, newer map[string]any, at string) map[string]any {
	if h, ok := holeOf(made); ok {
		m.hole(h, newer, at)
		return newer
	}
	made = maps.Clone(made)
	if _, touched := made[touchedKey]; touched {
		delete(made, touchedKey)
		if def, ok := newer["default"]; ok {
			made["default"] = def
		}
	}
	ours, theirs := branches(made), branches(newer)
	from, to := base(made), base(newer)
	switch {
	case len(ours) > 0 && len(theirs) > 0:
		made["oneOf"] = m.unions(ours, theirs, at)
	case len(ours) > 0 || len(theirs) > 0:
		m.differs(at, unionWords(made), unionWords(newer))
	case from != to && (from != "integer" || to != "number"):
		m.differs(at, words(made), words(newer))
	case from == "object":
		m.objects(made, newer, at)
	case from == "array":
		made["items"] = m.match(asSchema(made["items"]), asSchema(newer["items"]), at+"/items")
	}
	return made
}

// hole checks that the newer version allows what the lens makes.
func (m *matcher) hole(h hole, newer map[string]any, at string) {
	to := base(newer)
	if len(h.types) > 0 && !slices.Contains(h.types, to) && (to != "number" || h.types[0] != "integer") {
		m.add(h.path, "type", fmt.Sprintf("what version %d has at %s: %s", m.version, at, words(newer)))
	}
	for _, v := range h.values {
		if !holds(newer, v) {
			m.add(h.path, "schema", fmt.Sprintf("only what version %d allows at %s: %s", m.version, at, words(newer)))
			return
		}
	}
}

// objects matches the properties of two objects.
func (m *matcher) objects(made, newer map[string]any, at string) {
	ours, theirs := asSchema(made["properties"]), asSchema(newer["properties"])
	properties := make(map[string]any, len(ours))
	for _, name := range sortedKeys(ours) {
		properties[name] = ours[name]
		if part, ok := theirs[name]; ok {
			place := join(at+"/properties", name)
			properties[name] = m.match(asSchema(ours[name]), asSchema(part), place)
			m.added(asSchema(ours[name]), requires(newer, name), place)
		} else {
			m.differs(at, fmt.Sprintf("a property %q", name), "none")
		}
	}
	for _, name := range sortedKeys(theirs) {
		if _, ok := ours[name]; !ok && requires(newer, name) {
			m.differs(at, fmt.Sprintf("no property %q", name), "one that is required: add it with a default")
		}
	}
	made["properties"] = properties
}

// added checks that a property which the lens adds has a default if, and only if, the newer version requires it: what may
// be left out is not made up.
func (m *matcher) added(made map[string]any, required bool, at string) {
	h, ok := holeOf(made)
	switch {
	case !ok || !h.added:
	case required && len(h.values) == 0:
		m.add(h.path, "default", fmt.Sprintf("a default: version %d requires %s", m.version, at))
	case !required && len(h.values) > 0:
		m.add(h.path, "default", fmt.Sprintf("no default: version %d lets %s be left out", m.version, at))
	}
}

// unions matches the branches of two unions that have the same constant.
func (m *matcher) unions(ours, theirs []map[string]any, at string) []any {
	tag := discriminator(anyOf(theirs))
	constant := func(s map[string]any) any { return asSchema(asSchema(s["properties"])[tag])["const"] }
	out := make([]any, len(ours))
	for i, branch := range ours {
		out[i] = branch
		j := slices.IndexFunc(theirs, func(s map[string]any) bool { return constant(s) == constant(branch) })
		if j < 0 {
			m.differs(at, "a union with a branch "+display(constant(branch)), "none")
			continue
		}
		out[i] = m.match(branch, theirs[j], fmt.Sprintf("%s/oneOf/%d", at, j))
	}
	return out
}

// differs adds a fault that names both sides.
func (m *matcher) differs(at, made, newer string) {
	m.add(m.path, "schema", fmt.Sprintf("the schema of version %d: at %s the lens makes %s, and version %d has %s",
		m.version, at, made, m.version, newer))
}

func unionWords(s map[string]any) string {
	if len(branches(s)) > 0 {
		return "a union"
	}
	return words(s)
}

// compatible adds a fault for each change that stands between what the lens makes and the newer version, and that no
// look at the values would excuse.
func (m *matcher) compatible(made, newer *attribute) {
	c := comparer{rows: ruleRows}
	c.attribute(made, newer)
	for _, change := range c.found {
		if !c.rows[change.kind].values || change.Backward == VerdictOK || change.Backward == VerdictData {
			continue
		}
		m.add(m.path, "schema", fmt.Sprintf("the schema of version %d (%s): at %s the lens makes %s, and version %d has %s",
			m.version, change.Rule, change.Path, side(change.Old), m.version, side(change.New)))
	}
}

// side shows one side of a change.
func side(v any) string {
	if v == nil {
		return "nothing"
	}
	return display(v)
}
