package migrate

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/schema"
)

// Report is what a migration would do. Nothing in it is a value that a schema says to mask.
type Report struct {
	Plan    string         `json:"plan"` // its digest
	Type    string         `json:"type"`
	From    int            `json:"from"`
	To      int            `json:"to"`
	Tenants []TenantReport `json:"tenants"`
}

// TenantReport is what a migration would do to one tenant.
type TenantReport struct {
	Tenant     string            `json:"tenant"`
	Attributes []AttributeReport `json:"attributes"`
	// Unrecallable is what a reader of the new version would not find any more, by attribute.
	Unrecallable []Unrecallable `json:"unrecallable,omitempty"`
	// Rejected are held candidates that could not be accepted any more.
	Rejected []RejectedCandidate `json:"rejected,omitempty"`
}

// AttributeReport is what a migration would do to the facts of one attribute.
type AttributeReport struct {
	Prediction
	// Examples are up to five values that would change, each another one.
	Examples []Example `json:"examples,omitempty"`
	// Reasons say why facts would come into quarantine, the most frequent first.
	Reasons []Reason `json:"reasons,omitempty"`
	// Current says how answers about the present would change, beyond their shape.
	Current CurrentChanges `json:"current"`
}

// Example is one value before and after. Of attributes that are more than internal only the shape is shown: the JSON types
// in place of the values.
type Example struct {
	Memory sgam.MemoryID   `json:"memory_id"`
	Before json.RawMessage `json:"before"`
	After  json.RawMessage `json:"after"`
	Masked bool            `json:"masked,omitempty"`
}

// Reason is a rule that values break, and where in the fact.
type Reason struct {
	Rule    string `json:"rule"`
	Pointer string `json:"pointer"`
	Facts   int64  `json:"facts"`
}

// CurrentChanges count facts that hold now and would be answered otherwise.
type CurrentChanges struct {
	// Lossy would miss something, Defaulted would have something that nobody said, Unmigrated would be an error.
	Lossy      int64 `json:"lossy,omitempty"`
	Defaulted  int64 `json:"defaulted,omitempty"`
	Unmigrated int64 `json:"unmigrated,omitempty"`
	// Memories are the first of them.
	Memories []sgam.MemoryID `json:"memories,omitempty"`
}

// Unrecallable counts facts that readers do not find any more: of a removed attribute that its deletion rule expires or erases,
// or without a form in the new version.
type Unrecallable struct {
	Attribute string             `json:"attribute"`
	Rule      schema.Disposition `json:"rule,omitempty"`
	Removed   int64              `json:"removed,omitempty"`
	NoForm    int64              `json:"no_form,omitempty"`
}

// RejectedCandidate is a held delta that the new version refuses.
type RejectedCandidate struct {
	Memory    sgam.MemoryID `json:"memory_id"`
	Status    sgam.Outcome  `json:"status"`
	Attribute string        `json:"attribute"`
	Rule      string        `json:"rule"`
	Pointer   string        `json:"pointer"`
}

// Quarantine is how many facts would come into quarantine.
func (r *Report) Quarantine() int64 {
	n := int64(0)
	for _, t := range r.Tenants {
		for i := range t.Attributes {
			n += t.Attributes[i].Quarantine
		}
	}
	return n
}

const (
	maxExamples = 5
	// scopesAtOnce bounds how many scopes one question names.
	scopesAtOnce = 100
)

// DryRun says what a run of the plan would do, from a conversion of every value, and writes nothing. A plan that the
// ledger has moved away from is a [*StaleError].
func DryRun(ctx context.Context, l *sgam.Ledger, plan *Plan) (*Report, error) {
	digest, err := plan.Digest()
	if err != nil {
		return nil, err
	}
	r, err := plan.fresh(ctx, l)
	if err != nil {
		return nil, err
	}
	report := &Report{Plan: digest, Type: plan.Type, From: plan.From, To: plan.To, Tenants: []TenantReport{}}
	for i := range plan.Tenants {
		t, err := l.Tenant(plan.Tenants[i].Tenant)
		if err != nil {
			return nil, err
		}
		epoch, rec, err := stand(ctx, t, plan.Type)
		if err != nil {
			return nil, err
		}
		epoch = r.resolved(epoch)
		if planned := plan.Tenants[i].Epoch; epoch.Read != planned.Read || epoch.Write != planned.Write || epoch.Second != planned.Second {
			return nil, &StaleError{Tenant: t.Name(), What: "epoch"}
		}
		if rec != nil && rec.serial >= plan.Tenants[i].Serial {
			return nil, &StaleError{Tenant: t.Name(), What: "migration"}
		}
		h := rehearsal{
			census: census{conv: newConversions(l), route: r, by: map[sgam.AttributeID]*Prediction{}}, plan: plan, tenant: t,
			notes: map[sgam.AttributeID]*notes{}, scopes: map[sgam.Scope]bool{},
		}
		one, err := h.rehearse(ctx)
		if err != nil {
			return nil, err
		}
		report.Tenants = append(report.Tenants, *one)
	}
	return report, nil
}

// rehearsal is the dry run of one tenant.
type rehearsal struct {
	census
	plan   *Plan
	tenant *sgam.Tenant
	notes  map[sgam.AttributeID]*notes
	scopes map[sgam.Scope]bool
}

// notes are what a report says of one attribute beside the counts.
type notes struct {
	examples []Example
	before   []string // the values of the examples
	reasons  map[Reason]int64
	current  CurrentChanges
}

