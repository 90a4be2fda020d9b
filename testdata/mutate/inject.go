package main

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"strings"
)

// injector finds the bugs that can be injected into a file.
type injector struct {
	*module
	source *source
	file   *ast.File
	name   string
	area   string

	function string
	results  *ast.FieldList // of the function at hand
	found    *[]*bug
}

// all are the bugs of the file.
func (j injector) all() []*bug {
	var found []*bug
	j.found = &found
	for _, d := range j.file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Body != nil {
				j.function, j.results = functionName(d), d.Type.Results
				j.early(d.Body)
				j.inspect(d.Body)
			}
		case *ast.GenDecl:
			if d.Tok == token.VAR {
				j.function, j.results = variableName(d), nil
				j.inspect(d)
			}
		}
	}
	return found
}

func functionName(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return d.Name.Name
	}
	t := d.Recv.List[0].Type
	if p, ok := t.(*ast.StarExpr); ok {
		t = p.X
	}
	if g, ok := t.(*ast.IndexExpr); ok {
		t = g.X
	}
	return fmt.Sprintf("%v.%s", t, d.Name.Name)
}

func variableName(d *ast.GenDecl) string { return d.Specs[0].(*ast.ValueSpec).Names[0].Name }

// inspect looks at everything below a node.
func (j injector) inspect(n ast.Node) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			inner := j
			inner.results = n.Type.Results
			inner.inspect(n.Body)
			return false
		case *ast.KeyValueExpr: // keys of arrays are constants
			j.inspect(n.Value)
			return false
		case ast.Expr:
			return j.expression(n)
		case ast.Stmt:
			j.statement(n)
		case *ast.GenDecl:
			return n.Tok == token.VAR
		}
		return true
	})
}

// text is the source of a node.
func (j injector) text(n ast.Node) string {
	from, to := j.span(n)
	return string(j.source.text[j.name][from:to])
}

func (j injector) span(n ast.Node) (from, to int) {
	return j.fset.Position(n.Pos()).Offset, j.fset.Position(n.End()).Offset
}

// add notes a bug in a node. Before and after are what a reader sees.
func (j injector) add(n ast.Node, before, after, form string) {
	from, to := j.span(n)
	j.addAt(from, to, j.fset.Position(n.Pos()).Line, before, after, form)
}

func (j injector) addAt(from, to, line int, before, after, form string) {
	*j.found = append(*j.found, &bug{
		area: j.area, source: j.source, name: j.name, function: j.function, line: line, from: from, to: to,
		before: oneLine(before), after: oneLine(after), form: form,
	})
}

const longest = 240 // of a piece of source that is shown

// oneLine is a piece of source in one line, cut off where it becomes long.
func oneLine(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > longest {
		s = string(r[:longest]) + "…"
	}
	return s
}

// replaced is the lines that a node stands in, and the same with something else in its place: what a
// reader needs to know which of two equal ones it is.
func (j injector) replaced(n ast.Node, after string) (string, string) {
	from, to := j.span(n)
	text := j.source.text[j.name]
	begin, end := from, to
	for begin > 0 && text[begin-1] != '\n' {
		begin--
	}
	for end < len(text) && text[end] != '\n' {
		end++
	}
	return string(text[begin:end]), string(text[begin:from]) + after + string(text[to:end])
}

// instead has an expression be another one.
func (j injector) instead(n ast.Expr, after string) {
	t := j.typeOf(n)
	if t == "" {
		return
	}
	before, shown := j.replaced(n, after)
	if t == "bool" {
		j.add(n, before, shown, "(injected.On(%[1]d) && ("+verbatim(after)+") || !injected.On(%[1]d) && (%[2]s))")
		return
	}
	j.add(n, before, shown, "func() "+t+" { if injected.On(%[1]d) { return "+verbatim(after)+" }; return %[2]s }()")
}

// typeOf is how the file writes an expression's type, or "" if it can't.
func (j injector) typeOf(n ast.Expr) string {
	tv, ok := j.source.info.Types[n]
	if !ok || tv.Type == nil {
		return ""
	}
	nameable := true
	name := types.TypeString(types.Default(tv.Type), func(p *types.Package) string {
		if p == j.source.types {
			return ""
		}
		for _, i := range j.file.Imports {
			if i.Name == nil && strings.Trim(i.Path.Value, `"`) == p.Path() {
				return p.Name()
			}
		}
		nameable = false
		return p.Name()
	})
	if !nameable || strings.Contains(name, "struct{") {
		return ""
	}
	return name
}

func (j injector) isBool(n ast.Expr) bool {
	tv := j.source.info.Types[n]
	return tv.Type != nil && tv.Value == nil && types.Identical(types.Default(tv.Type), types.Typ[types.Bool])
}

