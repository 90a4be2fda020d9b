//go:build unix

package cli

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"

	"github.com/lockproof/lockproof/adapters/foreign"
	"github.com/lockproof/lockproof/adapters/inprocess"
	"github.com/lockproof/lockproof/model/lock"
	amqplocks "github.com/lockproof/lockproof/testdata/targets/golang"
)

// envAdapter is an environment variable that makes this test binary an adapter of the example in Go. Its value is the
// name of a bug, or "none".
const envAdapter = "LOCKPROOF_TEST_ADAPTER"

// adapter is the command that starts this test binary as an adapter with a bug; "" means no bug.
func adapter(bug string) string {
	return fmt.Sprintf("%s=%s exec '%s'", envAdapter, cmp.Or(bug, "none"), os.Args[0])
}

// call is a request to an adapter: one line of its input.
type call struct {
	ID     int
	Method string
	Params struct {
		Client, URL, Lock, Name string
		Slot, Slots             int
		Options                 map[string]string
	}
}

// adapt answers requests until its input ends.
func adapt(bug string) {
	client, err := inprocess.Starter{New: func(ctx context.Context, url string) (inprocess.Lock, error) {
		return amqplocks.NewWith(ctx, url, amqplocks.Bug(bug))
	}}.Start(context.Background(), 1)
	if err != nil {
		panic(err)
	}
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		var c call
		if err := json.Unmarshal(in.Bytes(), &c); err != nil {
			panic(err)
		}
		answer := initialize
		if c.Method != "initialize" {
			answer = operate
		}
		result, err := answer(client, &c)
		line := map[string]any{"jsonrpc": "2.0", "id": c.ID, "result": result}
		if err != nil {
			line = map[string]any{"jsonrpc": "2.0", "id": c.ID, "error": map[string]any{"code": -1, "message": err.Error()}}
		}
		if err := json.NewEncoder(os.Stdout).Encode(line); err != nil {
			panic(err)
		}
	}
}

func initialize(client foreign.Client, c *call) (any, error) {
	kind, err := lock.KindNamed(c.Params.Lock)
	if err != nil {
		return nil, err
	}
	about, err := client.Initialize(context.Background(), foreign.Setup{Client: c.Params.Client, Lock: kind, URLs: []string{c.Params.URL}})
	var operations []string
	for _, op := range about.Operations {
		operations = append(operations, op.String())
	}
	name := "adapter"
	for _, option := range slices.Sorted(maps.Keys(c.Params.Options)) {
		name += " " + option + "=" + c.Params.Options[option]
	}
	return map[string]any{"name": name, "locks": []string{c.Params.Lock}, "operations": operations}, err
}

func operate(client foreign.Client, c *call) (any, error) {
	var op lock.Op
	if err := op.UnmarshalText([]byte(c.Method)); err != nil {
		return nil, err
	}
	r, err := client.Call(context.Background(), op, foreign.Params{Name: c.Params.Name, Slot: c.Params.Slot, Slots: c.Params.Slots})
	switch {
	case err != nil:
		return nil, err
	case r.Outcome != lock.Done && op != lock.Acquire:
		return nil, errors.New(r.Reason.String())
	}
	result := make(map[string]any)
	switch op {
	case lock.Acquire:
		result["held"], result["slot"] = r.Held, max(1, int(r.Slot))
	case lock.Verify:
		result["held"] = r.Held
	case lock.Count:
		result["slots"] = r.Slots
	}
	return result, nil
}
