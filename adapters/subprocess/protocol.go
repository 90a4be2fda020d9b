package subprocess

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/lockproof/lockproof/adapters/foreign"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
)

// Version is the version of the protocol, which the first call states.
const Version = 1

// CodeFailed is the code of the error of a call that certainly had no effect.
const CodeFailed = -32000

// Request is a call in its JSON form.
type Request struct {
	JSONRPC string `json:"jsonrpc"`
	ID      int    `json:"id"`
	Method  string `json:"method"`
	Params  any    `json:"params"`
}

// Reply is an answer in its JSON form.
type Reply struct {
	JSONRPC string         `json:"jsonrpc"`
	ID      jsontext.Value `json:"id"`
	Method  string         `json:"method"`
	Params  jsontext.Value `json:"params"` // parameters of a message that no call asked for
	Result  jsontext.Value `json:"result"`
	Error   *Refusal       `json:"error"`
}

// Refusal is the error in an answer.
type Refusal struct {
	Code    int            `json:"code"`
	Message string         `json:"message"`
	Data    jsontext.Value `json:"data,omitzero"`
}

// Error returns the error's code and message.
func (r *Refusal) Error() string { return fmt.Sprintf("error %d: %s", r.Code, quoted(r.Message)) }

type initialize struct {
	Protocol int            `json:"protocol"`
	Client   string         `json:"client"`
	Lock     string         `json:"lock"`
	URL      string         `json:"url"`
	URLs     []string       `json:"urls,omitempty"` // for a lock on several servers; url is the first of them
	Options  map[string]any `json:"options"`
}

// initializing returns the parameters of the first call.
func initializing(in foreign.Setup, options map[string]any) initialize {
	p := initialize{Protocol: Version, Client: in.Client, Lock: in.Lock.String(), URL: in.URLs[0], Options: options}
	if len(in.URLs) > 1 {
		p.URLs = in.URLs
	}
	return p
}

type params struct {
	Name    string `json:"name"`
	Slots   int    `json:"slots,omitzero"`
	Slot    int    `json:"slot,omitzero"`
	Timeout int64  `json:"timeout,omitzero"` // in milliseconds
	Limit   int    `json:"limit,omitzero"`
	TTL     int64  `json:"ttl,omitzero"` // in milliseconds
	Mode    string `json:"mode,omitzero"`
	Permits int    `json:"permits,omitzero"`
}

// extend is the protocol's name for the operation [lock.Refresh].
const extend = "extend"

// MethodOf returns the protocol's method for an operation.
func MethodOf(op lock.Op) string {
	if op == lock.Refresh {
		return extend
	}
	return op.String()
}

// operationOf returns the operation for a method, if there is one.
func operationOf(method string) (lock.Op, bool) {
	if method == extend {
		return lock.Refresh, true
	}
	op, ok := lock.OpNamed(method)
	return op, ok && op != lock.Connect && op != lock.NoOp && op != lock.Refresh
}

// ParamsOf returns the parameters of operation op in the form that is written as JSON. It omits parameters that the
// operation does not take.
func ParamsOf(op lock.Op, p foreign.Params) any {
	out := params{Name: p.Name}
	switch op {
	case lock.Acquire:
		out.Timeout, out.Limit, out.TTL = p.Timeout.Milliseconds(), p.Limit, p.Lease.Milliseconds()
		out.Mode, out.Permits = p.Mode.String(), p.Permits
	case lock.Create, lock.Add, lock.Remove:
		out.Slots = p.Slots
	case lock.Verify, lock.Release, lock.Wait:
		out.Slot = p.Slot
	case lock.Refresh:
		out.Slot, out.TTL = p.Slot, p.Lease.Milliseconds()
	}
	return out
}

