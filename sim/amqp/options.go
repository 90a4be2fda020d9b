package amqp

import (
	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/backend"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/sim"
)

// answers are the broker's replies that a complete search is expected to meet.
var answers = []sim.Answer{
	{Name: "queue found", Method: uint8(amqp.BasicPublish)},
	{Name: "NO_ROUTE", Answer: amqp.Returned, Result: backend.Absent},
	{Name: "commit", Method: uint8(amqp.TxCommit), If: func(o lock.Options) bool { return amqplock.Table.Of(o).Confirm == amqplock.Transactions }},
	{Name: "declare-ok", Method: uint8(amqp.QueueDeclare)},
	{Name: "RESOURCE_LOCKED", Method: uint8(amqp.QueueDeclare), Result: backend.Refused},
	{Name: "delete-ok", Method: uint8(amqp.QueueDelete)},
}

// drawOptions draws options for a scenario. The reference locks must be right with any of them.
func drawOptions(d sim.Draws, fix func(lock.Options) lock.Options) lock.Options {
	o := amqplock.Table.Of(amqplock.DefaultOptions())
	o.Overshoot = max(0, d.Bits(2)-1)
	o.Restart = []string{amqplock.RestartFirst, amqplock.RestartFirst, amqplock.RestartStay, amqplock.RestartRandom}[d.Bits(2)]
	o.Retries = []int{0, 0, 1, 3}[d.Bits(2)]
	o.AdminRetries = d.Bits(3)
	o.Polls = d.Bits(3)
	o.Pipeline = []int{0, 1, 2, 4}[d.Bits(2)]
	if d.Bits(2) == 3 {
		o.Release = amqplock.CloseConnection
	}
	if d.Bits(2) == 3 {
		o.Jitter = 1 + d.Bits(2)
	}
	switch d.Bits(3) {
	case 6:
		o.Arguments = amqp.Arguments{Has: amqp.HasMessageTTL}
	case 7:
		o.Arguments.Has |= amqp.HasOverflow
		o.Arguments.Overflow = amqp.RejectPublish
	}
	if d.Bits(3) == 7 {
		o.Confirm = amqplock.Transactions
	}
	out := fix(amqplock.Table.Options(o))
	// If the fixed and drawn options exclude each other, change the drawn ones.
	if out.Check() != nil {
		out = fix(amqplock.Table.Edit(out, func(o *amqplock.Options) { o.Confirm = amqplock.Confirms }))
	}
	if out.Check() != nil {
		out = amqplock.Table.Edit(out, func(o *amqplock.Options) {
			o.Arguments.Has, o.Arguments.Overflow = o.Arguments.Has&^amqp.HasOverflow, amqp.DropHead
		})
	}
	return out
}
