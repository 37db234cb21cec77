package schema

// renameProp gives a property of an object another name.
type renameProp struct {
	place
	from, to string
}

func (o *renameProp) up(_ *trip, v *datum) (*datum, error)   { return rename(v, o.from, o.to) }
func (o *renameProp) down(_ *trip, w *datum) (*datum, error) { return rename(w, o.to, o.from) }

func rename(n *datum, from, to string) (*datum, error) {
	return onObject(n, func(members map[string]*datum) error {
		if other, taken := members[to]; taken {
			return other.fault("collision", "no such property")
		}
		if part, ok := members[from]; ok {
			delete(members, from)
			members[to] = part
		}
		return nil
	})
}

// onObject changes a copy of an object's members. Null has no properties and stays what it is.
func onObject(n *datum, change func(members map[string]*datum) error) (*datum, error) {
	if n.null() {
		return n, nil
	}
	members, ok := n.object()
	if !ok {
		return nil, n.fault("type", "an object")
	}
	if err := change(members); err != nil {
		return nil, err
	}
	return n.remade(members), nil
}

func (o *renameProp) reshape(f *faults, s map[string]any) map[string]any {
	return f.objects(o, s, []string{o.from}, []string{o.to}, func(object *objectShape) {
		part, required := object.properties[o.from], object.required[o.from]
		object.remove(o.from)
		object.put(o.to, part, required)
	})
}

func (o *renameProp) touches(part []string) bool { return touchesNamed(part, o.from, o.to) }

// property is one that only one of two versions has. With a default, the version that has it requires it.
type property struct {
	place
	prop string
	def  literal
}

// insert puts the property back, or its default, or leaves it out.
func (o *property) insert(t *trip, n *datum) (*datum, error) {
	return onObject(n, func(members map[string]*datum) error {
		if other, taken := members[o.prop]; taken {
			return other.fault("collision", "no such property")
		}
		if kept, ok := t.had(o.place); ok {
			members[o.prop] = kept
		} else if o.def.set {
			members[o.prop] = fill(o.def.value, join(n.from, o.prop))
		}
		return nil
	})
}

// remove takes the property away, and keeps it unless the default says the same.
func (o *property) remove(t *trip, n *datum) (*datum, error) {
	return onObject(n, func(members map[string]*datum) error {
		part, ok := members[o.prop]
		if !ok && o.def.set {
			return n.member(o.prop).fault("required", "the property, which has a default in the lens")
		}
		if ok && !o.def.same(part) {
			t.keep(o.place, part)
		}
		delete(members, o.prop)
		return nil
	})
}

func (o *property) touches(part []string) bool { return touchesNamed(part, o.prop) }

// addProp adds a property.
type addProp struct{ property }

func (o *addProp) up(t *trip, v *datum) (*datum, error)   { return o.insert(t, v) }
func (o *addProp) down(t *trip, w *datum) (*datum, error) { return o.remove(t, w) }

func (o *addProp) reshape(f *faults, s map[string]any) map[string]any {
	made := hole{path: o.path + "/prop", added: true}
	if o.def.set {
		made = hole{path: o.path + "/default", values: []any{o.def.value}, added: true}
	}
	return f.objects(o, s, nil, []string{o.prop}, func(object *objectShape) {
		object.put(o.prop, made.schema(), o.def.set)
	})
}

// dropProp drops a property.
type dropProp struct{ property }

func (o *dropProp) up(t *trip, v *datum) (*datum, error)   { return o.remove(t, v) }
func (o *dropProp) down(t *trip, w *datum) (*datum, error) { return o.insert(t, w) }

func (o *dropProp) reshape(f *faults, s map[string]any) map[string]any {
	return f.objects(o, s, []string{o.prop}, nil, func(object *objectShape) {
		switch part := asSchema(object.properties[o.prop]); {
		case !o.def.set:
		case !requires(s, o.prop):
			f.add(o.path+"/default", "default", "no default: the property may be left out, so the way back leaves it out")
		case !holds(part, o.def.value):
			f.add(o.path+"/default", "default", "a value that the older version allows: "+words(part))
		}
		object.remove(o.prop)
	})
}
