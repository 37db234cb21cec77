package migrate

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/internal/canon"
	"github.com/sgam-ledger/sgam/schema"
)

// Plan is everything about one migration in one object: which lenses, which tenants, what becomes of removed attributes and
// of facts that cannot go over. [Draw] makes one, a person reads it, [Run] carries it out and refuses once it is out of
// date.
type Plan struct {
	Type string `json:"type"`
	From int    `json:"from"`
	To   int    `json:"to"`
	// Base is the hash of the document of version From; Steps are the versions after it up to To.
	Base  string `json:"base"`
	Steps []Step `json:"steps"`
	// Deletions say what becomes of the facts of each removed attribute, by its name. [Contract] has them carried out.
	Deletions map[string]schema.Disposition `json:"deletions,omitempty"`
	// Quarantine says what happens with facts that have no form in version To.
	Quarantine QuarantinePolicy `json:"quarantine"`
	// Indexes names the search indexes that must be built anew. The ledger keeps none of values, so it is empty.
	Indexes []string     `json:"indexes"`
	Tenants []TenantPlan `json:"tenants"`
	// LeftOut are the tenants that were asked for and are not migrated, and why.
	LeftOut []LeftOut `json:"left_out,omitempty"`
}

// Step is one version on the way.
type Step struct {
	Version int `json:"version"`
	// Document and Lens are hashes; a step without a lens has none.
	Document string `json:"document"`
	Lens     string `json:"lens,omitempty"`
	// Changes are the differences to the version before, each with the rule that judges it. Records leave them out.
	Changes []schema.Change `json:"changes,omitempty"`
}

// QuarantinePolicy says what becomes of facts that have no form in the new version.
type QuarantinePolicy string

const (
	// RefuseQuarantine lets the cut-over wait until there are none. It is the default.
	RefuseQuarantine QuarantinePolicy = "refuse"
	// LeaveQuarantine cuts over all the same. Reading such a fact is [sgam.ErrUnmigrated] from then on.
	LeaveQuarantine QuarantinePolicy = "leave"
)

// TenantPlan is one tenant's part of a plan.
type TenantPlan struct {
	Tenant string `json:"tenant"`
	// Serial is the number that the migration will have.
	Serial int64 `json:"serial"`
	// Epoch is what the tenant reads and writes before the migration.
	Epoch      sgam.Epoch   `json:"epoch"`
	Attributes []Prediction `json:"attributes"`
	Estimate   Estimate     `json:"estimate"`
}

// facts are all that the plan counted.
func (p *TenantPlan) facts() int64 {
	n := int64(0)
	for i := range p.Attributes {
		n += p.Attributes[i].Facts
	}
	return n
}

// Prediction counts the facts of one attribute by what will become of them. The counts are exact for the moment at which
// they were taken.
type Prediction struct {
	Attribute string `json:"attribute"`
	// Facts is the sum of the next five.
	Facts int64 `json:"facts"`
	// Convert are those that lenses have to convert; Recorded and Encoded have a form in the new version already, by
	// themselves or by an earlier run; Removed are of an attribute that the new version does not have; Erased have
	// nothing left.
	Convert  int64 `json:"convert,omitempty"`
	Recorded int64 `json:"recorded,omitempty"`
	Encoded  int64 `json:"encoded,omitempty"`
	Removed  int64 `json:"removed,omitempty"`
	Erased   int64 `json:"erased,omitempty"`
	// Quarantine, Lossy and Defaulted are among Convert: what has no form, what loses something, and what gets something
	// that nobody said.
	Quarantine int64 `json:"quarantine,omitempty"`
	Lossy      int64 `json:"lossy,omitempty"`
	Defaulted  int64 `json:"defaulted,omitempty"`
}

// Estimate says what a tenant's migration will cost, from a conversion of every value.
type Estimate struct {
	// Rows are the encodings to append, Bytes about what they take on disk.
	Rows  int64 `json:"rows"`
	Bytes int64 `json:"bytes"`
	// Seconds is how long reading and converting took when the plan was drawn: the run takes that and its writes. Zero is
	// not measured.
	Seconds float64 `json:"seconds,omitempty"`
}

// LeftOut is a tenant that a plan does not migrate.
type LeftOut struct {
	Tenant string `json:"tenant"`
	Why    string `json:"why"`
}

// planFile is a plan on disk.
type planFile struct {
	Digest string          `json:"digest"`
	Plan   json.RawMessage `json:"plan"`
}

// Digest is the SHA-256 of the plan's canonical JSON in hexadecimal.
func (p *Plan) Digest() (string, error) {
	raw, err := json.Marshal(p)
	if err != nil {
		return "", err
	}
	return digestOf(raw)
}

func digestOf(raw []byte) (string, error) {
	text, err := canon.Canonical(raw)
	if err != nil {
		return "", fmt.Errorf("migrate: plan: %w", err)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), nil
}

// Encode writes the plan with its digest, as indented JSON.
func (p *Plan) Encode() ([]byte, error) {
	raw, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	digest, err := digestOf(raw)
	if err != nil {
		return nil, err
	}
	return json.MarshalIndent(planFile{Digest: digest, Plan: raw}, "", "  ")
}

// Parse reads what [Plan.Encode] wrote. White space may have changed; a plan with other content is [ErrPlanDigest].
func Parse(text []byte) (*Plan, error) {
	var file planFile
	if err := strict(text, &file); err != nil {
		return nil, err
	}
	digest, err := digestOf(file.Plan)
	if err != nil {
		return nil, err
	}
	if digest != file.Digest {
		return nil, ErrPlanDigest
	}
	var p Plan
	if err := strict(file.Plan, &p); err != nil {
		return nil, err
	}
	return &p, nil
}

// strict reads one JSON object whose keys are all known.
func strict(text []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return fmt.Errorf("migrate: plan: %w", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return fmt.Errorf("migrate: plan: %w", &sgam.FieldError{Field: "plan", Rule: "syntax", Want: "one JSON object"})
	}
	return nil
}

// tenants are the names of the plan's tenants.
func (p *Plan) tenants() []string {
	names := make([]string, len(p.Tenants))
	for i := range p.Tenants {
		names[i] = p.Tenants[i].Tenant
	}
	return names
}

// Target names the plan's migration for the calls that follow [Run], in the name of a principal.
func (p *Plan) Target(principal string) Target {
	return Target{Type: p.Type, Tenants: p.tenants(), Principal: principal}
}

// seconds is a duration for a plan.
func seconds(d time.Duration) float64 { return float64(d.Milliseconds()) / 1000 }
