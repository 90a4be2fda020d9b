// Package amqplocks is a persistent semaphore on RabbitMQ that follows the amqp-locks guidelines. It uses amqp091-go.
//
// Slot L of semaphore N exists if the durable queue N-L-A exists. The client with the exclusive queue N-L-B holds the
// slot. Both queues have x-max-length 0, so that the probe messages that ask whether a queue exists do not
// accumulate.
package amqplocks

import (
	"cmp"
	"errors"

	amqp "github.com/rabbitmq/amqp091-go"
)

var empty = amqp.Table{"x-max-length": int32(0)}

// ErrLost is the error of a call during which the connection was lost.
var ErrLost = errors.New("the connection to the broker is lost")

// ErrClosed is the error of a publish whose confirm does not arrive because the channel was closed.
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
	broken  chan *amqp.Error           // closed when the channel is closed
	unread  *amqp.DeferredConfirmation // confirm of the last probe; only with the bug ConfirmUnread
	held    map[string]int             // held slot, by semaphore; valid for this connection only
}

// repairs is how often a command that fails is repeated on a new channel. A command that fails because the queue is
// locked by another connection, or because the connection is lost, is not repeated.
const repairs = 2

// connect opens a connection if there is none. A lock that was held on an old connection is lost.
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

// open opens a channel if there is none.
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

// lost adds ErrLost to an error if the connection is gone.
func (s *session) lost(err error) error {
	if s.conn.IsClosed() {
		clear(s.held)
		return errors.Join(ErrLost, err)
	}
	return err
}

// command carries out a command. If the broker has closed the channel, it opens another one and repeats the command,
// unless the command itself was the reason.
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

// locked reports whether the broker closed the channel because another connection has the queue.
func locked(err error) bool {
	var e *amqp.Error
	return errors.As(err, &e) && e.Code == amqp.ResourceLocked
}

// exists reports whether a queue exists. It publishes a mandatory message, which is returned if there is no such
// queue. Unlike a passive declaration, this does not close the channel.
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
		if !c.Acked() { // the channel was closed before the confirm arrived
			return ErrClosed
		}
		there = true
		select {
		case <-s.returns: // a return arrives before the confirm
			there = s.bug == ReturnIgnored
		default:
		}
		return nil
	})
	return there, err
}

// awaited returns the confirm that a probe waits for: its own or, with the bug ConfirmUnread, the previous probe's.
func (s *session) awaited(own *amqp.DeferredConfirmation) *amqp.DeferredConfirmation {
	if s.bug != ConfirmUnread {
		return own
	}
	before := s.unread
	s.unread = own
	return cmp.Or(before, own)
}

// claim declares an exclusive queue. It returns false if another connection has the queue.
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

// delete deletes a queue. It does nothing if another connection has the queue.
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

// declare creates the durable queue of a slot.
func (s *session) declare(queue string) error {
	return s.command(func(ch *amqp.Channel) error {
		_, err := ch.QueueDeclare(queue, true, false, false, false, empty)
		return err
	})
}
