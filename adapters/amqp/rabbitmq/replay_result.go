package rabbitmq

import (
	"fmt"
	"strings"

	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/scenario"
)

// Replayed is the result of replaying a trace on a real RabbitMQ.
type Replayed struct {
	Broker string // name and version, such as "RabbitMQ 3.10.8"
	// Skipped is the reason why nothing was replayed; "" if the trace was replayed.
	Skipped string
	// Agreed is the number of steps, counted from the first, that had the recorded result.
	Agreed int
	// Disagreement is the step with a different result at which the replay ended; nil if all steps agreed.
	Disagreement *Disagreement

	trace *scenario.Trace
}

// SetupStep is the step number of the setup, which precedes step 0.
const SetupStep = -1

// Disagreement is a difference between a real RabbitMQ and the simulated broker.
type Disagreement struct {
	Step     int // index of the step, from 0; SetupStep for the setup
	Taken    *scenario.TraceStep
	What     string // what differs: "reply", or the name of a queue
	Expected string // the recorded result
	Got      string
}

// failed records the step at which a replay ended, in the disagreement and in the error.
func (r *Replayed) failed(step int, err error) error {
	if r.Disagreement != nil {
		r.Disagreement.Step = step
	}
	if err != nil {
		err = fmt.Errorf("replaying on %s, %s: %w", r.Broker, stepWords(step), err)
	}
	return err
}

// Agrees reports whether every step of the trace had the recorded result.
func (r *Replayed) Agrees() bool {
	return r.Skipped == "" && r.Disagreement == nil && r.Agreed == len(r.trace.Steps)
}

// Reproduces reports whether the real broker has shown violation v of the trace: every step up to that of v had the
// recorded result.
func (r *Replayed) Reproduces(v scenario.Violation) bool {
	return r.Skipped == "" && r.Agreed >= min(v.Step+1, len(r.trace.Steps)) && (v.Step < len(r.trace.Steps) || r.Agrees())
}

// String describes the result of the replay, and each violation in the trace, in a few lines.
func (r *Replayed) String() string {
	if r.Skipped != "" {
		return fmt.Sprintf("not replayed on %s: %s", r.Broker, r.Skipped)
	}
	lines := []string{r.agreement()}
	for _, v := range r.trace.Violations {
		word := "reproduced"
		if !r.Reproduces(v) {
			word = "not reproduced"
		}
		lines = append(lines, fmt.Sprintf("%s: %s: %s", v.Property, word, v.Explain()))
	}
	return strings.Join(lines, "\n")
}

func (r *Replayed) agreement() string {
	d, of := r.Disagreement, len(r.trace.Steps)
	switch {
	case d != nil:
		return fmt.Sprintf("%s disagrees at %s (%s): %s: expected %s, got %s",
			r.Broker, stepWords(d.Step), d.command(), d.What, d.Expected, d.Got)
	case r.Agreed < of:
		return fmt.Sprintf("%s agrees so far: %d of %d steps", r.Broker, r.Agreed, of)
	}
	return fmt.Sprintf("%s agrees: the same replies and the same queues in all of %d steps", r.Broker, of)
}

// command is the command of the step in words.
func (d *Disagreement) command() string {
	words := d.Taken.Action.String()
	if cmd := amqp.SentIn(d.Taken.Payload).Command; cmd.Method != amqp.NoMethod {
		words += ": " + strings.TrimSpace(cmd.Method.String()+" "+d.Taken.Resource)
	}
	return words
}

// stepWords describes a step by its number, counted from 1; SetupStep is the setup.
func stepWords(step int) string {
	if step == SetupStep {
		return "setting up"
	}
	return fmt.Sprintf("step %d", step+1)
}
