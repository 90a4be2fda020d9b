package consul

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lockproof/lockproof/adapters/stress"
	"github.com/lockproof/lockproof/model/consul"
)

// space is the set of keys of one run on an agent. Their names begin with a new random mark. One key is acquired by a
// session of the run, and deleted when the run ends: if it is missing, the run is dead, and its keys may be deleted.
// Another key contains a secret that proves that a run created the mark; keys without such a proof are never deleted.
type space struct {
	agent   *Agent
	mark    string // prefix of the run's keys
	secret  string // proves that the run created the mark
	session string // session whose existence shows that the run is alive

	mu      sync.Mutex
	wrote   map[string]bool
	renewed time.Time
}

const (
	living      = "run"   // the key, after the mark, that the run's session holds
	proof       = "proof" // the key, after the mark, whose value is the mark's secret
	renewal     = time.Minute
	everyMark   = "lockproof." // prefix of every mark
	spaceEnding = 20 * time.Second
)

// space creates the keys of a new run on the agent. Before that, it deletes the keys of dead runs.
func (a *Agent) space(ctx context.Context) (*space, error) {
	mark, secret := stress.Proof()
	s := &space{agent: a, mark: mark + "/", secret: secret, wrote: make(map[string]bool), renewed: time.Now()}
	if err := a.tidy(ctx); err != nil {
		return nil, fmt.Errorf("deleting keys that a killed run has left: %w", err)
	}
	there, err := a.under(ctx, s.mark)
	if err == nil && len(there) > 0 {
		err = fmt.Errorf("key %q is there already, and is somebody else's: try again", there[0].Key)
	}
	if err != nil {
		return nil, err
	}
	r := consul.Request{Method: consul.CreateSession, Session: consul.Session{Deletes: true, TTL: replayTTL}}
	if _, err := a.Do(ctx, &r); err != nil {
		return nil, err
	}
	s.session = r.Session.ID
	r = consul.Request{Method: consul.Put, Key: s.mark + living, Acquire: s.session}
	s.note(&r)
	if got, err := a.Do(ctx, &r); err != nil || !got.OK {
		return nil, errors.Join(fmt.Errorf("key %q could not be acquired", r.Key), err, s.end())
	}
	r = consul.Request{Method: consul.Put, Key: s.mark + proof, Value: s.secret, Checked: true}
	s.note(&r)
	if got, err := a.Do(ctx, &r); err != nil || !got.OK {
		return nil, errors.Join(fmt.Errorf("key %q could not be written", r.Key), err, s.end())
	}
	return s, nil
}

// under returns the keys with the given prefix.
func (a *Agent) under(ctx context.Context, prefix string) ([]consul.Entry, error) {
	got, err := a.Do(ctx, &consul.Request{Method: consul.Get, Key: prefix, Recurse: true})
	return got.Entries, err
}

// tidy deletes the keys of dead runs. It does not delete a key that has changed since the run was found dead.
func (a *Agent) tidy(ctx context.Context) error {
	all, err := a.under(ctx, everyMark)
	if err != nil {
		return err
	}
	alive, proved := make(map[string]bool), make(map[string]bool)
	for _, e := range all {
		mark, rest, _ := strings.Cut(e.Key, "/")
		alive[mark] = alive[mark] || rest == living && e.Session != ""
		proved[mark] = proved[mark] || rest == proof && stress.Proved(mark, e.Value)
	}
	for _, e := range proofLast(all) {
		if mark, _, ok := strings.Cut(e.Key, "/"); !ok || alive[mark] || !proved[mark] {
			continue
		}
		if _, err := a.Do(ctx, &consul.Request{Method: consul.Delete, Key: e.Key, Checked: true, Index: e.Modified}); err != nil {
			return err
		}
	}
	return nil
}

// proofLast moves the keys that contain secrets to the end. So the other keys still have a proof when they are
// deleted.
func proofLast(all []consul.Entry) []consul.Entry {
	last := func(e consul.Entry) int {
		if _, rest, _ := strings.Cut(e.Key, "/"); rest == proof {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(all, func(a, b consul.Entry) int { return last(a) - last(b) })
	return all
}

// note records that the run is about to write a key.
func (s *space) note(r *consul.Request) {
	if r.Method == consul.Put {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.wrote[r.Key] = true
	}
}

// renew renews the run's session. It returns an error if the session has ended, so that other runs consider this one
// dead.
func (s *space) renew(ctx context.Context) error {
	s.mu.Lock()
	due := time.Since(s.renewed) > renewal
	if due {
		s.renewed = time.Now()
	}
	s.mu.Unlock()
	if !due {
		return nil
	}
	got, err := s.agent.Do(ctx, &consul.Request{Method: consul.RenewSession, Session: consul.Session{ID: s.session}})
	if err == nil && !got.OK {
		err = errors.New("the agent took this run for dead, so that another may delete its keys; run it again")
	}
	return err
}

// end deletes the keys that the run has written, except those that another program has written since. Then it ends
// the run's session.
func (s *space) end() error {
	ctx, cancel := context.WithTimeout(context.Background(), spaceEnding)
	defer cancel()
	all, err := s.agent.under(ctx, s.mark)
	for _, e := range proofLast(all) {
		if !s.wrote[e.Key] {
			err = errors.Join(err, fmt.Errorf("key %q is not this run's, and is left", e.Key))
			continue
		}
		got, failed := s.agent.Do(ctx, &consul.Request{Method: consul.Delete, Key: e.Key, Checked: true, Index: e.Modified})
		if failed == nil && !got.OK {
			failed = fmt.Errorf("key %q was written by somebody else, and is left", e.Key)
		}
		err = errors.Join(err, failed)
	}
	_, failed := s.agent.Do(ctx, &consul.Request{Method: consul.DestroySession, Session: consul.Session{ID: s.session}})
	return errors.Join(err, failed)
}
