package consul

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/adapters/stress"
	"github.com/lockproof/lockproof/internal/replaytest"
	"github.com/lockproof/lockproof/model/consul"
	"github.com/lockproof/lockproof/model/lock"
	_ "github.com/lockproof/lockproof/sim/consul"
)

// served starts a simulated server behind Go's HTTP multiplexer, which cleans paths as Consul does.
func served(t *testing.T) *agent {
	t.Helper()
	mux := http.NewServeMux()
	mux.Handle("/v1/", new(Server))
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return &agent{t, server.URL, ""}
}

// TestForeignKeys: a replay does not change keys and sessions that it has not created, whatever the name of the lock
// in its file.
func TestForeignKeys(t *testing.T) {
	for _, name := range []string{"jobs", "../../victim", "../victim", "./x", "x//y", ".."} {
		a := served(t)
		session := a.session(`{"TTL":"1h"}`)
		keys := []string{"victim", "victim/c1-1", "service/jobs/.lock", "service/victim", "service/jobs/c1-1", "lockproof-mine/x", "lockproof.mine/x"}
		for _, k := range keys {
			a.want("PUT", "/v1/kv/"+k+"?acquire="+session, "theirs", 200, "true")
		}
		tr, _ := replaytest.Trace(t, lock.TargetNamed("consul-blind-put"))
		was := tr.Scenario.Locks[0].Name
		tr.Scenario.Locks[0].Name = name
		for i := range tr.Steps {
			if sent, ok := tr.Steps[i].Payload.(consul.Sent); ok {
				sent.Request.Key = strings.Replace(sent.Request.Key, "service/"+was, "service/"+name, 1)
				tr.Steps[i].Payload = sent
			}
		}
		_, err := clientOf(t, a).Replay(t.Context(), tr)
		if (err == nil) != (name == "jobs") {
			t.Errorf("lock %q: %v", name, err)
		}
		for _, k := range keys {
			a.want("GET", "/v1/kv/"+k+"", "", 200, session)
		}
	}
}

// TestForeignSession: a replay does not destroy a session that it has not created.
func TestForeignSession(t *testing.T) {
	a := served(t)
	session := a.session(`{"TTL":"1h"}`)
	tr, _ := replaytest.Trace(t, lock.TargetNamed("consul-blind-put"))
	sent := consul.Sent{Request: consul.Request{Method: consul.DestroySession, Session: consul.Session{ID: session}}, Reply: consul.Reply{Status: 200, OK: true}}
	tr.Steps[0].Payload = sent
	if _, err := clientOf(t, a).Replay(t.Context(), tr); err == nil || !strings.Contains(err.Error(), session) {
		t.Errorf("a foreign session is destroyed: %v", err)
	}
	a.want("GET", "/v1/session/info/"+session, "", 200, session)
}

// TestSpaces: a run deletes the keys of dead runs. It does not delete keys of live runs, keys without a mark, and
// keys that another program writes.
func TestSpaces(t *testing.T) {
	a := served(t)
	real := clientOf(t, a)
	dead, err := real.space(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	alive, err := real.space(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{dead.mark + "jobs", alive.mark + "jobs", "lockproof.mine/x"} {
		a.want("PUT", "/v1/kv/"+key, "x", 200, "true")
	}
	stranger, _ := stress.Proof() // no key contains the secret of this mark
	for key, value := range map[string]string{stranger + "/x": "theirs", stranger + "/proof": dead.secret, stress.Prefix() + "/y": "theirs"} {
		a.want("PUT", "/v1/kv/"+key, value, 200, "true")
		defer a.want("GET", "/v1/kv/"+key, "", 200, "")
	}
	a.want("PUT", "/v1/session/destroy/"+dead.session, "", 200, "true") // as if the session's TTL were over
	next, err := real.space(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	a.want("GET", "/v1/kv/"+dead.mark+"?recurse", "", 404, "")
	a.want("GET", "/v1/kv/"+alive.mark+"jobs", "", 200, "")
	a.want("GET", "/v1/kv/lockproof.mine/x", "", 200, "")
	if err := alive.end(); err == nil || !strings.Contains(err.Error(), alive.mark+"jobs") {
		t.Errorf("a key that somebody else wrote: %v", err)
	}
	a.want("GET", "/v1/kv/"+alive.mark+"jobs", "", 200, "")
	if err := next.end(); err != nil {
		t.Error(err)
	}
	a.want("GET", "/v1/kv/"+stress.Lock, "", 404, "")
}
