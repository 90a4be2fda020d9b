package amqp

import (
	"testing"

	"github.com/lockproof/lockproof/model/backend"
)

// TestExchange: Command.Exchange describes commands and replies correctly in general terms.
func TestExchange(t *testing.T) {
	declare := Command{Method: QueueDeclare, Flags: Exclusive}
	for name, c := range map[string]struct {
		command Command
		reply   Reply
		want    backend.Exchange
	}{
		"a claim": {declare, Reply{Kind: OK}, backend.Exchange{Access: backend.Create, RoundTrip: true, Minimal: true}},
		"a claim that is refused": {declare, Reply{Kind: ChannelClosed, Code: ResourceLocked},
			backend.Exchange{Access: backend.Create, Result: backend.Refused, Aborted: true, RoundTrip: true, Minimal: true}},
		"a name that is reserved": {declare, Reply{Kind: ChannelClosed, Code: AccessRefused},
			backend.Exchange{Access: backend.Create, Result: backend.Denied, Aborted: true, RoundTrip: true, Minimal: true}},
		"a declaration that differs": {declare, Reply{Kind: ChannelClosed, Code: PreconditionFailed},
			backend.Exchange{Access: backend.Create, Result: backend.Wrong, Aborted: true, RoundTrip: true, Minimal: true}},
		"a server that fails": {declare, Reply{Kind: ChannelClosed, Code: InternalError},
			backend.Exchange{Access: backend.Create, Result: backend.Failed, Aborted: true, RoundTrip: true, Minimal: true}},
		"a passive declaration": {Command{Method: QueueDeclare, Flags: Passive}, Reply{Kind: ChannelClosed, Code: NotFound},
			backend.Exchange{Access: backend.Read, Result: backend.Absent, Aborted: true, RoundTrip: true, Minimal: true}},
		"a probe": {Command{Method: BasicPublish, Flags: Mandatory, Pipelined: true}, Reply{Kind: Ack},
			backend.Exchange{Access: backend.Read, Minimal: true}},
		"a probe of what is not there": {Command{Method: BasicPublish, Flags: Mandatory}, Reply{Kind: Ack, Code: NoRoute, Returned: 1},
			backend.Exchange{Access: backend.Read, Result: backend.Absent, RoundTrip: true, Minimal: true}},
		"a commit that fails": {Command{Method: TxCommit}, Reply{Kind: ChannelClosed, Code: PreconditionFailed},
			backend.Exchange{Access: backend.Commit, Result: backend.Wrong, Aborted: true, RoundTrip: true, Minimal: true}},
		"a get of nothing": {Command{Method: BasicGet}, Reply{Kind: GetEmpty}, backend.Exchange{Result: backend.Absent, RoundTrip: true}},
		"a connection that is gone": {Command{Method: ChannelOpen}, Reply{Kind: ConnectionClosed, Code: ConnectionForced},
			backend.Exchange{Access: backend.OpenUnit, Result: backend.Ended, Ended: true, RoundTrip: true, Minimal: true}},
		"nothing came back": {Command{Method: QueueDelete}, Reply{Kind: Lost}, backend.Exchange{Access: backend.Delete, Result: backend.Lost, RoundTrip: true, Minimal: true}},
	} {
		got := c.command.Exchange(c.reply, false)
		c.want.Method, c.want.Answer, c.want.Exclusive = uint8(c.command.Method), c.reply.answer(), c.command.Flags.Has(Exclusive)
		if got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}
