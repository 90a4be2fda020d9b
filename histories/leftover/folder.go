package leftover

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// Folder is a temporary folder of this run's.
type Folder struct {
	Path string
	at   place
	root *os.Root // the folder itself, whatever becomes of its name
	held *os.File // nil where it is not under our root
}

// holding is the file in a folder that its run holds locked. It has the folder's name, so that nothing else is taken for ours.
const holding = ".lockproof"

// ours is the form of our folders' names.
var ours = regexp.MustCompile(`^[a-z]+-[a-z2-7]{26}$`)

// place is where temporary folders of our user's are: its permissions, and theirs.
type place struct {
	suffix string
	mode   fs.FileMode
}

var (
	private  = place{"", 0o700}      // only our user can enter it
	passable = place{"-open", 0o711} // others can enter a folder whose name they know, and see nothing in it
)

// root is the folder of all temporary folders in a place.
func (p place) root() string {
	return filepath.Join(os.TempDir(), fmt.Sprintf("lockproof-%d%s", os.Geteuid(), p.suffix))
}

// mkdir makes a folder with the place's permissions, whatever the process leaves out of those.
func (p place) mkdir(in *os.Root, name string) error {
	if err := in.Mkdir(name, p.mode); err != nil {
		return err
	}
	return in.Chmod(name, p.mode)
}

// NewFolder makes a temporary folder, whose name begins with kind, and deletes those of ended runs. Remove deletes
// it. If the place for such folders is not our user's alone, or the system has no locks, only Remove deletes
// anything.
func NewFolder(kind string) (*Folder, error) { return private.newFolder(kind) }

// NewOpenFolder makes one through which other users get to what is theirs in it.
func NewOpenFolder(kind string) (*Folder, error) { return passable.newFolder(kind) }

func (p place) newFolder(kind string) (*Folder, error) {
	if !provable {
		return p.lone(kind)
	}
	at, err := p.enterRoot()
	if err != nil {
		return p.lone(kind)
	}
	defer at.Close()
	at.sweep()
	name := kind + "-" + strings.ToLower(rand.Text())
	f := &Folder{Path: filepath.Join(at.Name(), name), at: p}
	if err := p.mkdir(at.Root, name); err != nil {
		return nil, err
	}
	if f.root, err = at.OpenRoot(name); err != nil {
		return nil, errors.Join(err, at.Remove(name))
	}
	f.held, err = f.root.OpenFile(holding, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err == nil {
		_, err = io.WriteString(f.held, name)
	}
	if err == nil {
		_, err = lock(f.held)
	}
	if err != nil {
		return nil, errors.Join(err, empty(f.root), f.root.Close(), at.Remove(name))
	}
	return f, nil
}

// Sweep deletes the temporary folders of ended runs. A folder that cannot be deleted now is left to a later run.
func Sweep() {
	private.sweep()
	passable.sweep()
}

func (p place) sweep() {
	if _, err := os.Lstat(p.root()); err != nil || !provable {
		return
	}
	at, err := p.enterRoot()
	if err != nil {
		return
	}
	at.sweep()
	_ = os.Remove(at.Name()) // it stays while others are in it
	at.Close()
}

// lone is a folder that no other run knows.
func (p place) lone(kind string) (*Folder, error) {
	path, err := os.MkdirTemp("", "lockproof-"+kind+"-")
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, p.mode); err != nil {
		return nil, err
	}
	at, err := os.OpenRoot(path)
	return &Folder{Path: path, root: at}, err
}

// entered is our root. While it is locked, no folder is about to be made or deleted in it.
type entered struct {
	*os.Root
	mode fs.FileMode // of what is in it
	lock *os.File
}

// Close lets others enter.
func (e *entered) Close() {
	_ = e.Root.Close()
	_ = e.lock.Close()
}

// mostEntered bounds how often the root may be another one than it was a moment before.
const mostEntered = 1000

