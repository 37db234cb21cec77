package schema

import "slices"

// boxed is a value that one of two versions holds in an object of one property.
type boxed struct {
	place
	prop string
}

func (o *boxed) box(v *datum) (*datum, error) {
	return &datum{members: map[string]*datum{o.prop: v}, from: v.from}, nil
}

func (o *boxed) unbox(w *datum) (*datum, error) {
	v, ok := w.members[o.prop]
	switch {
	case w.members == nil:
		return nil, w.fault("type", "an object")
	case !ok:
		return nil, w.member(o.prop).fault("required", "the property, which is the value of the other version")
	case len(w.members) > 1:
		return nil, w.fault("additional", "no other property beside the one that is the value of the other version")
	}
	return v, nil
}

func (o *boxed) touches([]string) bool { return true }

// wrap puts a value into an object.
type wrap struct{ boxed }

func (o *wrap) up(_ *trip, v *datum) (*datum, error)   { return o.box(v) }
func (o *wrap) down(_ *trip, w *datum) (*datum, error) { return o.unbox(w) }

func (o *wrap) reshape(_ *faults, s map[string]any) map[string]any {
	object := newObject()
	object.put(o.prop, s, true)
	return object.schema()
}

// unwrap takes a value out of an object.
type unwrap struct{ boxed }

func (o *unwrap) up(_ *trip, v *datum) (*datum, error)   { return o.unbox(v) }
func (o *unwrap) down(_ *trip, w *datum) (*datum, error) { return o.box(w) }

func (o *unwrap) reshape(f *faults, s map[string]any) map[string]any {
	object, ok := openObject(s)
	if !ok || len(object.properties) != 1 || !object.required[o.prop] {
		f.add(o.path+"/prop", "property", "the only property of an object, and a required one")
		return s
	}
	return asSchema(object.properties[o.prop])
}

// grouped are properties that one of two versions holds in an object of their own.
type grouped struct {
	place
	props []string
	group string
}

// gather moves the properties into the group. Without any there is no group, unless there was an empty one.
func (o *grouped) gather(t *trip, n *datum) (*datum, error) {
	return onObject(n, func(members map[string]*datum) error {
		inner := map[string]*datum{}
		for _, name := range o.props {
			if part, ok := members[name]; ok {
				inner[name] = part
				delete(members, name)
			}
		}
		if other, taken := members[o.group]; taken {
			return other.fault("collision", "no such property")
		}
		if _, empty := t.had(o.place); empty || len(inner) > 0 {
			members[o.group] = &datum{members: inner, from: n.from}
		}
		return nil
	})
}

// scatter moves the properties out of the group.
func (o *grouped) scatter(t *trip, n *datum) (*datum, error) {
	return onObject(n, func(members map[string]*datum) error {
		group, ok := members[o.group]
		if ok {
			delete(members, o.group)
		}
		for _, name := range o.props {
			if other, taken := members[name]; taken {
				return other.fault("collision", "no such property")
			}
		}
		if !ok {
			return nil
		}
		if group.members == nil {
			return group.fault("type", "an object")
		}
		for name, part := range group.members {
			if !slices.Contains(o.props, name) {
				return group.fault("additional", "only the properties that the lens names")
			}
			members[name] = part
		}
		if len(group.members) == 0 {
			t.keep(o.place, nil)
		}
		return nil
	})
}

func (o *grouped) touches(part []string) bool {
	return touchesNamed(part, o.group) || touchesNamed(part, o.props...)
}

// nest moves properties of an object into an object of their own.
type nest struct{ grouped }

func (o *nest) up(t *trip, v *datum) (*datum, error)   { return o.gather(t, v) }
func (o *nest) down(t *trip, w *datum) (*datum, error) { return o.scatter(t, w) }

func (o *nest) reshape(f *faults, s map[string]any) map[string]any {
	return f.objects(o, s, o.props, []string{o.group}, func(object *objectShape) {
		inner := newObject()
		for _, name := range o.props {
			inner.put(name, object.properties[name], object.required[name])
			object.remove(name)
		}
		object.put(o.group, inner.schema(), len(inner.required) > 0)
	})
}

// unnest moves all properties of an inner object out of it.
type unnest struct{ grouped }

func (o *unnest) up(t *trip, v *datum) (*datum, error)   { return o.scatter(t, v) }
func (o *unnest) down(t *trip, w *datum) (*datum, error) { return o.gather(t, w) }

func (o *unnest) reshape(f *faults, s map[string]any) map[string]any {
	return f.objects(o, s, []string{o.group}, o.props, func(object *objectShape) {
		inner, ok := openObject(asSchema(object.properties[o.group]))
		if !ok || !slices.Equal(sortedKeys(inner.properties), slices.Sorted(slices.Values(o.props))) {
			f.add(o.path+"/props", "property", "all properties of an inner object, and no others")
			return
		}
		outer := object.required[o.group]
		object.remove(o.group)
		for _, name := range o.props {
			object.put(name, inner.properties[name], outer && inner.required[name])
		}
	})
}