// begun is the result of a call of initialize.
type begun struct {
	Name       string   `json:"name"`
	Locks      []string `json:"locks"`
	Operations []string `json:"operations"`
	Timeouts   bool     `json:"timeouts,omitzero"` // acquire may state how long to wait
	Several    bool     `json:"several,omitzero"`  // a client may hold several locks at once
	Tokens     bool     `json:"tokens,omitzero"`   // the grants of acquire have fencing tokens
	Limits     bool     `json:"limits,omitzero"`   // acquire states how many clients may hold the lock
	Leases     bool     `json:"leases,omitzero"`   // acquire states the duration of its lease
	Losses     bool     `json:"losses,omitzero"`   // the client reports the loss of locks in notifications
	Modes      bool     `json:"modes,omitzero"`    // acquire states whether it is for reading or writing
	Permits    bool     `json:"permits,omitzero"`  // acquire states how many permits it takes
	Forks      bool     `json:"forks,omitzero"`    // the program has the method [Fork]
}

// result is the result of an operation. All fields are absent for an operation that returns nothing.
type result struct {
	Held  *bool `json:"held,omitzero"`
	Slot  *int  `json:"slot,omitzero"`
	Slots *int  `json:"slots,omitzero"`
	Token int64 `json:"token,omitzero"` // only if initialize has answered "tokens":true
}

// Example is a call of the protocol with its possible results, as they are written. The protocol's reference
// documentation is generated from the examples.
type Example struct {
	Method  string
	Params  any
	Results []any
}

// Examples returns examples of initialize, of every operation, and of notifications, which have no result.
func Examples() []Example {
	p := foreign.Params{Name: "jobs", Slot: 1, Slots: 2}
	operations := []lock.Op{lock.Acquire, lock.Verify, lock.Refresh, lock.Release, lock.Create, lock.Add, lock.Remove, lock.Destroy, lock.Count, lock.Wait}
	p.Lease = 30 * time.Second
	about := begun{Name: "my-locks 0.3", Locks: []string{lock.Semaphore.String(), lock.Mutex.String()}, Timeouts: true, Tokens: true, Limits: true, Leases: true, Losses: true, Modes: true, Forks: true}
	all := []Example{{}}
	for _, op := range operations {
		about.Operations = append(about.Operations, MethodOf(op))
		if op != lock.Acquire {
			all = append(all, Example{MethodOf(op), ParamsOf(op, p), results(op, p)})
		} else { // for clients with "timeouts":true, "tokens":true, "limits":true and "leases":true
			plain := ParamsOf(op, foreign.Params{Name: p.Name})
			soon := ParamsOf(op, foreign.Params{Name: p.Name, Timeout: 250 * time.Millisecond})
			limited := ParamsOf(op, foreign.Params{Name: p.Name, Limit: 2})
			leased := ParamsOf(op, foreign.Params{Name: p.Name, Lease: p.Lease})
			all = append(all, Example{op.String(), plain, results(op, p)}, Example{op.String(), soon, results(op, p)}, Example{op.String(), plain, fenced(p)},
				Example{op.String(), limited, results(op, p)}, Example{op.String(), leased, results(op, p)})
		}
	}
	all[0] = Example{"initialize", initializing(foreign.Setup{Client: "c1", Lock: lock.Semaphore, URLs: []string{"amqp://…"}}, map[string]any{}), []any{about}}
	of := initializing(foreign.Setup{Client: "c1", Lock: lock.Mutex, URLs: []string{"redis://…1/0", "redis://…2/0"}}, map[string]any{})
	is := begun{Name: "my-locks 0.3", Locks: []string{lock.Mutex.String()}, Operations: about.Operations[:4], Leases: true}
	all = slices.Insert(all, 1, Example{"initialize", of, []any{is}}) // for a lock on several servers
	all = append(all, shared()...)
	return append(all, Example{Fork, forking{"/tmp/…"}, []any{result{}}}, Example{lost, losing{"jobs"}, nil}) // with "forks":true and "losses":true
}

