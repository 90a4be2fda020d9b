package states

import (
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/lockproof/lockproof/model/backend"
)

// Part is the description of a part that searches need at every step.
type Part struct {
	Hash        uint64               // of the part; the hashes of a state's parts make its fingerprint
	View        uint64               // identifies the visible part
	Foot        [2]backend.Footprint // of a client's part: while there may be faults, and where none is left
	Calm        bool                 // a shared part: no fault is left
	Undisturbed bool                 // a shared part: none is but a client's crash
	Unwitnessed bool                 // a shared part: the execution is no witness of linearizability
	Slots       uint8                // a shared part: how many slots there are
	Busy        bool                 // a client's part: an operation is under way
	Dead        bool                 // a client's part: it has crashed
	Holds       bool                 // a client's part: it is one of a context's holders, see Run
	Role        uint32               // a holder's part: its role in contexts
}

// Table numbers the parts of states. It is safe for concurrent use.
type Table struct {
	shards [64]shard
	n      atomic.Uint32
	chunks [1 << 14]atomic.Pointer[chunk]
	grow   sync.Mutex
	bytes  atomic.Int64
}

type shard struct {
	mu  sync.Mutex
	ids map[string]uint32
}

// A chunk is not moved once it is made.
const (
	chunkBits = 12
	chunkSize = 1 << chunkBits
)

type chunk struct {
	parts [chunkSize]Part
	image [chunkSize]string
}

// NewTable has no parts yet.
func NewTable() *Table {
	p := new(Table)
	for i := range p.shards {
		p.shards[i].ids = make(map[string]uint32)
	}
	return p
}

// Number is the number of a part, by its encoding (image). describe is called for a new part.
func (p *Table) Number(image []byte, describe func() Part) uint32 {
	h := Hash(image)
	s := &p.shards[h>>58]
	s.mu.Lock()
	defer s.mu.Unlock()
	if id, ok := s.ids[string(image)]; ok {
		return id
	}
	d := describe()
	d.Hash = h
	id := p.n.Add(1) - 1
	c := p.chunk(id)
	c.parts[id%chunkSize], c.image[id%chunkSize] = d, string(image)
	s.ids[c.image[id%chunkSize]] = id
	p.bytes.Add(int64(len(image)) + partOverhead)
	return id
}

// Find is the number of a part that there is already.
func (p *Table) Find(image []byte) (id uint32, ok bool) {
	s := &p.shards[Hash(image)>>58]
	s.mu.Lock()
	defer s.mu.Unlock()
	id, ok = s.ids[string(image)]
	return id, ok
}

// partOverhead is about the size of a part without its image: its description, and its place in a map.
const partOverhead = 112

// chunk is where a part is; it is made if need be.
func (p *Table) chunk(id uint32) *chunk {
	at := &p.chunks[id>>chunkBits]
	if c := at.Load(); c != nil {
		return c
	}
	p.grow.Lock()
	defer p.grow.Unlock()
	if at.Load() == nil {
		at.Store(new(chunk))
	}
	return at.Load()
}

// At is a part by number.
func (p *Table) At(id uint32) *Part { return &p.chunks[id>>chunkBits].Load().parts[id%chunkSize] }

// Image is a part as it was written.
func (p *Table) Image(id uint32) string { return p.chunks[id>>chunkBits].Load().image[id%chunkSize] }

// Bytes is the same, for reading only: a copy of each would take longer than what is done with it.
func (p *Table) Bytes(id uint32) []byte {
	image := p.Image(id)
	return unsafe.Slice(unsafe.StringData(image), len(image))
}

// Len is how many there are.
func (p *Table) Len() uint32 { return p.n.Load() }

// Size is about how many bytes they take.
func (p *Table) Size() int64 { return p.bytes.Load() }

// Full reports whether there is hardly room for more parts.
func (p *Table) Full() bool { return p.Len() > (1<<14-16)*chunkSize }

// Save writes the parts in the order of their numbers.
func (p *Table) Save(e *Encoder) {
	n := p.Len()
	e.U32(n)
	for id := range n {
		d := p.At(id)
		e.Blob([]byte(p.Image(id)))
		e.U64(d.View)
		e.Bytes([]byte{Flags(d.Unwitnessed, d.Busy, d.Holds, d.Calm, d.Undisturbed, d.Dead), d.Slots})
		for _, f := range d.Foot {
			e.Bytes([]byte{Flags(f.Choosing, f.Private), byte(f.Reads), byte(f.Writes)})
		}
		e.U32(d.Role)
	}
}

// Flags are truth values as bits.
func Flags(of ...bool) (b byte) {
	for i, set := range of {
		if set {
			b |= 1 << i
		}
	}
	return b
}

// Restore reads the parts that Save wrote.
func (p *Table) Restore(d *Decoder) {
	n := d.Fits(uint64(d.U32()), 4+1+8+2+6+4)
	for id := 0; id < n && d.Err == nil; id++ {
		image := d.Blob()
		view := d.U64()
		var b [8]byte
		d.Read(b[:])
		foot := func(b []byte) backend.Footprint {
			return backend.Footprint{Choosing: b[0]&1 != 0, Private: b[0]&2 != 0, Reads: backend.Roles(b[1]), Writes: backend.Roles(b[2])}
		}
		role := d.U32()
		if len(image) == 0 || p.Full() {
			d.Damaged()
			return
		}
		got := p.Number(image, func() Part {
			return Part{
				View: view, Unwitnessed: b[0]&1 != 0, Busy: b[0]&2 != 0, Holds: b[0]&4 != 0, Calm: b[0]&8 != 0, Undisturbed: b[0]&16 != 0, Dead: b[0]&32 != 0,
				Slots: b[1], Role: role, Foot: [...]backend.Footprint{foot(b[2:5]), foot(b[5:8])},
			}
		})
		if got != uint32(id) { // it was there twice
			d.Damaged()
		}
	}
}
