package histories

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/histories/draw"
	"github.com/lockproof/lockproof/internal/historiestest"

	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
)

func sampleCounterexample() *Counterexample {
	t := historiestest.LockedTaken()
	t.Violations[0].Detail = t.Violations[0].Explain()
	return &Counterexample{
		Tool: "0.1.0", Property: property.MutualExclusion, Scenario: t.Scenario, Violation: t.Violations[0],
		Origin: Origin{Seed: 1, Scenario: 17, Command: "lockproof prove resource-locked-is-success -o retries=0",
			Broker: "the simulated broker", Bounds: "2 clients", Options: []string{"retries=0"}}, Transcript: draw.Transcript(t),
	}
}

func TestCounterexampleRoundTrip(t *testing.T) {
	c := sampleCounterexample()
	data, err := c.Encode()
	if err != nil {
		t.Fatal(err)
	}
	historiestest.Golden(t, "counterexample.json", string(data))
	back, err := DecodeCounterexample("counterexample.json", data)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(back, c) {
		t.Errorf("read back\n%+v\nwant\n%+v", back, c)
	}
}

// TestCounterexampleErrors reads invalid counterexamples, and compares the errors with a file.
func TestCounterexampleErrors(t *testing.T) {
	files, err := filepath.Glob("../testdata/histories/bad/*.json")
	if err != nil || len(files) == 0 {
		t.Fatal("no files", err)
	}
	var said strings.Builder
	for _, path := range files {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		_, err = DecodeCounterexample(filepath.Base(path), data)
		if err == nil {
			t.Errorf("%s: no error", path)
			continue
		}
		said.WriteString(err.Error() + "\n")
	}
	historiestest.Golden(t, "bad/counterexamples.txt", said.String())
}

