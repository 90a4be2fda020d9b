package external_test

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockproof/lockproof/adapters/external"
	"github.com/lockproof/lockproof/adapters/wire/frame"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/scenario"
)

// hasty starts clients whose acquire writes messages without waiting, and then reads until all are confirmed.
type hasty struct{ confirms *[]string }

func (s hasty) Start(context.Context, int) (external.Client, error) {
	return &hastyClient{hasty: s}, nil
}

type hastyClient struct {
	rudeClient
	hasty
}

// hastyMessages is how many messages a call writes.
const hastyMessages = 5

func (c *hastyClient) Call(ctx context.Context, op lock.Op, p external.Params) (lock.Result, error) {
	if !strings.HasSuffix(p.Name, "jobs") {
		return c.rudeClient.Call(ctx, op, p)
	}
	socket, err := net.Dial("tcp", c.address)
	if err != nil {
		return lock.Result{}, err
	}
	defer socket.Close()
	b := frame.AppendMethod(hello(), 1, &frame.ConfirmSelect{})
	for range hastyMessages {
		b = append(b, message(1)...)
	}
	socket.SetDeadline(time.Now().Add(time.Minute))
	socket.Write(b)
	frames := frame.NewReader(socket, 1<<17)
	for last := uint64(0); last < hastyMessages; {
		f, err := frames.Next()
		if err != nil {
			return lock.Result{}, err
		}
		if f.Type != frame.FrameMethod {
			continue
		}
		if m, _ := frame.ReadMethod(f.Payload); m != nil && m.ID() == frame.BasicAckID {
			ack := m.(*frame.BasicAck)
			last = ack.DeliveryTag
			*c.confirms = append(*c.confirms, fmt.Sprint(ack.DeliveryTag, " ", ack.Multiple))
		}
	}
	return lock.Result{Outcome: lock.Done}, nil
}

// TestConfirmsOfSeveral: a client that writes messages without waiting is sent confirms that stand for several, and
// others that don't, the same in every execution.
func TestConfirmsOfSeveral(t *testing.T) {
	var confirms []string
	runner, err := external.NewRunner(t.Context(), external.Config{Starter: hasty{&confirms}, Kind: lock.Mutex, Timing: external.Timing{Patience: time.Minute, Limit: time.Minute}})
	if err != nil {
		t.Fatal(err)
	}
	defer runner.Close()
	for range 3 {
		confirms = nil
		sc := runner.Playable(scenario.Scenario{
			Locks: []scenario.Lock{{Name: "jobs"}}, Clients: []scenario.Client{{Ops: []scenario.Operation{acquire}}},
		})
		if _, err := runner.Run(t.Context(), &sc); err != nil {
			t.Fatal(err)
		}
		if want := []string{"2 true", "4 true", "5 false"}; !slices.Equal(confirms, want) {
			t.Errorf("confirmed %q, expected %q", confirms, want)
		}
	}
}
