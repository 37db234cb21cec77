package schema

import (
	"fmt"
	"slices"
	"strings"
)

// parted is text that one of two versions holds as several properties, between which a separator stands.
type parted struct {
	place
	whole     string
	parts     []string
	separator string
}

// cut makes the parts of the whole. There must be exactly as many separators as the parts need.
func (o *parted) cut(n *datum) (*datum, error) {
	return onObject(n, func(members map[string]*datum) error {
		text, ok := members[o.whole]
		delete(members, o.whole)
		for _, name := range o.parts {
			if other, taken := members[name]; taken {
				return other.fault("collision", "no such property")
			}
		}
		if !ok {
			return nil
		}
		s, ok := text.scalar.(string)
		if !ok {
			return text.fault("type", typeWords["string"])
		}
		parts := strings.Split(s, o.separator)
		if len(parts) != len(o.parts) {
			return text.fault("separator", "text of "+count(len(o.parts), "part")+" with the separator of the lens between them")
		}
		for i, name := range o.parts {
			members[name] = text.with(parts[i])
		}
		return nil
	})
}

// glue makes the whole of the parts. No part may hold what would be taken for a separator.
func (o *parted) glue(n *datum) (*datum, error) {
	return onObject(n, func(members map[string]*datum) error {
		var parts []string
		filled := false
		for _, name := range o.parts {
			text, ok := members[name]
			if !ok {
				continue
			}
			s, ok := text.scalar.(string)
			if !ok {
				return text.fault("type", typeWords["string"])
			}
			parts = append(parts, s)
			filled = filled || text.filled
			delete(members, name)
		}
		if other, taken := members[o.whole]; taken {
			return other.fault("collision", "no such property")
		}
		if len(parts) == 0 {
			return nil
		}
		if len(parts) < len(o.parts) {
			return n.fault("required", "all parts of the text, or none: "+strings.Join(o.parts, ", "))
		}
		s := strings.Join(parts, o.separator)
		if !slices.Equal(strings.Split(s, o.separator), parts) {
			return n.fault("separator", "parts without the separator of the lens in them")
		}
		members[o.whole] = &datum{scalar: s, from: n.from, filled: filled}
		return nil
	})
}

func (o *parted) touches(part []string) bool {
	return touchesNamed(part, o.whole) || touchesNamed(part, o.parts...)
}

// texts checks that properties are strings.
func (o *parted) texts(f *faults, object *objectShape, names ...string) {
	for _, name := range names {
		if part := asSchema(object.properties[name]); base(part) != "string" {
			f.add(o.path, "type", fmt.Sprintf("a string as property %q: %s", name, found(part)))
		}
	}
}

// split makes several properties of one.
type split struct{ parted }

func (o *split) up(_ *trip, v *datum) (*datum, error)   { return o.cut(v) }
func (o *split) down(_ *trip, w *datum) (*datum, error) { return o.glue(w) }

func (o *split) reshape(f *faults, s map[string]any) map[string]any {
	return f.objects(o, s, []string{o.whole}, o.parts, func(object *objectShape) {
		o.texts(f, object, o.whole)
		required := object.required[o.whole]
		object.remove(o.whole)
		for _, name := range o.parts {
			object.put(name, hole{path: o.path + "/into", types: []string{"string"}}.schema(), required)
		}
	})
}

// joined makes one property of several.
type joined struct{ parted }

func (o *joined) up(_ *trip, v *datum) (*datum, error)   { return o.glue(v) }
func (o *joined) down(_ *trip, w *datum) (*datum, error) { return o.cut(w) }

func (o *joined) reshape(f *faults, s map[string]any) map[string]any {
	return f.objects(o, s, o.parts, []string{o.whole}, func(object *objectShape) {
		o.texts(f, object, o.parts...)
		required := true
		for _, name := range o.parts {
			required = required && object.required[name]
			object.remove(name)
		}
		object.put(o.whole, hole{path: o.path + "/into", types: []string{"string"}}.schema(), required)
	})
}
