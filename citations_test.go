package lockproof_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	folderCited = regexp.MustCompile(`(?:^|[ (])((?:model|sim|adapters|histories|cmd|testdata)(?:/[a-z_-]+)+)(.?)`)
	factRow     = regexp.MustCompile(`(?m)^\| ([A-Z][0-9]+) \| .* \| (.*) \|$`)
	factTest    = regexp.MustCompile("^`([a-z/]+)` (Test[A-Za-z]+(?:, Test[A-Za-z]+)*)$")
	factCited   = regexp.MustCompile(`FACTS( [A-Z][0-9]+(?:(?:,| and| to|, unlike) [A-Z][0-9]+)*)`)
	factLabel   = regexp.MustCompile(`\b[A-Z][0-9]+\b`)
	bareLabel   = regexp.MustCompile(`\(([BCGHKMR][0-9]{1,2}(?:, [BCGHKMR][0-9]{1,2})*)\)`)
	pageCited   = regexp.MustCompile(`[\w./-]*\w\.md\b`)
	fileCited   = regexp.MustCompile(`[\w./-]*\w\.go\b`)
	document    = regexp.MustCompile(`\b(DESIGN|STYLE|WORDS|PROTOCOLS|BASELINES|CONTAINERS|[A-Z]+-FACTS)\b`)
)

// TestFactsCited: a reader with the repository alone can follow each label of a fact to its row in sim/FACTS.md. The row
// leads to the test that measures the fact, which has the label in its folder.
func TestFactsCited(t *testing.T) {
	page, err := os.ReadFile("sim/FACTS.md")
	if err != nil {
		t.Fatal(err)
	}
	where := make(map[string]string)
	for _, row := range factRow.FindAllStringSubmatch(string(page), -1) {
		if label := row[1]; where[label] != "" {
			t.Errorf("sim/FACTS.md has %s twice", label)
		} else {
			where[label] = row[2]
		}
	}
	said := make(map[string]string) // by folder: the text of its files
	written(t, func(path, text string) {
		if path != "sim/FACTS.md" {
			dir := strings.TrimSuffix(filepath.ToSlash(filepath.Dir(path)), "/testdata")
			said[dir] += text
		}
		cited := factCited.FindAllStringSubmatch(text, -1)
		if strings.HasSuffix(path, ".go") {
			cited = append(cited, bareLabel.FindAllStringSubmatch(text, -1)...)
		}
		for _, c := range cited {
			for _, label := range factLabel.FindAllString(c[1], -1) {
				if where[label] == "" {
					t.Errorf("%s cites %q: sim/FACTS.md has no %s", path, c[0], label)
				}
			}
		}
	})
	for label, by := range where {
		test := factTest.FindStringSubmatch(by)
		if test != nil {
			for _, name := range strings.Split(test[2], ", ") {
				if !strings.Contains(said[test[1]], "func "+name+"(") {
					t.Errorf("%s is measured by %s: there is no %s", label, by, name)
				}
			}
		}
		switch {
		case test != nil && !slices.Contains(factLabel.FindAllString(said[test[1]], -1), label):
			t.Errorf("%s is measured by %s: nothing in that folder has the label", label, by)
		case test == nil && by != "by hand" && by != "documented":
			t.Errorf("%s is measured by %q: expected a folder and its tests, \"by hand\" or \"documented\"", label, by)
		}
	}
}

// elsewhere are names that comments mention although the repository has no such file: pages that a run writes, a page
// of Consul's, and a web site.
var elsewhere = []string{"summary.md", "locks.md", "consul/website/source/docs/guides/semaphore.html.md", "pkg.go"}

// TestPagesCited: each .md page that a comment or another page names exists in the repository.
func TestPagesCited(t *testing.T) {
	written(t, func(path, text string) {
		if strings.HasSuffix(path, "_test.go") {
			return
		}
		named := document.FindAllString(text, -1)
		if strings.Contains(text, ".md") {
			named = append(named, pageCited.FindAllString(text, -1)...)
		}
		for _, name := range named {
			_, top := os.Stat(name)
			_, beside := os.Stat(filepath.Join(filepath.Dir(path), name))
			if top != nil && beside != nil && !slices.Contains(elsewhere, name) {
				t.Errorf("%s names %s: there is no such page", path, name)
			}
		}
	})
}

// TestFilesCited: each Go file and each folder that a doc.go names exists in the repository.
func TestFilesCited(t *testing.T) {
	var files, docs []string
	texts := make(map[string]string)
	written(t, func(path, text string) {
		files = append(files, "/"+path)
		if filepath.Base(path) == "doc.go" {
			docs, texts[path] = append(docs, path), text
		}
	})
	for _, path := range docs {
		for _, name := range fileCited.FindAllString(texts[path], -1) {
			if name = strings.TrimLeft(name, "/"); slices.Contains(elsewhere, name) {
				continue
			}
			if !slices.ContainsFunc(files, func(f string) bool { return strings.HasSuffix(f, "/"+name) }) {
				t.Errorf("%s names %s: there is no such file", path, name)
			}
		}
		for _, found := range folderCited.FindAllStringSubmatch(texts[path], -1) {
			if _, err := os.Stat(found[1]); err != nil && found[2] != "." {
				t.Errorf("%s names %s: there is no such folder", path, found[1])
			}
		}
	}
}

// written calls visit with the path and the text of each file of the repository that a person wrote.
func written(t *testing.T, visit func(path, text string)) {
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "node_modules" || d.Name() == ".git"):
			return fs.SkipDir
		case d.IsDir() || !slices.Contains([]string{".go", ".md", ".txt", ".py", ".js", ".yml", ""}, filepath.Ext(path)) || strings.Contains(path, "pinned"):
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		visit(filepath.ToSlash(path), string(text))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
