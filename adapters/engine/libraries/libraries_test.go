package libraries

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockproof/lockproof/adapters/engine/gated"
	"github.com/lockproof/lockproof/histories/report"
	"github.com/lockproof/lockproof/model/property"
	_ "github.com/lockproof/lockproof/sim/amqp" // the backend that draws scenarios
	_ "github.com/lockproof/lockproof/sim/redis"
)

// catalogue is the catalogue file of this repository.
const catalogue = "../../../testdata/libraries/catalogue.yaml"

// TestCatalogue checks that the catalogue of this repository is valid.
func TestCatalogue(t *testing.T) {
	all, err := Load(catalogue)
	if err != nil || len(all) < 30 {
		t.Fatal(len(all), err)
	}
}

// TestBad checks that invalid catalogues are refused. The error must be one line that says where the mistake is.
func TestBad(t *testing.T) {
	const good = "- {library: a, version: 1, server: redis, exec: node a.js"
	for text, want := range map[string]string{
		"":                                      "no library",
		"[]":                                    "no library",
		"a: b":                                  "cannot unmarshal",
		good + ", colour: red}":                 "colour",
		"- {library: a, version: 1}":            `no "`,
		good + ", server: nosuch}":              "already defined",
		good + ", servers: 99}":                 "99 servers",
		good + ", servers: -1}":                 "-1 servers",
		good + ", lock: nosuch}":                "nosuch",
		good + ", known: [{property: nosuch}]}": "nosuch",
		good + ", by: nosuch, package: a}":      "expected debian or go or npm",
		good + ", by: npm}":                     "both by and package",
		good + ", known: [{property: mutual-exclusion, issue: nosuch}]}": "OWNER/REPOSITORY#NUMBER",
		good + "}\n" + good + "}": "twice",
		strings.Replace(good, "server: redis", "server: nosuch", 1) + "}": "nosuch",
	} {
		_, err := decode([]byte(text))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v, expected %q in a line", text, err, want)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte("- {library: a, version: 1, server: redis, exec: node a.js}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		all, err := decode(data)
		if (err == nil) == (len(all) == 0) {
			t.Errorf("%d libraries, %v", len(all), err)
		}
	})
}

// TestTable judges ten libraries without known findings. None of them must show a violation.
func TestTable(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: -short leaves out programs of Node")
	}
	for _, needed := range []string{"node", "redis-server", "cc"} {
		if _, err := exec.LookPath(needed); err != nil {
			t.Skip("skipped:", err)
		}
	}
	folder := filepath.Dir(catalogue)
	if _, err := os.Stat(filepath.Join(folder, "node", "node_modules", "ioredis")); err != nil {
		if os.Getenv("LOCKPROOF_REQUIRE_EXAMPLES") != "" {
			t.Fatal(err)
		}
		t.Skip("skipped: run npm ci in testdata/libraries/node")
	}
	all, err := Load(catalogue)
	if err != nil {
		t.Fatal(err)
	}
	c := Config{Folder: folder, Executions: 12, Time: 15 * time.Second} // short limits: findings need not be minimal
	var rows []Row
	all = slices.DeleteFunc(all, func(l Library) bool { return len(l.Known) > 0 }) // minimising findings takes long
	for i := range all[:10] {
		row := c.Judge(t.Context(), &all[i])
		if row.Skipped != "" {
			t.Error(all[i].Title(), row.Skipped)
			continue
		}
		if row.Report == nil || row.Unexpected() != 0 {
			t.Errorf("%s: %v, %v", all[i].Title(), row.Unexpected().Names(), row.Err)
		}
		rows = append(rows, row)
	}
	var table, markdown bytes.Buffer
	if err := WriteTable(&table, rows); err != nil {
		t.Error(err)
	}
	if err := WriteMarkdown(&markdown, rows); err != nil {
		t.Error(err)
	}
	for _, row := range rows {
		if title := row.Library.Title(); !strings.Contains(table.String(), title) || !strings.Contains(markdown.String(), "| "+title+" |") {
			t.Errorf("%s has no row:\n%s\n%s", title, &table, &markdown)
		}
	}
}

