package consul

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/lockproof/lockproof/model/consul"
	"github.com/lockproof/lockproof/sim/consul/server"
)

// Limits and default values for requests.
const (
	maxBody    = 512 << 10 // maximum size of a value in bytes, as in Consul
	maxWait    = 10 * time.Minute
	defaultTTL = 10 * time.Second // the minimum TTL of a session (FACTS K1)
	maxTTL     = 24 * time.Hour
	lockDelay  = 15 * time.Second // default lock-delay of a session (FACTS K3)
)

// Server simulates a Consul with one server, as an [http.Handler]. Its zero value is empty, and uses the machine's clock.
type Server struct {
	still bool // time is virtual: it passes only by Advance

	mu      sync.Mutex
	store   server.Server
	begun   bool
	passed  time.Time                // time up to which the store has advanced
	changed chan struct{}            // closed, and replaced by a new channel, when the store may have changed
	waiting map[string]chan struct{} // by client: the value of changed when its blocking query last found no change
}

// ServeHTTP implements [http.Handler].
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path, known := strings.CutPrefix(r.URL.Path, "/v1/")
	if name, any := unknown(r); any {
		http.Error(w, r.Method+" "+r.URL.Path+": parameter "+name+" is not simulated", http.StatusNotImplemented)
		return
	}
	switch kind, rest, _ := strings.Cut(path, "/"); {
	case known && kind == "session":
		s.session(w, r, rest)
	case known && kind == "kv":
		s.keys(w, r, rest)
	default:
		http.Error(w, r.URL.Path+" is not simulated: expected /v1/session or /v1/kv", http.StatusNotImplemented)
	}
}

// parameters are the supported query parameters of requests for keys, by method. As there is only one server, all
// consistency modes have the same effect.
var parameters = map[string][]string{
	http.MethodGet:    {"recurse", "index", "wait", "consistent", "stale"},
	http.MethodPut:    {"acquire", "release", "cas", "flags"},
	http.MethodDelete: {"recurse", "cas"},
}

// unknown returns the first unsupported query parameter of a request, if there is one.
func unknown(r *http.Request) (name string, any bool) {
	of, method := parameters[r.Method]
	if strings.HasPrefix(r.URL.Path, "/v1/session/") {
		of = []string{"consistent", "stale"}
	}
	for _, name := range slices.Sorted(maps.Keys(r.URL.Query())) {
		if method && !slices.Contains(of, name) {
			return name, true
		}
	}
	return "", false
}

// do carries out a request from a client address at the present time. again is closed when the store may have
// changed.
func (s *Server) do(from string, r *consul.Request) (reply consul.Reply, again <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pass()
	reply = s.store.Apply(r)
	if r.Method != consul.Get {
		s.tell()
	}
	if delete(s.waiting, from); reply.Waits {
		s.waiting[from] = s.changed
	}
	return reply, s.changed
}

// pass advances the store's time to the present.
func (s *Server) pass() {
	now := s.passed
	if !s.still || !s.begun {
		now = time.Now()
	}
	if !s.begun {
		s.begun, s.passed, s.changed, s.waiting = true, now, make(chan struct{}), make(map[string]chan struct{})
		s.store.Reset()
	}
	ms := now.Sub(s.passed).Milliseconds()
	s.passed = s.passed.Add(time.Duration(ms) * time.Millisecond)
	if len(s.store.Advance(ms, nil)) > 0 {
		s.tell()
	}
}

func (s *Server) tell() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// now returns the present time, by the machine's clock or the virtual one.
func (s *Server) now() time.Time {
	if !s.still {
		return time.Now()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.passed
}

// await waits until the store may have changed, or until the given time. It returns false if the client has
// disconnected.
func (s *Server) await(r *http.Request, again <-chan struct{}, until time.Time) bool {
	var due <-chan time.Time // nil if time is virtual: then Advance closes the channel again
	if !s.still {
		pause := time.NewTimer(min(time.Until(until), s.nextEnd()))
		defer pause.Stop()
		due = pause.C
	}
	select {
	case <-again:
	case <-due:
	case <-r.Context().Done():
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.waiting, r.RemoteAddr)
		return false
	}
	return true
}

// nextEnd returns the time until the first session ends because its TTL is over.
func (s *Server) nextEnd() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if ms, any := s.store.NextEnd(); any {
		return time.Duration(ms) * time.Millisecond
	}
	return maxWait
}

