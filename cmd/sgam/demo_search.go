package main

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"github.com/sgam-ledger/sgam"
)

// hit is one episode that a text search found.
type hit struct {
	Episode sgam.Episode `json:"episode"`
	// Shared counts the words of the question that are in the text, Asked all words of the question.
	Shared int `json:"shared_words"`
	Asked  int `json:"asked_words"`
}

// searchText ranks episodes by how many different words of the question their text holds, the best first, as the memory of
// many agents does in more elaborate ways. Equal ones keep their order. It knows nothing of time, and that is the point.
func searchText(question string, episodes []sgam.Episode) []hit {
	asked := wordsOf(question)
	hits := make([]hit, len(episodes))
	for i, e := range episodes {
		hits[i] = hit{Episode: e, Asked: len(asked)}
		text := wordsOf(e.Text)
		for word := range asked {
			if text[word] {
				hits[i].Shared++
			}
		}
	}
	slices.SortStableFunc(hits, func(a, b hit) int { return cmp.Compare(b.Shared, a.Shared) })
	return hits
}

// wordsOf is the set of words of a text: letters and digits in lower case, without a genitive's ending.
func wordsOf(text string) map[string]bool {
	set := map[string]bool{}
	for _, word := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '\'' && r != '-'
	}) {
		set[strings.TrimSuffix(word, "'s")] = true
	}
	return set
}
