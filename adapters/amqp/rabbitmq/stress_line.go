package rabbitmq

import (
	"context"
	"fmt"
	"time"

	"github.com/lockproof/lockproof/model/amqp"
)

// stressLine is one connection of a client. In the history it is one process.
type stressLine struct {
	*Conn
	run     *stressRun
	process int32
	owned   map[amqp.Queue]bool // exclusive queues that the connection has or may still get
	asking  bool                // a command without a reply may still create or delete a queue
	heard   int64               // the recorder's time just before the last command that was answered
}

// markerChannel is the number of the channel on which a connection declares its marker: an exclusive queue that is gone
// when the connection has ended.
const markerChannel = 2

// dial opens the connection of a process, with its marker.
func (s *stressRun) dial(ctx context.Context, process int32) (*stressLine, error) {
	s.restarting.RLock()
	defer s.restarting.RUnlock()
	names, err := s.marked(process)
	if err != nil {
		return nil, err
	}
	began := s.recorder.Now()
	conn, err := s.connect(ctx, names)
	if err != nil {
		return nil, err
	}
	replies := conn.Do([]amqp.Command{
		{Method: amqp.ChannelOpen, Channel: markerChannel},
		{Method: amqp.QueueDeclare, Channel: markerChannel, Queue: s.marker(), Flags: amqp.Exclusive},
	})
	if r := replies[len(replies)-1]; len(replies) < 2 || r.Kind != amqp.OK {
		conn.Kill()
		return nil, fmt.Errorf("declaring a queue: expected ok, got %s", r)
	}
	return &stressLine{Conn: conn, run: s, process: process, owned: make(map[amqp.Queue]bool), heard: began}, nil
}

// marked is the names of the run's queues with the name of the process's marker added.
func (s *stressRun) marked(process int32) (*amqp.Names, error) {
	names, err := prefixed(s.names, "")
	if err == nil {
		names.Intern(s.markerName(process))
	}
	return names, err
}

func (s *stressRun) markerName(process int32) string {
	return fmt.Sprintf("%sprocess.%d", s.config.Prefix, process)
}

// marker is the number of the marker in the names that marked returns.
func (s *stressRun) marker() amqp.Queue { return amqp.Queue(s.names.Len() + 1) }

// do sends commands and records which exclusive queues they create or delete.
func (l *stressLine) do(batch []amqp.Command) []amqp.Reply {
	asked, now := time.Now(), l.run.recorder.Now()
	replies := l.Do(batch)
	for i, r := range replies {
		l.note(batch[i], r, asked)
	}
	if last := replies[len(replies)-1].Kind; last != amqp.ConnectionClosed && last != amqp.Lost {
		l.heard = now
	}
	return replies
}

// note records the effect of a command on the connection's exclusive queues. If the command has no reply, note records
// its possible effect. One effect does not matter: if the command deletes a queue of this connection, the end of the
// connection deletes the queue anyway.
func (l *stressLine) note(cmd amqp.Command, r amqp.Reply, asked time.Time) {
	claims := cmd.Method == amqp.QueueDeclare && cmd.Flags.Has(amqp.Exclusive)
	switch {
	case r.Kind == amqp.ChannelClosed:
	case r.Kind == amqp.OK && claims:
		l.owned[cmd.Queue] = true
		if l.alive() {
			l.run.disconnects.granted(cmd.Queue, asked)
		}
	case r.Kind == amqp.OK && cmd.Method == amqp.QueueDelete:
		delete(l.owned, cmd.Queue)
	case r.Kind == amqp.OK:
	case claims:
		l.owned[cmd.Queue], l.asking = true, true
	case cmd.Method == amqp.QueueDeclare, cmd.Method == amqp.QueueDelete && !l.owned[cmd.Queue]:
		l.asking = true
	}
}

// alive reports whether the connection is not known to have ended.
func (l *stressLine) alive() bool { return l.conn != nil && !l.conn.IsClosed() }
