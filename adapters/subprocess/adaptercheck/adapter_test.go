//go:build unix

package adaptercheck_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"

	amqp "github.com/rabbitmq/amqp091-go"
)

// role names an environment variable. With it, the test binary runs as the adapter that the variable's value
// describes, for example "slow".
const role = "ADAPTERCHECK_TEST_ROLE"

func command(name string) string {
	return fmt.Sprintf("%s='%s' GORACE=atexit_sleep_ms=0 exec '%s'", role, name, os.Args[0])
}

func TestMain(m *testing.M) {
	if name := os.Getenv(role); name != "" {
		(&adapter{role: name}).run()
		return
	}
	os.Exit(m.Run())
}

// adapter is a minimal mutex: a client holds the mutex if it has declared an exclusive queue. The adapter's role says
// which mistake the adapter makes.
type adapter struct {
	role  string
	conn  *amqp.Connection
	ch    *amqp.Channel
	held  bool
	made  bool
	tag   uint64 // delivery tag of the message by which the client holds the lock; 0 if none
	queue string // queue by which the client holds the lock
	// grants counts only this client's grants, and is used as the fencing token. That is a mistake: a token must be
	// larger than the tokens of all clients before.
	grants int
}

// token returns the fencing token of a grant in JSON, or "" for an adapter without tokens.
func (a *adapter) token() string {
	if a.role != "counts its own grants" {
		return ""
	}
	return fmt.Sprintf(`,"token":%d`, a.grants)
}

type params struct {
	Name, URL, Lock string
	Limit, Slots    int
}

func (a *adapter) run() {
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		var call struct {
			ID     int
			Method string
			Params params
		}
		if err := json.Unmarshal(in.Bytes(), &call); err != nil {
			panic(err)
		}
		if a.role == "slow" && call.Method == "verify" {
			a.stay()
		}
		if a.role == "chatty" && call.Method == "acquire" {
			fmt.Println("acquiring", call.Params.Name)
		}
		fmt.Printf("{\"jsonrpc\":\"2.0\",\"id\":%d,%s}\n", call.ID, a.answer(call.Method, call.Params))
	}
	switch {
	case a.role == "deaf":
		a.stay()
	case a.role == "tidy" && a.held:
		a.release()
	}
}

// stay waits until the process is killed.
func (a *adapter) stay() {
	signal.Ignore(syscall.SIGTERM)
	<-make(chan struct{})
}

func (a *adapter) answer(method string, p params) string {
	switch method {
	case "initialize":
		return a.initialize(p)
	case "acquire":
		if a.several() {
			slot := a.take(p.Name)
			if slot == 0 {
				return `"result":{"held":false}`
			}
			return fmt.Sprintf(`"result":{"held":true,"slot":%d}`, slot)
		}
		if a.held = a.acquire(p.Name, p.Limit); a.held {
			a.grants++
			return fmt.Sprintf(`"result":{"held":true,"slot":1%s}`, a.token())
		}
		if a.role == "patient" { // the mistake of this role: acquire waits for the lock
			a.stay()
		}
		return `"result":{"held":false}`
	case "verify":
		return fmt.Sprintf(`"result":{"held":%v}`, a.held)
	case "release":
		a.release()
		return `"result":{}`
	case "create", "destroy":
		if a.several() {
			a.make(p.Name, p.Slots)
		}
		a.made = method == "create"
		return `"result":{}`
	case "count":
		if a.made {
			return `"result":{"slots":1}`
		}
		return `"result":{"slots":0}`
	}
	if a.role == "accepts everything" {
		return `"result":{}`
	}
	return `"error":{"code":-32601,"message":"no such method"}`
}

func (a *adapter) initialize(p params) string {
	if a.role != "elsewhere" {
		var err error
		if a.conn, err = amqp.Dial(p.URL); err != nil {
			panic(err)
		}
	}
	operations := `"acquire","verify","release"`
	switch a.role {
	case "persistent":
		operations += `,"create","destroy","count"`
	case "lasting":
		operations += `,"create","count"`
	case "modest":
		operations = `"acquire","release"`
	case "for good":
		operations = `"acquire","verify"`
	}
	locks, limits := `"mutex"`, a.role == "limited" || a.role == "one at a time"
	if limits {
		locks = `"semaphore"`
	}
	if a.several() {
		locks, operations = `"semaphore"`, operations+`,"create","destroy"`
	}
	if a.role == "persistent" || a.role == "lasting" {
		locks += `,"persistent-mutex"`
	}
	more := ""
	if limits {
		more = `,"limits":true`
	}
	if a.role == "counts its own grants" || a.role == "forgets its tokens" {
		more = `,"tokens":true`
	}
	return fmt.Sprintf(`"result":{"name":"tiny","locks":[%s],"operations":[%s]%s}`, locks, operations, more)
}

// acquire tries to declare the exclusive queue of a lock. For the role "limited", it tries one of limit queues.
func (a *adapter) acquire(name string, limit int) bool {
	if a.role == "greedy" || a.role == "elsewhere" {
		return true
	}
	if a.role != "limited" {
		limit = 1
	}
	for n := range limit {
		if a.ch == nil {
			a.ch, _ = a.conn.Channel()
		}
		a.queue = name + strings.Repeat("'", n)
		if _, err := a.ch.QueueDeclare(a.queue, false, false, true, false, nil); err == nil {
			return true
		}
		a.ch = nil
	}
	return false
}

func (a *adapter) release() {
	a.held = false
	if a.tag > 0 {
		_ = a.ch.Nack(a.tag, false, true)
		a.tag = 0
		return
	}
	if a.ch != nil {
		_, _ = a.ch.QueueDelete(a.queue, false, false, false)
	}
}

// several reports whether the adapter is a semaphore. The role "slots" has two queues for each slot, and "tokens" has
// a numbered message for each slot.
func (a *adapter) several() bool { return a.role == "slots" || a.role == "tokens" }

// make creates a semaphore with the given number of slots. 0 destroys it.
func (a *adapter) make(name string, slots int) {
	a.ch, _ = a.conn.Channel()
	_, _ = a.ch.QueueDeclare(name+".tokens", false, false, false, false, nil)
	for slot := 1; slot <= slots && !a.made; slot++ {
		_, _ = a.ch.QueueDeclare(fmt.Sprintf("%s.A.%d", name, slot-1), false, false, false, false, nil)
		_ = a.ch.Publish("", name+".tokens", false, false, amqp.Publishing{Body: []byte{byte(slot)}})
	}
	if slots == 0 {
		_, _ = a.ch.QueueDelete(name+".A.0", false, false, false)
		_, _ = a.ch.QueueDelete(name+".tokens", false, false, false)
	}
}

// take tries to acquire a slot of a semaphore. It returns the slot's number, or 0.
func (a *adapter) take(name string) int {
	a.ch, _ = a.conn.Channel()
	if a.role == "tokens" {
		d, ok, _ := a.ch.Get(name+".tokens", false)
		if a.held = ok; !ok {
			return 0
		}
		a.tag = d.DeliveryTag
		return int(d.Body[0])
	}
	for slot := 1; ; slot++ {
		if _, err := a.ch.QueueDeclarePassive(fmt.Sprintf("%s.A.%d", name, slot-1), false, false, false, false, nil); err != nil {
			return 0
		}
		a.queue = fmt.Sprintf("%s.B.%d", name, slot-1)
		if _, err := a.ch.QueueDeclare(a.queue, false, false, true, false, nil); err == nil {
			a.held = true
			return slot
		}
		a.ch, _ = a.conn.Channel()
	}
}
