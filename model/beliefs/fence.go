package beliefs

import "github.com/lockproof/lockproof/model/lock"

// Fence has the largest fencing token of one lock. A grant's token must be larger than the tokens of all earlier grants
// of the lock, of any slot. A grant is earlier if it was answered before the other acquire was invoked; the order of
// overlapping acquires is unknown. After a destroy, tokens may start again from 1.
type Fence struct {
	now        Fenced
	destroying int // number of destroys under way, including those that never return
}

// Fenced is the largest token so far, and its client or process. The zero value is no token.
type Fenced struct {
	Token int64
	Who   int32
	life  int // how often a destroy has begun or ended before; tokens with different numbers are not compared
}

// Now is the largest token so far. An acquire that is invoked now must get a larger one.
func (f *Fence) Now() Fenced { return f.now }

// Begin handles the call of an operation.
func (f *Fence) Begin(op lock.Op) {
	if op == lock.Destroy {
		f.destroying++
		f.now = Fenced{life: f.now.life + 1}
	}
}

// End handles the completion of an operation. known says that its outcome is certain.
func (f *Fence) End(op lock.Op, known bool) {
	if op == lock.Destroy && known {
		f.destroying--
		f.now = Fenced{life: f.now.life + 1}
	}
}

// Grant handles the token of a granted acquire. since was the largest token when the acquire was invoked. Grant reports
// whether the two tokens can be compared. If a destroy may have happened in between, they cannot, and Grant does not
// record the token.
func (f *Fence) Grant(since Fenced, who int32, token int64) bool {
	if f.destroying > 0 || since.life != f.now.life {
		return false
	}
	if token > f.now.Token {
		f.now.Token, f.now.Who = token, who
	}
	return true
}
