package kept

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/lockproof/lockproof/histories"
	"github.com/lockproof/lockproof/histories/infile"
	"github.com/lockproof/lockproof/histories/outfile"
)

// Passed is the name of the subfolder for counterexamples that passed when they were last repeated.
const Passed = "passed"

// mostAlike is the maximum number of counterexamples with one name in a folder: NAME.json, NAME.2.json and so on.
const mostAlike = 8

// Folder is a folder in which counterexamples are stored.
type Folder struct{ At outfile.Place }

// Place returns the path of a file in the folder, for writing.
func (f Folder) Place(name string) outfile.Place {
	return outfile.Place{Path: filepath.Join(f.At.Path, name), Folder: cmp.Or(f.At.Folder, f.At.Path)}
}

// File is a stored counterexample.
type File struct {
	*histories.Counterexample
	name string // path relative to the folder
}

// passed reports whether the counterexample passed when it was last repeated.
func (f *File) passed() bool { return filepath.Dir(f.name) == Passed }

// read returns the counterexamples in the folder for which of is true. Those that failed when last repeated come first.
// The error reports counterexamples that cannot be read. All other files are ignored.
func (f Folder) read(of func(*histories.Counterexample) bool) (files []File, err error) {
	for _, sub := range []string{".", Passed} {
		path := filepath.Join(f.At.Path, sub)
		if info, missing := os.Lstat(path); sub == Passed && missing == nil && !info.IsDir() {
			continue // skips links, for example
		}
		entries, unread := os.ReadDir(path)
		if unread != nil && !errors.Is(unread, fs.ErrNotExist) {
			err = errors.Join(err, unread)
		}
		for _, e := range entries {
			if !e.Type().IsRegular() || filepath.Ext(e.Name()) != ".json" {
				continue
			}
			ce, unread := load(filepath.Join(path, e.Name()))
			if unread != nil && !errors.Is(unread, fs.ErrNotExist) { // no error if another run has moved the file
				err = errors.Join(err, fmt.Errorf("%w; runs begin with the counterexamples in %s: mend the file, or move it elsewhere", unread, f.At.Path))
			} else if ce != nil && of(ce) {
				files = append(files, File{ce, filepath.Join(sub, e.Name())})
			}
		}
	}
	return files, err
}

// head matches the beginning of a counterexample's file.
var head = regexp.MustCompile(`^\s*\{\s*"lockproof"\s*:\s*"counterexample"`)

// load reads a counterexample file. It returns nil if the file does not begin like a counterexample.
func load(path string) (*histories.Counterexample, error) {
	file, err := infile.Input{Noun: "counterexample", Most: math.MaxInt64}.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	begins, err := io.ReadAll(io.LimitReader(file, 512))
	if err != nil || !head.Match(begins) {
		return nil, err
	}
	return histories.LoadCounterexample(path)
}

// alike returns the n-th variant of a file name, from 0: NAME.json, NAME.2.json and so on.
func alike(name string, n int) string {
	if n == 0 {
		return name
	}
	return fmt.Sprintf("%s.%d.json", strings.TrimSuffix(name, ".json"), n+1)
}

// move moves a file to a subfolder, under its own name or a variant. It never overwrites a file. If no name is free,
// the file stays where it is.
func (f Folder) move(file *File, sub string) error {
	from, name := f.Place(file.name), filepath.Base(file.name)
	for n := range mostAlike {
		to := filepath.Join(sub, alike(name, n))
		err := from.MoveTo(f.Place(to))
		if err == nil {
			file.name = to
		}
		if !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return fmt.Errorf("%s can't be moved to %s, where %d of its name are: delete those that you need no more", from.Path, filepath.Join(f.At.Path, sub), mostAlike)
}

// free reports whether no file has the name.
func (f Folder) free(name string) bool {
	_, err := os.Lstat(f.Place(name).Path)
	return errors.Is(err, fs.ErrNotExist)
}

// nameFor returns the name, or a variant of it, for a counterexample's file. It prefers the name of a file with the
// same fingerprint, and otherwise takes the first free name. It returns "" if all variants are taken.
func (f Folder) nameFor(ce *histories.Counterexample, name string) string {
	free := ""
	for n := range mostAlike {
		at := alike(name, n)
		if f.free(at) {
			free = cmp.Or(free, at)
		} else if there, err := load(f.Place(at).Path); err == nil && there != nil && there.Fingerprint() == ce.Fingerprint() {
			return at
		}
	}
	return free
}

// Names chooses the names of the files that a run writes. A run never overwrites an earlier run's file that shows
// another violation.
type Names struct {
	begun map[string]string // name of the file that the run has begun, by property
}

// Now returns the file name for a counterexample that the run has just found and may still minimise. It returns "" if
// an earlier run's file has that name.
func (n *Names) Now(f Folder, ce *histories.Counterexample, name string) string {
	p := ce.Violation.Name()
	if n.begun[p] == "" && f.free(name) {
		if n.begun == nil {
			n.begun = make(map[string]string)
		}
		n.begun[p] = name
	}
	return n.begun[p]
}

// AtLast returns the file name for a counterexample at the end of the run. The error says that too many counterexamples
// are stored.
func (n *Names) AtLast(f Folder, ce *histories.Counterexample, name string) (string, error) {
	if begun := n.begun[ce.Violation.Name()]; begun != "" {
		return begun, nil
	}
	if at := f.nameFor(ce, name); at != "" {
		return at, nil
	}
	return "", fmt.Errorf("%s: not written: %d counterexamples of its name show something else: mend what they show, or delete those that you need no more", f.Place(name).Path, mostAlike)
}
