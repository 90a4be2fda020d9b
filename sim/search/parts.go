package search

import (
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/lockproof/lockproof/model/backend"
)

// part is what the search wants to know of a part at every step.
type part struct {
	hash        uint64               // of the part: a state's fingerprint is made of them
	view        uint64               // of what others may see of it
	foot        [2]backend.Footprint // of a client's part: while there may be faults, and where none is left
	calm        bool                 // a shared part: no fault is left
	undisturbed bool                 // a shared part: none is but a client's crash
	unwitnessed bool                 // a shared part: the execution is no witness of linearizability
	slots       uint8                // a shared part: how many slots there are
	busy        bool                 // a client's part: an operation is under way
	holds       bool                 // a client's part: it is one of a context's holders, see RunAny
	role        uint32               // a client's part that holds something: what contexts know of it
}

// parts numbers the parts of states. It is safe for concurrent use.
type parts struct {
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
	parts [chunkSize]part
	image [chunkSize]string
}

func newParts() *parts {
	p := new(parts)
	for i := range p.shards {
		p.shards[i].ids = make(map[string]uint32)
	}
	return p
}

// intern is the number of a part. describe is asked about one that is new.
func (p *parts) intern(image []byte, describe func() part) uint32 {
	h := hashBytes(image)
	s := &p.shards[h>>58]
	s.mu.Lock()
	defer s.mu.Unlock()
	if id, ok := s.ids[string(image)]; ok {
		return id
	}
	d := describe()
	d.hash = h
	id := p.n.Add(1) - 1
	c := p.chunk(id)
	c.parts[id%chunkSize], c.image[id%chunkSize] = d, string(image)
	s.ids[c.image[id%chunkSize]] = id
	p.bytes.Add(int64(len(image)) + partOverhead)
	return id
}

// find is the number of a part that there is already.
func (p *parts) find(image []byte) (id uint32, ok bool) {
	s := &p.shards[hashBytes(image)>>58]
	s.mu.Lock()
	defer s.mu.Unlock()
	id, ok = s.ids[string(image)]
	return id, ok
}

// partOverhead is about what a part takes beside its image: its description, and its place in a map.
const partOverhead = 112

// chunk is where a part is; it is made if need be.
func (p *parts) chunk(id uint32) *chunk {
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

// get is a part by number.
func (p *parts) get(id uint32) *part { return &p.chunks[id>>chunkBits].Load().parts[id%chunkSize] }

// image is a part as it was written.
func (p *parts) image(id uint32) string { return p.chunks[id>>chunkBits].Load().image[id%chunkSize] }

// bytesOf is the same, for reading only: a copy of each would take longer than what is done with it.
func (p *parts) bytesOf(id uint32) []byte {
	image := p.image(id)
	return unsafe.Slice(unsafe.StringData(image), len(image))
}

// count is how many there are, and size about how many bytes they take.
func (p *parts) count() uint32 { return p.n.Load() }
func (p *parts) size() int64   { return p.bytes.Load() }

// full reports whether there is hardly room for more parts.
func (p *parts) full() bool { return p.count() > (1<<14-16)*chunkSize }
