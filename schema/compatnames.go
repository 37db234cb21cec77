package schema

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// document compares two versions of a memory type.
func (c *comparer) document(older, newer *document) {
	c.ifOther(wordsChanged, "title", wordOrNil(older.title), wordOrNil(newer.title))
	c.ifOther(wordsChanged, "description", wordOrNil(older.description), wordOrNil(newer.description))
	p := versionPair{older: older, newer: newer, had: older.holders(), has: newer.holders()}
	c.reserved(&p)
	was, is := older.byTag(), newer.byTag()
	all := maps.Clone(was)
	maps.Copy(all, is)
	for _, tag := range slices.Sorted(maps.Keys(all)) {
		a, b := was[tag], is[tag]
		switch {
		case a == nil:
			c.attributeName = b.name
			c.added(&p, b)
		case b == nil:
			c.attributeName = a.name
			c.removed(&p, a)
		default:
			c.attributeName = b.name
			c.names(&p, a, b)
			c.attribute(a, b)
		}
	}
}

// versionPair is two versions, and which attribute has which name in each.
type versionPair struct {
	older, newer *document
	had, has     map[string]int // tags by name and alias
}

func (d *document) byTag() map[int]*attribute {
	tags := map[int]*attribute{}
	for i := range d.attributes {
		tags[d.attributes[i].tag] = &d.attributes[i]
	}
	return tags
}

func (d *document) holders() map[string]int {
	tags := map[string]int{}
	for i := range d.attributes {
		for _, name := range d.attributes[i].names() {
			tags[name] = d.attributes[i].tag
		}
	}
	return tags
}

func (d *document) has(tag int) bool {
	return slices.ContainsFunc(d.attributes, func(a attribute) bool { return a.tag == tag })
}

// names are the attribute's name and its aliases.
func (a *attribute) names() []string { return append([]string{a.name}, a.aliases...) }

func (a *attribute) at(key string) string { return "attributes/" + strconv.Itoa(a.tag) + "/" + key }

