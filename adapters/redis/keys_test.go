package redis

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
	"time"

	model "github.com/lockproof/lockproof/model/redis"
)

// server starts a Redis for one test.
func server(t *testing.T) *Server {
	t.Helper()
	s, err := Start(t.Context())
	if errors.Is(err, ErrNoServer) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// TestForeignKey: a run neither writes nor deletes a key that existed before it. The error names the key.
func TestForeignKey(t *testing.T) {
	s := server(t)
	for _, c := range []model.Command{
		{Method: model.Set, ID: model.NewID(1, 1), Lease: 10}, {Method: model.Del}, {Method: model.PExpire, Lease: 1},
		{Method: model.Steal, ID: model.NewID(1, 1), Priority: 1, Lease: 10},
	} {
		p := s.Space()
		name := p.name(c.Key, "jobs")
		if err := s.client.Set(t.Context(), name, "theirs", 0).Err(); err != nil {
			t.Fatal(err)
		}
		if _, err := p.Do(t.Context(), c, "jobs"); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", c.Words("jobs"), err)
		}
		if err := errors.Join(p.Advance(t.Context(), 1<<20), p.Sweep(t.Context())); err != nil {
			t.Error(err)
		}
		if got, err := s.client.Get(t.Context(), name).Result(); got != "theirs" || err != nil {
			t.Errorf("%s: a key that was there before is %q, %v", c.Words("jobs"), got, err)
		}
	}
}

// TestDeadRun: a run deletes the keys of runs that were killed. It does not delete keys of live runs and of other
// programs.
func TestDeadRun(t *testing.T) {
	s := server(t)
	set := model.Command{Method: model.Set, ID: model.NewID(1, 1)}
	dead, alive := s.Space(), s.Space()
	for _, p := range []*Space{dead, alive} {
		if _, err := p.Do(t.Context(), set, "jobs"); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(s.client.Del(t.Context(), dead.prefix+livingKey).Err(), s.client.Set(t.Context(), "{lockproof:mine", "x", 0).Err()); err != nil {
		t.Fatal(err)
	}
	next, err := Dial(t.Context(), s.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer next.Close()
	p := next.Space()
	if _, err := p.Do(t.Context(), set, "jobs"); err != nil {
		t.Fatal(err)
	}
	for name, there := range map[string]int64{dead.name(model.Key{}, "jobs"): 0, alive.name(model.Key{}, "jobs"): 1, "{lockproof:mine": 1} {
		if n, err := s.client.Exists(t.Context(), name).Result(); n != there || err != nil {
			t.Errorf("%s: there %d, expected %d; %v", name, n, there, err)
		}
	}
	dead.keys.renewed = time.Now().Add(-2 * renewal)
	if _, err := dead.Do(t.Context(), set, "jobs"); err == nil {
		t.Error("a run that was taken for dead goes on")
	}
	if err := errors.Join(alive.Sweep(context.Background()), p.Sweep(context.Background())); err != nil {
		t.Error(err)
	}
	if all, err := s.client.Keys(t.Context(), "*").Result(); len(all) != 1 || err != nil {
		t.Errorf("left: %q, %v", all, err)
	}
}

// TestForgedAccount: if another client adds an entry to the set that lists the keys of runs, no run deletes the key
// in the entry, whatever the entry is.
func TestForgedAccount(t *testing.T) {
	s := server(t)
	for _, member := range []string{"%s", "x %s", "aaaaaaaaaaaaaaaaaaaaaaaaaa %s", " %s"} {
		const theirs = "{lockproof:aaaaaaaaaa:jobs}"
		member = fmt.Sprintf(member, theirs)
		if err := errors.Join(s.client.Set(t.Context(), theirs, "mine", 0).Err(), s.client.SAdd(t.Context(), runsKey, member).Err()); err != nil {
			t.Fatal(err)
		}
		other, err := Dial(t.Context(), s.URL)
		if err != nil {
			t.Fatal(err)
		}
		p := other.Space()
		if _, err := p.Do(t.Context(), model.Command{Method: model.Set, ID: model.NewID(1, 1)}, "jobs"); err != nil {
			t.Fatal(err)
		}
		if n, err := s.client.Exists(t.Context(), theirs).Result(); n != 1 || err != nil {
			t.Errorf("%q in the account deletes the key, %v", member, err)
		}
		if err := errors.Join(p.Sweep(t.Context()), other.Close(), s.client.Del(t.Context(), runsKey).Err()); err != nil {
			t.Fatal(err)
		}
	}
}

// TestForeignAccount: if another program uses the name runsKey for a set of its own, a run leaves that set unchanged.
func TestForeignAccount(t *testing.T) {
	s := server(t)
	if err := s.client.SAdd(t.Context(), runsKey, "theirs", "{lockproof:aaaaaaaaaa:jobs}").Err(); err != nil {
		t.Fatal(err)
	}
	p := s.Space()
	if _, err := p.Do(t.Context(), model.Command{Method: model.Set, ID: model.NewID(1, 1)}, "jobs"); err != nil {
		t.Fatal(err)
	}
	if err := p.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n, err := s.client.SCard(t.Context(), runsKey).Result(); n != 2 || err != nil {
		t.Errorf("the set has %d members, %v", n, err)
	}
}

// TestNothingOfTheServers: the package sends no command that changes the server itself, or that affects keys without
// naming them.
func TestNothingOfTheServers(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	never := []string{"Flush", "Config", "Shutdown", "Debug", "SlaveOf", "Swap", "Kill", "Keys", "ACL", "Move", "Rename"}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, _ := n.(*ast.CallExpr)
			if call == nil {
				return true
			}
			f, _ := call.Fun.(*ast.SelectorExpr)
			if f == nil {
				return true
			}
			if on, _ := f.X.(*ast.SelectorExpr); on == nil || on.Sel.Name != "client" {
				return true
			}
			for _, prefix := range never {
				if strings.Contains(f.Sel.Name, prefix) {
					t.Errorf("%s: %s", name, f.Sel.Name)
				}
			}
			return true
		})
	}
}
