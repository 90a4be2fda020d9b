package draw

import (
	"strings"
	"testing"

	"github.com/lockproof/lockproof/histories/historiestest"
	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
)

// Each reply has its words.
func TestReplyWords(t *testing.T) {
	for want, r := range map[string]amqp.Reply{
		"":                {Kind: amqp.NoReply},
		"404 NOT_FOUND":   {Kind: amqp.ChannelClosed, Code: amqp.NotFound},
		"connection gone": {Kind: amqp.ConnectionClosed},
		"connection closed, 320 CONNECTION_FORCED": {Kind: amqp.ConnectionClosed, Code: amqp.ConnectionForced},
		"no reply":     {Kind: amqp.Lost},
		"message 7":    {Kind: amqp.GetOK, Message: 7},
		"empty":        {Kind: amqp.GetEmpty},
		"NO_ROUTE":     {Kind: amqp.Ack, Returned: 1},
		"ok, NO_ROUTE": {Kind: amqp.OK, Returned: 2},
		"ok":           {Kind: amqp.OK},
		"ack":          {Kind: amqp.Ack},
	} {
		if got := replyWords(r); got != want {
			t.Errorf("%+v: %q, want %q", r, got, want)
		}
	}
}

// Each call and each answer has its words.
func TestCallWords(t *testing.T) {
	for want, e := range map[string]history.Event{
		"acquire": {F: history.F(lock.Acquire), Slot: 3}, "add 2": {F: history.F(lock.Add), Slots: 2}, "wait 3": {F: history.F(lock.Wait), Slot: 3},
		"create 1": {F: history.F(lock.Create), Slots: 1}, "remove 4": {F: history.F(lock.Remove), Slots: 4}, "destroy": {F: history.F(lock.Destroy), Slots: 4},
	} {
		if got := invocationWords(e, lock.Semaphore); got != want {
			t.Errorf("%+v: %q, want %q", e, got, want)
		}
	}
	answer := func(op lock.Op, typ history.EventType, held bool, slot, slots uint16, why lock.Reason) history.Event {
		return history.Event{F: history.F(op), Type: typ, Held: held, Slot: slot, Slots: slots, Reason: why}
	}
	var said strings.Builder
	for _, op := range []lock.Op{lock.Acquire, lock.Verify, lock.Release, lock.Count, lock.Wait, lock.Add, lock.Destroy} {
		for _, typ := range []history.EventType{history.OK, history.Fail, history.Info} {
			for _, why := range []lock.Reason{lock.NoReason, lock.Full, lock.TimedOut} {
				for _, held := range []bool{true, false} {
					said.WriteString(op.String() + " " + typ.String() + " " + why.String() + ": " + completionWords(answer(op, typ, held, 1, 3, why), lock.Semaphore) + "\n")
				}
			}
		}
	}
	historiestest.Golden(t, "answers.txt", said.String())
}
