package main

import (
	"encoding/json"
	"strings"
	"testing"
)

const bank = `{"services": [{"service_name": "Bank_1", "slots": [{"name": "amount"}, {"name": "type"}], "intents": [{"name": "Pay"}]}]}`

func paired(t *testing.T, changes string) ([]service, error) {
	t.Helper()
	var all schemas
	must(t, json.Unmarshal([]byte(bank), &all))
	var r renames
	must(t, json.Unmarshal([]byte(changes), &r))
	return pair(all, r)
}

func TestAVariantHasItsNamesWhereTheNamesThatTheyReplaceAre(t *testing.T) {
	t.Parallel()
	services, err := paired(t, `{"migrations": [{"from_service": "Bank_1", "to_service": "Bank_11",
		"slots": {"type": "kind", "amount": "sum"}, "intents": {"Pay": "Transfer"}}]}`)
	must(t, err)
	equal(t, services, []service{{
		names:    names{"Bank_1", []string{"amount", "type"}, []string{"Pay"}},
		Variants: []names{{"Bank_11", []string{"sum", "kind"}, []string{"Transfer"}}},
	}})
}

func TestAVariantThatDoesNotFitItsServiceIsAnError(t *testing.T) {
	t.Parallel()
	for want, changes := range map[string]string{
		"slot type has no new name":  `{"migrations": [{"from_service": "Bank_1", "slots": {"amount": "sum"}, "intents": {"Pay": "Transfer"}}]}`,
		"intent Pay has no new name": `{"migrations": [{"from_service": "Bank_1", "slots": {"amount": "sum", "type": "kind"}}]}`,
		"which is no service":        `{"migrations": [{"from_service": "Shop_1"}]}`,
	} {
		_, err := paired(t, changes)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}