// results returns the possible results of an operation.
func results(op lock.Op, p foreign.Params) []any {
	yes, no := true, false
	switch op {
	case lock.Acquire:
		return []any{result{Held: &yes, Slot: &p.Slot}, result{Held: &no}}
	case lock.Verify, lock.Refresh:
		return []any{result{Held: &yes}, result{Held: &no}}
	case lock.Count:
		return []any{result{Slots: &p.Slots}}
	}
	return []any{result{}}
}

// fenced returns the possible results of an acquire with fencing tokens.
func fenced(p foreign.Params) []any {
	all := results(lock.Acquire, p)
	granted := all[0].(result)
	granted.Token = 34
	all[0] = granted
	return all
}

// expected returns the possible results of an operation as text, with n for numbers.
func expected(op lock.Op) string {
	var words []string
	for _, r := range results(op, foreign.Params{}) {
		data, err := json.Marshal(r)
		if err != nil {
			panic(err) // impossible: all results can be encoded
		}
		words = append(words, strings.ReplaceAll(string(data), ":0", ":n"))
	}
	return strings.Join(words, " or ")
}

// decode decodes a line that a program has printed as an answer.
func decode(line []byte) (*Reply, error) {
	var r Reply
	if err := json.Unmarshal(line, &r); err != nil {
		var members map[string]jsontext.Value
		if json.Unmarshal(line, &members) == nil && members["error"] != nil {
			return nil, fmt.Errorf(`answered %s: expected an "error" of a code and a message, such as {"code":%d,"message":"all are taken"}`, quoted(string(line)), CodeFailed)
		}
		return nil, fmt.Errorf("printed %s to standard output: expected one JSON-RPC answer a line and nothing else (say other things to standard error)", quoted(string(line)))
	}
	switch {
	case r.Method != "" && (r.Method != lost || len(r.ID) > 0):
		return nil, fmt.Errorf(`sent a call or notification of its own, %s: expected answers only, or the notification "lost"`, quoted(string(line)))
	case r.JSONRPC != "2.0":
		return nil, fmt.Errorf(`answered %s: expected "jsonrpc":"2.0" in it`, quoted(string(line)))
	case r.Method != "":
	case len(r.Result) == 0 && r.Error == nil:
		return nil, fmt.Errorf(`answered %s: expected a "result" or an "error"`, quoted(string(line)))
	case len(r.Result) > 0 && r.Error != nil:
		return nil, fmt.Errorf(`answered %s: expected either a "result" or an "error"`, quoted(string(line)))
	}
	return &r, nil
}

// aboutOf decodes the result of a call of initialize.
func aboutOf(result jsontext.Value) (foreign.About, error) {
	var in begun
	if err := json.Unmarshal(result, &in); err != nil {
		return foreign.About{}, wrong(result, `{"name":"my-locks 0.3","locks":["semaphore"],"operations":["acquire","verify","release"]}`)
	}
	about := foreign.About{Name: in.Name, Waits: in.Timeouts, Several: in.Several, Tokens: in.Tokens, Limits: in.Limits, Leases: in.Leases, Losses: in.Losses, Modes: in.Modes, Permits: in.Permits}
	for _, l := range in.Locks {
		kind, err := lock.KindNamed(l)
		if err != nil {
			return about, fmt.Errorf(`names %s among its "locks": expected semaphore, mutex or persistent-mutex`, quoted(l))
		}
		about.Locks = append(about.Locks, kind)
	}
	for _, o := range in.Operations {
		op, ok := operationOf(o)
		if !ok {
			return about, fmt.Errorf(`names %s among its "operations": expected acquire, verify, extend, release, create, add, remove, destroy, count or wait`, quoted(o))
		}
		about.Operations = append(about.Operations, op)
	}
	switch {
	case about.Name == "":
		return about, errors.New(`has no "name": expected what it calls itself, with its version`)
	case len(about.Locks) == 0:
		return about, errors.New(`has no "locks": expected at least one of semaphore, mutex and persistent-mutex`)
	case len(about.Operations) == 0:
		return about, errors.New(`has no "operations": expected at least acquire and release`)
	case slices.Contains(about.Operations, lock.Refresh) && !about.Leases:
		return about, errors.New(`names extend among its "operations": expected "leases":true as well, as a lease is what is extended`)
	case about.Modes && !slices.Contains(about.Locks, lock.Mutex):
		return about, errors.New(`says "modes":true: expected a mutex among its "locks", to read and to write`)
	case about.Permits && !about.Slotless():
		return about, errors.New(`says "permits":true: expected "limits":true as well, and no create among its "operations"`)
	}
	return about, nil
}