// TestReports checks that the table lists each issue that reports a known finding once, also for libraries that are not
// installed.
func TestReports(t *testing.T) {
	l := Library{Name: "some", Version: "1", Server: "redis", Known: []Known{
		{Property: "mutual-exclusion", Issue: "some/lock#7"}, {Property: "progress", Issue: "some/lock#7"}, {Property: "no-crash"}, {Property: "no-leak", Issue: "some/lock#12"},
	}}
	for name, row := range map[string]Row{"judged": {Library: &l, Report: new(report.Report)}, "not judged": {Library: &l}, "skipped": {Library: &l, Skipped: "not installed"}} {
		var table bytes.Buffer
		if err := WriteMarkdown(&table, []Row{row}); err != nil || !strings.Contains(table.String(), "| some/lock#7, some/lock#12 |\n") {
			t.Errorf("%s: %v\n%s", name, err, &table)
		}
	}
}

// TestKnown checks that the catalogue's findings are read as properties, and that several servers are refused for AMQP.
func TestKnown(t *testing.T) {
	l := &Library{Known: []Known{{Property: property.LimitRespected.String()}}}
	if l.known() != property.Set(0).With(property.LimitRespected) {
		t.Error(l.known().Names())
	}
	if err := gated.CheckServers("amqp", 2); err == nil {
		t.Error("two servers of AMQP")
	}
}

// TestSkipped checks that a library is skipped if it is not installed, or only in another version. The reason says how
// to install it. A skipped library is no failure.
func TestSkipped(t *testing.T) {
	folder := t.TempDir()
	l := Library{Name: "some", Version: "1.2.3", Server: "redis", Exec: "exit 1", By: "npm", Package: "@some/lock"}
	judged := func(want string) {
		t.Helper()
		c := Config{Folder: folder}
		row := c.Judge(t.Context(), &l)
		var table bytes.Buffer
		if err := WriteTable(&table, []Row{row}); err != nil {
			t.Error(err)
		}
		if !strings.Contains(row.Skipped, want) || !strings.Contains(table.String(), "skipped") || !strings.Contains(table.String(), want) {
			t.Errorf("%q, expected %q:\n%s", row.Skipped, want, &table)
		}
		if row.Unexpected() != 0 || row.Missed() != 0 {
			t.Error(row.Unexpected().Names(), row.Missed().Names())
		}
	}
	judged(`not installed: run "npm ci --prefix node"`)
	installed := filepath.Join(folder, "node", "node_modules", "@some", "lock")
	if err := os.MkdirAll(installed, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(installed, "package.json"), []byte(`{"version":"1.2.4"}`), 0o644); err != nil {
		t.Fatal(err)
	}
	judged("version 1.2.4 is installed")
	l.Version = "1.2.4"
	for _, written := range []string{"1.2.4", "v1.2.4"} {
		if err := os.WriteFile(filepath.Join(installed, "package.json"), []byte(`{"version":"`+written+`"}`), 0o644); err != nil {
			t.Fatal(err)
		}
		if missing := l.Missing(folder); missing != "" {
			t.Error(missing)
		}
	}
	l.By, l.Package = "go", "example.com/lock"
	judged("go build -C go -o locks .")
	l.By, l.Package = "debian", "no-such-package-of-lockproof"
	judged("apt-get install no-such-package-of-lockproof")
}

// TestDebianVersion checks that the parts are removed which Debian adds to a version.
func TestDebianVersion(t *testing.T) {
	for given, want := range map[string]string{"4.3.4-3": "4.3.4", "5.4.53+dfsg-0+deb12u1": "5.4.53", "3:3.2.25-0+deb12u7": "3.2.25", "1.0.2~rc1-2": "1.0.2"} {
		if got := debianRevision.ReplaceAllString(given, ""); got != want {
			t.Errorf("%s is %s, expected %s", given, got, want)
		}
	}
}