// session answers requests under /v1/session.
func (s *Server) session(w http.ResponseWriter, r *http.Request, rest string) {
	verb, id, _ := strings.Cut(rest, "/")
	switch {
	case r.Method == http.MethodPut && verb == "create":
		x, status, err := readSession(r.Body)
		if err != nil {
			http.Error(w, err.Error(), status)
			return
		}
		s.do(r.RemoteAddr, &consul.Request{Method: consul.CreateSession, Session: x})
		write(w, map[string]string{"ID": x.ID})
	case r.Method == http.MethodPut && verb == "renew":
		reply, _ := s.do(r.RemoteAddr, &consul.Request{Method: consul.RenewSession, Session: consul.Session{ID: id}})
		if reply.Status != http.StatusOK {
			http.Error(w, "Session id '"+id+"' not found", reply.Status)
			return
		}
		write(w, s.info(id))
	case r.Method == http.MethodPut && verb == "destroy":
		s.do(r.RemoteAddr, &consul.Request{Method: consul.DestroySession, Session: consul.Session{ID: id}})
		write(w, true)
	case r.Method == http.MethodGet && verb == "info":
		write(w, s.info(id))
	default:
		http.Error(w, r.Method+" "+r.URL.Path+" is not simulated: expected create, renew, destroy or info of a session", http.StatusNotImplemented)
	}
}

// told is a session in the JSON form of an answer.
type told struct {
	ID        string
	Name      string `json:",omitempty"`
	Behavior  string
	TTL       string
	LockDelay int64 // in nanoseconds
}

// info returns a list that contains the session with the given ID, or an empty list.
func (s *Server) info(id string) []told {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pass()
	list := []told{}
	for _, x := range s.store.Sessions() {
		if x.ID == id {
			t := told{ID: id, Behavior: "release", LockDelay: x.Delay * int64(time.Millisecond)}
			if x.Deletes {
				t.Behavior = "delete"
			}
			if x.TTL > 0 {
				t.TTL = (time.Duration(x.TTL) * time.Millisecond).String()
			}
			list = append(list, t)
		}
	}
	return list
}

// readSession decodes a client's request to create a session. In case of an error, status is the HTTP status, as in
// Consul.
func readSession(body io.Reader) (x consul.Session, status int, err error) {
	var asked struct {
		TTL, Behavior, Name string
		LockDelay           any
		Checks, NodeChecks  []string
	}
	data, err := io.ReadAll(io.LimitReader(body, maxBody))
	if err == nil && len(data) > 0 {
		in := json.NewDecoder(bytes.NewReader(data))
		in.DisallowUnknownFields()
		err = in.Decode(&asked)
	}
	for _, check := range slices.Concat(asked.Checks, asked.NodeChecks) {
		if check != "serfHealth" {
			return x, http.StatusNotImplemented, fmt.Errorf("check %q of a session is not simulated: expected none, or serfHealth", check)
		}
	}
	if err == nil {
		x.Delay, err = lockDelayOf(asked.LockDelay)
	}
	if err != nil {
		return x, http.StatusBadRequest, fmt.Errorf("what a session is to be: %w", err)
	}
	x.ID, x.Deletes = newID(), asked.Behavior == "delete"
	if asked.Behavior != "" && asked.Behavior != "delete" && asked.Behavior != "release" {
		return x, http.StatusInternalServerError, fmt.Errorf("behavior %q: expected release or delete", asked.Behavior)
	}
	if asked.TTL != "" && asked.TTL != "0s" {
		ttl, err := time.ParseDuration(asked.TTL)
		if err != nil || ttl < defaultTTL || ttl > maxTTL {
			return x, http.StatusInternalServerError, fmt.Errorf("session TTL %q: expected %v to %v", asked.TTL, defaultTTL, maxTTL)
		}
		x.TTL = ttl.Milliseconds()
	}
	return x, http.StatusOK, nil
}

// lockDelayOf returns the lock-delay that a client asks for, in milliseconds. asked is a decoded JSON value.
func lockDelayOf(asked any) (int64, error) {
	delay := lockDelay
	switch d := asked.(type) {
	case string:
		var err error
		if delay, err = time.ParseDuration(d); err != nil {
			return 0, fmt.Errorf("LockDelay: %w", err)
		}
	case float64: // in nanoseconds or, if the number is below 1,000,000, in seconds
		if delay = time.Duration(d); delay < time.Millisecond {
			delay = time.Duration(d * float64(time.Second))
		}
	}
	return min(delay, time.Minute).Milliseconds(), nil
}

