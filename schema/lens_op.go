package schema

import (
	"slices"
	"strconv"
)

// op is one operation of a lens. It works on one value, and on the schema of that value.
//
// Its laws hold for every value, whether a schema allows it or not: where up gives a value, down makes of that value and
// the complement the first one again, and the other way round; where one of them cannot, it is a [*sgam.FieldError]. A
// way that leaves no complement and fills nothing in has its way back in the value alone.
type op interface {
	up(t *trip, v *datum) (*datum, error)
	down(t *trip, w *datum) (*datum, error)
	// reshape makes the schema of what up gives from the schema of what it takes. Where the schema has no place for the
	// operation it adds a fault, and the result is only good for finding more of them.
	reshape(f *faults, s map[string]any) map[string]any
	at() place
	// touches reports whether the operation reads or writes the part at a place in the value that it works on.
	touches(part []string) bool
}

// ops are operations one after another.
type ops []op

func (list ops) up(t *trip, v *datum) (*datum, error) {
	var err error
	for _, o := range list {
		if v, err = o.up(t, v); err != nil {
			return nil, err
		}
	}
	return v, nil
}

func (list ops) down(t *trip, w *datum) (*datum, error) {
	var err error
	for _, o := range slices.Backward(list) {
		if w, err = o.down(t, w); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// reshape stops at the first fault: what follows would be judged by a schema that is not there.
func (list ops) reshape(f *faults, s map[string]any) map[string]any {
	before := len(f.found)
	for _, o := range list {
		if s = o.reshape(f, s); len(f.found) > before {
			break
		}
	}
	return s
}

func (list ops) touches(part []string) bool {
	return slices.ContainsFunc(list, func(o op) bool { return o.touches(part) })
}

// place is where an operation stands.
type place struct {
	path string // in the lens as sent
	id   string // in the ways through several versions
}

func (p place) at() place { return p }

// touchesNamed is [op.touches] for operations on the named properties of an object.
func touchesNamed(part []string, names ...string) bool {
	return len(part) == 0 || slices.Contains(names, part[0])
}

// inPath works on a part of an object. Where there is no such part there is nothing to do.
type inPath struct {
	place
	tokens []string
	ops    ops
}

func (o *inPath) up(t *trip, v *datum) (*datum, error) {
	return descend(v, o.tokens, func(n *datum) (*datum, error) { return o.ops.up(t, n) })
}

func (o *inPath) down(t *trip, w *datum) (*datum, error) {
	return descend(w, o.tokens, func(n *datum) (*datum, error) { return o.ops.down(t, n) })
}

// descend puts another part in the place of the one that the tokens lead to.
func descend(n *datum, tokens []string, change func(*datum) (*datum, error)) (*datum, error) {
	if len(tokens) == 0 {
		return change(n)
	}
	if n.null() {
		return n, nil
	}
	members, ok := n.object()
	if !ok {
		return nil, n.fault("type", "an object")
	}
	part, ok := members[tokens[0]]
	if !ok {
		return n, nil
	}
	changed, err := descend(part, tokens[1:], change)
	if err != nil {
		return nil, err
	}
	members[tokens[0]] = changed
	return n.remade(members), nil
}

func (o *inPath) reshape(f *faults, s map[string]any) map[string]any {
	if h, ok := holeOf(s); ok && h.added {
		f.add(o.path+"/path", "added", "a part of the older version: what the lens adds, it adds as the newer version wants it")
		return s
	}
	if len(o.tokens) == 0 {
		return o.ops.reshape(f, s)
	}
	inner := &inPath{place: o.place, tokens: o.tokens[1:], ops: o.ops}
	return f.objects(o, s, o.tokens[:1], nil, func(object *objectShape) {
		object.properties[o.tokens[0]] = inner.reshape(f, asSchema(object.properties[o.tokens[0]]))
	})
}

func (o *inPath) touches(part []string) bool {
	n := min(len(part), len(o.tokens))
	if !slices.Equal(part[:n], o.tokens[:n]) {
		return false
	}
	return n == len(part) || o.ops.touches(part[n:])
}

// each works on every item of an array. Null has none.
type each struct {
	place
	ops ops
}

func (o *each) up(t *trip, v *datum) (*datum, error)   { return o.items(t, v, o.ops.up) }
func (o *each) down(t *trip, w *datum) (*datum, error) { return o.items(t, w, o.ops.down) }

func (o *each) items(t *trip, n *datum, change func(*trip, *datum) (*datum, error)) (*datum, error) {
	if n.null() {
		return n, nil
	}
	if !n.isArray {
		return nil, n.fault("type", "a list")
	}
	items := make([]*datum, len(n.items))
	for i, item := range n.items {
		t.items = append(t.items, strconv.Itoa(i))
		changed, err := change(t, item)
		t.items = t.items[:len(t.items)-1]
		if err != nil {
			return nil, err
		}
		items[i] = changed
	}
	return &datum{isArray: true, items: items, from: n.from, filled: n.filled}, nil
}

func (o *each) reshape(f *faults, s map[string]any) map[string]any {
	if base(s) != "array" {
		f.add(o.path, "type", "a list here: "+found(s))
		return s
	}
	s = reshaped(s)
	s["items"] = o.ops.reshape(f, asSchema(s["items"]))
	return s
}

func (o *each) touches([]string) bool { return true }
