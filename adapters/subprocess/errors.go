package subprocess

import (
	"fmt"
	"strings"

	"github.com/lockproof/lockproof/adapters/foreign"
)

// ProtocolError is the error of a client that broke the protocol. The client is ended, and the run cannot continue.
type ProtocolError struct {
	During string   // the call that was under way, or that came next
	Why    string   // what was expected, and what the client did instead
	Stderr []string // the last lines of standard error
}

// Error returns the error in one line.
func (b *ProtocolError) Error() string { return oneLine(b.During, b.Why, b.Stderr) }

// ExitError is the error of a client that ended by itself. The outcome of its operation is unknown. errors.Is(err,
// [foreign.ErrDied]) is true for it.
type ExitError struct {
	During string
	How    string // exit status or signal of the process
	Stderr []string
}

// Error returns the error in one line.
func (d *ExitError) Error() string { return oneLine(d.During, "the process ended: "+d.How, d.Stderr) }

// Unwrap returns [foreign.ErrDied].
func (d *ExitError) Unwrap() error { return foreign.ErrDied }

func oneLine(during, why string, stderr []string) string {
	said := "its standard error is empty"
	if len(stderr) > 0 {
		said = fmt.Sprintf("its standard error ends with %q", strings.Join(stderr, " | "))
	}
	return fmt.Sprintf("%s: %s; %s", during, why, said)
}
