package archtest

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"
)

var globalRules = []rule{
	{
		name:  "no init functions",
		why:   "what happens at import happens to programs that did not ask, in an order that nobody reads",
		check: checkInit,
		bad: []sample{
			{"an init", map[string]string{"sqlite/a.go": "package sqlite\nfunc init() {}"}, "init"},
			{"an init in a command", map[string]string{"cmd/sgam/a.go": "package main\nfunc init() {}"}, "init"},
		},
		good: []sample{
			{"a method", map[string]string{"a.go": "package m\ntype t struct{}\nfunc (t) init() {}"}, ""},
		},
	},
	{
		name:  "no package-level state",
		why:   "a registry or a cache that belongs to a package is shared by ledgers that should be strangers",
		check: checkState,
		bad: []sample{
			{"an empty map", globalSample("var drivers = map[string]int{}"), "drivers"},
			{"a made map", globalSample("var drivers = make(map[string]int)"), "drivers"},
			{"a map without a value", globalSample("var drivers map[string]int"), "drivers"},
			{"a lock", globalSample("import \"sync\"\nvar mu sync.Mutex"), "mu"},
			{"a concurrent map", globalSample("import \"sync\"\nvar seen = &sync.Map{}"), "seen"},
			{"a counter", globalSample("import \"sync/atomic\"\nvar n atomic.Int64"), "n is"},
			{"a channel", globalSample("var queue = make(chan int)"), "queue"},
			{"a registry", globalSample("import \"example.com/m/schema\"\nvar known = schema.NewRegistry()"), "known"},
			{"a table that is written", globalSample("var names = map[string]int{\"a\": 1}\nfunc f() { names[\"b\"] = 2 }"), "names"},
			{"a table that shrinks", globalSample("var names = map[string]int{\"a\": 1}\nfunc f() { delete(names, \"a\") }"), "names"},
			{"a list that grows", globalSample("var names []string\nfunc f() { names = append(names, \"b\") }"), "names"},
			{"a number that counts", globalSample("var n int\nfunc f() { n++ }"), "n is"},
			{"a field that is set", globalSample("var c struct{ n int }\nfunc f() { (&c).n = 1; c.n = 2 }"), "c is"},
			{"written from another file", map[string]string{"a.go": "package m\nvar n int", "b.go": "package m\nfunc f() { n = 1 }"}, "n is"},
			{"written in a function value", globalSample("var n int\nvar f = func() { n = 1 }"), "n is"},
		},
		good: []sample{
			{"tables, errors and patterns", globalSample("import (\n\"errors\"\n\"regexp\"\n)\nvar names = map[string]int{\"a\": 1}\nvar errX = errors.New(\"x\")\nvar re = regexp.MustCompile(\"x\")\nfunc f() int { return names[\"a\"] }"), ""},
			{"a local of the same name", globalSample("var n = 1\nfunc f() int { n := 2; n = 3; return n }\nfunc g(n int) { n++ }\nfunc h() (n int) { n = 1; return }"), ""},
			{"a field of the same name", globalSample("var n = 1\ntype t struct{ n int }\nfunc (x *t) f() { x.n = 2 }"), ""},
			{"a buffer pool", globalSample("import \"sync\"\nvar pool = sync.Pool{New: func() any { return nil }}"), ""},
			{"the same name in another package", map[string]string{"a.go": "package m\nvar n int", "schema/a.go": "package schema\ntype t struct{}\nfunc f() { var n int; n = 1; _ = n }"}, ""},
			{"a proof that a type fits", globalSample("type t struct{}\nvar _ any = (*t)(nil)"), ""},
			{"a command's own registry", map[string]string{"cmd/sgam/a.go": "package main\nimport \"example.com/m/schema\"\nvar known = schema.NewRegistry()"}, ""},
			{"a test's", map[string]string{"a_test.go": "package m\nvar seen = map[string]int{}"}, ""},
		},
	},
}

func globalSample(code string) map[string]string {
	return map[string]string{"a.go": "package m\n" + code}
}

func checkInit(t tree) (findings []finding) {
	for _, s := range t.shipped() {
		for _, d := range s.ast.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "init" {
				findings = append(findings, t.found(f, "func init"))
			}
		}
	}
	return findings
}

// checkState looks for package-level variables that can only be meant to change, and for those that a function writes. It goes by
// names: a function that declares a local of the same name anywhere is taken to mean the local.
func checkState(t tree) (findings []finding) {
	for _, dir := range t.dirs() {
		var files []source
		for _, s := range t.shipped() {
			if s.dir == dir {
				files = append(files, s)
			}
		}
		globals := map[string]bool{}
		for _, s := range files {
			for _, spec := range globalVars(s.ast) {
				for i, name := range spec.Names {
					globals[name.Name] = name.Name != "_"
					var value ast.Expr
					if i < len(spec.Values) {
						value = spec.Values[i]
					}
					kind := stateKind(spec.Type, value)
					if kind == registryKind && within(dir, "cmd") {
						continue // a program declares its memories as users do
					}
					if kind != "" {
						findings = append(findings, t.found(name, "%s is %s", name.Name, kind))
					}
				}
			}
		}
		for _, s := range files {
			for _, scope := range functions(s.ast) {
				findings = append(findings, t.writes(scope, globals)...)
			}
		}
	}
	return findings
}

