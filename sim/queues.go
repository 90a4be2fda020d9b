package sim

import "github.com/lockproof/lockproof/model/amqp"

// Queue is a queue of the broker's, as it stands.
type Queue struct {
	Name     string
	Flags    amqp.Flags // it was declared with
	Args     amqp.Arguments
	Messages int
	// Owner is the client whose connection has it exclusively, marked as in [monitor.Truth]; 0 is nobody.
	Owner uint8
}

// Queues are the queues that there are, in the order of their first use.
func (w *World) Queues() (all []Queue) {
	for i := range w.setting.names.Len() {
		q := amqp.Queue(i + 1)
		if !w.broker.Exists(q) {
			continue
		}
		flags, args := w.broker.Declared(q)
		all = append(all, Queue{Name: w.setting.names.Name(q), Flags: flags, Args: args, Messages: w.broker.Depth(q), Owner: w.ownerOf(q)})
	}
	return all
}
