package amqplock_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/internal/pinned"
	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/lock"
)

// TestScripts walks testdata: each file is a session of one machine. Lines are
//
//	lock KIND               a new machine of a lock type, with default options
//	option NAME VALUE       changes one
//	ACQUIRE, add 2 …        an operation
//	  REPLY | COMMAND       the machine's next command, and its reply
//	= RESULT                the operation's result
//
// A reply is ack, return (an ack after a basic.return), nack, ok, lost, gone (the connection is closed), or a code that
// closes the channel. A number instead of a reply is the value that a random option takes. The test checks commands and
// results; with the flag -rewrite it writes them. A "+" before a command means that the client sends it without waiting
// for the reply before.
func TestScripts(t *testing.T) { pinned.Scripts(t, play) }

// session is the machine that a script drives.
type session struct {
	*amqplock.Protocol
	amqplock.Machine
	names amqp.Names
}

// play carries out a script. It returns the script with the actual commands and results.
func play(t *testing.T, script string) string {
	var out strings.Builder
	var s *session
	for line := range strings.Lines(script) {
		line = strings.TrimSuffix(line, "\n")
		field := strings.Fields(line)
		switch {
		case len(field) == 0 || strings.HasPrefix(line, "#"):
		case field[0] == "=":
			continue // written when the operation ends
		case field[0] == "lock":
			s = begin(t, field[1])
		case field[0] == "option":
			o, err := amqplock.Table.Options(s.Options).With(field[1], field[2])
			if err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			s.Options = amqplock.Table.Of(o)
		case strings.HasPrefix(line, " "):
			line = s.exchange(t, field[0])
		default:
			s.call(t, field)
		}
		fmt.Fprintln(&out, line)
		if s != nil && s.Done() && strings.HasPrefix(line, " ") {
			fmt.Fprintln(&out, s.result())
		}
	}
	return out.String()
}

func begin(t *testing.T, kind string) *session {
	k, err := lock.KindNamed(kind)
	if err != nil {
		t.Fatal(err)
	}
	s := &session{Protocol: &amqplock.Protocol{Kind: k, Options: amqplock.Table.Of(amqplock.DefaultOptions())}}
	s.Layout = amqplock.NewLayout(&s.names, amqplock.Names, "jobs", 9)
	s.Link, s.Channel = amqplock.Up, 1
	return s
}

func (s *session) call(t *testing.T, field []string) {
	op, ok := lock.OpNamed(field[0])
	if !ok {
		t.Fatalf("operation %q", field[0])
	}
	arg := 0
	if len(field) > 1 {
		arg, _ = strconv.Atoi(field[1])
	}
	s.Start(&s.Machine, op, uint8(arg))
}

// exchange sends the machine's next command, hands it the given reply, and returns the script's line for both.
func (s *session) exchange(t *testing.T, reply string) string {
	if n := s.Choices(&s.Machine); n > 0 {
		i, err := strconv.Atoi(reply)
		if err != nil {
			t.Fatalf("reply %q where one of %d ways is to be chosen", reply, n)
		}
		s.Choose(&s.Machine, i)
		return fmt.Sprintf("  %-7s | choose one of %d", reply, n)
	}
	if s.Idle() {
		t.Fatalf("reply %q after the operation is over", reply)
	}
	cmd := s.Next(&s.Machine)
	s.Apply(&s.Machine, replies(t, reply))
	return fmt.Sprintf("  %-7s | %s", reply, s.describe(cmd))
}

func replies(t *testing.T, word string) amqp.Reply {
	switch word {
	case "ack":
		return amqp.Reply{Kind: amqp.Ack}
	case "return":
		return amqp.Reply{Kind: amqp.Ack, Returned: 1, Code: amqp.NoRoute}
	case "nack":
		return amqp.Reply{Kind: amqp.Nack}
	case "ok":
		return amqp.Reply{Kind: amqp.OK}
	case "ok-return":
		return amqp.Reply{Kind: amqp.OK, Returned: 1, Code: amqp.NoRoute}
	case "none":
		return amqp.Reply{}
	case "lost":
		return amqp.Reply{Kind: amqp.Lost}
	case "gone":
		return amqp.Reply{Kind: amqp.ConnectionClosed}
	}
	code, err := strconv.Atoi(word)
	if err != nil {
		t.Fatalf("reply %q", word)
	}
	return amqp.Reply{Kind: amqp.ChannelClosed, Code: amqp.Code(code)}
}

func (s *session) describe(c amqp.Command) string {
	words := []string{c.Method.String()}
	if c.Pipelined {
		words[0] = "+ " + words[0]
	}
	if c.Queue != 0 {
		words = append(words, s.names.Name(c.Queue))
	}
	for _, f := range []struct {
		flag amqp.Flags
		word string
	}{{amqp.Passive, "passive"}, {amqp.Exclusive, "exclusive"}, {amqp.Durable, "durable"}} {
		if c.Flags.Has(f.flag) {
			words = append(words, f.word)
		}
	}
	return strings.Join(words, " ")
}

func (s *session) result() string {
	r := s.Result
	words := []string{"=", r.Outcome.String()}
	if r.Reason != lock.NoReason {
		words = append(words, r.Reason.String())
	}
	if r.Held {
		words = append(words, "held")
	}
	if r.Slot > 0 {
		words = append(words, fmt.Sprint("slot ", r.Slot))
	}
	if s.Op == lock.Count {
		words = append(words, fmt.Sprint(r.Slots, " slots"))
	}
	return strings.Join(words, " ")
}