// comparisons and arithmetic are what an operator becomes.
var (
	comparisons = map[token.Token]token.Token{
		token.LSS: token.LEQ, token.LEQ: token.LSS, token.GTR: token.GEQ, token.GEQ: token.GTR,
		token.EQL: token.NEQ, token.NEQ: token.EQL,
	}
	arithmetic = map[token.Token]token.Token{
		token.ADD: token.SUB, token.SUB: token.ADD, token.MUL: token.QUO, token.QUO: token.MUL, token.REM: token.QUO,
		token.AND: token.OR, token.OR: token.AND, token.XOR: token.OR, token.AND_NOT: token.AND, token.SHL: token.SHR, token.SHR: token.SHL,
	}
)

// expression adds the bugs of an expression, and reports whether there may be more in its parts.
func (j injector) expression(n ast.Expr) bool {
	if tv, ok := j.source.info.Types[n]; ok && tv.Value != nil {
		j.constant(n, tv)
		return false
	}
	switch n := n.(type) {
	case *ast.BinaryExpr:
		j.binary(n)
	case *ast.CallExpr:
		if j.without(n) {
			return false
		}
		if other := map[string]string{"min": "max", "max": "min"}[j.builtin(n)]; other != "" {
			j.instead(n, other+j.text(n)[len("min"):])
		}
	case *ast.ArrayType, *ast.FuncType, *ast.StructType, *ast.MapType, *ast.InterfaceType:
		return false
	}
	return true
}

func (j injector) binary(n *ast.BinaryExpr) {
	x, y := j.text(n.X), j.text(n.Y)
	between := string(j.source.text[j.name][j.fset.Position(n.X.End()).Offset:j.fset.Position(n.Y.Pos()).Offset])
	with := func(op token.Token) string { return x + strings.Replace(between, n.Op.String(), op.String(), 1) + y }
	switch n.Op {
	case token.LAND:
		j.instead(n, with(token.LOR))
		j.instead(n, x)
		j.instead(n, y)
	case token.LOR:
		j.instead(n, with(token.LAND))
		j.instead(n, x)
		j.instead(n, y)
	default:
		if op, ok := comparisons[n.Op]; ok {
			j.instead(n, with(op))
		} else if op, ok := arithmetic[n.Op]; ok && !j.isString(n) {
			j.instead(n, with(op))
		} else if ok {
			j.instead(n, x)
		}
	}
}

func (j injector) isString(n ast.Expr) bool {
	b, ok := j.source.info.Types[n].Type.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsString != 0
}

// constant puts a number one off, and turns true into false. Named kinds of things are no numbers.
func (j injector) constant(n ast.Expr, tv types.TypeAndValue) {
	basic, ok := tv.Type.(*types.Basic)
	switch {
	case !ok:
	case tv.Value.Kind() == constant.Bool:
		j.instead(n, fmt.Sprint(!constant.BoolVal(tv.Value)))
	case tv.Value.Kind() == constant.Int && basic.Info()&types.IsInteger != 0:
		if _, literal := n.(*ast.BasicLit); literal && basic.Kind() != types.UntypedRune && basic.Kind() != types.Rune {
			j.instead(n, constant.BinaryOp(tv.Value, token.ADD, constant.MakeInt64(1)).String())
			return
		}
		j.instead(n, j.text(n)+"+1")
	}
}

// condition negates a condition.
func (j injector) condition(n ast.Expr) {
	if n == nil || !j.isBool(n) {
		return
	}
	if b, ok := n.(*ast.BinaryExpr); ok && (b.Op == token.EQL || b.Op == token.NEQ) {
		return // that is done as a comparison
	}
	j.instead(n, "!("+j.text(n)+")")
}

// builtin is the name of the built-in function that a call is of, or "".
func (j injector) builtin(n *ast.CallExpr) string {
	if id, ok := n.Fun.(*ast.Ident); ok {
		if b, ok := j.source.info.Uses[id].(*types.Builtin); ok {
			return b.Name()
		}
	}
	return ""
}

// room are functions that are told how much room to make, and which of their arguments does.
var room = map[string]int{"slices.Grow": 1, "bufio.NewReaderSize": 1, "bufio.NewWriterSize": 1}

// without reports whether a part of a call makes no difference, and looks at the rest of the call. A capacity costs time
// only, and a panic's text is read only if there is another bug.
func (j injector) without(n *ast.CallExpr) bool {
	name := j.builtin(n)
	_, isMap := j.source.info.Types[n].Type.(*types.Map)
	from := len(n.Args)
	switch at, ok := room[j.text(n.Fun)]; {
	case name == "panic":
		from = 0
	case name == "make" && isMap:
		from = 1
	case name == "make":
		from = 2
	case ok:
		from = at
	default:
		if s, method := n.Fun.(*ast.SelectorExpr); method && s.Sel.Name == "Grow" && len(n.Args) == 1 {
			from = 0
		}
	}
	if from >= len(n.Args) {
		return false
	}
	j.inspect(n.Fun)
	for _, arg := range n.Args[:from] {
		j.inspect(arg)
	}
	return true
}
