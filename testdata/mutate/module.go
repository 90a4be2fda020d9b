package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// module is the module at hand, with those of its packages type-checked that bugs are injected into.
type module struct {
	root     string
	path     string
	packages []*source // that have an area
	exports  map[string]string
	fset     *token.FileSet
	compiled types.Importer // of what is not checked here, read once
}

// source is one package.
type source struct {
	path, dir string // dir is relative to the module's root
	names     []string
	files     []*ast.File
	text      map[string][]byte // by name
	types     *types.Package
	info      *types.Info
}

// listing is what go list tells of a package.
type listing struct {
	ImportPath, Dir, Export string
	GoFiles                 []string
	Module                  *struct{ Path, Dir string }
}

func openModule(ctx context.Context, dir string) (*module, error) {
	here, err := goEnv(ctx, dir, "GOMOD")
	if err != nil {
		return nil, err
	}
	m := &module{root: filepath.Dir(here), exports: make(map[string]string), fset: token.NewFileSet()}
	listed := exec.CommandContext(ctx, "go", "list", "-deps", "-export", "-json=ImportPath,Dir,Export,GoFiles,Module", "./...")
	listed.Dir, listed.Stderr = m.root, os.Stderr
	out, err := listed.Output()
	if err != nil {
		return nil, fmt.Errorf("listing the packages of %s: %w", m.root, err)
	}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var l listing
		if err := d.Decode(&l); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("reading go list's answer: %w", err)
		}
		m.exports[l.ImportPath] = l.Export
		if l.Module == nil || l.Module.Dir != m.root {
			continue
		}
		m.path = l.Module.Path
		rel, err := filepath.Rel(m.root, l.Dir)
		if err != nil {
			return nil, err
		}
		s := &source{path: l.ImportPath, dir: filepath.ToSlash(rel), names: l.GoFiles}
		if slices.ContainsFunc(s.names, func(n string) bool { return areaOf(s.dir+"/"+n) != "" }) {
			m.packages = append(m.packages, s)
		}
	}
	m.compiled = importer.ForCompiler(m.fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(m.exports[path]) })
	for _, s := range m.packages {
		if err := m.load(s); err != nil {
			return nil, err
		}
	}
	return m, nil
}

func goEnv(ctx context.Context, dir, name string) (string, error) {
	c := exec.CommandContext(ctx, "go", "env", name)
	c.Dir = dir
	out, err := c.Output()
	return strings.TrimSpace(string(out)), err
}

// load parses and type-checks a package.
func (m *module) load(s *source) error {
	s.text = make(map[string][]byte)
	for _, n := range s.names {
		path := filepath.Join(m.root, s.dir, n)
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		f, err := parser.ParseFile(m.fset, path, text, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		s.text[n], s.files = text, append(s.files, f)
	}
	s.info = &types.Info{Types: make(map[ast.Expr]types.TypeAndValue), Uses: make(map[*ast.Ident]types.Object)}
	var err error
	s.types, err = m.check(s.path, s.files, s.info)
	return err
}

// check type-checks a package. It may import the switch.
func (m *module) check(path string, files []*ast.File, info *types.Info) (*types.Package, error) {
	conf := types.Config{Importer: withSwitch{m.compiled, m.switchPath()}}
	return conf.Check(path, m.fset, files, info)
}

// withSwitch imports the package of the switch, which the module itself does not have.
type withSwitch struct {
	types.Importer
	path string
}

func (w withSwitch) Import(path string) (*types.Package, error) {
	if path != w.path {
		return w.Importer.Import(path)
	}
	p := types.NewPackage(path, "injected")
	number := types.NewVar(token.NoPos, p, "number", types.Typ[types.Int])
	answer := types.NewVar(token.NoPos, p, "", types.Typ[types.Bool])
	on := types.NewSignatureType(nil, nil, nil, types.NewTuple(number), types.NewTuple(answer), false)
	p.Scope().Insert(types.NewFunc(token.NoPos, p, "On", on))
	p.MarkComplete()
	return p, nil
}

// bugs are all that can be injected, in the order of packages, files and places.
func (m *module) bugs() ([]*bug, error) {
	var all []*bug
	for _, s := range m.packages {
		for i, f := range s.files {
			if area := areaOf(s.dir + "/" + s.names[i]); area != "" {
				all = append(all, injector{module: m, source: s, file: f, name: s.names[i], area: area}.all()...)
			}
		}
	}
	count := make(map[string]int)
	for _, b := range all {
		id := b.description()
		if count[id]++; count[id] > 1 {
			b.occurrence = count[id]
		}
	}
	return all, nil
}

// choose takes the sample: of each area so many bugs as of any other, as long as there are any. A bug's place in the order
// of a seed follows from its description alone, so that a change of the source leaves the rest of the sample as it is.
func (m *module) choose(all []*bug, o options) ([]*bug, error) {
	wanted, err := o.wanted()
	if err != nil {
		return nil, err
	}
	lists := make(map[string][]*bug)
	for _, b := range all {
		if (o.area == "" || b.area == o.area) && strings.Contains(b.description(), o.only) && (wanted == nil || wanted[b.description()]) {
			lists[b.area] = append(lists[b.area], b)
		}
	}
	for name := range lists {
		slices.SortFunc(lists[name], func(a, b *bug) int { return bytes.Compare(a.rank(o.seed), b.rank(o.seed)) })
	}
	var chosen []*bug
	for more := true; more; {
		more = false
		for _, a := range areas {
			var b *bug
			if b, lists[a.name] = m.next(lists[a.name]); b == nil {
				continue
			}
			b.number = len(chosen) + 1
			chosen, more = append(chosen, b), true
			if len(chosen) == o.size {
				return chosen, nil
			}
		}
	}
	return chosen, nil
}

// next is the first bug of a list with which its package compiles, and the rest of the list.
func (m *module) next(list []*bug) (*bug, []*bug) {
	for len(list) > 0 {
		b := list[0]
		list = list[1:]
		if m.compiles(b) {
			return b, list
		}
	}
	return nil, nil
}

// compiles reports whether a package compiles with a bug in it.
func (m *module) compiles(b *bug) bool {
	f, err := parser.ParseFile(m.fset, b.name, m.inject(b.source.text[b.name], []*bug{b}), parser.SkipObjectResolution)
	if err != nil {
		return false
	}
	files := slices.Clone(b.source.files)
	files[slices.Index(b.source.names, b.name)] = f
	_, err = m.check(b.source.path, files, nil)
	return err == nil
}
