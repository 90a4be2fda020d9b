package consul

import (
	"slices"

	"github.com/lockproof/lockproof/model/lock"
)

// left handles the replies of a release. The client removes its session from the list of holders, deletes its own key,
// and destroys its session. If the first step fails, other clients remove the session later, since it is dead.
func (p *Protocol) left(m *Machine, r *Reply) {
	switch m.Phase {
	case Leaving:
		m.seen = p.read(r)
		m.Phase = Erasing
		if slices.Contains(m.seen.body.Holders, m.Session) {
			m.Phase = Removing
		}
	case Removing:
		m.Phase = Erasing
		if !r.OK && m.tries < p.Retries {
			m.tries++
			m.Phase = Leaving
		}
	case Erasing:
		m.Phase = Closing
	case Closing:
		m.Session, m.Entered = "", false
		m.end(lock.Result{Outcome: lock.Done})
	}
}