func globalVars(file *ast.File) (specs []*ast.ValueSpec) {
	for _, d := range file.Decls {
		if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.VAR {
			for _, spec := range g.Specs {
				if v, ok := spec.(*ast.ValueSpec); ok {
					specs = append(specs, v)
				}
			}
		}
	}
	return specs
}

const registryKind = "a registry"

// stateKind names what a variable of this type or with this first value is for, if that can only be to change.
func stateKind(typ, value ast.Expr) string {
	if call, ok := value.(*ast.CallExpr); ok {
		switch name := lastName(call.Fun); {
		case name == "make" && len(call.Args) > 0:
			typ = call.Args[0]
		case strings.Contains(name, "Registry"):
			return registryKind
		}
	}
	if unary, ok := value.(*ast.UnaryExpr); ok {
		value = unary.X
	}
	filled := false
	if lit, ok := value.(*ast.CompositeLit); ok {
		typ, filled = lit.Type, len(lit.Elts) > 0
	}
	if star, ok := typ.(*ast.StarExpr); ok {
		typ = star.X
	}
	switch typ := typ.(type) {
	case *ast.MapType:
		if !filled {
			return "a map to be filled"
		}
	case *ast.ChanType:
		return "a channel"
	case *ast.SelectorExpr:
		x, ok := typ.X.(*ast.Ident)
		if ok && (x.Name == "atomic" || x.Name == "sync" && slices.Contains([]string{"Map", "Mutex", "RWMutex"}, typ.Sel.Name)) {
			return "shared state"
		}
	}
	return ""
}

func lastName(fun ast.Expr) string {
	switch fun := fun.(type) {
	case *ast.Ident:
		return fun.Name
	case *ast.SelectorExpr:
		return fun.Sel.Name
	case *ast.IndexExpr:
		return lastName(fun.X)
	}
	return ""
}

// functions returns the function declarations of a file and the function values of its variables.
func functions(file *ast.File) (scopes []ast.Node) {
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok {
			scopes = append(scopes, f)
		}
	}
	for _, spec := range globalVars(file) {
		for _, value := range spec.Values {
			scopes = append(scopes, value)
		}
	}
	return scopes
}

// writes returns the places where a function changes one of the globals.
func (t tree) writes(scope ast.Node, globals map[string]bool) (findings []finding) {
	locals := localNames(scope)
	write := func(at ast.Node, target ast.Expr) {
		if name := rootName(target); globals[name] && !locals[name] {
			findings = append(findings, t.found(at, "%s is written", name))
		}
	}
	ast.Inspect(scope, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			if n.Tok != token.DEFINE {
				for _, left := range n.Lhs {
					write(n, left)
				}
			}
		case *ast.IncDecStmt:
			write(n, n.X)
		case *ast.RangeStmt:
			if n.Tok == token.ASSIGN {
				write(n, n.Key)
				write(n, n.Value)
			}
		case *ast.CallExpr:
			if f, ok := n.Fun.(*ast.Ident); ok && len(n.Args) > 0 && (f.Name == "delete" || f.Name == "clear") {
				write(n, n.Args[0])
			}
		}
		return true
	})
	return findings
}

// localNames returns every name that a function declares: receiver, parameters, results, variables.
func localNames(scope ast.Node) map[string]bool {
	names := map[string]bool{}
	add := func(exprs ...ast.Expr) {
		for _, e := range exprs {
			if ident, ok := e.(*ast.Ident); ok {
				names[ident.Name] = true
			}
		}
	}
	ast.Inspect(scope, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.StructType:
			return false
		case *ast.Field:
			for _, name := range n.Names {
				add(name)
			}
		case *ast.ValueSpec:
			for _, name := range n.Names {
				add(name)
			}
		case *ast.AssignStmt:
			if n.Tok == token.DEFINE {
				add(n.Lhs...)
			}
		case *ast.RangeStmt:
			if n.Tok == token.DEFINE {
				add(n.Key, n.Value)
			}
		}
		return true
	})
	return names
}

// rootName returns the variable that an assignment to x, x.f, x[i], *x or (&x).f changes.
func rootName(e ast.Expr) string {
	for {
		switch x := e.(type) {
		case *ast.Ident:
			return x.Name
		case *ast.SelectorExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		case *ast.UnaryExpr:
			e = x.X
		default:
			return ""
		}
	}
}
