package wire

import (
	"slices"

	"github.com/lockproof/lockproof/adapters/amqp/wire/frame"
	"github.com/lockproof/lockproof/model/amqp"
)

// onMode handles confirm.select and the methods of class tx.
func (x *simSession) onMode(ch *simChannel, m frame.Method) *refusal {
	switch m := m.(type) {
	case *frame.ConfirmSelect:
		err := x.do(ch, amqp.Command{Method: amqp.ConfirmSelect}, m.Nowait, &frame.ConfirmSelectOk{}, "cannot switch from tx to confirm mode")
		if err == nil {
			ch.mode = frame.ConfirmSelectID
		}
		return err
	case *frame.TxSelect:
		err := x.do(ch, amqp.Command{Method: amqp.TxSelect}, false, &frame.TxSelectOk{}, "cannot switch from confirm to tx mode")
		if err == nil {
			ch.mode = frame.TxSelectID
		}
		return err
	case *frame.TxRollback:
		ch.mandatory = nil
		return x.do(ch, amqp.Command{Method: amqp.TxRollback}, false, &frame.TxRollbackOk{}, "channel is not transactional")
	}
	return x.commit(ch)
}

// commit handles tx.commit. Unroutable mandatory messages are returned before the commit is answered (FACTS B18).
func (x *simSession) commit(ch *simChannel) *refusal {
	why := "channel is not transactional"
	if ch.mode == frame.TxSelectID {
		why = "partial tx completion"
	}
	pending := ch.mandatory
	ch.mandatory = nil
	for _, p := range pending {
		if !slices.ContainsFunc(p.queues, x.host.broker.Exists) {
			x.giveBack(ch, p.publish, p.content)
		}
	}
	return x.do(ch, amqp.Command{Method: amqp.TxCommit}, false, &frame.TxCommitOk{}, why)
}
