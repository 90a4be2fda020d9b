package states

import (
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/lockproof/lockproof/model/backend"
)

// Part describes one part of a state, which is shared or belongs to a client. It has the facts that searches need at
// every step.
type Part struct {
	Hash        uint64               // hash of the part's encoding; a state's fingerprint is computed from these
	View        uint64               // of a client's part: identifies what other clients can see of it
	Foot        [2]backend.Footprint // of a client's part: its footprint while faults may happen (0), and later (1)
	Calm        bool                 // of a shared part: no fault is left
	Undisturbed bool                 // of a shared part: no fault is left, except crashes of clients
	Unwitnessed bool                 // of a shared part: the monitor has no linearization of the execution
	Slots       uint8                // of a shared part: the number of slots
	Busy        bool                 // of a client's part: an operation is under way
	Dead        bool                 // of a client's part: the client has crashed
	Holds       bool                 // of a client's part: the client is a holder, see package anynumber
	Role        uint32               // of a holder's part: the number of its role, see package anynumber
}

// Table stores the parts of states, and gives each a number. It is safe for concurrent use.
type Table struct {
	shards [64]shard
	n      atomic.Uint32
	chunks [1 << 14]atomic.Pointer[chunk]
	grow   sync.Mutex
	bytes  atomic.Int64
}

// shard is a hash table from the encodings of parts (images) to their numbers, with open addressing and linear probing.
// It is at most half full.
type shard struct {
	mu    sync.Mutex
	slots []slot
	n     int
}

// slot is an entry of a shard: the hash of a part's encoding, and the part's number plus 1 (id). An id of 0 marks a
// free slot.
type slot struct {
	hash uint64
	id   uint32
}

// These are the sizes of chunks, in which parts are stored. A chunk never moves, so pointers to its parts stay valid.
const (
	chunkBits = 12
	chunkSize = 1 << chunkBits
)

type chunk struct {
	parts [chunkSize]Part
	image [chunkSize]string
}

// NewTable returns a table without parts.
func NewTable() *Table {
	p := new(Table)
	for i := range p.shards {
		p.shards[i].slots = make([]slot, 16)
	}
	return p
}

// find returns the slot of the part with the encoding image, or the free slot for it. h is the hash of image.
func (p *Table) find(s *shard, h uint64, image []byte) *slot {
	for at := h; ; at++ {
		o := &s.slots[at&uint64(len(s.slots)-1)]
		if o.id == 0 || o.hash == h && p.Image(o.id-1) == string(image) {
			return o
		}
	}
}

// double doubles the size of a shard.
func (s *shard) double() {
	was := s.slots
	s.slots = make([]slot, 2*len(was))
	for _, o := range was {
		if o.id != 0 {
			at := o.hash
			for s.slots[at&uint64(len(s.slots)-1)].id != 0 {
				at++
			}
			s.slots[at&uint64(len(s.slots)-1)] = o
		}
	}
}

// Number returns the number of the part with this encoding (image). It adds a new part, described by describe.
func (p *Table) Number(image []byte, describe func() Part) uint32 {
	h := Hash(image)
	s := &p.shards[h>>58]
	s.mu.Lock()
	defer s.mu.Unlock()
	o := p.find(s, h, image)
	if o.id != 0 {
		return o.id - 1
	}
	d := describe()
	d.Hash = h
	id := p.n.Add(1) - 1
	c := p.chunk(id)
	c.parts[id%chunkSize], c.image[id%chunkSize] = d, string(image)
	*o = slot{h, id + 1}
	if s.n++; 2*s.n > len(s.slots) {
		s.double()
	}
	p.bytes.Add(int64(len(image)) + partOverhead)
	return id
}

// Find returns the number of the part with the encoding image, and whether the table has this part.
func (p *Table) Find(image []byte) (id uint32, ok bool) {
	h := Hash(image)
	s := &p.shards[h>>58]
	s.mu.Lock()
	defer s.mu.Unlock()
	o := p.find(s, h, image)
	return o.id - 1, o.id != 0
}

// partOverhead estimates the bytes that a part takes besides its encoding: its description and its slot.
const partOverhead = 112

// chunk returns the chunk in which the part with number id is stored, and creates it if necessary.
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

// At returns the description of the part with number id.
func (p *Table) At(id uint32) *Part { return &p.chunks[id>>chunkBits].Load().parts[id%chunkSize] }

// Image returns the encoding of the part with number id.
func (p *Table) Image(id uint32) string { return p.chunks[id>>chunkBits].Load().image[id%chunkSize] }

// Bytes returns the encoding of the part with number id, without a copy. The caller must not change it.
func (p *Table) Bytes(id uint32) []byte {
	image := p.Image(id)
	return unsafe.Slice(unsafe.StringData(image), len(image))
}

// Len returns the number of parts in the table.
func (p *Table) Len() uint32 { return p.n.Load() }

// Size estimates the bytes that the table takes.
func (p *Table) Size() int64 { return p.bytes.Load() }

// Full reports whether the table has almost no room for more parts.
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

// Flags packs truth values into bits; the first value is bit 0.
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
		if got != uint32(id) { // the checkpoint has the part twice
			d.Damaged()
		}
	}
}
