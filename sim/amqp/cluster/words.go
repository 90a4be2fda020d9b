package cluster

import (
	"fmt"

	"github.com/lockproof/lockproof/model/history"
)

// names are the names of the two clients in descriptions.
var names = [2]string{"A", "B"}

// words describes a step that is taken in state before.
func (m *Model) words(before *state, st step) string {
	at, other := fmt.Sprintf("n%d", st.at+1), fmt.Sprintf("n%d", st.other+1)
	switch st.what {
	case acquires:
		return fmt.Sprintf("%s at n%d %s: it holds the lock", names[st.at], m.place(int(st.at))+1, m.deed())
	case befalls:
		return m.Faults[before.next].words()
	case notice:
		return fmt.Sprintf("%s notices that %s is gone%s", at, other, m.consequence(before, st))
	case election:
		return fmt.Sprintf("the majority elects %s, which returns the messages of clients that it does not see", at)
	case pause:
		return fmt.Sprintf("%s sees a minority, and begins to pause itself", at)
	case closing:
		return fmt.Sprintf("%s closes the connection of %s, which is told", at, names[st.other])
	case leave:
		return fmt.Sprintf("%s has stopped", at)
	case returns:
		return fmt.Sprintf("%s comes back, with what %s knows", at, other)
	case winner:
		return fmt.Sprintf("autoheal: the part of %s wins, and all others begin to restart", at)
	case reunion:
		return fmt.Sprintf("%s and %s see each other again", at, other)
	}
	return "Khepri carries out what the minority had proposed: the exclusive queue is deleted"
}

// deed describes how a client gets the lock.
func (m *Model) deed() string {
	switch {
	case m.Design.kind == exclusive:
		return "declares the exclusive queue"
	case m.Design.consumes:
		return "is made the consumer"
	}
	return "gets the message"
}

// consequence describes how the queue changes when a node notices another's absence; "" if it does not change.
func (m *Model) consequence(before *state, st step) string {
	after := *before
	m.take(&after, st)
	n := &before.nodes[st.at]
	switch a := &after.nodes[st.at]; {
	case n.owner != nobody && a.owner == nobody:
		return ", and its part deletes the exclusive queue there"
	case after.pending != before.pending:
		return ", and proposes that the exclusive queue there be deleted"
	case n.master != a.master:
		return ", and its part has another master, where the message is ready"
	case n.token != nobody && a.token == nobody:
		return ", and returns what its clients had"
	case after.clients != before.clients:
		return ", and sends basic.cancel"
	}
	return ""
}

// words describes a fault as text.
func (f *Fault) words() string {
	switch f.F {
	case history.Cut:
		return fmt.Sprintf("messages from %s no longer reach %s", f.Nodes, f.To)
	case history.Heal:
		return "messages reach all nodes again"
	case history.KillNode:
		return fmt.Sprintf("%s is killed", f.Nodes)
	case history.TerminateNode:
		return fmt.Sprintf("%s is told to end", f.Nodes)
	case history.StartNode:
		return fmt.Sprintf("%s is started", f.Nodes)
	case history.PauseNode:
		return fmt.Sprintf("%s stands still", f.Nodes)
	case history.ResumeNode:
		return fmt.Sprintf("%s goes on", f.Nodes)
	}
	return f.F.String()
}
