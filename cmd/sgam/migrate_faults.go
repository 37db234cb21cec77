package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/sgam-ledger/sgam/migrate"
)

// migrationFault says what to do about an error of a migration.
func (w words) migrationFault(typ string, err error) error {
	if stale, ok := errors.AsType[*migrate.StaleError](err); ok {
		of := ""
		if stale.Tenant != "" {
			of = fmt.Sprintf(" of tenant %q", stale.Tenant)
		}
		return refused(err, "the plan is stale: the %s%s has changed since: draw a new one with 'sgam migrate plan'", stale.What, of)
	}
	if held, ok := errors.AsType[*migrate.LeaseError](err); ok {
		return refused(err, "%q is at work on tenant %q until %s at least: wait, or give --take-over if it is dead", held.Holder, held.Tenant,
			w.at(held.Until))
	}
	if state, ok := errors.AsType[*migrate.StateError](err); ok {
		return refused(err, "%s", stateLine(typ, state))
	}
	if waiting, ok := errors.AsType[*migrate.QuarantineError](err); ok {
		return refused(err, "tenant %q has %s in quarantine, and the plan lets the cut-over wait for that: 'sgam migrate status %s' says why",
			waiting.Tenant, facts(waiting.Facts), typ)
	}
	if lossy, ok := errors.AsType[*migrate.LossyError](err); ok {
		return refused(err, "tenant %q has %s, recorded since the migration began, that the old version shows with a loss or not at all: "+
			"--force accepts that", lossy.Tenant, facts(lossy.Facts))
	}
	switch {
	case errors.Is(err, migrate.ErrFenced):
		return refused(err, "another runner has taken over, and goes on from the last batch of this one")
	case errors.Is(err, migrate.ErrNoDeleter):
		return refused(err, "the plan says that facts are to be expired or erased, and this program has no way to delete any: %s: "+
			"a program that hands a Deleter to migrate.Contract ends the migration", strings.TrimPrefix(err.Error(), migrate.ErrNoDeleter.Error()+": "))
	}
	return err
}

// stateLine says why a migration's state does not allow a call, and what it allows.
func stateLine(typ string, e *migrate.StateError) string {
	if e.Paused {
		return fmt.Sprintf("the migration of tenant %q is paused: 'sgam migrate resume %s' lets it go on", e.Tenant, typ)
	}
	line := fmt.Sprintf("%s: the migration of tenant %q is %s", e.Action, e.Tenant, stateWord(e.State, false))
	if next := nextActions(e.State, e.Allowed); next != "" {
		return line + ", which allows " + next
	}
	return line + ", and at its end"
}
