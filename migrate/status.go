package migrate

import (
	"context"
	"fmt"
	"time"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/schema"
)

// Migration is how a tenant's migration stands.
type Migration struct {
	Tenant string `json:"tenant"`
	Type   string `json:"type"`
	Serial int64  `json:"serial"`
	// Plan is the digest of the plan.
	Plan   string `json:"plan"`
	From   int    `json:"from"`
	To     int    `json:"to"`
	State  State  `json:"state"`
	Paused bool   `json:"paused,omitempty"`
	// Upper is the newest fact of the backfill, Cursor the oldest that is done.
	Upper  int64  `json:"upper"`
	Cursor int64  `json:"cursor"`
	Counts Counts `json:"counts"`
	// Total are the facts that the plan counted: where Counts.Looked ends, but for those written since.
	Total int64 `json:"total"`
	// Deletions say what becomes of the facts of removed attributes when the migration is contracted.
	Deletions map[string]schema.Disposition `json:"deletions,omitempty"`
	// Fence numbers the runners. Holder is the last of them; others stay away until the known time LeaseUntil.
	Fence      int64     `json:"fence"`
	Holder     string    `json:"holder"`
	LeaseUntil time.Time `json:"lease_until,omitzero"`
	// Allowed are the actions that lead on from here; empty at the end.
	Allowed []string     `json:"allowed"`
	Audit   []Transition `json:"audit"`
}

// Status lists every migration of the tenants, of all without any, in order of tenant, type and serial.
func Status(ctx context.Context, l *sgam.Ledger, tenants ...string) ([]Migration, error) {
	if len(tenants) == 0 {
		for name, err := range l.Tenants(ctx) {
			if err != nil {
				return nil, err
			}
			tenants = append(tenants, name)
		}
	}
	all := []Migration{}
	for _, name := range tenants {
		t, err := l.Tenant(name)
		if err != nil {
			return nil, err
		}
		records, err := t.Migrations(ctx)
		if err != nil {
			return nil, err
		}
		for i := range records {
			rec, err := decodeRecord(&records[i])
			if err != nil {
				return nil, fmt.Errorf("tenant %q: %w", name, err)
			}
			all = append(all, rec.status(name, records[i].Type))
		}
	}
	return all, nil
}

func (r *record) status(tenant, typ string) Migration {
	return Migration{
		Tenant: tenant, Type: typ, Serial: r.serial, Plan: r.Plan, From: r.From, To: r.To, State: r.state, Paused: r.Paused,
		Upper: r.Upper, Cursor: r.Cursor, Counts: r.Counts, Total: r.Total, Deletions: r.Deletions, Fence: r.Fence, Holder: r.Holder, LeaseUntil: r.LeaseUntil,
		Allowed: r.leading(), Audit: r.Audit,
	}
}

// leading are the allowed actions that change something: running what has been run does not.
func (r *record) leading() []string {
	lead := []string{}
	for _, action := range r.allowed() {
		if action != actRun || r.state == Planned || r.state == Expanding {
			lead = append(lead, action)
		}
	}
	return lead
}