// enterRoot makes the root and locks it.
func (p place) enterRoot() (*entered, error) {
	path := p.root()
	for range mostEntered {
		made := os.Mkdir(path, p.mode)
		if made != nil && !errors.Is(made, os.ErrExist) {
			return nil, made
		}
		f, err := enter(path)
		if errors.Is(err, os.ErrNotExist) {
			continue // the last run has deleted it
		}
		if err != nil {
			return nil, err
		}
		info, err := f.Stat()
		if err == nil && made == nil && mine(info) { // the process may leave out some permissions
			if err = f.Chmod(p.mode); err == nil {
				info, err = f.Stat()
			}
		}
		if err == nil && (!mine(info) || info.Mode().Perm() != p.mode) {
			err = fmt.Errorf("%s: %w: it is not a folder of yours with the permissions %v", path, os.ErrPermission, p.mode)
		}
		if err != nil {
			return nil, errors.Join(err, f.Close())
		}
		if at, err := os.OpenRoot(path); err == nil && holds(at, info) {
			return &entered{at, p.mode, f}, nil
		} else if err == nil {
			_ = at.Close()
		}
		_ = f.Close()
	}
	return nil, fmt.Errorf("%s: another folder comes to this name again and again", path)
}

// holds reports whether an open folder is that one.
func holds(at *os.Root, info fs.FileInfo) bool {
	is, err := at.Stat(".")
	return err == nil && os.SameFile(is, info)
}

// sweep deletes the folders in the root whose run has ended: nobody has their file locked. A folder that does not have such a file was
// made by a run that was killed at once, and is empty, or is somebody else's, and stays.
func (e *entered) sweep() {
	all, err := fs.ReadDir(e.FS(), ".")
	if err != nil {
		return
	}
	for _, d := range all {
		info, err := e.Lstat(d.Name())
		if err != nil || !ours.MatchString(d.Name()) || !info.IsDir() || !mine(info) || info.Mode().Perm() != e.mode {
			continue
		}
		if f, err := e.OpenRoot(d.Name()); err == nil {
			if holds(f, info) && ended(f, d.Name()) {
				_ = empty(f) // what stays is found by the next run
			}
			_ = f.Close()
		}
		_ = e.Remove(d.Name()) // unless something is in it
	}
}

// ended reports whether a folder is a run's that has ended.
func ended(f *os.Root, name string) bool {
	info, err := f.Lstat(holding)
	if err != nil || !info.Mode().IsRegular() || !mine(info) || info.Size() != int64(len(name)) {
		return false
	}
	held, err := f.OpenFile(holding, os.O_RDWR|openFlags, 0)
	if err != nil {
		return false
	}
	defer held.Close()
	mark := make([]byte, len(name))
	if _, err := io.ReadFull(held, mark); err != nil || string(mark) != name {
		return false
	}
	free, err := lock(held)
	return err == nil && free
}

// empty deletes what is in an open folder, its mark last.
func empty(f *os.Root) error {
	all, err := fs.ReadDir(f.FS(), ".")
	if err != nil {
		return err
	}
	for _, d := range all {
		if d.Name() != holding {
			err = errors.Join(err, f.RemoveAll(d.Name()))
		}
	}
	return errors.Join(err, f.RemoveAll(holding))
}

// Remove deletes the folder, and the root if it was the last. Should another folder have come to its name, that stays; should it be gone
// already, all is well.
func (f *Folder) Remove() error {
	if f.held == nil {
		return errors.Join(gone(empty(f.root)), f.root.Close(), gone(os.Remove(f.Path)))
	}
	at, err := f.at.enterRoot()
	if err != nil {
		return errors.Join(gone(empty(f.root)), f.root.Close(), gone(os.Remove(f.Path)), f.held.Close())
	}
	defer at.Close()
	err = errors.Join(gone(empty(f.root)), f.root.Close(), gone(at.Remove(filepath.Base(f.Path))), f.held.Close())
	_ = os.Remove(at.Name()) // it stays while others are in it
	return err
}

// gone is an error, unless it says that what is to be deleted is not there.
func gone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
