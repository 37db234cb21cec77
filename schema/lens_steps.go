package schema

import (
	"fmt"

	"github.com/sgam-ledger/sgam"
)

// lensBetween is two versions that follow one another, and the lens between them, nil when there is none.
type lensBetween struct {
	older, newer *document
	lens         *lens
}

// follows checks that one document follows the other, and that both, and the lens, are what their hashes say.
func follows(older, newer sgam.TypeDocument) error {
	if older.Type != newer.Type || older.Version+1 != newer.Version {
		return fmt.Errorf("schema: type %q version %d does not follow type %q version %d: %w",
			newer.Type, newer.Version, older.Type, older.Version, sgam.ErrSchemaGap)
	}
	for _, doc := range []sgam.TypeDocument{older, newer} {
		if digest(doc.JSON) != doc.Hash {
			return fmt.Errorf("schema: type %q version %d is not the document that its hash names", doc.Type, doc.Version)
		}
	}
	if newer.Lens != nil && digest(newer.Lens.JSON) != newer.Lens.Hash {
		return fmt.Errorf("schema: the lens into type %q version %d is not the one that its hash names", newer.Type, newer.Version)
	}
	return nil
}

// openBoth decodes two documents of which one follows the other.
func openBoth(older, newer sgam.TypeDocument) (*lensBetween, error) {
	both := &lensBetween{}
	for _, side := range []struct {
		doc  sgam.TypeDocument
		into **document
	}{{older, &both.older}, {newer, &both.newer}} {
		d, _, err := parse(side.doc.JSON)
		if err != nil {
			return nil, err
		}
		if d.typ != side.doc.Type || d.version != side.doc.Version {
			return nil, fmt.Errorf("schema: type %q version %d is not what its document says it is", side.doc.Type, side.doc.Version)
		}
		*side.into = d
	}
	return both, nil
}

// openSteps decodes two documents, and the lens that stands with the newer one.
func openSteps(older, newer sgam.TypeDocument) (*lensBetween, error) {
	if newer.Lens == nil {
		return openBoth(older, newer)
	}
	both, _, err := parseLens(newer.Lens.JSON, older, newer)
	return both, err
}

// steps makes a step for each attribute that both versions have, by tag.
func (b *lensBetween) steps() (map[int]sgam.AttributeStep, error) {
	steps := map[int]sgam.AttributeStep{}
	for i := range b.newer.attributes {
		newer := &b.newer.attributes[i]
		older := b.older.tagged(newer.tag)
		if older == nil {
			continue
		}
		step, err := b.step(older, newer)
		if err != nil {
			return nil, fmt.Errorf("schema: type %q version %d: attribute %q: %w", b.newer.typ, b.newer.version, newer.name, err)
		}
		steps[newer.tag] = step
	}
	return steps, nil
}

func (b *lensBetween) step(older, newer *attribute) (sgam.AttributeStep, error) {
	step := sgam.AttributeStep{Tag: newer.tag}
	before, err := compile(older.schema)
	if err != nil {
		return step, err
	}
	after, err := compile(newer.schema)
	if err != nil {
		return step, err
	}
	if b.lens != nil {
		for _, a := range b.lens.attributes {
			if a.tag == newer.tag {
				step.Up, step.Down = conversion(a.ops.up, after), conversion(a.ops.down, before)
				return step, nil
			}
		}
	}
	backward, forward := attributeVerdict(older, newer)
	step.Up, step.Down = unchanged(backward, after), unchanged(forward, before)
	return step, nil
}

// unchanged takes values over as they are, as far as the verdict on the change lets them. Where some values of the older
// version are gone from the newer one, the others still mean the same.
func unchanged(v Verdict, into *judge) func(sgam.Converted) (sgam.Converted, error) {
	switch v {
	case VerdictOK:
		return nil
	case VerdictData, VerdictDataLens:
		return func(c sgam.Converted) (sgam.Converted, error) {
			if found := into.check(c.Value); len(found) > 0 {
				return sgam.Converted{}, &found[0]
			}
			return c, nil
		}
	default:
		return func(sgam.Converted) (sgam.Converted, error) {
			return sgam.Converted{}, &sgam.FieldError{Rule: "lens", Want: "a lens between the two versions with operations for this attribute"}
		}
	}
}

// conversion takes values through a lens.
func conversion(way func(*trip, *datum) (*datum, error), into *judge) func(sgam.Converted) (sgam.Converted, error) {
	return func(c sgam.Converted) (sgam.Converted, error) {
		v, err := decodeDatum(c.Value)
		if err != nil {
			return sgam.Converted{}, err
		}
		for _, pointer := range c.Defaulted {
			v.fillAt(pointer)
		}
		t := trip{}
		w, err := way(&t, v)
		if err != nil {
			return sgam.Converted{}, err
		}
		out := sgam.Converted{Lossy: len(t.lost) > 0}
		var plain any
		if out.Value, plain, err = w.encode(&out.Defaulted); err != nil {
			return sgam.Converted{}, err
		}
		if found := into.checkDecoded(plain); len(found) > 0 {
			found[0].Field = w.origin(found[0].Field)
			return sgam.Converted{}, &found[0]
		}
		return out, nil
	}
}
