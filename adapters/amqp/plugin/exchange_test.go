package plugin

import (
	"testing"

	"github.com/lockproof/lockproof/adapters/amqp/wire"
	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/scenario"
)

// After a fault, a trace step shows the reply code that the client received, while the exchange counts as ended by a
// fault.
func TestBrokenChannel(t *testing.T) {
	x := &exchange{command: new(wire.Command), model: amqp.Command{Method: amqp.BasicPublish}, names: new(names)}
	x.Answer(answer{&wire.Answer{Reply: amqp.Reply{Kind: amqp.ChannelClosed, Code: amqp.PreconditionFailed}}}, true)
	var step scenario.TraceStep
	x.Describe(&step)
	if ends, fault := x.EndsPart(); !ends || !fault || step.Reply != "406 PRECONDITION_FAILED" {
		t.Errorf("ends: %v, by a fault: %v, reply %q", ends, fault, step.Reply)
	}
}
