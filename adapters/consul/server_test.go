package consul

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/lockproof/lockproof/internal/containertest"
)

// agent is the server that a test sends requests to: the simulated one, or a real agent.
type agent struct {
	t    *testing.T
	url  string
	mark string
}

// agents runs a test on the simulated server and, if there is one, on a real agent.
func agents(t *testing.T, test func(*testing.T, *agent)) {
	t.Run("simulated", func(t *testing.T) {
		server := httptest.NewServer(new(Server))
		defer server.Close()
		test(t, &agent{t, server.URL, "lockproof-test"})
	})
	t.Run("real", func(t *testing.T) {
		a := &agent{t, realURL(t), fmt.Sprintf("lockproof-test-%d", time.Now().UnixNano())}
		defer a.ask("DELETE", "/v1/kv/"+a.mark+"?recurse", "")
		test(t, a)
	})
}

// realURL returns the URL of a real agent: the one that CONSUL_HTTP_ADDR names, otherwise one in a container. If
// there is neither, the test is skipped.
func realURL(t *testing.T) string {
	t.Helper()
	addr := os.Getenv(EnvAddress)
	if addr == "" {
		url, err := containertest.URL("consul", led)
		if err != nil {
			t.Skip(ErrNoAgent, "; ", err)
		}
		return url
	}
	if !strings.Contains(addr, "://") {
		addr = "http://" + addr
	}
	return addr
}

// led returns nil if the agent at url has a leader, so that it can be used. It is a [container.Ready].
func led(ctx context.Context, url string) error {
	a, err := Find(ctx, url)
	if err != nil {
		return err
	}
	return a.Led(ctx)
}

// TestLed: an agent that has just started has no leader, and Led returns an error.
func TestLed(t *testing.T) {
	for leader, ready := range map[string]bool{`""`: false, `"127.0.0.1:8300"`: true} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/v1/status/leader" {
				fmt.Fprintln(w, leader)
				return
			}
			fmt.Fprintln(w, `{"Config":{"Version":"1.20.6"}}`)
		}))
		defer server.Close()
		if err := led(t.Context(), server.URL); (err == nil) != ready {
			t.Errorf("the leader is %s: %v", leader, err)
		}
	}
}

