// Command locks has lockproof judge lock libraries of Go: locks LIBRARY. Each tries once for a lock. The library is used as its
// documentation shows it, with its client's defaults.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/zeromicro/go-zero/core/logx"
)

// library is a lock library. acquire gives how the lock is released, and nil where the lock is not to be had.
type library func(servers []string) (acquire, error)

type (
	acquire func(ctx context.Context, name string, lease time.Duration) (release, error)
	release func(context.Context) error
)

// libraries are those that can be named, and whether their locks have leases.
var libraries = map[string]struct {
	make   library
	leases bool
}{
	"redislock":           {ofRedislock, true},
	"redsync":             {ofRedsync, true},
	"go-zero":             {ofGoZero, true},
	"goose-session":       {ofGooseSession, false},
	"goose-table":         {ofGooseTable(onPostgres), true},
	"goose-table-mariadb": {ofGooseTable(onMariaDB), true},
	"atlas-postgres":      {ofAtlas(onPostgres), false},
	"atlas-mariadb":       {ofAtlas(onMariaDB), false},
	"bun-postgres":        {ofBun, false},
	"migrate-mariadb":     {ofMigrate, false},
	"consul-lock":         {ofConsul, true},
}

// Codes of errors of the protocol.
const (
	unknown      = -32603 // it may have happened
	noSuchMethod = -32601
)

type call struct {
	ID     json.RawMessage
	Method string
	Params struct {
		Name string
		URL  string
		URLs []string
		TTL  int64
	}
}

// client is one client of a library.
type client struct {
	library string
	acquire acquire
	held    map[string]release
}

func main() {
	if len(os.Args) != 2 || libraries[os.Args[1]].make == nil {
		fmt.Fprintln(os.Stderr, "usage: locks LIBRARY, one of", slices.Sorted(maps.Keys(libraries)))
		os.Exit(2)
	}
	logx.Disable() // it speaks on standard output
	c := client{library: os.Args[1], held: make(map[string]release)}
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		var q call
		if err := json.Unmarshal(in.Bytes(), &q); err != nil {
			fmt.Fprintln(os.Stderr, "reading a call:", err)
			os.Exit(2)
		}
		answer := map[string]any{"jsonrpc": "2.0", "id": q.ID}
		if result, code, err := c.do(&q); err != nil {
			answer["error"] = map[string]any{"code": code, "message": err.Error()}
		} else {
			answer["result"] = result
		}
		text, _ := json.Marshal(answer)
		fmt.Printf("%s\n", text)
	}
}

// do carries out a call. The code is an error's.
func (c *client) do(q *call) (result map[string]any, code int, err error) {
	ctx := context.Background() // a library may go on with it after the call
	switch q.Method {
	case "initialize":
		servers := q.Params.URLs
		if len(servers) == 0 {
			servers = []string{q.Params.URL}
		}
		l := libraries[c.library]
		c.acquire, err = l.make(servers)
		return map[string]any{"name": c.library, "locks": []string{"mutex"}, "operations": []string{"acquire", "release"}, "leases": l.leases}, unknown, err
	case "acquire":
		held, err := c.acquire(ctx, q.Params.Name, time.Duration(q.Params.TTL)*time.Millisecond)
		if err != nil || held == nil {
			return map[string]any{"held": false}, unknown, err
		}
		c.held[q.Params.Name] = held
		return map[string]any{"held": true, "slot": 1}, 0, nil
	case "release":
		held := c.held[q.Params.Name]
		delete(c.held, q.Params.Name)
		if held != nil {
			err = held(ctx)
		}
		return map[string]any{}, unknown, err
	}
	return nil, noSuchMethod, fmt.Errorf("no method %s", q.Method)
}
