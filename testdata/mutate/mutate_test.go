package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// toy is a module with code whose bugs are known to be noticed, or not.
var toy = map[string]string{
	"go.mod": "module example.com/toy\n\ngo 1.26\n",
	"sim/amqp/broker/toy.go": `package broker // in an area

// Less is held on two pairs, none of them equal.
func Less(a, b int) bool { return a < b }

// Count is held, and never ends if nothing is counted down.
func Count(n int) (sum int) {
	for n > 0 {
		n--
		sum++
	}
	return sum
}

// Room has nothing that could make a difference.
func Room(n int) []int {
	seen := make(map[int]bool, n+1)
	if seen == nil {
		panic("no map of " + "any size")
	}
	return make([]int, 0, 2*n+1)
}

// Unused is held by nobody.
func Unused(list []string) []string {
	list = append(list, "more")
	return list
}
`,
	"sim/amqp/broker/toy_test.go": `package broker

import "testing"

func TestToy(t *testing.T) {
	if !Less(1, 2) || Less(2, 1) {
		t.Error("Less")
	}
	if list := Room(3); list == nil || len(list) > 0 {
		t.Error("Room")
	}
}
`,
	"user/user.go": "package user\n\nimport \"example.com/toy/sim/amqp/broker\"\n\nfunc Three() int { return broker.Count(3) }\n",
	"user/user_test.go": `package user

import "testing"

func TestThree(t *testing.T) {
	if Three() != 3 {
		t.Error("Three")
	}
}
`,
	"testdata/mutate/equivalent.txt": "# nothing\nsim/amqp/broker Unused: func Unused => return at once\n\tNobody calls it.\n",
}

// TestToyModule: a bug is killed if a module's tests notice it, or those of a dependant, or if they never end. Other bugs
// are reported, except the listed ones. Nothing in the module's folder changes.
func TestToyModule(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("skipped: git is missing, which lists the files of a module: install it")
	}
	dir := t.TempDir()
	for name, text := range toy {
		if err := write(filepath.Join(dir, name), []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.Command("git", "-C", dir, "init", "-q").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, link := range []string{"folder", "nowhere"} { // neither belongs to the module
		if err := os.Symlink(filepath.Join("..", link), filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(filepath.Dir(dir), "folder"), 0o755); err != nil {
		t.Fatal(err)
	}
	o := options{workers: 2, limit: 8 * time.Second, dir: filepath.Join(t.TempDir(), "work")}
	s, err := run(t.Context(), dir, o)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i, b := range s.survivors {
		got = append(got, string(s.outcomes[i])+": "+b.before+" => "+b.after)
	}
	slices.Sort(got)
	want := []string{
		"survived: func Less(a, b int) bool { return a < b } => func Less(a, b int) bool { return a <= b }",
		`unreached: list = append(list, "more") => nothing`,
	}
	if !slices.Equal(got, want) || s.total.equivalent != 1 || s.total.untried != 0 || s.total.timedOut == 0 || s.total.killed == 0 {
		t.Errorf("%+v, and what survives is\n%s\nwant\n%s", s.total, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	again, err := run(t.Context(), dir, o)
	if err != nil || again.total != s.total {
		t.Errorf("going on where nothing is left to be done comes to %+v after %+v: %v", again.total, s.total, err)
	}
	for name, text := range toy {
		if data, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(data) != text {
			t.Errorf("%s changed: %v", name, err)
		}
	}
}
