package beliefs

import "github.com/lockproof/lockproof/model/lock"

// Fence is the state of one lock's fencing tokens. A token must be larger than the tokens of all earlier grants of
// the lock, whichever slot they were of. A grant is earlier if its client had its answer when the other client
// invoked its acquire; the order of other grants is unknown. After a destroy, tokens may start over.
type Fence struct {
	now        Fenced
	destroying int // number of destroys under way, including those that never return
}

// Fenced is the largest token up to a moment, and its client or process. The zero value is no token.
type Fenced struct {
	Token int64
	Who   int32
	life  int // number of earlier destroys of the lock
}

// Now is the largest token so far. A grant that begins now needs a larger one.
func (f *Fence) Now() Fenced { return f.now }

// Begin handles the call of an operation.
func (f *Fence) Begin(op lock.Op) {
	if op == lock.Destroy {
		f.destroying++
		f.now = Fenced{life: f.now.life + 1}
	}
}

// End handles the completion of an operation; known: the outcome is certain.
func (f *Fence) End(op lock.Op, known bool) {
	if op == lock.Destroy && known {
		f.destroying--
		f.now = Fenced{life: f.now.life + 1}
	}
}

// Grant notes the token of a grant. since is the largest token when its acquire began. It returns false if a destroy
// may have come between, so that the token says nothing.
func (f *Fence) Grant(since Fenced, who int32, token int64) bool {
	if f.destroying > 0 || since.life != f.now.life {
		return false
	}
	if token > f.now.Token {
		f.now.Token, f.now.Who = token, who
	}
	return true
}
