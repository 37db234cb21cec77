package schema

import (
	"fmt"
	"strings"

	"github.com/sgam-ledger/sgam"
)

// The members of an answer. Their order in the form is the order in which a model should think.
const (
	fieldCandidates  = "candidates"
	fieldEvidence    = "evidence"
	fieldCompared    = "compared"
	fieldReasoning   = "reasoning"
	fieldContradicts = "contradicts"
	fieldIntent      = "intent"
	fieldSubject     = "subject"
	fieldStatement   = "statement"
	fieldAttribute   = "attribute"
	fieldNoValueOf   = "no_value_of"
	fieldChange      = "change"
	fieldValue       = "value"
	fieldValidFrom   = "valid_from"
	fieldValidTo     = "valid_to"
	fieldConfidence  = "confidence"
)

// The words for a change.
const (
	nowIs     = "now_is"
	wasAlways = "was_always"
	noLonger  = "no_longer"
	neverWas  = "never_was"
)

// What the words mean, for the model.
const (
	meanings = "What changes. now_is: so it is from valid_from on, also when the text corrects what was said before; choose it " +
		"when unsure. was_always: the evidence says that what was said before was never true; valid_from is needed. " +
		"no_longer: it stopped being so at valid_from. never_was: the evidence says that it was never so."
	meansTime = "a date such as 2026-06-30, or a time with an offset such as 2026-06-30T09:00:00Z"
)

// emitter writes the schema of a form in one dialect.
type emitter struct{ dialectRules }

// form is the schema of an answer.
func (e *emitter) form(attributes []attribute) ordered {
	text := func(words string) ordered { return ordered{{"type", "string"}, {"description", words}} }
	maybe := func(typ, words string) ordered {
		return ordered{{"type", []string{typ, "null"}}, {"description", words}}
	}
	candidate := closed("", ordered{
		{fieldEvidence, text("The words of the text that say so, quoted exactly.")},
		{fieldCompared, maybe("string", "The known memory that was looked at; null when there is none.")},
		{fieldReasoning, text("In a sentence, why the evidence means this change.")},
		{fieldContradicts, maybe("string", "What the text contradicts; null when nothing.")},
		{fieldIntent, text("In a few words, what the speaker is doing: stating, correcting, cancelling and the like.")},
		{fieldSubject, text("Whom or what it is about, by the name that memory uses.")},
		{fieldStatement, e.statement(attributes)},
		{fieldValidFrom, maybe("string", "When the change took effect in the world: "+meansTime+"; null when the text does not say.")},
		{fieldValidTo, maybe("string", "When it stops being so, if the text says: "+meansTime+"; else null.")},
		{fieldConfidence, maybe("number", "How sure you are, from 0 to 1; null when you cannot say.")},
	})
	return closed("", ordered{{fieldCandidates, ordered{
		{"type", "array"},
		{"description", "One entry for each change of memory that the text states; empty when it states none."},
		{"items", candidate},
	}}})
}

// statement is the schema of what changes.
func (e *emitter) statement(attributes []attribute) ordered {
	if !e.typed {
		return e.textStatement(attributes)
	}
	var branches []any
	var single []string
	for i := range attributes {
		a := &attributes[i]
		changes := []string{nowIs, wasAlways}
		if a.many {
			changes = append(changes, noLonger, neverWas)
		} else {
			single = append(single, a.name)
		}
		branches = append(branches, closed(a.words(), ordered{
			// The attribute comes first: it tells the branches apart.
			{fieldAttribute, ordered{{"type", "string"}, {"const", a.name}}}, {fieldChange, choice(changes)}, {fieldValue, e.value(a.schema, false)},
		}))
	}
	if len(single) > 0 {
		branches = append(branches, closed("That an attribute has no value.", ordered{
			{fieldNoValueOf, choice(single)}, {fieldChange, choice([]string{noLonger, neverWas})},
		}))
	}
	return ordered{{"description", meanings}, {"anyOf", branches}}
}

// textStatement is the schema of what changes when values travel as text.
func (e *emitter) textStatement(attributes []attribute) ordered {
	names := make([]string, len(attributes))
	values := "The value. "
	for i := range attributes {
		a := &attributes[i]
		names[i] = a.name
		values += fmt.Sprintf("%s: %s. ", a.name, strings.Join(phrases(a.words(), textForm(a.schema)), "; "))
	}
	values += "With no_longer and never_was null, or the value to take out of several."
	return closed(meanings, ordered{
		{fieldAttribute, choice(names)},
		{fieldChange, choice([]string{nowIs, wasAlways, noLonger, neverWas})},
		{fieldValue, ordered{{"type", []string{"string", "null"}}, {"description", values}}},
	})
}

// textForm says how a value is written as text.
func textForm(schema map[string]any) string {
	switch base, _ := baseType(schema); base {
	case "string":
		return strings.Join(phrases("the text itself, without quotes", formatOrType(schema), constants(schema), bounds(schema)), ", ")
	case "array", "object":
		return "JSON of this schema: " + display(schema)
	default:
		return strings.Join(phrases("JSON", formatOrType(schema), constants(schema), bounds(schema)), ", ")
	}
}

// words say what an attribute is, for the model.
func (a *attribute) words() string {
	what, unit, many, sure := a.description, "", "", ""
	if what == "" {
		what = a.title
	}
	if a.unit != "" {
		unit = "in " + a.unit
	}
	if a.many {
		many = "it can have several values: one entry for each"
		if a.key != "" {
			many += ", told apart by " + a.key
		}
	}
	if a.policy == sgam.KeepHighestConfidence {
		sure = "confidence is needed"
	}
	return strings.Join(phrases(strings.TrimSuffix(what, "."), unit, many, sure), "; ")
}

// closed is an object that has all these properties and no other.
func closed(words string, properties ordered) ordered {
	required := make([]string, len(properties))
	for i, p := range properties {
		required[i] = p.key
	}
	out := ordered{{"type", "object"}}
	if words != "" {
		out = out.with("description", words)
	}
	return out.with("properties", properties).with("required", required).with("additionalProperties", false)
}

// choice is one of several words.
func choice(words []string) ordered { return ordered{{"type", "string"}, {"enum", words}} }
