package cli

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// recordedOf returns the text of a counterexample of locked-is-success, with its target replaced by as.
func recordedOf(t *testing.T, as string) string {
	t.Helper()
	data, err := os.ReadFile("../../../testdata/counterexamples/locked-is-success.mutual-exclusion.json")
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(data), `"target": "locked-is-success"`, `"target": "`+as+`"`)
}

// lay writes files to a new folder.
func lay(t *testing.T, files map[string]string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// laid returns the content of the files in a folder, by name.
func laid(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := make(map[string]string)
	err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err != nil || info.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		files[filepath.ToSlash(name)] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestKept checks that a run first repeats the stored counterexamples of its lock. It must fail if one of them still
// fails. A counterexample that passes must be moved to the folder passed. Other files must not be touched.
func TestKept(t *testing.T) {
	bad, good := recordedOf(t, "locked-is-success"), recordedOf(t, "semaphore")
	const one = " --scenarios 30 --clients 1 --admins 0 --property "
	for name, c := range map[string]struct {
		command string
		before  map[string]string
		after   map[string]string // for each file after the run, its name before
		code    int
		says    []string
	}{
		"fails": {"prove locked-is-success" + one + "mutual-exclusion", map[string]string{"a.json": bad}, map[string]string{"a.json": "a.json"}, exitViolated,
			[]string{"✗ violated", "c2 and c1 hold slot 1 at once", "violated again, of an earlier run: DIR/a.json", "see it: lockproof replay DIR/a.json"}},
		"fails after it passed": {"prove locked-is-success" + one + "mutual-exclusion", map[string]string{"passed/a.json": bad}, map[string]string{"a.json": "passed/a.json"}, exitViolated,
			[]string{"violated again, of an earlier run: DIR/a.json"}},
		"passes": {"prove semaphore" + one + "mutual-exclusion", map[string]string{"a.json": good}, map[string]string{"passed/a.json": "a.json"}, exitHolds,
			[]string{"passes now, of an earlier run: DIR/passed/a.json"}},
		"passes as another does": {"prove semaphore" + one + "mutual-exclusion", map[string]string{"a.json": good, "passed/a.json": good}, map[string]string{"passed/a.json": "passed/a.json", "passed/a.2.json": "a.json"}, exitHolds,
			[]string{"passes now, of an earlier run: DIR/passed/a.2.json", "pass as before: 1 counterexample"}},
		"other property": {"prove locked-is-success" + one + "no-leak", map[string]string{"a.json": bad}, map[string]string{"a.json": "a.json"}, exitHolds, nil},
		"other lock":     {"prove semaphore" + one + "mutual-exclusion", map[string]string{"a.json": bad}, map[string]string{"a.json": "a.json"}, exitHolds, nil},
		"other options":  {"prove locked-is-success -o retries=0" + one + "mutual-exclusion", map[string]string{"a.json": bad}, map[string]string{"a.json": "a.json"}, exitHolds, nil},
		"other files": {"prove semaphore" + one + "mutual-exclusion", map[string]string{"a.txt": good, "b.json": "{}", "c.json": "", "passed/d.json": "[", "e.json": strings.Replace(good, "counterexample", "report", 1)},
			map[string]string{"a.txt": "a.txt", "b.json": "b.json", "c.json": "c.json", "passed/d.json": "passed/d.json", "e.json": "e.json"}, exitHolds, nil},
		"damaged": {"prove semaphore" + one + "mutual-exclusion", map[string]string{"a.json": good[:400], "b.json": strings.Replace(good, `"version": 1`, `"version": 9`, 1)},
			map[string]string{"a.json": "a.json", "b.json": "b.json"}, exitCannot, []string{"DIR/a.json:", "DIR/b.json:", "mend the file, or move it elsewhere"}},
		"explore": {"explore locked-is-success --clients 1 --admins 0", map[string]string{"locked-is-success.mutual-exclusion.json": bad},
			map[string]string{"locked-is-success.mutual-exclusion.json": "locked-is-success.mutual-exclusion.json"}, exitHolds, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := lay(t, c.before)
			var out bytes.Buffer
			if code := run(append(strings.Fields(c.command), "--out", dir), &out, &out); code != c.code {
				t.Errorf("exit code %d, expected %d: %s", code, c.code, out.String())
			}
			said := strings.Join(strings.Fields(out.String()), " ")
			for _, want := range c.says {
				if want = strings.ReplaceAll(want, "DIR", dir); !strings.Contains(said, want) {
					t.Errorf("it does not say %q: %s", want, out.String())
				}
			}
			if len(c.says) == 0 && strings.Contains(said, "earlier run") {
				t.Errorf("it tells of an earlier run: %s", out.String())
			}
			after := laid(t, dir)
			for to, from := range c.after {
				if after[to] != c.before[from] {
					t.Errorf("%s is not %s: %q", to, from, slices.Sorted(maps.Keys(after)))
				}
			}
			if len(after) != len(c.after) {
				t.Errorf("expected %d files, found %q", len(c.after), slices.Sorted(maps.Keys(after)))
			}
		})
	}
}

// TestKeptBeside checks where a run writes its counterexample. If an earlier file shows the same violation, the run
// replaces this file. If the earlier file shows another violation, the run writes a new file, NAME.2.json.
func TestKeptBeside(t *testing.T) {
	t.Parallel()
	const name = "locked-is-success.mutual-exclusion"
	bad := recordedOf(t, "locked-is-success")
	other := strings.Replace(bad, `"name": "jobs", "slots": 1`, `"name": "jobs", "slots": 1}, {"name": "others", "slots": 3`, 1)
	for text, files := range map[string][]string{bad: {name + ".json"}, other: {name + ".2.json", name + ".json"}} {
		dir := lay(t, map[string]string{name + ".json": text})
		for range 2 {
			var out bytes.Buffer
			if code := run(strings.Fields("prove locked-is-success --scenarios 200 --property mutual-exclusion --seed 3 --out "+dir), &out, &out); code != exitViolated {
				t.Fatalf("exit code %d: %s", code, out.String())
			}
			after := laid(t, dir)
			if got := slices.Sorted(maps.Keys(after)); !slices.Equal(got, files) {
				t.Errorf("expected %q, found %q", files, got)
			}
			if len(files) == 2 && after[name+".json"] != text {
				t.Error("the earlier one was written over")
			}
		}
	}
}
