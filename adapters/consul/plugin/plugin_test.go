package plugin_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/lockproof/lockproof/adapters/consul/plugin"
	"github.com/lockproof/lockproof/adapters/gate"
	"github.com/lockproof/lockproof/adapters/inprocess"
	"github.com/lockproof/lockproof/internal/gatetest"
	"github.com/lockproof/lockproof/model/property"
)

// server configures the simulated Consul for the tests.
var server = gatetest.Server{Open: func() (gate.Server, error) { return plugin.Open(1) }, Executions: 150}

// design is a way to implement a mutex on Consul, with or without a bug.
type design struct {
	name    string
	claim   func(ctx context.Context, m *mutex, key string) (bool, error)
	release func(ctx context.Context, m *mutex, key string) error
	wrong   property.Set // properties that it violates; empty for a correct mutex
}

// mutex is a key that is held by a session, as in the guide to sessions of Consul's documentation.
type mutex struct {
	http.Client
	url     string
	design  *design
	session string
}

// do sends a request. It decodes the JSON of the answer into the variable to which the pointer into points.
func (m *mutex) do(ctx context.Context, method, path string, body, into any) (status int, err error) {
	data, err := json.Marshal(body)
	if err != nil {
		return 0, err
	}
	r, err := http.NewRequestWithContext(ctx, method, m.url+"/v1/"+path, bytes.NewReader(data))
	if err != nil {
		return 0, err
	}
	a, err := m.Do(r)
	if err != nil {
		return 0, err
	}
	defer a.Body.Close()
	if data, err = io.ReadAll(a.Body); err != nil {
		return 0, err
	}
	if a.StatusCode >= http.StatusInternalServerError {
		return a.StatusCode, fmt.Errorf("%s: %s", a.Status, data)
	}
	if a.StatusCode != http.StatusOK {
		return a.StatusCode, nil
	}
	return a.StatusCode, json.Unmarshal(data, into)
}

// leastTTL is the minimum TTL of a session.
const leastTTL = 10 * time.Second

// AcquireFor creates a session with the given lease, and lets it acquire the key. The server ends the session at the
// latest after twice its TTL. If the key is taken, AcquireFor ends the session.
func (m *mutex) AcquireFor(ctx context.Context, name string, lease time.Duration) (int, error) {
	var made struct{ ID string }
	asked := map[string]string{"TTL": max(leastTTL, lease/2).String(), "LockDelay": "1ms", "Behavior": "delete"}
	if _, err := m.do(ctx, http.MethodPut, "session/create", asked, &made); err != nil {
		return 0, err
	}
	m.session = made.ID
	held, err := m.design.claim(ctx, m, name)
	if err != nil {
		return 0, err
	}
	if !held {
		return 0, m.end(ctx)
	}
	return 1, nil
}

func (m *mutex) Acquire(ctx context.Context, name string) (int, error) {
	return m.AcquireFor(ctx, name, time.Minute)
}

func (m *mutex) Verify(ctx context.Context, name string, _ int) (bool, error) {
	holder, err := m.holder(ctx, name)
	return err == nil && holder == m.session, err
}

func (m *mutex) Release(ctx context.Context, name string, _ int) error {
	if err := m.design.release(ctx, m, name); err != nil {
		return err
	}
	return m.end(ctx)
}

func (m *mutex) Close() error {
	m.CloseIdleConnections()
	return nil
}

// holder returns the ID of the session that holds a key; "" if none does.
func (m *mutex) holder(ctx context.Context, key string) (string, error) {
	var keys []struct{ Session string }
	if _, err := m.do(ctx, http.MethodGet, "kv/"+url.PathEscape(key), nil, &keys); err != nil || len(keys) == 0 {
		return "", err
	}
	return keys[0].Session, nil
}

// put writes a key, with a query parameter such as acquire=ID.
func (m *mutex) put(ctx context.Context, key, parameter string) (done bool, err error) {
	_, err = m.do(ctx, http.MethodPut, "kv/"+url.PathEscape(key)+"?"+parameter+m.session, "x", &done)
	return done, err
}

// end destroys the session on the server.
func (m *mutex) end(ctx context.Context) error {
	var done bool
	_, err := m.do(ctx, http.MethodPut, "session/destroy/"+m.session, nil, &done)
	return err
}

func acquire(ctx context.Context, m *mutex, key string) (bool, error) {
	return m.put(ctx, key, "acquire=")
}

func release(ctx context.Context, m *mutex, key string) error {
	_, err := m.put(ctx, key, "release=")
	return err
}

// anyone is a release with a bug: it deletes the key, whoever holds it.
func anyone(ctx context.Context, m *mutex, key string) error {
	var done bool
	_, err := m.do(ctx, http.MethodDelete, "kv/"+url.PathEscape(key), nil, &done)
	return err
}

// looksFirst is an acquire with a bug: it reads whether the key is free, and then sends a request to acquire the key.
// It believes that it holds the key even if this request is refused.
func looksFirst(ctx context.Context, m *mutex, key string) (bool, error) {
	if holder, err := m.holder(ctx, key); err != nil || holder != "" {
		return false, err
	}
	_, err := acquire(ctx, m, key)
	return err == nil, err
}

var designs = []design{
	{name: "right", claim: acquire, release: release},
	{name: "deletes anybody's", claim: acquire, release: anyone, wrong: property.Set(0).With(property.MutualExclusion)},
	{name: "looks first", claim: looksFirst, release: release, wrong: property.Set(0).With(property.MutualExclusion)},
}

// TestDesigns: a mutex with a bug violates exactly the expected property, and the correct one violates none.
func TestDesigns(t *testing.T) {
	for i := range designs {
		d := &designs[i]
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			server.Judge(t, inprocess.Starter{Name: d.name, New: func(_ context.Context, url string) (inprocess.Lock, error) {
				return &mutex{url: url, design: d}, nil
			}}, d.wrong)
		})
	}
}

// TestBlocks: a blocking query waits at the server until another client changes the key, or until its time is up.
func TestBlocks(t *testing.T) {
	s := server.Start(t)
	m := &mutex{url: gatetest.URL(t, s)}
	var done bool
	if _, err := m.do(t.Context(), http.MethodPut, "kv/jobs", "x", &done); err != nil || !done {
		t.Fatal(done, err)
	}
	for what, news := range map[string]func(){
		"another key": nil,
		"time":        func() { s.Advance(1000) },
		"a change":    func() { _, _ = m.do(t.Context(), http.MethodPut, "kv/jobs", time.Now().String(), &done) },
	} {
		answered := make(chan error, 1)
		waiter := &mutex{url: m.url}
		go func() {
			var keys []struct{ Key string }
			_, err := waiter.do(t.Context(), http.MethodGet, "kv/jobs?wait=1s&index=999", nil, &keys)
			answered <- err
		}()
		select {
		case err := <-answered:
			t.Fatalf("%s: it does not wait: %v", what, err)
		case <-time.After(50 * time.Millisecond):
		}
		s.Advance(500)
		if news == nil {
			news = func() {
				_, _ = m.do(t.Context(), http.MethodPut, "kv/other", "x", &done)
				s.Advance(600)
			}
		}
		news()
		s.Advance(600)
		if err := <-answered; err != nil {
			t.Errorf("%s: %v", what, err)
		}
		waiter.CloseIdleConnections()
	}
	m.CloseIdleConnections()
}
