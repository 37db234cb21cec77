package migrate

import (
	"context"
	"slices"
	"strings"

	"github.com/sgam-ledger/sgam"
)

// census counts a tenant's facts of the type by what a migration does with them.
type census struct {
	conv  *conversions
	route *route
	by    map[sgam.AttributeID]*Prediction
}

// take looks at every fact, and shows each to see with what became of its value.
func (c *census) take(ctx context.Context, t *sgam.Tenant, see func(*sgam.StoredValue, fate, conversion) error) error {
	for v, err := range t.Values(ctx, c.route.typ, 0) {
		if err != nil {
			return err
		}
		f := c.route.fate(&v)
		var made conversion
		if f == converts {
			if made, err = c.conv.stored(ctx, &v, c.route.to); err != nil {
				return err
			}
		}
		c.count(&v, f, made)
		if err := see(&v, f, made); err != nil {
			return err
		}
	}
	return nil
}

func (c *census) count(v *sgam.StoredValue, f fate, made conversion) {
	p := c.by[v.Slot.Attribute]
	if p == nil {
		p = &Prediction{Attribute: v.Attribute}
		c.by[v.Slot.Attribute] = p
	}
	p.Facts++
	switch f {
	case converts:
		p.Convert++
		switch {
		case made.unfit != nil:
			p.Quarantine++
		case len(made.Defaulted) > 0:
			p.Defaulted++
		}
		if made.Lossy {
			p.Lossy++
		}
	case recorded:
		p.Recorded++
	case encoded:
		p.Encoded++
	case removed:
		p.Removed++
	case erased:
		p.Erased++
	}
}

// predictions are the counts in order of attribute.
func (c *census) predictions() []Prediction {
	all := make([]Prediction, 0, len(c.by))
	for _, p := range c.by {
		all = append(all, *p)
	}
	slices.SortFunc(all, func(a, b Prediction) int { return strings.Compare(a.Attribute, b.Attribute) })
	return all
}