// newID returns a random UUID.
func newID() string {
	var b [16]byte
	rand.Read(b[:])
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// keys answers requests under /v1/kv.
func (s *Server) keys(w http.ResponseWriter, r *http.Request, key string) {
	req, wait, status, err := readKey(r, key)
	if err != nil {
		http.Error(w, err.Error(), status)
		return
	}
	reply, again := s.do(r.RemoteAddr, &req)
	for deadline := s.now().Add(wait); reply.Waits; reply, again = s.do(r.RemoteAddr, &req) {
		if !s.now().Before(deadline) {
			req.Index = 0
			continue
		}
		if !s.await(r, again, deadline) {
			return
		}
	}
	switch {
	case reply.Status == http.StatusInternalServerError:
		http.Error(w, "invalid session "+strconv.Quote(req.Acquire+req.Release), reply.Status)
	case req.Method != consul.Get:
		write(w, reply.OK)
	default:
		w.Header().Set("X-Consul-Index", strconv.FormatUint(reply.Index, 10))
		if reply.Status != http.StatusOK {
			w.WriteHeader(reply.Status)
			return
		}
		write(w, entries(reply.Entries))
	}
}

// readKey decodes an HTTP request about a key. wait is the maximum duration of a blocking query. In case of an error,
// status is the HTTP status, as in Consul.
func readKey(r *http.Request, key string) (req consul.Request, wait time.Duration, status int, err error) {
	q := r.URL.Query()
	req = consul.Request{Key: key, Recurse: q.Has("recurse"), Acquire: q.Get("acquire"), Release: q.Get("release"), Checked: q.Has("cas")}
	switch r.Method {
	case http.MethodGet:
		req.Method, req.Checked = consul.Get, false
	case http.MethodDelete:
		req.Method = consul.Delete
	case http.MethodPut:
		req.Method = consul.Put
		body, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
		if err == nil && len(body) > maxBody {
			err = fmt.Errorf("the value has more than %d bytes", maxBody)
		}
		if req.Value = string(body); err != nil {
			return req, 0, http.StatusRequestEntityTooLarge, err
		}
	default:
		return req, 0, http.StatusMethodNotAllowed, fmt.Errorf("%s of a key: expected GET, PUT or DELETE", r.Method)
	}
	if key == "" && (!req.Recurse || req.Method == consul.Put) {
		return req, 0, http.StatusBadRequest, errors.New("no key: expected one, or ?recurse of a GET or DELETE")
	}
	if of := conditions[req.Method]; given(q, of) > 1 {
		return req, 0, http.StatusBadRequest, fmt.Errorf("conflicting: expected one of %s", strings.Join(of, " and "))
	}
	wait = 5 * time.Minute
	if v := q.Get("wait"); v != "" {
		if wait, err = time.ParseDuration(v); err != nil || wait < 0 {
			return req, 0, http.StatusBadRequest, fmt.Errorf("wait=%q: expected a duration, such as 10s", v)
		}
	}
	for name, to := range numbersIn(&req) {
		if v := q.Get(name); v != "" {
			if *to, err = strconv.ParseUint(v, 10, 64); err != nil {
				return req, 0, badNumber[name], fmt.Errorf("%s=%q: expected a number", name, v)
			}
		}
	}
	return req, min(wait, maxWait), http.StatusOK, nil
}

// conditions are the query parameters that exclude one another, by method.
var conditions = map[consul.Method][]string{consul.Put: {"acquire", "release", "cas"}, consul.Delete: {"cas", "recurse"}}

// given returns how many of the named query parameters are present.
func given(q url.Values, names []string) (n int) {
	for _, name := range names {
		if q.Has(name) {
			n++
		}
	}
	return n
}

// numbersIn maps the numeric query parameters of a request to the fields of req.
func numbersIn(req *consul.Request) map[string]*uint64 {
	switch req.Method {
	case consul.Get:
		return map[string]*uint64{"index": &req.Index}
	case consul.Delete:
		return map[string]*uint64{"cas": &req.Index}
	}
	return map[string]*uint64{"cas": &req.Index, "flags": &req.Flags}
}

// badNumber is the HTTP status for a parameter that is not a number, by the parameter's name.
var badNumber = map[string]int{"index": http.StatusBadRequest, "cas": http.StatusInternalServerError, "flags": http.StatusInternalServerError}

// entry is a key in the JSON form of an answer. JSON encodes the bytes of Value in base64.
type entry struct {
	LockIndex   uint64
	Key         string
	Flags       uint64
	Value       []byte
	Session     string `json:",omitempty"`
	CreateIndex uint64
	ModifyIndex uint64
}

// entries returns keys in the JSON form of an answer.
func entries(all []consul.Entry) any {
	out := make([]entry, len(all))
	for i, e := range all {
		out[i] = entry{e.Locks, e.Key, e.Flags, nil, e.Session, e.Created, e.Modified}
		if e.Value != "" {
			out[i].Value = []byte(e.Value)
		}
	}
	return out
}

func write(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(v) // an error means that the client is gone
}