func TestSaveCounterexample(t *testing.T) {
	c := sampleCounterexample()
	path := filepath.Join(t.TempDir(), FileName(c.Property, "exec: ./my lock"))
	for range 2 { // the second Save replaces the file of the first
		if err := c.Save(path); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := LoadCounterexample(path); err != nil {
		t.Error(err)
	}
	newer := filepath.Join(t.TempDir(), "newer.json")
	if err := os.WriteFile(newer, []byte(`{"lockproof":"counterexample","version":99}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := c.Save(newer); err != nil {
		t.Errorf("one of another version is not replaced: %v", err)
	}
	other := filepath.Join(filepath.Dir(path), "notes.json")
	if err := os.WriteFile(other, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := c.Save(other); err == nil {
		t.Error("something else was overwritten")
	}
	if left, err := os.ReadDir(filepath.Dir(path)); err != nil || len(left) != 2 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

func FuzzDecodeCounterexample(f *testing.F) {
	data, err := sampleCounterexample().Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := DecodeCounterexample("fuzz", data)
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("an error of several lines: %q", err)
			}
			return
		}
		again, err := c.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := DecodeCounterexample("again", again); err != nil {
			t.Errorf("what was written does not read: %v\n%s", err, again)
		}
	})
}

// TestSuspectedCounterexample: the file of a suspected violation says that it is suspected, and can be read. A
// suspected violation that was reproduced is refused.
func TestSuspectedCounterexample(t *testing.T) {
	c := sampleCounterexample()
	c.Suspected, c.Tries = true, Tries{Of: 5}
	data, err := c.Encode()
	if err != nil {
		t.Fatal(err)
	}
	back, err := DecodeCounterexample("file", data)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(back, c) {
		t.Errorf("read back\n%+v\nwant\n%+v", back, c)
	}
	for _, tries := range []Tries{{Shown: 1, Of: 5}, {Of: -1}, {Shown: 6, Of: 5}} {
		c.Tries = tries
		if data, err = c.Encode(); err != nil {
			t.Fatal(err)
		}
		if _, err = DecodeCounterexample("file", data); err == nil {
			t.Errorf("%+v and suspected: no error", tries)
		}
	}
}

// TestOptionsInNames: the name of a counterexample's file contains the options, if file names can contain them.
// Otherwise a hash makes the names differ.
func TestOptionsInNames(t *testing.T) {
	for _, c := range []struct {
		options []string
		want    string
	}{
		{nil, "semaphore.no-leak.json"},
		{[]string{"retries=0"}, "semaphore.retries-0.no-leak.json"},
		{[]string{"retries=0", "polls=1"}, "semaphore.retries-0_polls-1.no-leak.json"},
		{[]string{strings.Repeat("a", 40)}, "semaphore." + strings.Repeat("a", 40) + ".no-leak.json"},
		{[]string{strings.Repeat("a", 41)}, "semaphore." + strings.Repeat("a", 40) + "-HASH.no-leak.json"},
		{[]string{"bug=a/b"}, "HASH"},
		{[]string{"bug=a", "b"}, "semaphore.bug-a_b.no-leak.json"},
	} {
		got := FileName(property.NoLeak, "semaphore", c.options...)
		plain := regexp.MustCompile(`-[0-9a-f]{8}\.`).ReplaceAllString(got, "-HASH.")
		if plain != c.want && !(c.want == "HASH" && plain != got) {
			t.Errorf("%q: %s, want %s", c.options, got, c.want)
		}
	}
	names := make(map[string]bool)
	for _, options := range [][]string{{"bug=a/b"}, {"bug=a b"}, {"bug=a:b"}, {strings.Repeat("a", 41)}, {strings.Repeat("a", 42)}} {
		names[FileName(property.NoLeak, "semaphore", options...)] = true
	}
	if len(names) != 5 {
		t.Errorf("five sets of options have %d names: %v", len(names), names)
	}
	own := Counterexample{Violation: scenario.Violation{Violation: property.Violation{Property: property.Count, Own: "mine"}}}
	if got := own.FileName("a b"); got != FileName(property.Count, "a b")[:len(got)-len("mine.json")]+"mine.json" {
		t.Errorf("a property of a user's own: %s", got)
	}
}

// TestBrokenProperty: the violated property is one of lockproof's, or one of the user's with a name that none of
// lockproof's properties has.
func TestBrokenProperty(t *testing.T) {
	for _, c := range []struct {
		named string
		own   bool
		want  property.Property
		ok    bool
	}{
		{"mutual-exclusion", false, property.MutualExclusion, true},
		{"nobody-waits", false, 0, false},
		{"", false, 0, false},
		{"nobody-waits", true, property.Count, true},
		{"mutual-exclusion", true, 0, false},
		{"", true, 0, false},
	} {
		p, own, err := (&counterexampleFile{Property: c.named, Own: c.own}).broken()
		if (err == nil) != c.ok || c.ok && (p != c.want || own != "" != c.own || c.own && own != c.named) {
			t.Errorf("%q, own %v: %v %q %v", c.named, c.own, p, own, err)
		}
	}
}

// TestLongNames: a counterexample can be written however long its target's name is. Names with the same long beginning
// get different files.
func TestLongNames(t *testing.T) {
	long := strings.Repeat("a", 250)
	seen := make(map[string]bool)
	for _, target := range []string{long, long + "b", strings.Repeat("é", 200), strings.Repeat("/", 250)} {
		for _, options := range [][]string{nil, {"order=" + long}} {
			name := FileName(property.MutualExclusion, target, options...)
			path := filepath.Join(t.TempDir(), name)
			if err := sampleCounterexample().Save(path); err != nil {
				t.Error(err)
			}
			if seen[name] || len(name) > 200 {
				t.Errorf("%s, of %d bytes", name, len(name))
			}
			seen[name] = true
		}
		if name := HistoryName(target); len(name) > 200 || seen[name] {
			t.Errorf("%s, of %d bytes", name, len(name))
		}
	}
	if name := FileName(property.MutualExclusion, "locked-is-success", "order=up"); name != "locked-is-success.order-up.mutual-exclusion.json" {
		t.Error(name)
	}
}
