package consul

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/lockproof/lockproof/adapters/bound"
	"github.com/lockproof/lockproof/histories/infile"
	"github.com/lockproof/lockproof/model/consul"
)

// EnvAddress names the environment variable with the address of a Consul agent: host:port, or a URL. Consul's own
// clients use the same variable.
const EnvAddress = "CONSUL_HTTP_ADDR"

// ErrNoAgent is wrapped by the error of [Find] if no agent is named.
var ErrNoAgent = errors.New("no Consul agent is named: start one with consul agent -dev, and set " + EnvAddress + " to its address, such as 127.0.0.1:8500")

// answerLimit is the maximum time for an agent to answer a request that is not a blocking query.
const answerLimit = 10 * time.Second

// maxAnswer is the maximum size of an answer in bytes: some dozens of the largest values.
const maxAnswer = 32 << 20

// granted are the limits on what an agent may send.
var granted = bound.Limits{Connect: answerLimit, Most: 64 << 20}

// Agent is a Consul agent, real or simulated, to which requests are sent over HTTP.
type Agent struct {
	Version string // name and version of the agent, such as "Consul 1.20.6"
	url     string
	client  *http.Client
}

// Find connects to the agent at an address. If the address is empty, it is the one in the environment variable
// CONSUL_HTTP_ADDR.
func Find(ctx context.Context, address string) (*Agent, error) {
	if address == "" {
		address = os.Getenv(EnvAddress)
	}
	if address == "" {
		return nil, ErrNoAgent
	}
	a, err := newAgent(address, granted.Dial)
	if err != nil {
		return nil, err
	}
	var self struct{ Config struct{ Version string } }
	status, body, err := a.ask(ctx, http.MethodGet, "/v1/agent/self", "")
	if err == nil && status.code != http.StatusOK {
		err = fmt.Errorf("status %d: %s", status.code, body)
	}
	if err == nil {
		err = json.Unmarshal(body, &self)
	}
	if err != nil {
		return nil, fmt.Errorf("asking the Consul agent at %s for its version: %w; start one there, or set %s to another", a.url, err, EnvAddress)
	}
	a.Version = "Consul " + self.Config.Version
	return a, nil
}

// Led returns nil if the agent knows a leader. Without a leader, for example just after the start, nothing can be written.
func (a *Agent) Led(ctx context.Context) error {
	status, body, err := a.ask(ctx, http.MethodGet, "/v1/status/leader", "")
	if err == nil && (status.code != http.StatusOK || string(body) == `""`) {
		err = fmt.Errorf("the Consul agent at %s knows no leader (status %d: %s); wait until its servers have one", a.url, status.code, body)
	}
	return err
}

// newAgent returns an agent that is not contacted yet. dial opens the connections to it.
func newAgent(address string, dial func(context.Context, string, string) (net.Conn, error)) (*Agent, error) {
	switch scheme, rest, ok := strings.Cut(address, "://"); {
	case !ok:
		address = "http://" + address
	case scheme == "consul":
		address = "http://" + rest
	}
	if u, err := url.Parse(address); err != nil || u.Host == "" {
		return nil, fmt.Errorf("the Consul agent's address %q: expected one such as 127.0.0.1:8500 or http://127.0.0.1:8500", address)
	}
	t := &http.Transport{DialContext: dial, MaxConnsPerHost: 1, DisableCompression: true}
	return &Agent{url: strings.TrimSuffix(address, "/"), client: &http.Client{Transport: t, CheckRedirect: stay}}, nil
}

