//go:build unix

package subprocess_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
)

// role names an environment variable. With it, the test binary runs as the program of [roles] with that name.
const role = "PROCESS_TEST_ROLE"

func TestMain(m *testing.M) {
	if name := os.Getenv(role); name != "" {
		roles[name]()
		return
	}
	os.Exit(m.Run())
}

const about = `{"name":"tiny 1","locks":["semaphore"],"operations":["create","acquire","verify","release","count","wait"]}`

// roles are programs for tests, by name, each with one kind of behaviour. Those that are correct until acquire is
// called use onAcquire.
var roles = map[string]func(){
	"well":          func() { obey(nil) },
	"dies at once":  func() { complain("no such module"); os.Exit(3) },
	"rubbish first": func() { fmt.Println("Connecting..."); hang() },
	"silent":        hang,
	"refuses to begin": func() {
		obey(map[string]string{"initialize": `"error":{"code":-1,"message":"wrong broker"}`})
	},
	"nameless": func() { obey(map[string]string{"initialize": `"result":{"locks":["mutex"],"operations":["acquire"]}`}) },
	"unknown lock": func() {
		obey(map[string]string{"initialize": `"result":{"name":"x","locks":["sofa"],"operations":["acquire"]}`})
	},
	"unknown operation": func() {
		obey(map[string]string{"initialize": `"result":{"name":"x","locks":["mutex"],"operations":["grab"]}`})
	},
	"prints rubbish": func() { onAcquire(func(int) { fmt.Println("got the lock!"); hang() }) },
	"floods":         func() { onAcquire(func(int) { flood() }) },
	"answers twice": func() {
		onAcquire(func(id int) { answer(id, `"result":{"held":false}`); answer(id, `"result":{"held":true,"slot":1}`) })
	},
	"answers another":    func() { onAcquire(func(id int) { answer(id+7, `"result":{"held":false}`) }) },
	"answers without id": func() { onAcquire(func(int) { fmt.Println(`{"jsonrpc":"2.0","result":{}}`) }) },
	"answers nobody": func() {
		onAcquire(func(int) { fmt.Println(`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"parse error"}}`) })
	},
	"calls us":           func() { onAcquire(func(int) { fmt.Println(`{"jsonrpc":"2.0","method":"log","params":["hello"]}`) }) },
	"neither":            func() { onAcquire(func(id int) { fmt.Printf("{\"jsonrpc\":\"2.0\",\"id\":%d}\n", id) }) },
	"error of a word":    func() { onAcquire(func(id int) { answer(id, `"error":"failed"`) }) },
	"old version":        func() { onAcquire(func(id int) { fmt.Printf("{\"id\":%d,\"result\":{\"held\":false}}\n", id) }) },
	"wrong type":         func() { onAcquire(func(id int) { answer(id, `"result":{"held":"yes","slot":1}`) }) },
	"no slot":            func() { onAcquire(func(id int) { answer(id, `"result":{"held":true}`) }) },
	"slot of thousands":  func() { onAcquire(func(id int) { answer(id, `"result":{"held":true,"slot":4711}`) }) },
	"crashes":            func() { onAcquire(func(int) { complain("Traceback", "  in acquire", "KeyError: 1"); os.Exit(1) }) },
	"dies of a signal":   func() { onAcquire(func(int) { syscall.Kill(os.Getpid(), syscall.SIGSEGV); hang() }) },
	"cut off":            func() { onAcquire(func(id int) { fmt.Printf(`{"jsonrpc":"2.0","id":%d,"res`, id); os.Exit(0) }) },
	"closes its output":  func() { onAcquire(func(int) { os.Stdout.Close(); hang() }) },
	"hangs":              func() { onAcquire(func(int) { hang() }) },
	"fails":              func() { onAcquire(func(id int) { answer(id, `"error":{"code":-32000,"message":"no"}`) }) },
	"does not know":      func() { onAcquire(func(id int) { answer(id, `"error":{"code":-32603,"message":"timeout"}`) }) },
	"full":               func() { onAcquire(func(id int) { answer(id, `"result":{"held":false}`) }) },
	"ignores the end":    func() { obey(nil); hang() },
	"ignores everything": func() { signal.Ignore(syscall.SIGTERM); obey(nil); hang() },
	"has a child": func() {
		child := exec.Command("sleep", "1000")
		child.Stderr = os.Stderr
		child.Start()
		complain(fmt.Sprintf("child %d of %d", child.Process.Pid, os.Getpid()))
		obey(nil)
		hang()
	},
	"complains a lot": func() {
		for i := range 26_000 { // slightly more than is shown
			complain(fmt.Sprint("line ", i))
		}
		obey(nil)
	},
}

// hang never returns, like a program that waits for something that never comes.
func hang() {
	never := make(chan os.Signal, 1)
	signal.Notify(never, syscall.SIGUSR1)
	<-never
}

func flood() {
	for {
		if _, err := os.Stdout.WriteString(strings.Repeat("x", 1<<16)); err != nil {
			os.Exit(0)
		}
	}
}

func complain(lines ...string) { fmt.Fprintln(os.Stderr, strings.Join(lines, "\n")) }

func answer(id int, what string) { fmt.Printf("{\"jsonrpc\":\"2.0\",\"id\":%d,%s}\n", id, what) }

// each calls do for each call that it reads, until its input ends.
func each(do func(method string, id int)) {
	eachWith(func(method string, id int, _ map[string]any) { do(method, id) })
}

// eachWith is like each, and passes the parameters as well.
func eachWith(do func(method string, id int, params map[string]any)) {
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		var call struct {
			ID     int
			Method string
			Params map[string]any
		}
		if err := json.Unmarshal(in.Bytes(), &call); err != nil {
			panic(err)
		}
		do(call.Method, call.ID, call.Params)
	}
}

// obey answers every call correctly, except for the methods in except, which have the given answers.
func obey(except map[string]string) {
	each(func(method string, id int) { good(method, id, except) })
}

func good(method string, id int, except map[string]string) {
	answers := map[string]string{
		"initialize": `"result":` + about,
		"acquire":    `"result":{"held":true,"slot":1}`,
		"verify":     `"result":{"held":true}`,
		"count":      `"result":{"slots":2}`,
		"env":        fmt.Sprintf(`"result":{"url":%q,"extra":%q,"processors":%q}`, os.Getenv("AMQP_URL"), os.Getenv("EXTRA"), os.Getenv("GOMAXPROCS")),
	}
	if a, ok := except[method]; ok {
		answer(id, a)
	} else if a, ok := answers[method]; ok {
		answer(id, a)
	} else {
		answer(id, `"result":{}`)
	}
}

// onAcquire answers every call correctly, except acquire, for which it calls do.
func onAcquire(do func(id int)) {
	each(func(method string, id int) {
		if method == "acquire" {
			do(id)
		} else {
			good(method, id, nil)
		}
	})
}
