package kept

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/histories"
	"github.com/lockproof/lockproof/histories/outfile"
	"github.com/lockproof/lockproof/model/property"
)

// file is a counterexample file as a run writes it.
const file = "../../../testdata/counterexamples/locked-is-success.mutual-exclusion.json"

// lay writes copies of the counterexample in the constant file to a new folder. names are the names of the copies.
func lay(t *testing.T, names ...string) Folder {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, name := range names {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, data, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	return Folder{outfile.Place{Path: dir}}
}

// passes is a replay that violates nothing.
func passes(context.Context, *histories.Counterexample) (*engine.Replayed, error) {
	return new(engine.Replayed), nil
}

var locked = Lock{Target: "locked-is-success", Restarts: true, Judging: engine.Judging{Properties: property.Set(0).With(property.MutualExclusion)}}

// TestNoneIsLost checks that a file stays where it is if all names in the other folder are taken, and that this is
// reported.
func TestNoneIsLost(t *testing.T) {
	names := []string{"a.json"}
	for n := range mostAlike {
		names = append(names, filepath.Join(Passed, alike("a.json", n)))
	}
	f := lay(t, names...)
	e, err := Run(t.Context(), Past{Folder: f}, locked, passes)
	if err != nil || e.Err == nil || !strings.Contains(e.Err.Error(), "delete those that you need no more") || e.told.Held != mostAlike {
		t.Errorf("%v, %+v", err, e)
	}
	for _, name := range names {
		if _, err := os.Stat(f.Place(name).Path); err != nil {
			t.Error(err)
		}
	}
}

// TestInterrupted checks that all files stay if a run is interrupted, or if its clients cannot be run.
func TestInterrupted(t *testing.T) {
	f := lay(t, "a.json", "b.json")
	ctx, cancel := context.WithCancel(t.Context())
	e, err := Run(ctx, Past{Folder: f}, locked, func(ctx context.Context, ce *histories.Counterexample) (*engine.Replayed, error) {
		cancel()
		return passes(ctx, ce)
	})
	if err != nil || len(e.told.Lines()) > 0 {
		t.Errorf("%v, %+v", err, e)
	}
	broken := errors.New("it does not start")
	if _, err := Run(t.Context(), Past{Folder: f}, locked, func(context.Context, *histories.Counterexample) (*engine.Replayed, error) { return nil, broken }); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	for _, name := range []string{"a.json", "b.json"} {
		if f.free(name) {
			t.Errorf("%s is gone", name)
		}
	}
}

// TestAtOnce checks that it is no error if another run has moved a file meanwhile.
func TestAtOnce(t *testing.T) {
	f := lay(t, "a.json")
	e, err := Run(t.Context(), Past{Folder: f}, locked, func(ctx context.Context, ce *histories.Counterexample) (*engine.Replayed, error) {
		if other, err := Run(ctx, Past{Folder: f}, locked, passes); err != nil || other.Err != nil {
			t.Errorf("%v, %+v", err, other)
		}
		return passes(ctx, ce)
	})
	if err != nil || e.Err != nil || f.free(filepath.Join(Passed, "a.json")) {
		t.Errorf("%v, %+v", err, e)
	}
}

// TestLinks checks that links to files and folders are not followed, and that nothing is moved through them.
func TestLinks(t *testing.T) {
	outside, f := lay(t, "theirs.json"), lay(t)
	if err := errors.Join(os.Symlink(outside.Place("theirs.json").Path, f.Place("a.json").Path), os.Symlink(outside.At.Path, f.Place(Passed).Path)); err != nil {
		t.Skip("no links: ", err)
	}
	e, err := Run(t.Context(), Past{Folder: f}, locked, passes)
	if err != nil || e.Err != nil || len(e.told.Lines()) > 0 {
		t.Errorf("%v, %+v", err, e)
	}
	mine := lay(t, "mine.json")
	if err := os.Symlink(outside.At.Path, mine.Place(Passed).Path); err != nil {
		t.Fatal(err)
	}
	if e, err := Run(t.Context(), Past{Folder: mine}, locked, passes); err != nil || e.Err == nil || mine.free("mine.json") {
		t.Errorf("a file was moved through a link: %v, %+v", err, e)
	}
}

// TestNames checks the choice of a file name. A file with the same violation is reused; otherwise a free name is taken,
// until no variant is free.
func TestNames(t *testing.T) {
	ce, err := histories.LoadCounterexample(file)
	if err != nil {
		t.Fatal(err)
	}
	other := *ce
	other.Origin.Options = []string{"retries=0"}
	var names Names
	f := lay(t)
	if now := names.Now(f, ce, "a.json"); now != "a.json" {
		t.Errorf("in an empty folder: %q", now)
	}
	f = lay(t, "a.json", "a.2.json")
	names = Names{}
	if now := names.Now(f, &other, "a.json"); now != "" {
		t.Errorf("what may become smaller is written over an earlier one: %q", now)
	}
	for want, ce := range map[string]*histories.Counterexample{"a.json": ce, "a.3.json": &other} {
		if name, err := names.AtLast(f, ce, "a.json"); name != want || err != nil {
			t.Errorf("expected %s, got %s, %v", want, name, err)
		}
	}
	var all []string
	for n := range mostAlike {
		all = append(all, alike("a.json", n))
	}
	if name, err := names.AtLast(lay(t, all...), &other, "a.json"); err == nil {
		t.Errorf("%d of them: %q", mostAlike, name)
	}
}
