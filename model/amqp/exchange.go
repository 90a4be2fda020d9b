package amqp

import "github.com/lockproof/lockproof/model/backend"

// Exchange describes the command c and its reply r in terms that all backends share. waits says that the client gets a
// reply; see [Command.Replies]. The caller adds the role of the command's queue.
func (c Command) Exchange(r Reply, waits bool) (x backend.Exchange) {
	c.ExchangeTo(&r, waits, &x)
	return x
}

// ExchangeTo does the same as [Command.Exchange], but writes to x, without copies.
func (c *Command) ExchangeTo(r *Reply, waits bool, x *backend.Exchange) {
	*x = backend.Exchange{
		Method: uint8(c.Method), Answer: r.answer(), Access: c.access(), Result: r.result(),
		RoundTrip: !c.Pipelined, Exclusive: c.Method == QueueDeclare && c.Flags.Has(Exclusive), Waits: waits, Aborted: r.Kind == ChannelClosed,
		Ended: c.Method == ConnectionClose || r.Kind == ConnectionClosed, Minimal: minimal[c.Method],
	}
}

// minimal are the methods that every AMQP driver must have (guidelines, "Limitation Tolerance"), including
// transactions, which may replace confirms.
var minimal = [Methods]bool{
	ConnectionOpen: true, ConnectionClose: true, ChannelOpen: true, ChannelClose: true,
	ConfirmSelect: true, TxSelect: true, TxCommit: true,
	QueueDeclare: true, QueueDelete: true, BasicPublish: true,
}

// Minimal reports whether every driver must have the method.
func (m Method) Minimal() bool { return minimal[m] }

var accesses = [Methods]backend.Access{
	ConnectionOpen: backend.OpenSession, ConnectionClose: backend.CloseSession,
	ChannelOpen: backend.OpenUnit, ChannelClose: backend.CloseUnit,
	ConfirmSelect: backend.Mode, TxSelect: backend.Mode, TxCommit: backend.Commit,
	QueueDeclare: backend.Create, QueueDelete: backend.Delete, BasicPublish: backend.Read,
}

func (c *Command) access() backend.Access {
	if c.Method == QueueDeclare && c.Flags.Has(Passive) {
		return backend.Read
	}
	return accesses[c.Method]
}

func (r *Reply) result() backend.Result {
	switch r.Code {
	case ResourceLocked:
		return backend.Refused
	case AccessRefused:
		return backend.Denied
	case NotFound, NoRoute:
		return backend.Absent
	case InternalError:
		return backend.Failed
	}
	switch r.Kind {
	case ChannelClosed:
		return backend.Wrong
	case ConnectionClosed:
		return backend.Ended
	case Lost:
		return backend.Lost
	case GetEmpty:
		return backend.Absent
	}
	return backend.Done
}

// Answers is the number of kinds of replies that coverage distinguishes. Returned is the kind of the reply after a
// basic.return.
const (
	Answers  = 8
	Returned = 1
)

// answer is the kind of a reply for coverage, from 0 to [Answers] - 1.
func (r *Reply) answer() uint8 {
	switch {
	case r.Returned > 0:
		return Returned
	case r.Code == ResourceLocked:
		return 2
	case r.Kind == ChannelClosed:
		return 3
	case r.Kind == ConnectionClosed:
		return 4
	case r.Kind == Nack || r.Kind == GetEmpty:
		return 5
	case r.Kind == OK && r.Messages > 0:
		return 6
	}
	return 0
}
