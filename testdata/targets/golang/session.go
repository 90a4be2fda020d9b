// Package amqplocks is a persistent semaphore on RabbitMQ, after the amqp-locks guidelines, with
// amqp091-go.
//
// Slot L of semaphore N is the durable queue N-L-A; whoever holds it has the exclusive queue N-L-B. Both
// have x-max-length 0, so that the messages that ask whether they exist do not pile up.
package amqplocks

import (
	"cmp"
	"errors"

	amqp "github.com/rabbitmq/amqp091-go"
)

var empty = amqp.Table{"x-max-length": int32(0)}

// ErrLost is the error of a call during which the connection was lost.
var ErrLost = errors.New("the connection to the broker is lost")

// ErrClosed is the error of a confirm that does not come because the channel was closed.
var ErrClosed = errors.New("the channel was closed before the confirm came")

// session is one connection with one channel in confirm mode.
type session struct {
	url     string
	dial    func(url string) (*amqp.Connection, error)
	names   Naming
	bug     Bug
	conn    *amqp.Connection
	ch      *amqp.Channel
	returns chan amqp.Return
	broken  chan *amqp.Error           // closed with the channel
	unread  *amqp.DeferredConfirmation // of the last probe, with the bug ConfirmUnread
	held    map[string]int             // slot by semaphore; good for this connection only
}

// repairs is how often a command is sent again because its channel broke for no reason of its own.
const repairs = 2

// connect connects unless connected. A lock that was held went with the old connection.
func (s *session) connect() error {
	if s.conn != nil && !s.conn.IsClosed() {
		return nil
	}
	s.held = make(map[string]int)
	conn, err := s.dial(s.url)
	if err != nil {
		return errors.Join(ErrLost, err)
	}
	s.conn, s.ch = conn, nil
	return s.open()
}

// open sees that there is an open channel.
func (s *session) open() error {
	if s.ch != nil && !s.ch.IsClosed() {
		return nil
	}
	ch, err := s.conn.Channel()
	if err != nil {
		return s.lost(err)
	}
	if err := ch.Confirm(false); err != nil {
		return s.lost(err)
	}
	s.ch, s.unread = ch, nil
	s.returns, s.broken = ch.NotifyReturn(make(chan amqp.Return, 1)), ch.NotifyClose(make(chan *amqp.Error, 1))
	return nil
}

// lost says of an error that the connection is gone, if it is.
func (s *session) lost(err error) error {
	if s.conn.IsClosed() {
		clear(s.held)
		return errors.Join(ErrLost, err)
	}
	return err
}

// command carries out a command. A channel that the broker has closed is opened again, and the command
// repeated unless it was the reason.
func (s *session) command(send func(*amqp.Channel) error) error {
	if s.conn == nil {
		return ErrLost
	}
	for try := 0; ; try++ {
		err := s.open()
		if err == nil {
			if err = send(s.ch); err == nil {
				return nil
			}
		}
		err = s.lost(err)
		if errors.Is(err, ErrLost) || locked(err) || try == repairs {
			return err
		}
	}
}

// locked reports whether the broker closed the channel because a queue is another connection's.
func locked(err error) bool {
	var e *amqp.Error
	return errors.As(err, &e) && e.Code == amqp.ResourceLocked
}

// exists asks by a message that must come back if there is no such queue. This breaks no channel.
func (s *session) exists(queue string) (bool, error) {
	there := false
	err := s.command(func(ch *amqp.Channel) error {
		mandatory := s.bug != NotMandatory
		c, err := ch.PublishWithDeferredConfirm("", queue, mandatory, false, amqp.Publishing{})
		if err != nil {
			return err
		}
		c = s.awaited(c)
		select {
		case <-c.Done():
		case <-s.broken:
		}
		if !c.Acked() { // the channel was closed, and with it what was to be confirmed
			return ErrClosed
		}
		there = true
		select {
		case <-s.returns: // it comes before the confirm
			there = s.bug == ReturnIgnored
		default:
		}
		return nil
	})
	return there, err
}

// awaited is the confirm that a probe waits for: its own.
func (s *session) awaited(own *amqp.DeferredConfirmation) *amqp.DeferredConfirmation {
	if s.bug != ConfirmUnread {
		return own
	}
	before := s.unread
	s.unread = own
	return cmp.Or(before, own)
}

// claim declares a queue exclusively. It is false if it is another connection's.
func (s *session) claim(queue string) (bool, error) {
	err := s.command(func(ch *amqp.Channel) error {
		_, err := ch.QueueDeclare(queue, false, false, true, false, empty)
		return err
	})
	if locked(err) && s.bug == LockedIsPanic {
		panic("a queue that nobody has is locked: " + queue)
	}
	if locked(err) {
		return s.bug == LockedIsSuccess, nil
	}
	return err == nil, err
}

// delete deletes a queue, unless it is another connection's: then it is not ours to delete any more.
func (s *session) delete(queue string) error {
	err := s.command(func(ch *amqp.Channel) error {
		_, err := ch.QueueDelete(queue, false, false, false)
		return err
	})
	if locked(err) {
		return nil
	}
	return err
}

// declare makes a slot.
func (s *session) declare(queue string) error {
	return s.command(func(ch *amqp.Channel) error {
		_, err := ch.QueueDeclare(queue, true, false, false, false, empty)
		return err
	})
}
