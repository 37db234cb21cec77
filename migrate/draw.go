package migrate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/schema"
)

// Options are the decisions that go into a plan.
type Options struct {
	// Type is the memory type.
	Type string
	// From is the version that tenants are in, as they read it now. Zero: the lowest that one of them is in.
	From int
	// To is the version to migrate to. Zero: the newest.
	To int
	// Tenants are those to migrate. Nil: every tenant of the ledger.
	Tenants []string
	// Deletions say what becomes of the facts of each attribute that is removed, by its name in version From. A removed
	// attribute without one is [ErrNoDeletionRule].
	Deletions map[string]schema.Disposition
	// Quarantine says what becomes of facts without a form in the new version. Empty is RefuseQuarantine.
	Quarantine QuarantinePolicy
	// Clock measures how long reading and converting takes. Nil: the plan has no times.
	Clock func() time.Time
}

// newFactRules are the rules of changes that ask for other facts: no encoding of the old ones would do.
var newFactRules = []string{"SC31", "SC32", "SC33"}

// Draw makes a plan. It reads every fact of the type and converts it, and writes nothing.
//
// It refuses a version that changes what may not be changed, or cannot be read as the one before: a [*RefusedError]. A
// change of cardinality or of what identifies a member is ErrNewAttribute: such facts belong into an attribute of their
// own. A removed attribute without a deletion rule is a [*DeletionRuleError].
func Draw(ctx context.Context, l *sgam.Ledger, opts Options) (*Plan, error) {
	if err := opts.check(); err != nil {
		return nil, err
	}
	d := drawing{l: l, opts: opts, plan: &Plan{
		Type: opts.Type, Quarantine: opts.Quarantine, Indexes: []string{}, Tenants: []TenantPlan{},
	}}
	if d.plan.Quarantine == "" {
		d.plan.Quarantine = RefuseQuarantine
	}
	return d.plan, d.draw(ctx)
}

func (o *Options) check() error {
	if q := o.Quarantine; q != "" && q != RefuseQuarantine && q != LeaveQuarantine {
		return &sgam.FieldError{Field: "quarantine", Rule: "enum", Want: "refuse or leave"}
	}
	return nil
}

// drawing is a plan in the making.
type drawing struct {
	l     *sgam.Ledger
	opts  Options
	plan  *Plan
	route *route
}

func (d *drawing) draw(ctx context.Context) error {
	scout, err := readRoute(ctx, d.l, d.opts.Type, 0, d.opts.To)
	if err != nil {
		return err
	}
	if d.opts.From < 0 || d.opts.From >= scout.to {
		return &sgam.FieldError{Field: "from", Rule: "range", Want: "a version before the one that is migrated to, or 0"}
	}
	stand, err := d.stands(ctx, scout)
	if err != nil {
		return err
	}
	from, err := d.choose(scout, stand)
	if err != nil {
		return err
	}
	if d.route, err = readRoute(ctx, d.l, d.opts.Type, from, scout.to); err != nil {
		return err
	}
	d.plan.From, d.plan.To = from, scout.to
	d.plan.Base, d.plan.Steps = d.route.docs[from-1].Hash, d.route.steps()
	if err := d.judge(); err != nil {
		return err
	}
	if err := d.deletions(); err != nil {
		return err
	}
	for _, s := range stand {
		if s.why != "" {
			d.plan.LeftOut = append(d.plan.LeftOut, LeftOut{Tenant: s.tenant.Name(), Why: s.why})
			continue
		}
		if err := d.predict(ctx, &s); err != nil {
			return err
		}
	}
	return nil
}

// standing is where a tenant is before the migration.
type standing struct {
	tenant *sgam.Tenant
	epoch  sgam.Epoch
	serial int64
	why    string // it is left out
	moved  bool   // its writers have moved on to the new version by themselves, or will
}

