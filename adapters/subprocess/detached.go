package subprocess

import (
	"crypto/rand"
	"os"
	"strings"

	"github.com/lockproof/lockproof/histories/safetext"
)

// envRun names the environment variable that identifies processes of clients, including those that have left their group,
// their session and their parents.
const envRun = "LOCKPROOF_RUN"

// runMark is in the environment of all programs that are started here. It serves to end those that are left when we die.
var runMark = strings.ToLower(rand.Text())

// mark is the mark in the environment of this starter's programs. s.mu is held.
func (s *Starter) mark() string {
	if s.marked == "" {
		s.marked = runMark + "." + strings.ToLower(rand.Text()[:10])
	}
	return s.marked
}

// marking is the variable with the mark, after the marks of the runs that we are part of.
func (s *Starter) marking() string {
	return envRun + "=" + strings.TrimLeft(os.Getenv(envRun)+" "+s.mark(), " ")
}

// endDetached ends the processes that programs have left running, once all programs have ended, and reports them. s.mu is
// held.
func (s *Starter) endDetached() {
	ended := endDetached(s.mark())
	if len(ended) > 0 && s.Stderr != nil {
		said := "lockproof: ended processes that outlived the program which had started them: " + strings.Join(ended, ", ")
		_, _ = s.Write([]byte(safetext.OneLine(said) + "\n"))
	}
}
