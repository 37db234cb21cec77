package schema

import (
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// ops reads operations. Depth is how many lists of them are around, this one included.
func (f *faults) ops(list []any, at place, depth int) ops {
	if depth > maxHeight {
		f.add(at.path, "depth", fmt.Sprintf("at most %d lists of operations inside one another", maxHeight))
		return nil
	}
	out := make(ops, 0, len(list))
	for i, v := range list {
		step := "/" + strconv.Itoa(i)
		if o := f.op(v, place{at.path + step, at.id + step}, depth); o != nil {
			out = append(out, o)
		}
	}
	return out
}

// refusedOps are changes that no operation on values makes, with what to do instead.
var refusedOps = map[string]string{
	"rename_attribute": "no operation: an attribute with the same tag and another name in the newer document is renamed",
	"one_to_many":      "a new attribute with cardinality many: a lens goes from value to value of one fact (SC31)",
	"many_to_one":      "a new attribute with cardinality one: a lens goes from value to value of one fact (SC32)",
	"split_attribute":  "new attributes: a lens goes from value to value of one fact",
	"join_attributes":  "a new attribute: a lens goes from value to value of one fact",
}

// opNames are the operations there are.
var opNames = []string{
	"add", "affine", "cast", "drop", "each", "in", "join", "map_enum", "nest", "rename_prop", "split", "unnest", "unwrap", "wrap",
}

// op reads one operation; nil when there is no such operation.
func (f *faults) op(v any, at place, depth int) op {
	k := f.keys(v, at.path)
	defer k.close()
	switch name := k.text("op"); name {
	case "rename_prop":
		return k.rename(at)
	case "add":
		return &addProp{property{at, k.prop("prop"), k.literal("default")}}
	case "drop":
		return &dropProp{property{at, k.prop("prop"), k.literal("default")}}
	case "map_enum":
		return k.mapEnum(at)
	case "cast":
		return k.cast(at)
	case "affine":
		return k.affine(at)
	case "wrap":
		return &wrap{boxed{at, k.prop("prop")}}
	case "unwrap":
		return &unwrap{boxed{at, k.prop("prop")}}
	case "nest":
		return &nest{grouped{at, k.props("props"), k.prop("into")}}
	case "unnest":
		return &unnest{grouped{at, k.props("props"), k.prop("from")}}
	case "split":
		return &split{k.parted(at, k.prop("prop"), k.props("into"), "into")}
	case "join":
		return &joined{k.parted(at, k.prop("into"), k.props("props"), "props")}
	case "in":
		return k.in(at, depth)
	case "each":
		return &each{at, f.ops(k.list("ops"), k.inner(at), depth+1)}
	default:
		k.unreadable(name)
		return nil
	}
}

// unreadable adds the fault of an operation that is none.
func (k *keyed) unreadable(name string) {
	for key := range k.members {
		k.asked = append(k.asked, key) // what belongs to it cannot be told
	}
	if _, ok := k.members["op"].(string); !ok {
		return
	}
	if instead, refused := refusedOps[name]; refused {
		k.add(k.path+"/op", "op", instead)
		return
	}
	k.add(k.path+"/op", "op", "one of "+strings.Join(opNames, ", "))
}

// inner is the place of the operations inside an operation.
func (k *keyed) inner(at place) place { return place{at.path + "/ops", at.id + "/ops"} }

func (k *keyed) rename(at place) op {
	o := &renameProp{at, k.prop("from"), k.prop("to")}
	if o.from == o.to && o.from != "" {
		k.add(k.path+"/to", "unique", "another name than from")
	}
	return o
}

func (k *keyed) in(at place, depth int) op {
	o := &inPath{place: at}
	if path, ok := need[string](k, "path", "a JSON pointer such as /address"); ok {
		if o.tokens, ok = pointerTokens(path); !ok || slices.Contains(o.tokens, "") {
			k.add(k.path+"/path", "pointer", "a JSON pointer to a property, such as /address/street")
		}
	}
	o.ops = k.ops(k.list("ops"), k.inner(at), depth+1)
	return o
}

func (k *keyed) mapEnum(at place) op {
	o := &mapEnum{place: at, upFallback: k.scalar("up_fallback"), downFallback: k.scalar("down_fallback")}
	for i, v := range k.list("pairs") {
		path := k.path + "/pairs/" + strconv.Itoa(i)
		pair, ok := v.([]any)
		if !ok || len(pair) != 2 || !isScalar(pair[left]) || !isScalar(pair[right]) {
			k.add(path, "type", "a list of two: the value of the older version, and that of the newer one; neither an object nor a list")
			continue
		}
		used := func(side int) bool {
			return slices.ContainsFunc(o.pairs, func(p [2]any) bool { return p[side] == pair[side] })
		}
		if used(left) && used(right) {
			k.add(path, "unique", "a pair with a value that no earlier pair has on the same side")
		}
		o.pairs = append(o.pairs, [2]any{pair[left], pair[right]})
	}
	return o
}

// scalar asks for a value that may be missing, and is neither an object nor a list.
func (k *keyed) scalar(key string) literal {
	l := k.literal(key)
	if !isScalar(l.value) {
		k.add(join(k.path, key), "type", "a string, a number, true, false or null")
		return literal{}
	}
	return l
}

func isScalar(v any) bool {
	switch v.(type) {
	case map[string]any, []any:
		return false
	}
	return true
}

func (k *keyed) cast(at place) op {
	o := &cast{at, k.text("from"), k.text("to")}
	if k.members != nil && !castable[[2]string{o.from, o.to}] {
		k.add(k.path, "cast", "from string to integer, number or boolean, from integer to number, or the other way round; map_enum for others")
	}
	return o
}

func (k *keyed) affine(at place) op {
	o := &affine{at, k.rational("a"), k.rational("b")}
	if o.a.Sign() == 0 {
		k.add(k.path+"/a", "rational", "another factor than 0: the way back divides by it")
		o.a = big.NewRat(1, 1)
	}
	return o
}

func (k *keyed) parted(at place, whole string, parts []string, key string) parted {
	o := parted{at, whole, parts, k.text("separator")}
	if len(parts) == 1 {
		k.add(join(k.path, key), "range", "at least two properties")
	}
	if o.separator == "" && k.members["separator"] == "" {
		k.add(k.path+"/separator", "range", "text that is not empty")
	}
	return o
}
