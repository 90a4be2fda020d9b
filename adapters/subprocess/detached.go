package subprocess

import (
	"crypto/rand"
	"os"
	"strings"

	"github.com/lockproof/lockproof/histories/safetext"
)

// envRun names the environment variable by which processes of clients are known, also those that have left their group, their
// session and their parents.
const envRun = "LOCKPROOF_RUN"

// runMark is in the environment of all that is started here, and ends those that are left when we die.
var runMark = strings.ToLower(rand.Text())

// mark is what the environment of this starter's programs has. s.mu is held.
func (s *Starter) mark() string {
	if s.marked == "" {
		s.marked = runMark + "." + strings.ToLower(rand.Text()[:10])
	}
	return s.marked
}

// marking is the variable with the mark, behind those of the runs that we are part of.
func (s *Starter) marking() string {
	return envRun + "=" + strings.TrimLeft(os.Getenv(envRun)+" "+s.mark(), " ")
}

// endDetached ends what programs have left running once all of them have ended, and says so. s.mu is held.
func (s *Starter) endDetached() {
	ended := endDetached(s.mark())
	if len(ended) > 0 && s.Stderr != nil {
		said := "lockproof: ended processes that outlived the program which had started them: " + strings.Join(ended, ", ")
		_, _ = s.Write([]byte(safetext.OneLine(said) + "\n"))
	}
}
