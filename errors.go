package lockproof

import (
	"errors"
	"fmt"

	"github.com/lockproof/lockproof/adapters/amqp/wire"
	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/adapters/foreign"
	"github.com/lockproof/lockproof/adapters/inprocess"
	"github.com/lockproof/lockproof/adapters/subprocess"
)

var (
	ErrInvalid      = errors.New("invalid options") // an option has an invalid value, or options exclude each other
	ErrNoServer     = errors.New("no server")       // no server answers, and none can be started
	ErrNotConnected = errors.New("not connected")   // an external client sends nothing to the address that it was given
	ErrViolated     = errors.New("violated")        // a property is violated or suspected
	ErrInterrupted  = errors.New("interrupted")     // the run ended before it was complete
	ErrInconclusive = errors.New("inconclusive")    // nothing judged, a property undecided, or a required one skipped
	ErrNoEffect     = inprocess.ErrNoEffect         // a call of the Lock certainly had no effect
	Dial            = wire.Dial                     // net.Dial, but faster in a Go target; for amqp091.Config.Dial
)

// ProtocolError reports that an external program broke the protocol or ended, or that a [Protocol] misbehaved.
type ProtocolError struct {
	During string   // the call, such as "c1, acquire" or "Next of acquire"
	Why    string   // the expected and the actual result
	Stderr []string // the last lines of the program's standard error
	error
}

// kindError is an error that also matches kind in errors.Is; kind is, for example, ErrInvalid.
type kindError struct {
	error
	kind error
}

func (e kindError) Unwrap() []error { return []error{e.error, e.kind} }

func invalid(format string, args ...any) error { return asInvalid(fmt.Errorf(format, args...)) }

// asInvalid makes errors.Is match err with ErrInvalid; nil stays nil.
func asInvalid(err error) error {
	if err == nil {
		return nil
	}
	return kindError{err, ErrInvalid}
}

// public converts an error of an inner package to this package's error of the same meaning. Other errors stay as they
// are.
func public(err error) error {
	var protocol *subprocess.ProtocolError
	var exit *subprocess.ExitError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &protocol):
		return &ProtocolError{protocol.During, protocol.Why, protocol.Stderr, err}
	case errors.As(err, &exit):
		return &ProtocolError{exit.During, "the process ended: " + exit.How, exit.Stderr, err}
	case errors.Is(err, foreign.ErrElsewhere):
		return kindError{err, ErrNotConnected}
	case errors.Is(err, engine.ErrConfiguration):
		return asInvalid(err)
	}
	return err
}
