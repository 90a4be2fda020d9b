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

// Passed is the folder, in that of the counterexamples, of those that have passed since.
const Passed = "passed"

// mostAlike bounds how many counterexamples of one name a folder has: NAME.json, NAME.2.json and so on.
const mostAlike = 8

// Folder is where counterexamples are kept.
type Folder struct{ At outfile.Place }

// Place is that of a file in the folder.
func (f Folder) Place(name string) outfile.Place {
	return outfile.Place{Path: filepath.Join(f.At.Path, name), Folder: cmp.Or(f.At.Folder, f.At.Path)}
}

// File is a counterexample that is kept.
type File struct {
	*histories.Counterexample
	name string // in the folder
}

// passed reports whether it passed when it was carried out last.
func (f *File) passed() bool { return filepath.Dir(f.name) == Passed }

// read are the counterexamples in the folder that are of a lock, those first that failed. The error tells of files that are
// counterexamples and can't be read; all other files are let be.
func (f Folder) read(of func(*histories.Counterexample) bool) (files []File, err error) {
	for _, sub := range []string{".", Passed} {
		path := filepath.Join(f.At.Path, sub)
		if info, missing := os.Lstat(path); sub == Passed && missing == nil && !info.IsDir() {
			continue // a link, say, which is not ours
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
			if unread != nil && !errors.Is(unread, fs.ErrNotExist) { // another run may have moved it
				err = errors.Join(err, fmt.Errorf("%w; runs begin with the counterexamples in %s: mend the file, or move it elsewhere", unread, f.At.Path))
			} else if ce != nil && of(ce) {
				files = append(files, File{ce, filepath.Join(sub, e.Name())})
			}
		}
	}
	return files, err
}

// head is how a counterexample's file begins.
var head = regexp.MustCompile(`^\s*\{\s*"lockproof"\s*:\s*"counterexample"`)

// load reads a file if it is a counterexample by how it begins; others are nil.
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

// alike is the n-th name of files that are called alike, from 0.
func alike(name string, n int) string {
	if n == 0 {
		return name
	}
	return fmt.Sprintf("%s.%d.json", strings.TrimSuffix(name, ".json"), n+1)
}

// move moves a file to a folder in this one, under its name or one alike. Nothing is written over, and nothing is lost.
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

// free reports whether nothing stands at a name.
func (f Folder) free(name string) bool {
	_, err := os.Lstat(f.Place(name).Path)
	return errors.Is(err, fs.ErrNotExist)
}

// nameFor is the name, or one alike, that a counterexample is written to: that of the file that shows the same, else the first
// that is free. "" is none: as many are kept as may be.
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

// Names are those of the files that a run writes, never over an earlier run's that shows something else.
type Names struct {
	begun map[string]string // by property
}

// Now is what a counterexample may be called that the run has just found and may still make smaller. "" is nothing: something
// of that name is there.
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

// AtLast is what it is called when the run is over. The error is that too many are kept.
func (n *Names) AtLast(f Folder, ce *histories.Counterexample, name string) (string, error) {
	if begun := n.begun[ce.Violation.Name()]; begun != "" {
		return begun, nil
	}
	if at := f.nameFor(ce, name); at != "" {
		return at, nil
	}
	return "", fmt.Errorf("%s: not written: %d counterexamples of its name show something else: mend what they show, or delete those that you need no more", f.Place(name).Path, mostAlike)
}
