package outfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// maxAside bounds how many files of one name are kept aside.
const maxAside = 100

// MoveAside gives a file another name beside its own, which it tells: path.old, or path.old2 and so on where that is
// taken. No file is lost; the error says that none of the names was free, or what the system said.
func MoveAside(path string) (string, error) {
	for n := 1; n <= maxAside; n++ {
		aside := path + ".old"
		if n > 1 {
			aside = fmt.Sprintf("%s.old%d", path, n)
		}
		_, err := os.Lstat(aside)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return aside, os.Rename(path, aside)
		case err != nil:
			return "", err
		}
	}
	return "", fmt.Errorf("%s: there are %d files of it aside: delete some", path, maxAside)
}
