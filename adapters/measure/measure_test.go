package measure

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockproof/lockproof/model/lock"
)

// table is a server that keeps locks in memory. A released slot can be acquired only at the second attempt.
type table struct {
	room    int // maximum number of connected clients
	mu      sync.Mutex
	locks   int // number of locks that are not closed
	clients int // number of clients that are not closed
	most    int // largest number of clients at one time
}

func (s *table) Name() string { return "a table" }

func (s *table) Lock(context.Context, *lock.Target, time.Duration) (Lock, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.locks++
	return &place{server: s}, nil
}

type place struct {
	server *table
	holder *guest
	asked  bool
}

func (p *place) Lease() time.Duration { return 0 }

func (p *place) Close() error {
	p.server.mu.Lock()
	defer p.server.mu.Unlock()
	p.server.locks--
	return nil
}

func (p *place) Client(context.Context, int) (Client, error) {
	s := p.server
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.clients == s.room {
		return nil, errors.New("no more room")
	}
	s.clients++
	s.most = max(s.most, s.clients)
	return &guest{place: p}, nil
}

type guest struct {
	place *place
	spent Spent
}

func (g *guest) Do(_ context.Context, op lock.Op) (lock.Result, error) {
	p := g.place
	p.server.mu.Lock()
	defer p.server.mu.Unlock()
	g.spent.Commands, g.spent.RoundTrips, g.spent.Sent, g.spent.Received = g.spent.Commands+2, g.spent.RoundTrips+1, g.spent.Sent+10, g.spent.Received+5
	switch {
	case op == lock.Acquire && p.holder != nil && p.holder != g:
		return lock.Result{Outcome: lock.Failed, Reason: lock.Full}, nil
	case op == lock.Acquire && !p.asked:
		p.asked = true
		return lock.Result{Outcome: lock.Failed, Reason: lock.Full}, nil
	case op == lock.Acquire:
		p.holder = g
	case op == lock.Release:
		p.holder, p.asked = nil, false
	}
	return lock.Result{Outcome: lock.Done, Held: p.holder == g}, nil
}

func (g *guest) Spent() Spent { return g.spent }

func (g *guest) Kill() {
	g.place.server.mu.Lock()
	defer g.place.server.mu.Unlock()
	if g.place.holder == g {
		g.place.holder = nil
	}
}

func (g *guest) Close() {
	g.place.server.mu.Lock()
	defer g.place.server.mu.Unlock()
	g.place.server.clients--
}

var target = &lock.Target{Name: "here", Kind: lock.Mutex}

// TestRun: a run measures every operation, every load, and a holder's crash, and closes everything. If a load has more
// clients than the server accepts, the load's result says so, and the other loads are measured.
func TestRun(t *testing.T) {
	s := &table{room: 5}
	m, err := Run(t.Context(), s, target, Load{Clients: []int{1, 3, 8}, Time: 80 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, o := range m.Operations {
		names = append(names, o.Operation)
		if o.Commands != 2 || o.RoundTrips != 1 || o.Sent != 10 || o.Received != 5 || o.Latency.Count == 0 {
			t.Errorf("%+v", o)
		}
	}
	if want := []string{"acquire", "refused", "verify", "release"}; !slices.Equal(names, want) {
		t.Errorf("%q are measured, expected %q", names, want)
	}
	for _, l := range m.Loads {
		switch {
		case l.Clients == 8:
			if !strings.Contains(l.LeftOut, "no more room") || l.Granted > 0 {
				t.Errorf("%+v", l)
			}
		case l.LeftOut != "" || l.Granted == 0 || l.Acquire.Count != l.Granted || l.Rate() <= 0:
			t.Errorf("%+v", l)
		}
	}
	if len(m.Loads) != 6 || m.Free.Count == 0 || m.Free.Count > deaths {
		t.Errorf("%+v", m)
	}
	if s.locks != 0 || s.clients != 0 || s.most != 5 {
		t.Errorf("left behind: %d locks and %d clients; %d at once", s.locks, s.clients, s.most)
	}
}

// TestRunFails: if one client alone cannot acquire the lock, or if the context ends, Run returns an error and closes
// everything.
func TestRunFails(t *testing.T) {
	s := &table{room: 1}
	if _, err := Run(t.Context(), s, target, Load{Clients: []int{1}, Time: time.Millisecond}); err == nil || !strings.Contains(err.Error(), "measuring here on a table: connecting client 2") {
		t.Errorf("without room: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s.room = 2
	if _, err := Run(ctx, s, target, Load{Clients: []int{1}, Time: time.Millisecond}); !errors.Is(err, context.Canceled) {
		t.Errorf("a run that ends: %v", err)
	}
	if s.locks != 0 || s.clients != 0 {
		t.Errorf("left behind: %d locks and %d clients", s.locks, s.clients)
	}
}

// A load with few grants goes on beyond its planned duration, up to a limit.
func TestLeastGrants(t *testing.T) {
	past, future := time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	for latest, want := range map[time.Time]int{future: leastGrants, past: 0} {
		one, err := (&place{server: &table{room: 1}}).Client(t.Context(), 1)
		if err != nil {
			t.Fatal(err)
		}
		var got count
		if err := got.work(t.Context(), one, &end{over: past, latest: latest}); err != nil || len(got.took) != want {
			t.Errorf("%d grants, expected %d, %v", len(got.took), want, err)
		}
	}
}

// A load without any grant in its planned duration goes on for a while, as the machine may be busy.
func TestNothingGranted(t *testing.T) {
	past := time.Now().Add(-graceLimit / 2)
	e := end{over: past, latest: past}
	if e.reached() {
		t.Error("it ended with nothing granted")
	}
	if e.granted.Add(1); !e.reached() {
		t.Error("it goes on though something was granted")
	}
	if e := (&end{over: past, latest: past.Add(-graceLimit)}); !e.reached() {
		t.Error("it goes on for ever")
	}
}