// ask sends a request and returns the status and the body of the answer.
func (a *agent) ask(method, path, body string) (int, string) {
	a.t.Helper()
	req, err := http.NewRequest(method, a.url+path, strings.NewReader(body))
	if err != nil {
		a.t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		a.t.Fatal(err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		a.t.Fatal(err)
	}
	return res.StatusCode, strings.TrimSpace(string(data))
}

func (a *agent) key(name string) string { return "/v1/kv/" + a.mark + "/" + name }

func (a *agent) session(body string) string {
	a.t.Helper()
	status, answer := a.ask("PUT", "/v1/session/create", body)
	var x struct{ ID string }
	if err := json.Unmarshal([]byte(answer), &x); status != 200 || err != nil || x.ID == "" {
		a.t.Fatalf("session/create %s: %d %s", body, status, answer)
	}
	return x.ID
}

func (a *agent) want(method, path, body string, status int, answer string) {
	a.t.Helper()
	if s, got := a.ask(method, path, body); s != status || !strings.Contains(got, answer) {
		a.t.Errorf("%s %s: %d %s, want %d %s", method, path, s, got, status, answer)
	}
}

// TestFacts checks those facts about Consul (FACTS K1 to K9) that need no wait of seconds.
func TestFacts(t *testing.T) {
	agents(t, func(t *testing.T, a *agent) {
		a.t = t
		if status, answer := a.ask("PUT", "/v1/session/create", `{"TTL":"5s"}`); status == 200 {
			t.Errorf("K1: a TTL of 5 s is accepted: %s", answer)
		}
		first, second := a.session(`{"TTL":"10s"}`), a.session(`{"LockDelay":"0s","Behavior":"delete"}`)
		a.want("PUT", a.key("lock")+"?acquire="+first, "", 200, "true")
		a.want("PUT", a.key("lock")+"?acquire="+second, "", 200, "false")
		a.want("PUT", "/v1/session/destroy/"+first, "", 200, "true")
		a.want("PUT", a.key("lock")+"?acquire="+second, "", 200, "false") // K3: the lock-delay has not elapsed
		a.want("PUT", "/v1/session/renew/"+first, "", 404, "")            // K2: the session no longer exists
		a.want("PUT", a.key("own")+"?acquire="+second, "x", 200, "true")
		a.want("PUT", a.key("own"), "y", 200, "true")                 // K9: keys can be written without the lock
		a.want("PUT", "/v1/session/destroy/"+second, "", 200, "true") // K5: this deletes the key as well
		a.want("GET", a.key("own"), "", 404, "")
		a.want("PUT", a.key("list")+"?cas=0", "a", 200, "true") // K6: cas=0 writes the key only if it does not exist
		a.want("PUT", a.key("list")+"?cas=0", "b", 200, "false")
		a.want("DELETE", a.key("list"), "", 200, "true")
		a.want("PUT", a.key("list")+"?cas=0", "b", 200, "true")
		// K8: no session has this ID.
		a.want("PUT", a.key("list")+"?acquire=00000000-0000-0000-0000-000000000000", "", 500, "invalid session")
	})
}

// A blocking query is answered when something under its prefix changes.
func TestBlockingQuery(t *testing.T) {
	agents(t, func(t *testing.T, a *agent) {
		a.t = t
		a.want("PUT", a.key("x"), "1", 200, "true")
		res, err := http.Get(a.url + a.key("x"))
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		index := res.Header.Get("X-Consul-Index")
		answered := make(chan string)
		go func() {
			res, err := http.Get(a.url + "/v1/kv/" + a.mark + "?recurse&wait=5m&index=" + index)
			if err != nil {
				answered <- err.Error()
				return
			}
			defer res.Body.Close()
			body, _ := io.ReadAll(res.Body)
			answered <- string(body)
		}()
		a.want("PUT", a.key("y"), "2", 200, "true")
		if body := <-answered; !strings.Contains(body, a.mark+"/y") {
			t.Errorf("the query was answered %s", body)
		}
	})
}

// FuzzServer: every request gets an answer, and the server goes on.
func FuzzServer(f *testing.F) {
	f.Add("PUT", "/v1/session/create", `{"TTL":"10s","LockDelay":15000000000}`)
	f.Add("PUT", "/v1/kv/a/b?cas=0&flags=3", "x")
	f.Add("GET", "/v1/kv/?recurse&index=7&wait=1ms", "")
	f.Add("DELETE", "/v1/kv/a?cas=4", "")
	server := new(Server)
	f.Fuzz(func(t *testing.T, method, path, body string) {
		req, err := http.NewRequest(method, "http://consul/"+strings.TrimPrefix(path, "/"), strings.NewReader(body))
		if err != nil {
			t.Skip()
		}
		if q := req.URL.Query(); q.Has("index") {
			q.Set("wait", "1ms")
			req.URL.RawQuery = q.Encode()
		}
		answer := httptest.NewRecorder()
		server.ServeHTTP(answer, req)
		if answer.Code < 200 || answer.Code > 599 {
			t.Errorf("%s %s: status %d", method, path, answer.Code)
		}
	})
}

// TestRefused: the server refuses requests that it does not simulate, and its error names the unsupported part. It
// never answers 404, which means that a key is missing.
func TestRefused(t *testing.T) {
	server := httptest.NewServer(&Server{})
	defer server.Close()
	a := &agent{t: t, url: server.URL, mark: "refused"}
	for _, c := range [][3]string{
		{"GET", a.key("x") + "?raw", "parameter raw"},
		{"GET", a.key("") + "?keys&separator=/", "parameter keys"},
		{"GET", a.key("x") + "?dc=elsewhere", "parameter dc"},
		{"PUT", a.key("x") + "?ns=team", "parameter ns"},
		{"PUT", "/v1/session/create?acquire=x", "parameter acquire"},
		{"DELETE", a.key("x") + "?partition=p", "parameter partition"},
		{"GET", "/v1/session/list", "/v1/session/list"},
		{"GET", "/v1/session/node/here", "/v1/session/node/here"},
		{"PUT", "/v1/txn", "/v1/txn"},
	} {
		a.want(c[0], c[1], "", http.StatusNotImplemented, c[2])
	}
	a.want("PUT", "/v1/session/create", `{"NodeChecks":["mine"]}`, http.StatusNotImplemented, `"mine"`)
	a.want("PUT", "/v1/session/create", `{"Node":"elsewhere"}`, http.StatusBadRequest, "Node")
	a.want("PUT", a.key("x")+"?flags=1", "v", http.StatusOK, "true")
	a.want("GET", a.key("x")+"?consistent", "", http.StatusOK, `"Flags":1`)
}
