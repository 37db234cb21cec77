package postgres

// Statement is the text of a named statement, empty when there is none of that name. Benchmarks hold the engine against the
// driver alone with it; they reach the method through an interface of their own, since the port has no use for it.
func (s *store) Statement(name string) string { return texts[name] }
