package canon

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Error says why a document was refused, and where. It never carries a value:
// keys, through Pointer, are all that it repeats of the document.
type Error struct {
	// Pointer is the RFC 6901 pointer of the offending place; "" is the whole
	// document. When a key itself is malformed it is the pointer of its object.
	Pointer string
	// Rule is one of:
	//
	//	syntax         not JSON
	//	duplicate_key  a key twice in one object, after unescaping
	//	utf8           bytes that are not UTF-8
	//	surrogate      an escape that is half of a surrogate pair
	//	nul            U+0000, raw or escaped
	//	number         not finite as a double, or another decimal once it is one
	//	depth          more than MaxDepth nested arrays and objects
	//	trailing       something after the document
	//	size           too long; for callers that bound documents, never set here
	Rule string
	// Want says what would have been accepted, in words for people and models.
	Want string
}

const (
	ruleSyntax       = "syntax"
	ruleDuplicateKey = "duplicate_key"
	ruleUTF8         = "utf8"
	ruleSurrogate    = "surrogate"
	ruleNUL          = "nul"
	ruleNumber       = "number"
	ruleDepth        = "depth"
	ruleTrailing     = "trailing"
)

const (
	wantUTF8  = "valid UTF-8"
	wantNoNUL = "no U+0000"
)

// Error returns one line: rule, place, and what would have been accepted. A
// pointer that would flood a log is cut; the field Pointer is always whole.
func (e *Error) Error() string {
	const longest = 128
	at := e.Pointer
	if len(at) > longest {
		cut := longest
		for !utf8.RuneStart(at[cut]) {
			cut--
		}
		at = at[:cut] + "…"
	}
	return "canonical JSON: " + e.Rule + " at " + strconv.Quote(at) + ": want " + e.Want
}

// pointer joins the tokens of a path, innermost first, into an RFC 6901 pointer.
func pointer(path []string) string {
	var b strings.Builder
	for i := len(path) - 1; i >= 0; i-- {
		b.WriteByte('/')
		for _, c := range []byte(path[i]) {
			switch c {
			case '~':
				b.WriteString("~0")
			case '/':
				b.WriteString("~1")
			default:
				b.WriteByte(c)
			}
		}
	}
	return b.String()
}
