package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"strings"
)

// statement adds the bugs of a statement, beside those of its expressions.
func (j injector) statement(n ast.Stmt) {
	switch n := n.(type) {
	case *ast.BlockStmt:
		j.list(n.List)
	case *ast.CaseClause:
		j.list(n.Body)
	case *ast.CommClause:
		j.list(n.Body)
	case *ast.IfStmt:
		j.condition(n.Cond)
		if n.Else == nil && j.isBool(n.Cond) && !j.asserts(n.Body.List) {
			j.never(n.Cond, "if "+j.text(n.Cond))
		}
	case *ast.ForStmt:
		j.condition(n.Cond)
		j.leave(n.Body, "for "+headline(j.text(n)))
	case *ast.RangeStmt:
		j.leave(n.Body, headline(j.text(n)))
	case *ast.SwitchStmt:
		j.cases(n)
	case *ast.ReturnStmt:
		for _, r := range n.Results {
			j.condition(r)
		}
	}
}

// asserts reports whether statements do nothing but panic: what they are for does not happen unless there is another bug.
func (j injector) asserts(body []ast.Stmt) bool {
	if len(body) != 1 {
		return false
	}
	s, ok := body[0].(*ast.ExprStmt)
	if !ok {
		return false
	}
	c, ok := s.X.(*ast.CallExpr)
	return ok && j.builtin(c) == "panic"
}

// headline is what stands before the first brace at the end of a line.
func headline(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(line), "for "), " {")
}

// never has a condition be false.
func (j injector) never(n ast.Expr, before string) {
	j.add(n, before, "never", "(!injected.On(%[1]d) && (%[2]s))")
}

// leave ends a loop before its first round.
func (j injector) leave(body *ast.BlockStmt, before string) {
	at := j.fset.Position(body.Lbrace).Offset + 1
	j.addAt(at, at, j.fset.Position(body.Lbrace).Line, before, "no round", " if injected.On(%[1]d) { break }; %[2]s")
}

// list drops each of the statements of a block that can be done without.
func (j injector) list(stmts []ast.Stmt) {
	for _, s := range stmts {
		switch s := s.(type) {
		case *ast.ExprStmt:
			if j.asserts([]ast.Stmt{s}) {
				continue // what comes after it has nothing to go on with
			}
			j.drop(s)
		case *ast.AssignStmt:
			if s.Tok != token.DEFINE {
				j.drop(s)
			}
			if op, ok := arithmeticAssign[s.Tok]; ok && !j.isString(s.Lhs[0]) {
				j.other(s, strings.Replace(j.text(s), s.Tok.String(), op.String(), 1))
			}
		case *ast.IncDecStmt:
			j.drop(s)
			j.other(s, j.text(s.X)+map[token.Token]string{token.INC: "--", token.DEC: "++"}[s.Tok])
		case *ast.BranchStmt:
			if s.Tok == token.BREAK || s.Tok == token.CONTINUE {
				j.drop(s)
			}
		case *ast.SendStmt, *ast.DeferStmt, *ast.GoStmt:
			j.drop(s)
		}
	}
}

var arithmeticAssign = map[token.Token]token.Token{
	token.ADD_ASSIGN: token.SUB_ASSIGN, token.SUB_ASSIGN: token.ADD_ASSIGN,
	token.AND_ASSIGN: token.OR_ASSIGN, token.OR_ASSIGN: token.AND_ASSIGN, token.AND_NOT_ASSIGN: token.OR_ASSIGN,
}

func (j injector) drop(s ast.Stmt) {
	j.add(s, j.text(s), "nothing", "if !injected.On(%[1]d) { %[2]s }")
}

func (j injector) other(s ast.Stmt, after string) {
	j.add(s, j.text(s), after, "if injected.On(%[1]d) { "+verbatim(after)+" } else { %[2]s }")
}

// cases does without each of the cases, or one of its values.
func (j injector) cases(n *ast.SwitchStmt) {
	for _, s := range n.Body.List {
		c := s.(*ast.CaseClause)
		for i, e := range c.List {
			switch {
			case n.Tag == nil:
				j.condition(e)
				j.never(e, "case "+j.text(e))
			case len(c.List) > 1:
				j.neighbour(c, i)
			}
		}
		if n.Tag != nil && len(c.Body) > 0 {
			j.skip(c)
		}
	}
}

// neighbour has a value of a case be the one before it.
func (j injector) neighbour(c *ast.CaseClause, i int) {
	other := c.List[(i+len(c.List)-1)%len(c.List)]
	t := j.typeOf(c.List[i])
	if t == "" {
		return
	}
	j.add(c.List[i], "case … "+j.text(c.List[i]), "nothing",
		"func() "+t+" { if injected.On(%[1]d) { return "+verbatim(j.text(other))+" }; return %[2]s }()")
}

// skip has a case do nothing.
func (j injector) skip(c *ast.CaseClause) {
	before := strings.TrimSuffix(headline(j.text(c)), ":")
	from, to := j.fset.Position(c.Body[0].Pos()).Offset, j.fset.Position(c.Body[len(c.Body)-1].End()).Offset
	line := j.fset.Position(c.Pos()).Line
	switch last := c.Body[len(c.Body)-1].(type) {
	case *ast.ReturnStmt:
		if len(c.Body) > 1 || !j.plain(last) {
			j.addAt(from, from, line, before, "return at once", "if injected.On(%[1]d) { "+j.nothing()+" }; %[2]s")
		}
	case *ast.BranchStmt:
	default:
		j.addAt(from, to, line, before, "does nothing", "if !injected.On(%[1]d) { %[2]s }")
	}
}

// plain reports whether a return gives nothing but constants.
func (j injector) plain(r *ast.ReturnStmt) bool {
	for _, e := range r.Results {
		if tv := j.source.info.Types[e]; tv.Value == nil && !tv.IsNil() {
			return false
		}
	}
	return true
}

// early has a function return before it does anything.
func (j injector) early(body *ast.BlockStmt) {
	if len(body.List) == 0 {
		return
	}
	if r, ok := body.List[0].(*ast.ReturnStmt); ok && j.plain(r) {
		return
	}
	at := j.fset.Position(body.Lbrace).Offset + 1
	j.addAt(at, at, j.fset.Position(body.Lbrace).Line, "func "+j.function, "return at once", " if injected.On(%[1]d) { "+j.nothing()+" }; %[2]s")
}

// nothing returns nothing: no result, or each result's zero.
func (j injector) nothing() string {
	if j.results == nil {
		return "return"
	}
	var zeros []string
	for _, f := range j.results.List {
		for range max(1, len(f.Names)) {
			zeros = append(zeros, fmt.Sprintf("*new(%s)", j.text(f.Type)))
		}
	}
	return verbatim("return " + strings.Join(zeros, ", "))
}