// stands looks at every tenant.
func (d *drawing) stands(ctx context.Context, r *route) ([]standing, error) {
	names := slices.Clone(d.opts.Tenants)
	if names == nil {
		for name, err := range d.l.Tenants(ctx) {
			if err != nil {
				return nil, err
			}
			names = append(names, name)
		}
	}
	var all []standing
	for _, name := range names {
		t, err := d.l.Tenant(name)
		if err != nil {
			return nil, err
		}
		s := standing{tenant: t}
		epoch, rec, err := stand(ctx, t, d.opts.Type)
		if err != nil {
			return nil, err
		}
		s.epoch = r.resolved(epoch)
		if rec != nil {
			s.serial = rec.serial
		}
		switch {
		case rec != nil && rec.state.active():
			s.why = fmt.Sprintf("migration %d is %s", rec.serial, rec.state)
		case s.epoch.Write == 0:
			s.why = "no facts of the type"
		case s.epoch.Read >= r.to:
			s.why = fmt.Sprintf("version %d already", s.epoch.Read)
			s.moved = epoch.Read < s.epoch.Read
		}
		all = append(all, s)
	}
	return all, nil
}

// stand is a tenant's newest epoch and migration of a type, zero and nil where it has none.
func stand(ctx context.Context, t *sgam.Tenant, typ string) (epoch sgam.Epoch, rec *record, err error) {
	epochs, err := t.Epochs(ctx)
	if err != nil {
		return epoch, nil, err
	}
	for _, e := range epochs {
		if e.Type == typ {
			epoch = e
		}
	}
	records, err := t.Migrations(ctx)
	if err != nil {
		return epoch, nil, err
	}
	for i := range records {
		if records[i].Type == typ {
			if rec, err = decodeRecord(&records[i]); err != nil {
				return epoch, nil, err
			}
		}
	}
	return epoch, rec, nil
}

// choose is the version that the plan begins at. Tenants in other versions are left out.
func (d *drawing) choose(r *route, stand []standing) (int, error) {
	from := d.opts.From
	for _, s := range stand {
		if s.why == "" && d.opts.From == 0 && (from == 0 || s.epoch.Read < from) {
			from = s.epoch.Read
		}
	}
	if d.opts.From > 0 && r.knows(from) && from < r.to && r.alike(from, r.to) {
		return 0, ErrSameShape
	}
	left, moved := false, false
	for i := range stand {
		s := &stand[i]
		moved = moved || s.moved
		if s.why == "" && s.epoch.Read != from {
			s.why = fmt.Sprintf("version %d, not %d", s.epoch.Read, from)
		}
		left = left || s.why == ""
	}
	switch {
	case left:
		return from, nil
	case moved:
		return 0, ErrSameShape
	}
	return 0, &NothingError{LeftOut: d.plan.LeftOut}
}

// judge compares the versions on the way, step by step.
func (d *drawing) judge() error {
	var refused []schema.Change
	for i := range d.plan.Steps {
		s := &d.plan.Steps[i]
		older, newer := d.route.docs[s.Version-2].TypeDocument, d.route.docs[s.Version-1].TypeDocument
		changes, err := schema.Compare(older, newer)
		if err != nil {
			return err
		}
		s.Changes = changes
		lensed, err := lensedAttributes(newer.Lens)
		if err != nil {
			return err
		}
		for _, c := range changes {
			if d.refuses(&c, lensed) {
				refused = append(refused, c)
			}
		}
	}
	if len(refused) > 0 {
		return &RefusedError{Changes: refused}
	}
	return nil
}

// refuses tells whether a change stands in the way. What a comparison calls a break is none where a lens has operations for
// the attribute: those were held against both schemas when the lens was declared.
func (d *drawing) refuses(c *schema.Change, lensed []string) bool {
	switch {
	case slices.Contains(newFactRules, c.Rule):
		return true
	case c.Backward == schema.VerdictForbid || c.Forward == schema.VerdictForbid:
		return true
	}
	return c.Backward == schema.VerdictBreak && !slices.ContainsFunc(lensed, func(at string) bool { return strings.HasPrefix(c.Path, at) })
}