// wordOrNil is a text as a JSON value, nil when it is empty.
func wordOrNil(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// reserved compares what is reserved. What an attribute now uses is told with the attribute.
func (c *comparer) reserved(p *versionPair) {
	for _, tag := range p.older.reservedTags {
		if !slices.Contains(p.newer.reservedTags, tag) && !p.newer.has(tag) {
			c.add(reservedRemoved, "reserved/tags/"+strconv.Itoa(tag), tag, nil)
		}
	}
	for _, tag := range p.newer.reservedTags {
		if !slices.Contains(p.older.reservedTags, tag) && !p.older.has(tag) {
			c.add(reservedAdded, "reserved/tags/"+strconv.Itoa(tag), nil, tag)
		}
	}
	for _, name := range p.older.reservedNames {
		if _, used := p.has[name]; !used && !slices.Contains(p.newer.reservedNames, name) {
			c.add(reservedRemoved, "reserved/names/"+name, name, nil)
		}
	}
	for _, name := range p.newer.reservedNames {
		if _, used := p.had[name]; !used && !slices.Contains(p.older.reservedNames, name) {
			c.add(reservedAdded, "reserved/names/"+name, nil, name)
		}
	}
}

// added judges an attribute whose tag is new.
func (c *comparer) added(p *versionPair, b *attribute) {
	before := len(c.found)
	if slices.Contains(p.older.reservedTags, b.tag) {
		c.add(reservedReused, b.at("tag"), nil, b.tag)
	}
	moved := false
	for _, name := range b.names() {
		if tag, taken := p.had[name]; taken && !p.newer.has(tag) {
			moved = true // told with the attribute that had the name
			continue
		}
		c.claim(p, b, name)
	}
	if !moved && len(c.found) == before {
		c.add(attributeAdded, "attributes/"+strconv.Itoa(b.tag), nil, b.name)
	}
}

// claim judges a name that an attribute did not have before.
func (c *comparer) claim(p *versionPair, b *attribute, name string) {
	at := b.at("name")
	if name != b.name {
		at = b.at("aliases")
	}
	if slices.Contains(p.older.reservedNames, name) {
		c.add(reservedReused, at, nil, name)
	}
	if tag, taken := p.had[name]; taken {
		c.add(nameTaken, at, nil, name, fmt.Sprintf("%q is attribute %d of the older version", name, tag))
	}
}

// removed judges an attribute whose tag is gone.
func (c *comparer) removed(p *versionPair, a *attribute) {
	var left []string
	for _, name := range a.names() {
		if tag, taken := p.has[name]; taken && !p.older.has(tag) {
			c.add(tagChanged, a.at("tag"), a.tag, tag)
			return
		}
		if !slices.Contains(p.newer.reservedNames, name) {
			left = append(left, "name "+strconv.Quote(name))
		}
	}
	if !slices.Contains(p.newer.reservedTags, a.tag) {
		left = append([]string{"tag " + strconv.Itoa(a.tag)}, left...)
	}
	if len(left) > 0 {
		c.add(attributeDropped, "attributes/"+strconv.Itoa(a.tag), a.name, nil, strings.Join(left, ", "))
		return
	}
	c.add(attributeRemoved, "attributes/"+strconv.Itoa(a.tag), a.name, nil)
}

// names compares the names of an attribute that both versions have.
func (c *comparer) names(p *versionPair, a, b *attribute) {
	before := len(c.found)
	for _, name := range b.names() {
		if !slices.Contains(a.names(), name) {
			c.claim(p, b, name)
		}
	}
	for _, name := range a.names() {
		// A name that another attribute has taken is told there.
		if _, taken := p.has[name]; !taken {
			c.add(nameLost, b.at("aliases"), name, nil)
		}
	}
	if len(c.found) > before {
		return
	}
	c.ifOther(attributeRenamed, b.at("name"), a.name, b.name)
	if a.name == b.name {
		c.ifOther(attributeRenamed, b.at("aliases"), a.aliases, b.aliases)
	}
}

// attribute compares what is said of an attribute that both versions have, but for its names.
func (c *comparer) attribute(a, b *attribute) {
	c.ifOther(wordsChanged, b.at("title"), wordOrNil(a.title), wordOrNil(b.title))
	c.ifOther(wordsChanged, b.at("description"), wordOrNil(a.description), wordOrNil(b.description))
	switch {
	case !a.many && b.many:
		c.add(oneToMany, b.at("cardinality"), "one", "many")
	case a.many && !b.many:
		c.add(manyToOne, b.at("cardinality"), "many", "one")
	case a.key != b.key:
		c.add(keyChanged, b.at("key"), wordOrNil(a.key), wordOrNil(b.key))
	}
	c.ifOther(policyChanged, b.at("conflict_policy"), a.policy, b.policy)
	if a.policy == b.policy && !slices.Equal(a.ranks, b.ranks) {
		c.add(policyChanged, b.at("ranks"), a.ranks, b.ranks)
	}
	k := sensitivityRaised
	if slices.Index(sensitivities, b.sensitivity) < slices.Index(sensitivities, a.sensitivity) {
		k = sensitivityLowered
		if b.declassified != nil {
			k = sensitivityDeclassified
		}
	}
	c.ifOther(k, b.at("sensitivity"), a.sensitivity, b.sensitivity)
	// No class is for ever. Which of two classes keeps longer, their names do not say: take the one that may erase.
	k = retentionShortened
	if b.retention == "" {
		k = retentionLengthened
	}
	c.ifOther(k, b.at("retention"), wordOrNil(a.retention), wordOrNil(b.retention))
	c.ifOther(unitChanged, b.at("unit"), wordOrNil(a.unit), wordOrNil(b.unit))
	c.kept(a, b)
	c.schemas(b.at("schema"), a.schema, b.schema)
}

const (
	keyIndex      = "x-sgam-index"
	keyEvidence   = "x-sgam-evidence"
	keyConfidence = "x-sgam-min-confidence"
)

// ruledAnnotation reports whether a key at the root of a schema has a rule of its own.
func ruledAnnotation(key string) bool {
	return key == keyIndex || key == keyEvidence || key == keyConfidence
}

// rootOnly reports whether a path is that of an attribute's whole schema.
func rootOnly(path string) bool { return strings.Count(path, "/") == 2 }

// kept compares which indexes the values of an attribute enter, and what has to prove them.
func (c *comparer) kept(a, b *attribute) {
	was, is := asSchema(a.schema[keyIndex]), asSchema(b.schema[keyIndex])
	before := len(c.found)
	for _, index := range []string{"fts", "vector"} {
		k := indexDropped
		if is[index] == true {
			k = indexAdded
		}
		c.ifOther(k, b.at("schema/"+keyIndex+"/"+index), was[index] == true, is[index] == true)
	}
	if len(c.found) == before {
		c.ifOther(wordsChanged, b.at("schema/"+keyIndex), a.schema[keyIndex], b.schema[keyIndex])
	}
	for _, key := range []string{keyConfidence, keyEvidence} {
		c.ifOther(proofChanged, b.at("schema/"+key), a.schema[key], b.schema[key])
	}
}