// stay makes the HTTP client not follow redirections, since they lead to another key than the requested one.
func stay(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// answer is the status and the headers of an answer.
type answer struct {
	code  int
	index uint64
}

func (a *Agent) ask(ctx context.Context, method, path, body string) (answer, []byte, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, answerLimit, fmt.Errorf("%s did not answer within %v: %w", a.url, answerLimit, bound.ErrServer))
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, a.url+path, strings.NewReader(body))
	if err != nil {
		return answer{}, nil, err
	}
	if token := os.Getenv("CONSUL_HTTP_TOKEN"); token != "" {
		req.Header.Set("X-Consul-Token", token)
	}
	res, err := a.client.Do(req)
	if err != nil {
		return answer{}, nil, late(ctx, err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
	if err == nil && len(data) > maxAnswer {
		err = fmt.Errorf("%s sent more than %s in answer to one request: %w", a.url, infile.Size(maxAnswer), bound.ErrServer)
	}
	err = late(ctx, err)
	index, _ := strconv.ParseUint(res.Header.Get("X-Consul-Index"), 10, 64) // 0 if the header is missing
	return answer{res.StatusCode, index}, bytes.TrimSpace(data), err
}

// late returns err. If err only says that the context's deadline has passed, and the server exceeded a limit, late
// returns the error that says so.
func late(ctx context.Context, err error) error {
	if errors.Is(err, context.DeadlineExceeded) && errors.Is(context.Cause(ctx), bound.ErrServer) {
		return context.Cause(ctx)
	}
	return err
}

// Do sends a request that is not a blocking query. If the request creates a session, Do stores the session's ID in r.
func (a *Agent) Do(ctx context.Context, r *consul.Request) (reply consul.Reply, err error) {
	method, path, body := written(r)
	head, data, err := a.ask(ctx, method, path, body)
	if err == nil {
		reply, err = replyOf(r, head, data)
	}
	if err != nil {
		return reply, fmt.Errorf("%s: %w", r.Words(), err)
	}
	return reply, nil
}

// written returns the HTTP method, the path and the body of a request.
func written(r *consul.Request) (method, path, body string) {
	switch r.Method {
	case consul.CreateSession:
		asked := map[string]string{"Name": "lockproof", "Behavior": "release", "LockDelay": (time.Duration(r.Session.Delay) * time.Millisecond).String()}
		if r.Session.Deletes {
			asked["Behavior"] = "delete"
		}
		if r.Session.TTL > 0 {
			asked["TTL"] = (time.Duration(r.Session.TTL) * time.Millisecond).String()
		}
		data, err := json.Marshal(asked)
		if err != nil {
			panic(err) // impossible: only strings are encoded
		}
		return http.MethodPut, "/v1/session/create", string(data)
	case consul.RenewSession:
		return http.MethodPut, "/v1/session/renew/" + url.PathEscape(r.Session.ID), ""
	case consul.DestroySession:
		return http.MethodPut, "/v1/session/destroy/" + url.PathEscape(r.Session.ID), ""
	}
	q := make(url.Values)
	set := func(name, value string, ok bool) {
		if ok {
			q.Set(name, value)
		}
	}
	set("recurse", "", r.Recurse)
	set("cas", strconv.FormatUint(r.Index, 10), r.Checked)
	set("acquire", r.Acquire, r.Acquire != "")
	set("release", r.Release, r.Release != "")
	set("flags", strconv.FormatUint(r.Flags, 10), r.Flags > 0)
	method = map[consul.Method]string{consul.Get: http.MethodGet, consul.Put: http.MethodPut, consul.Delete: http.MethodDelete}[r.Method]
	return method, "/v1/kv/" + (&url.URL{Path: r.Key}).EscapedPath() + "?" + q.Encode(), r.Value
}

// replyOf decodes an HTTP answer to a request of the model.
func replyOf(r *consul.Request, head answer, data []byte) (reply consul.Reply, err error) {
	reply.Status, reply.Index = head.code, head.index
	switch {
	case head.code == http.StatusNotFound, head.code == http.StatusInternalServerError && bytes.Contains(data, []byte("invalid session")):
		return reply, nil
	case head.code != http.StatusOK:
		return reply, fmt.Errorf("status %d: %s", head.code, data)
	}
	switch r.Method {
	case consul.CreateSession:
		var x struct{ ID string }
		err = json.Unmarshal(data, &x)
		r.Session.ID, reply.OK = x.ID, true
	case consul.Get:
		var all []entry
		err = json.Unmarshal(data, &all)
		for _, e := range all {
			reply.Entries = append(reply.Entries, consul.Entry{
				Key: e.Key, Value: string(e.Value), Flags: e.Flags, Session: e.Session, Created: e.CreateIndex, Modified: e.ModifyIndex, Locks: e.LockIndex,
			})
		}
	case consul.Put, consul.Delete:
		reply.OK = string(data) == "true"
	default:
		reply.OK = true
	}
	return reply, err
}