// lensedAttributes are the paths, as changes name them, of the attributes that a lens has operations for.
func lensedAttributes(lens *sgam.LensDocument) ([]string, error) {
	if lens == nil {
		return nil, nil
	}
	var doc struct {
		Attributes []struct {
			Tag int `json:"tag"`
		} `json:"attributes"`
	}
	if err := json.Unmarshal(lens.JSON, &doc); err != nil {
		return nil, fmt.Errorf("migrate: stored lens: %w", err)
	}
	paths := make([]string, len(doc.Attributes))
	for i, a := range doc.Attributes {
		paths[i] = fmt.Sprintf("attributes/%d/", a.Tag)
	}
	return paths, nil
}

// deletions holds the rules against the attributes that are removed.
func (d *drawing) deletions() error {
	older, newer := d.route.docs[d.plan.From-1].Attributes, d.route.docs[d.plan.To-1].Attributes
	d.plan.Deletions = map[string]schema.Disposition{}
	var missing []string
	for _, a := range older {
		if slices.ContainsFunc(newer, func(b sgam.AttributeName) bool { return b.Tag == a.Tag }) {
			continue
		}
		switch rule := d.opts.Deletions[a.Name]; rule {
		case schema.KeepReadable, schema.Expire, schema.Erase:
			d.plan.Deletions[a.Name] = rule
		case "":
			missing = append(missing, a.Name)
		default:
			return &sgam.FieldError{Field: "deletions/" + a.Name, Rule: "enum", Want: "keep_readable, expire or erase"}
		}
	}
	if len(missing) > 0 {
		return &DeletionRuleError{Attributes: missing}
	}
	for _, name := range slices.Sorted(maps.Keys(d.opts.Deletions)) {
		if _, used := d.plan.Deletions[name]; !used {
			return &sgam.FieldError{Field: "deletions/" + name, Rule: "unknown", Want: "an attribute that the new version removes"}
		}
	}
	return nil
}

// predict counts one tenant's facts by what will become of them.
func (d *drawing) predict(ctx context.Context, s *standing) error {
	var began time.Time
	if d.opts.Clock != nil {
		began = d.opts.Clock()
	}
	c := census{conv: newConversions(d.l), route: d.route, by: map[sgam.AttributeID]*Prediction{}}
	tp := TenantPlan{Tenant: s.tenant.Name(), Serial: s.serial + 1, Epoch: s.epoch}
	err := c.take(ctx, s.tenant, func(v *sgam.StoredValue, f fate, made conversion) error {
		if f == converts && made.unfit == nil {
			tp.Estimate.Rows++
			tp.Estimate.Bytes += int64(len(made.Value) + len(d.route.path(v.Version, d.plan.To)) + encodingOverhead)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if d.opts.Clock != nil {
		tp.Estimate.Seconds = seconds(d.opts.Clock().Sub(began))
	}
	tp.Attributes = c.predictions()
	d.plan.Tenants = append(d.plan.Tenants, tp)
	return nil
}

// encodingOverhead is about what an encoding takes on disk beside its value and lens: keys, times, flags, and the digest by
// which the value is known again.
const encodingOverhead = 110

// fresh reads the plan's route and refuses when documents or lenses have moved.
func (p *Plan) fresh(ctx context.Context, l *sgam.Ledger) (*route, error) {
	r, err := readRoute(ctx, l, p.Type, p.From, p.To)
	if _, wrong := errors.AsType[*sgam.FieldError](err); wrong {
		return nil, &StaleError{What: fmt.Sprintf("registry of type %q", p.Type)}
	}
	if err != nil {
		return nil, err
	}
	if what := r.moved(p.Base, p.Steps); what != "" {
		return nil, &StaleError{What: what}
	}
	return r, nil
}
