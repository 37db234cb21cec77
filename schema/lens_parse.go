package schema

import (
	"fmt"
	"math"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// maxRational is how long a factor of an affine operation may be, in bytes.
const maxRational = 64

// literal is a JSON value that may be null, or not there.
type literal struct {
	value any
	set   bool
}

// same reports whether a node says what the literal says.
func (l literal) same(n *datum) bool {
	if !l.set {
		return false
	}
	ours, err := canonical(l.value)
	theirs, err2 := canonical(n.plain("", new([]string)))
	return err == nil && err2 == nil && string(ours) == string(theirs)
}

// keyed reads the members of a JSON object: what nobody asks for is unknown.
type keyed struct {
	*faults
	path    string
	members map[string]any
	asked   []string
}

// keys begins to read an object.
func (f *faults) keys(v any, path string) *keyed {
	members, ok := v.(map[string]any)
	if !ok {
		f.add(path, "type", "an object")
	}
	return &keyed{faults: f, path: path, members: members}
}

// close adds a fault for each member that nobody asked for.
func (k *keyed) close() {
	slices.Sort(k.asked)
	for _, key := range sortedKeys(k.members) {
		if !slices.Contains(k.asked, key) {
			k.add(join(k.path, key), "unknown", "one of "+strings.Join(k.asked, ", "))
		}
	}
}

func (k *keyed) literal(key string) literal {
	k.asked = append(k.asked, key)
	v, ok := k.members[key]
	return literal{v, ok}
}

// need asks for a member that must be there. Where even the object is missing, that is fault enough.
func need[T any](k *keyed, key, want string) (T, bool) {
	l := k.literal(key)
	v, ok := l.value.(T)
	switch {
	case ok || k.members == nil:
	case l.set:
		k.add(join(k.path, key), "type", want)
	default:
		k.add(join(k.path, key), "required", want)
	}
	return v, ok
}

func (k *keyed) text(key string) string {
	s, _ := need[string](k, key, typeWords["string"])
	return s
}

func (k *keyed) whole(key string) int {
	v, ok := need[float64](k, key, typeWords["integer"])
	if ok && (v != math.Trunc(v) || math.Abs(v) > maxTag) {
		k.add(join(k.path, key), "range", typeWords["integer"])
		return 0
	}
	return int(v)
}

// list asks for a list that is not empty.
func (k *keyed) list(key string) []any {
	list, ok := need[[]any](k, key, "a list")
	if ok && len(list) == 0 {
		k.add(join(k.path, key), "required", "at least one")
	}
	return list
}

// prop asks for the name of a property.
func (k *keyed) prop(key string) string {
	s, ok := need[string](k, key, "the name of a property")
	if ok {
		k.propName(join(k.path, key), s)
	}
	return s
}

func (k *keyed) propName(path, s string) {
	if s == "" || len(s) > maxName {
		k.add(path, "name", fmt.Sprintf("a name of 1 to %d bytes", maxName))
	}
}

// props asks for the names of properties, each once.
func (k *keyed) props(key string) []string {
	var names []string
	for i, v := range k.list(key) {
		at := join(k.path, key) + "/" + strconv.Itoa(i)
		s, ok := v.(string)
		switch {
		case !ok:
			k.add(at, "type", "the name of a property")
		case slices.Contains(names, s):
			k.add(at, "unique", "each name once")
		default:
			k.propName(at, s)
			names = append(names, s)
		}
	}
	return names
}

// rational asks for a fraction, and writes it in lowest terms.
func (k *keyed) rational(key string) *big.Rat {
	s, ok := need[string](k, key, rationalWords)
	if !ok {
		return new(big.Rat)
	}
	r, ok := new(big.Rat), len(s) <= maxRational && rational.MatchString(s)
	if ok {
		r, ok = r.SetString(s)
	}
	if !ok {
		k.add(join(k.path, key), "rational", rationalWords)
		return new(big.Rat)
	}
	k.members[key] = r.RatString()
	return r
}

const rationalWords = `a whole number or a fraction as a string, such as "32" or "-5/9"`

var rational = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(/[1-9][0-9]*)?$`)