// Outcome returns the outcome of an operation, decoded from its answer. It returns an error if the answer is invalid.
func Outcome(op lock.Op, p foreign.Params, r *Reply) (lock.Result, error) {
	switch {
	case r.Error != nil && r.Error.Code == CodeFailed:
		return lock.Result{Outcome: lock.Failed, Slot: uint8(p.Slot)}, nil
	case r.Error != nil:
		return lock.Result{Outcome: lock.Unknown, Slot: uint8(p.Slot)}, nil
	}
	return resultOf(op, p, r.Result)
}

// TokenOf returns the fencing token in the answer to an acquire of a client with tokens; 0 if nothing was granted. It
// returns an error if the answer is invalid.
func TokenOf(op lock.Op, r *Reply) (int64, error) {
	var in struct {
		Held  bool           `json:"held"`
		Token jsontext.Value `json:"token"`
	}
	if op != lock.Acquire || r.Error != nil || json.Unmarshal(r.Result, &in) != nil || !in.Held {
		return 0, nil
	}
	var token int64
	if err := json.Unmarshal(in.Token, &token); err != nil || token < 1 || token > history.MaxToken {
		return 0, wrong(r.Result, fmt.Sprintf(`a "token" from 1 to %d beside "held":true, as the answer to initialize says "tokens":true`, int64(history.MaxToken)))
	}
	return token, nil
}

// resultOf decodes the result of an operation whose answer is not an error.
func resultOf(op lock.Op, p foreign.Params, said jsontext.Value) (lock.Result, error) {
	out := lock.Result{Outcome: lock.Done}
	var in result
	err := json.Unmarshal(said, &in)
	switch op {
	case lock.Acquire:
		if err != nil || in.Held == nil || *in.Held && (in.Slot == nil || *in.Slot < 1 || *in.Slot > lock.MaxSlots) {
			return out, wrong(said, fmt.Sprintf("%s, with n from 1 to %d", expected(op), lock.MaxSlots))
		}
		if out.Held = *in.Held; out.Held {
			out.Slot = uint8(*in.Slot)
		}
	case lock.Verify, lock.Refresh:
		if err != nil || in.Held == nil {
			return out, wrong(said, expected(op))
		}
		out.Held, out.Slot = *in.Held, uint8(p.Slot)
	case lock.Count:
		if err != nil || in.Slots == nil || *in.Slots < 0 || *in.Slots > lock.MaxSlots {
			return out, wrong(said, fmt.Sprintf("%s, with n from 0 to %d", expected(op), lock.MaxSlots))
		}
		out.Slots = uint8(*in.Slots)
	default:
		if err != nil {
			return out, wrong(said, expected(op))
		}
		out.Slot = uint8(p.Slot)
	}
	return out, nil
}

func wrong(result jsontext.Value, expected string) error {
	return fmt.Errorf("answered with the result %s: expected %s", quoted(string(result)), expected)
}

// quotable is the maximum number of bytes that an error quotes of a program's text.
const quotable = 120

// quoted returns a program's text quoted, in one line, and shortened if it is long.
func quoted(s string) string {
	if len(s) > quotable {
		return fmt.Sprintf("%q… (%d bytes)", s[:quotable], len(s))
	}
	return fmt.Sprintf("%q", s)
}
