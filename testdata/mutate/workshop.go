package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// workshop is the copy of the module with all bugs of the sample in it, its test binaries and the
// results so far.
type workshop struct {
	module  *module
	options options
	dir     string // has the copy in src, the test binaries in bin, what was found out in files
	tests   []test
	results *results
	left    []string // tests that fail without any bug
}

// openWorkshop makes the copy, or takes the one that an earlier run of the same made.
func openWorkshop(ctx context.Context, m *module, bugs []*bug, o options) (*workshop, error) {
	files, print, err := m.fingerprint(ctx, bugs, o.tests)
	if err != nil {
		return nil, err
	}
	if o.dir == "" {
		o.dir = filepath.Join(os.TempDir(), "lockproof-mutate", print)
	}
	w := &workshop{module: m, options: o, dir: o.dir}
	ready := filepath.Join(w.dir, "ready-"+print)
	if _, err := os.Stat(ready); err != nil {
		if err := w.build(ctx, files, bugs); err != nil {
			return nil, err
		}
		if err := os.WriteFile(ready, nil, 0o644); err != nil {
			return nil, err
		}
	}
	if err := w.learn(ctx, len(bugs)); err != nil {
		return nil, err
	}
	w.results, err = openResults(filepath.Join(w.dir, "results-"+print+".jsonl"))
	return w, err
}

func (w *workshop) close() { w.results.close() }

// fingerprint tells samples of different sources, and for different tests, apart, and lists the files that
// belong to the module.
func (m *module) fingerprint(ctx context.Context, bugs []*bug, tests string) (files []string, print string, err error) {
	c := exec.CommandContext(ctx, "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	c.Dir, c.Stderr = m.root, os.Stderr
	out, err := c.Output()
	if err != nil {
		return nil, "", fmt.Errorf("listing the files of %s: %w", m.root, err)
	}
	sum := sha256.New()
	for name := range strings.SplitSeq(strings.TrimRight(string(out), "\x00"), "\x00") {
		path := filepath.Join(m.root, name)
		info, err := os.Stat(path)
		if errors.Is(err, fs.ErrNotExist) || err == nil && info.IsDir() || strings.HasPrefix(name, "testdata/mutate/") {
			continue // deleted, a link to a folder, or no part of what is tested
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, "", err
		}
		files = append(files, name)
		fmt.Fprintf(sum, "%s %d\n", name, len(data))
		sum.Write(data)
	}
	for _, b := range bugs {
		fmt.Fprintln(sum, b.description(), b.form)
	}
	fmt.Fprintln(sum, tests)
	return files, hex.EncodeToString(sum.Sum(nil))[:16], nil
}

// build copies the module, puts the bugs into it, and builds its tests.
func (w *workshop) build(ctx context.Context, files []string, bugs []*bug) error {
	if err := os.RemoveAll(w.dir); err != nil {
		return err
	}
	byFile := make(map[string][]*bug)
	for _, b := range bugs {
		name := filepath.Join(b.source.dir, b.name)
		byFile[name] = append(byFile[name], b)
	}
	for _, name := range files {
		data, err := os.ReadFile(filepath.Join(w.module.root, name))
		if err != nil {
			return err
		}
		if list := byFile[name]; list != nil {
			data = w.module.inject(data, list)
		}
		if err := write(filepath.Join(w.dir, "src", name), data); err != nil {
			return err
		}
	}
	if err := write(filepath.Join(w.dir, "src", "injected", "injected.go"), []byte(switchSource)); err != nil {
		return err
	}
	return w.compile(ctx)
}

func write(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o755)
}

// compile builds the test binary of each package.
func (w *workshop) compile(ctx context.Context) error {
	packages, err := w.packages(ctx)
	if err != nil {
		return err
	}
	for _, p := range packages {
		c := exec.CommandContext(ctx, "go", "test", "-c", "-vet=off", "-o", w.binary(p), "./"+p)
		c.Dir, c.Stdout, c.Stderr = filepath.Join(w.dir, "src"), os.Stderr, os.Stderr
		if err := c.Run(); err != nil {
			return fmt.Errorf("building the tests of %s with the bugs in it: %w", p, err)
		}
	}
	return nil
}

// packages are those with tests, by their folders.
func (w *workshop) packages(ctx context.Context) ([]string, error) {
	c := exec.CommandContext(ctx, "go", "list", "-f", "{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}}{{end}}", "./...")
	c.Dir, c.Stderr = filepath.Join(w.dir, "src"), os.Stderr
	out, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("listing the packages of the copy: %w", err)
	}
	var list []string
	for p := range strings.FieldsSeq(string(out)) {
		folder := strings.TrimPrefix(strings.TrimPrefix(p, w.module.path), "/")
		if folder == "" {
			folder = "."
		}
		if only := w.options.tests; only == "" || slices.Contains(strings.Split(only, ","), folder) {
			list = append(list, folder)
		}
	}
	return list, nil
}

func (w *workshop) binary(folder string) string {
	return filepath.Join(w.dir, "bin", strings.ReplaceAll(folder, "/", "-")+".test")
}

// learn runs every test once without a bug, to see how long it takes and what it reaches.
func (w *workshop) learn(ctx context.Context, bugs int) error {
	path := filepath.Join(w.dir, "tests.json")
	if data, err := os.ReadFile(path); err == nil {
		if err := json.Unmarshal(data, &w.tests); err != nil {
			return fmt.Errorf("reading %s: %w: delete it and try again", path, err)
		}
	}
	packages, err := w.packages(ctx)
	if err != nil {
		return err
	}
	known := make(map[string]bool)
	for _, t := range w.tests {
		known[t.String()] = true
	}
	for _, p := range packages {
		names, err := w.list(ctx, p)
		if err != nil {
			return err
		}
		for _, n := range names {
			t := test{Package: p, Name: n}
			if known[t.String()] {
				continue
			}
			if err := w.baseline(ctx, &t, bugs); err != nil {
				return err
			}
			w.tests = append(w.tests, t)
			if err := w.remember(path); err != nil {
				return err
			}
		}
	}
	for _, t := range w.tests {
		if t.Fails {
			w.left = append(w.left, t.String())
		}
	}
	return nil
}

func (w *workshop) remember(path string) error {
	data, err := json.Marshal(w.tests)
	if err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o644)
}
