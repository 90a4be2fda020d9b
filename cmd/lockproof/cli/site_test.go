//go:build unix

package cli

import (
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	reference = regexp.MustCompile(`(?:href|src)="([^"]*)"`)
	anchor    = regexp.MustCompile(`id="([^"]*)"`)
)

// TestSite builds the documentation as a web site. Links must lead to existing pages, and every page must be in the
// menu. The page words.html must lead from some words, such as "fencing", to a page, and the search must know these
// words.
func TestSite(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: -short leaves out what takes programs")
	}
	takes(t, "apt-get install hugo", "hugo", "version")
	out := t.TempDir() + "/site"
	if said, err := exec.Command(repository+"/.github/site/build", out).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	built := readSite(t, filepath.Join(out, "latest"))
	menu := built["index.html"]
	for name, page := range built {
		if !strings.HasSuffix(name, ".html") {
			continue
		}
		if name != "index.html" && !strings.Contains(menu, `href="./`+name+`"`) {
			t.Errorf("%s is not in the menu of the first page", name)
		}
		for _, to := range reference.FindAllStringSubmatch(page, -1) {
			leads(t, built, name, html.UnescapeString(to[1]))
		}
	}
	for _, to := range reference.FindAllStringSubmatch(built["overview.html"], -1) {
		if strings.HasPrefix(to[1], inRepository) && strings.HasSuffix(to[1], ".md") && to[1] != inRepository+"README.md" {
			t.Errorf("%s is no page of the site", to[1])
		}
	}
	for _, word := range []string{"swiss cheese", "overshoot", "partition", "fencing"} {
		row := regexp.MustCompile(`(?s)<td>` + word + `</td>.*?</tr>`).FindString(built["words.html"])
		if !strings.Contains(row, ".html") || !strings.Contains(built["index.js"], word) {
			t.Errorf("%q leads nowhere: %s", word, row)
		}
	}
}

// readSite returns the content of the site's files, by name.
func readSite(t *testing.T, dir string) map[string]string {
	t.Helper()
	files, err := filepath.Glob(dir + "/*.*")
	if err != nil {
		t.Fatal(err)
	}
	built := make(map[string]string)
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		built[filepath.Base(file)] = string(data)
	}
	return built
}

const inRepository = "https://github.com/lockproof/lockproof/blob/main/"

// leads checks that a link leads to a page of the site, to a section of a page, or to a file of the repository.
func leads(t *testing.T, built map[string]string, from, to string) {
	t.Helper()
	if file, is := strings.CutPrefix(to, inRepository); is {
		file, _, _ = strings.Cut(file, "#")
		if _, err := os.Stat(filepath.Join(repository, file)); err != nil {
			t.Errorf("%s: %v", from, err)
		}
		return
	}
	if strings.Contains(to, "://") || strings.HasPrefix(to, "./testdata/") {
		return
	}
	name, section, _ := strings.Cut(strings.TrimPrefix(to, "./"), "#")
	if name == "" {
		name = from
	}
	page, there := built[name]
	if !there {
		t.Errorf("%s links %s, which is no page", from, to)
		return
	}
	for _, is := range anchor.FindAllStringSubmatch(page, -1) {
		if is[1] == section {
			return
		}
	}
	if section != "" {
		t.Errorf("%s links %s, and the page has no such section", from, to)
	}
}
