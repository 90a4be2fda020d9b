package linear

import (
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
)

// admins keeps upper bounds of the number of slots, from the administrative operations so far.
type admins struct {
	under int  // number of administrative operations under way
	mixed bool // an operation under way has overlapped another administrative one
	now   int  // upper bound of the number of slots now
	most  int  // upper bound of the number of slots at any moment so far
}

func (a *admins) reset(slots int) { *a = admins{now: slots, most: slots} }

// begin handles the invocation of an administrative operation, which may take effect from now on.
func (a *admins) begin(op lock.Op, n int) {
	a.mixed = a.under > 0
	a.under++
	switch {
	case op == lock.Add, op == lock.Create && a.mixed:
		a.now += n
	case op == lock.Create:
		a.now = max(a.now, n)
	}
	a.most = max(a.most, a.now)
}

// end handles the end of an administrative operation. It lowers the bound only if the operation succeeded and
// overlapped no other.
func (a *admins) end(op lock.Op, n int, ok bool) {
	a.under--
	if a.mixed || !ok {
		a.mixed = a.under > 0
		return
	}
	switch op {
	case lock.Remove:
		a.now = max(0, a.now-n)
	case lock.Destroy:
		a.now = 0
	}
}

var adminEffects = [...]effect{
	lock.Create: creates, lock.Add: adds, lock.Remove: removes, lock.Destroy: destroys,
}

// administered handles an administrative operation that was answered.
func (r *normaliser) administered(k *operation, e *history.Event) {
	r.admin.end(e.F.Op(), int(k.n), e.Type == history.OK)
	if e.Type == history.OK {
		r.changes(k, e.F.Op())
	}
}

// changes records the effect of an administrative operation that has or may have happened.
func (r *normaliser) changes(k *operation, op lock.Op) {
	k.effect = adminEffects[op]
	r.moved, r.nondeterministic = true, true
	r.shrinks = r.shrinks || k.effect == removes || k.effect == destroys
}