func (h *rehearsal) of(id sgam.AttributeID) *notes {
	n := h.notes[id]
	if n == nil {
		n = &notes{reasons: map[Reason]int64{}}
		h.notes[id] = n
	}
	return n
}

func (h *rehearsal) rehearse(ctx context.Context) (*TenantReport, error) {
	if err := h.take(ctx, h.tenant, h.note); err != nil {
		return nil, err
	}
	scopes := slices.Sorted(maps.Keys(h.scopes))
	for some := range slices.Chunk(scopes, scopesAtOnce) {
		if err := h.current(ctx, some); err != nil {
			return nil, err
		}
	}
	out := &TenantReport{Tenant: h.tenant.Name(), Attributes: []AttributeReport{}}
	for _, p := range h.predictions() {
		n := h.of(h.route.names[p.Attribute])
		out.Attributes = append(out.Attributes, AttributeReport{Prediction: p, Examples: n.examples, Reasons: n.sorted(), Current: n.current})
		lost := Unrecallable{Attribute: p.Attribute, Rule: h.plan.Deletions[p.Attribute], Removed: p.Removed, NoForm: p.Quarantine}
		if lost.Rule == schema.KeepReadable {
			lost.Removed = 0 // they answer in their last version
		}
		if lost.Removed > 0 || lost.NoForm > 0 {
			out.Unrecallable = append(out.Unrecallable, lost)
		}
	}
	var err error
	out.Rejected, err = h.rejected(ctx)
	return out, err
}

// note takes down what a conversion shows.
func (h *rehearsal) note(v *sgam.StoredValue, f fate, made conversion) error {
	h.scopes[v.Slot.Scope] = true
	if f != converts {
		return nil
	}
	n := h.of(v.Slot.Attribute)
	if fe := made.unfit; fe != nil {
		n.reasons[Reason{Rule: fe.Rule, Pointer: pointer(fe)}]++
		return nil
	}
	before := string(v.Value)
	if len(n.examples) == maxExamples || before == string(made.Value) || slices.Contains(n.before, before) {
		return nil
	}
	e := Example{Memory: v.Memory, Before: v.Value, After: made.Value}
	if !h.route.attrs[v.Slot.Attribute].open {
		e.Masked = true
		for _, value := range []*json.RawMessage{&e.Before, &e.After} {
			var err error
			if *value, err = shapeOf(*value); err != nil {
				return err
			}
		}
	}
	n.examples, n.before = append(n.examples, e), append(n.before, before)
	return nil
}

func (n *notes) sorted() []Reason {
	var all []Reason
	for r, facts := range n.reasons {
		r.Facts = facts
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b Reason) int {
		return cmp.Or(cmp.Compare(b.Facts, a.Facts), cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Pointer, b.Pointer))
	})
	return all
}

// current looks at what holds now in some scopes.
func (h *rehearsal) current(ctx context.Context, scopes []sgam.Scope) error {
	for f, err := range h.tenant.Current().In(scopes...).Facts(ctx, sgam.Filter{Types: []string{h.plan.Type}}) {
		if errors.Is(err, sgam.ErrUnmigrated) {
			continue // it has no answer now
		}
		if err != nil {
			return err
		}
		id := h.route.names[f.Attribute]
		if a := h.route.attrs[id]; a == nil || !a.inTo || h.route.same(id, f.SchemaVersion, h.plan.To) {
			continue
		}
		made, err := h.conv.of(ctx, id, f.Attribute, f.SchemaVersion, h.plan.To, f.Value)
		if err != nil {
			return err
		}
		n := &h.of(id).current
		if made.unfit != nil {
			n.Unmigrated++
		}
		if made.Lossy {
			n.Lossy++
		}
		if len(made.Defaulted) > 0 {
			n.Defaulted++
		}
		if (made.unfit != nil || made.Lossy || len(made.Defaulted) > 0) && len(n.Memories) < maxExamples {
			n.Memories = append(n.Memories, f.ID)
		}
	}
	return nil
}

// rejected lists the held candidates that the new version refuses.
func (h *rehearsal) rejected(ctx context.Context) ([]RejectedCandidate, error) {
	var all []RejectedCandidate
	for c, err := range h.tenant.Held(ctx, sgam.Pending, sgam.Disputed) {
		if err != nil {
			return nil, err
		}
		id := h.route.names[c.Delta.Attribute]
		if a := h.route.attrs[id]; a == nil || !a.inTo || len(c.Delta.Value) == 0 || !h.route.knows(c.Delta.SchemaVersion) {
			continue
		}
		made, err := h.conv.of(ctx, id, c.Delta.Attribute, c.Delta.SchemaVersion, h.plan.To, c.Delta.Value)
		if err != nil {
			return nil, err
		}
		if fe := made.unfit; fe != nil {
			all = append(all, RejectedCandidate{Memory: c.Memory, Status: c.Status, Attribute: c.Delta.Attribute, Rule: fe.Rule, Pointer: pointer(fe)})
		}
	}
	return all, nil
}

// shapeOf puts the JSON type in the place of every scalar. Names of properties are the schema's, not the speaker's.
func shapeOf(value json.RawMessage) (json.RawMessage, error) {
	var v any
	if err := json.Unmarshal(value, &v); err != nil {
		return nil, err
	}
	return json.Marshal(shape(v))
}

func shape(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, part := range v {
			out[key] = shape(part)
		}
		return out
	case []any:
		if len(v) == 0 {
			return v
		}
		return []any{shape(v[0])}
	case string:
		return "string"
	case float64:
		return "number"
	case bool:
		return "boolean"
	default:
		return "null"
	}
}
