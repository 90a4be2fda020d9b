package subprocess

import (
	"crypto/rand"
	"os"
	"strings"

	"github.com/lockproof/lockproof/histories/safetext"
)

// envRun names an environment variable that identifies the processes of clients, even if they have left their group,
// their session and their parents.
const envRun = "LOCKPROOF_RUN"

// runMark is a random text in the environment of all programs that this process starts. If this process
// dies, the guard finds the remaining programs by this text, and kills them.
var runMark = strings.ToLower(rand.Text())

// mark returns the text in the environment of this starter's programs. s.mu is held.
func (s *Starter) mark() string {
	if s.marked == "" {
		s.marked = runMark + "." + strings.ToLower(rand.Text()[:10])
	}
	return s.marked
}

// marking returns the setting NAME=value of the variable: the starter's mark, after the marks of the enclosing runs.
func (s *Starter) marking() string {
	return envRun + "=" + strings.TrimLeft(os.Getenv(envRun)+" "+s.mark(), " ")
}

// endDetached kills the processes that this starter's programs have left running, and reports them. It is called when
// all programs have ended. s.mu is held.
func (s *Starter) endDetached() {
	ended := endDetached(s.mark())
	if len(ended) > 0 && s.Stderr != nil {
		said := "lockproof: ended processes that outlived the program which had started them: " + strings.Join(ended, ", ")
		_, _ = s.Write([]byte(safetext.OneLine(said) + "\n"))
	}
}
