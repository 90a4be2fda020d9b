package beliefs

import "github.com/lockproof/lockproof/model/lock"

// Fence is what was seen of the fencing tokens of one lock. A token has to be larger than those of all grants before it,
// whichever slot they were of. A grant is before another if its client had been told of it when the other's asked: of others,
// nobody knows which came first. A lock that was destroyed may begin again.
type Fence struct {
	now        Fenced
	destroying int // calls that do so, those that never return among them
}

// Fenced is the largest token that was told until a moment, and whom: a client, or a process. The zero value is nothing.
type Fenced struct {
	Token int64
	Who   int32
	life  int // how often the lock had been destroyed
}

// Now is what has been told by now. A grant that begins now needs more.
func (f *Fence) Now() Fenced { return f.now }

// Begin is a call of an operation.
func (f *Fence) Begin(op lock.Op) {
	if op == lock.Destroy {
		f.destroying++
		f.now = Fenced{life: f.now.life + 1}
	}
}

// End is its end. known says that it is certain.
func (f *Fence) End(op lock.Op, known bool) {
	if op == lock.Destroy && known {
		f.destroying--
		f.now = Fenced{life: f.now.life + 1}
	}
}

// Grant is somebody being told a token, whose grant began when so much had been told. It is false where the lock was being
// destroyed since, so that the token says nothing.
func (f *Fence) Grant(since Fenced, who int32, token int64) bool {
	if f.destroying > 0 || since.life != f.now.life {
		return false
	}
	if token > f.now.Token {
		f.now.Token, f.now.Who = token, who
	}
	return true
}
