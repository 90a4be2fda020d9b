package external

import (
	"testing"

	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/scenario"
)

// TestSessionBeforeTheRun: a connection that was opened just before a run began is of those that were there, so that what is held by
// it is released by whoever has it.
func TestSessionBeforeTheRun(t *testing.T) {
	if early, third := new(connection), (&connection{incarnation: 3}); early.session() != 1 || third.session() != 3 {
		t.Errorf("sessions %d and %d", early.session(), third.session())
	}
}

// TestWaitGivesUp: a wait that ends with an error has given up, whatever the error says of what it may have changed.
func TestWaitGivesUp(t *testing.T) {
	r := &run{Runner: new(Runner), sc: &scenario.Scenario{}}
	p := &clientState{clientHandle: new(clientHandle), op: lock.Wait, arg: 2}
	for given, want := range map[lock.Result]lock.Result{
		{Outcome: lock.Unknown}:                        {Outcome: lock.Failed, Reason: lock.GaveUp, Slot: 2},
		{Outcome: lock.Failed}:                         {Outcome: lock.Failed, Reason: lock.GaveUp, Slot: 2},
		{Outcome: lock.Unknown, Reason: lock.TimedOut}: {Outcome: lock.Unknown, Reason: lock.TimedOut, Slot: 2},
		{Outcome: lock.Done}:                           {Outcome: lock.Done, Slot: 2},
	} {
		if got := r.interpret(p, given); got != want {
			t.Errorf("%+v is taken for %+v, expected %+v", given, got, want)
		}
	}
}

// TestAlikeBeingReleased: who is granted one of several slots that are all called the same has not the one that somebody is giving
// back, while there is another.
func TestAlikeBeingReleased(t *testing.T) {
	sc := &scenario.Scenario{Locks: []scenario.Lock{{Name: "jobs", Slots: 2}}, Clients: make([]scenario.Client, 3)}
	r := &run{Runner: new(Runner), sc: sc, clients: []clientState{
		{id: 1, busy: true, op: lock.Release, arg: 1}, {id: 2, busy: true, op: lock.Acquire}, {id: 3},
	}}
	if got := r.numberOfAlike(&r.clients[1]); got != 2 {
		t.Errorf("granted slot %d while slot 1 is given back", got)
	}
	r.clients[2].held = 2
	if got := r.numberOfAlike(&r.clients[1]); got != 1 {
		t.Errorf("granted slot %d of two, of which one is held and one given back", got)
	}
}
