package rabbitmq

import (
	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/amqp/amqplock"
)

// driven is the state machine of a client's lock operations. Its owner sends the commands that the machine wants.
type driven struct {
	protocol amqplock.Implementation
	machine  amqplock.Machine
}

// clientChannel is the number of the channel that every client uses.
const clientChannel = 1

func newDriven(protocol amqplock.Implementation) driven {
	return driven{protocol, amqplock.Machine{Channel: clientChannel}}
}

// batch is the commands that the machine sends before it needs a reply.
func (d *driven) batch() []amqp.Command {
	batch := make([]amqp.Command, d.protocol.Pending(&d.machine))
	for i := range batch {
		ahead := d.machine
		ahead.Answered += uint8(i)
		batch[i] = d.protocol.Next(&ahead)
	}
	return batch
}

// take gives the machine the replies to a batch. After some replies, the machine's next command is not the batch's next
// one, for example because an error ends the operation. take then drops the remaining replies.
func (d *driven) take(batch []amqp.Command, replies []amqp.Reply) {
	for i, r := range replies {
		if i > 0 && !d.expects(batch[i]) {
			break
		}
		d.protocol.Apply(&d.machine, r)
	}
}

// expects reports whether the machine waits for the reply to cmd.
func (d *driven) expects(cmd amqp.Command) bool {
	return !d.machine.Done() && d.protocol.Choices(&d.machine) == 0 && d.protocol.Next(&d.machine) == cmd
}
