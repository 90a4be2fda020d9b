package libraries

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/adapters/engine/gated"
	"github.com/lockproof/lockproof/model/property"
	_ "github.com/lockproof/lockproof/sim/amqp" // draws scenarios
	_ "github.com/lockproof/lockproof/sim/redis"
)

// catalogue is that of this repository.
const catalogue = "../../../testdata/libraries/catalogue.yaml"

// TestCatalogue: the catalogue of this repository is one, and names libraries by what they are installed as.
func TestCatalogue(t *testing.T) {
	all, err := Load(catalogue)
	if err != nil || len(all) < 10 {
		t.Fatal(len(all), err)
	}
}

// TestBad: a catalogue that makes no sense is refused in one line that says where.
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
		good + "}\n" + good + "}":               "twice",
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

// TestTable: ten libraries of the catalogue are judged, and none is accused of more than is known of it.
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
	c := Config{Folder: folder, Executions: 12}
	var rows []Row
	for i := range all[:10] {
		row := c.Judge(t.Context(), &all[i])
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

// TestKnown: what is known of a library is no surprise, and its absence is said.
func TestKnown(t *testing.T) {
	l := &Library{Known: []Known{{Property: property.LimitRespected.String()}}}
	if l.known() != property.Set(0).With(property.LimitRespected) {
		t.Error(l.known().Names())
	}
	if err := gated.CheckServers("amqp", 2); err == nil {
		t.Error("two servers of AMQP")
	}
}
