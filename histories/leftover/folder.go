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

// Folder is a temporary folder of this run.
type Folder struct {
	Path string
	at   place
	root *os.Root // the open folder, which stays the same if its path changes
	held *os.File // the file in the folder that the run keeps locked; nil if outside the common root
}

// holding is the name of the file in a temporary folder that its run keeps locked. The file contains the folder's name,
// to tell lockproof's folders from others.
const holding = ".lockproof"

// ours matches the names of lockproof's temporary folders.
var ours = regexp.MustCompile(`^[a-z]+-[a-z2-7]{26}$`)

// place says where this user's temporary folders are, and their permissions.
type place struct {
	suffix string
	mode   fs.FileMode
}

var (
	private  = place{"", 0o700}      // only this user can enter it
	passable = place{"-open", 0o711} // others can enter a folder whose name they know, but list nothing
)

// root is the path of the common root: the folder that contains all temporary folders of a place.
func (p place) root() string {
	return filepath.Join(os.TempDir(), fmt.Sprintf("lockproof-%d%s", os.Geteuid(), p.suffix))
}

// mkdir makes a folder with exactly the place's permissions, regardless of the umask.
func (p place) mkdir(in *os.Root, name string) error {
	if err := in.Mkdir(name, p.mode); err != nil {
		return err
	}
	return in.Chmod(name, p.mode)
}

// NewFolder makes a temporary folder whose name begins with kind, and deletes the folders of ended runs. Remove deletes
// it. If the common root is not only this user's, or the system has no file locks, no folders of other runs are
// deleted.
func NewFolder(kind string) (*Folder, error) { return private.newFolder(kind) }

// NewOpenFolder makes a temporary folder like NewFolder, which other users may enter to reach files of their own.
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

// Sweep deletes the temporary folders of ended runs. A later run deletes what cannot be deleted now.
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
	_ = os.Remove(at.Name()) // fails while the root contains other folders
	at.Close()
}

// lone makes a temporary folder outside of the common root. No other run deletes it.
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

// entered is the common root, opened and locked. Only the run with the lock makes and deletes folders in it.
type entered struct {
	*os.Root
	mode fs.FileMode // permissions of the folders in it
	lock *os.File
}

// Close unlocks the root.
func (e *entered) Close() {
	_ = e.Root.Close()
	_ = e.lock.Close()
}

// mostEntered is the largest number of attempts to open the root while other runs delete and make it again.
const mostEntered = 1000

// enterRoot makes the common root if necessary, opens it and locks it.
func (p place) enterRoot() (*entered, error) {
	path := p.root()
	for range mostEntered {
		made := os.Mkdir(path, p.mode)
		if made != nil && !errors.Is(made, os.ErrExist) {
			return nil, made
		}
		f, err := enter(path)
		if errors.Is(err, os.ErrNotExist) {
			continue // another run has deleted the root meanwhile
		}
		if err != nil {
			return nil, err
		}
		info, err := f.Stat()
		if err == nil && made == nil && mine(info) { // the umask may have removed permissions
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

// holds reports whether an open folder is the one that info describes.
func holds(at *os.Root, info fs.FileInfo) bool {
	is, err := at.Stat(".")
	return err == nil && os.SameFile(is, info)
}

// sweep deletes the folders in the root whose run has ended: their file is not locked. A folder without such a file is
// deleted only if it is empty.
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
				_ = empty(f) // a later run deletes what is left
			}
			_ = f.Close()
		}
		_ = e.Remove(d.Name()) // fails if the folder is not empty
	}
}

// ended reports whether a folder is one of lockproof's, and its run has ended.
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

// empty deletes the content of an open folder. The file that marks the folder as lockproof's is deleted last.
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

// Remove deletes the folder, and also the common root if no other folder is in it. If the path now names another
// folder, that folder stays. If the folder is already deleted, this is no error.
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
	_ = os.Remove(at.Name()) // fails while the root contains other folders
	return err
}

// gone returns nil for the error that a file to delete does not exist.
func gone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
