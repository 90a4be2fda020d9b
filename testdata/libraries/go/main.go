// Command locks is an adapter with which lockproof judges lock libraries of Go. Its argument is the name of a
// library. Each acquire tries only once. A library is used as in its documentation, with the default settings of its
// client.
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

// library connects to servers and returns a function that acquires a lock. That function returns two functions: one
// releases the lock, the other extends its lease and reports whether the client still holds the lock. The first is nil
// if the lock is taken, the second if the library cannot extend leases.
type library func(servers []string) (extending, error)

type (
	acquiring func(servers []string) (acquire, error)
	extending func(ctx context.Context, name string, lease time.Duration) (release, extend, error)
	acquire   func(ctx context.Context, name string, lease time.Duration) (release, error)
	release   func(context.Context) error
	extend    func(ctx context.Context, lease time.Duration) (bool, error)
)

// plain turns a library that cannot extend leases into a library.
func plain(makes acquiring) library {
	return func(servers []string) (extending, error) {
		acquire, err := makes(servers)
		return func(ctx context.Context, name string, lease time.Duration) (release, extend, error) {
			held, err := acquire(ctx, name, lease)
			return held, nil, err
		}, err
	}
}

// libraries are the supported libraries, by name. leases means that the locks have leases, and extends that the
// library can extend them.
var libraries = map[string]struct {
	make            library
	leases, extends bool
}{
	"redislock":           {ofRedislock, true, true},
	"redsync":             {ofRedsync, true, true},
	"go-zero":             {plain(ofGoZero), true, false},
	"goose-session":       {plain(ofGooseSession), false, false},
	"goose-table":         {plain(ofGooseTable(onPostgres)), true, false},
	"goose-table-mariadb": {plain(ofGooseTable(onMariaDB)), true, false},
	"atlas-postgres":      {plain(ofAtlas(onPostgres)), false, false},
	"atlas-mariadb":       {plain(ofAtlas(onMariaDB)), false, false},
	"bun-postgres":        {plain(ofBun), false, false},
	"migrate-mariadb":     {plain(ofMigrate), false, false},
	"consul-lock":         {plain(ofConsul), true, false},
	"etcd":                {plain(ofEtcd), true, false},
}

// Error codes of lockproof's JSON-RPC protocol.
const (
	unknown      = -32603 // the call may have had an effect
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

// client is one client of a lock library.
type client struct {
	library string
	acquire extending
	held    map[string]held
}

// held is a lock that a client holds.
type held struct {
	release release
	extend  extend
}

func main() {
	if len(os.Args) != 2 || libraries[os.Args[1]].make == nil {
		fmt.Fprintln(os.Stderr, "usage: locks LIBRARY, one of", slices.Sorted(maps.Keys(libraries)))
		os.Exit(2)
	}
	logx.Disable() // go-zero's log would go to standard output, among the answers
	c := client{library: os.Args[1], held: make(map[string]held)}
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

// do carries out a call. code is the code of the error, if there is one.
func (c *client) do(q *call) (result map[string]any, code int, err error) {
	ctx := context.Background() // not cancelled, as a library may use it after the call
	lease := time.Duration(q.Params.TTL) * time.Millisecond
	switch q.Method {
	case "initialize":
		servers := q.Params.URLs
		if len(servers) == 0 {
			servers = []string{q.Params.URL}
		}
		l := libraries[c.library]
		c.acquire, err = l.make(servers)
		operations := []string{"acquire", "release"}
		if l.extends {
			operations = append(operations, "extend")
		}
		return map[string]any{"name": c.library, "locks": []string{"mutex"}, "operations": operations, "leases": l.leases}, unknown, err
	case "acquire":
		release, extend, err := c.acquire(ctx, q.Params.Name, lease)
		if err != nil || release == nil {
			return map[string]any{"held": false}, unknown, err
		}
		c.held[q.Params.Name] = held{release, extend}
		return map[string]any{"held": true, "slot": 1}, 0, nil
	case "extend":
		of, held := c.held[q.Params.Name]
		if held {
			held, err = of.extend(ctx, lease)
		}
		return map[string]any{"held": held}, unknown, err
	case "release":
		of, held := c.held[q.Params.Name]
		delete(c.held, q.Params.Name)
		if held {
			err = of.release(ctx)
		}
		return map[string]any{}, unknown, err
	}
	return nil, noSuchMethod, fmt.Errorf("no method %s", q.Method)
}
