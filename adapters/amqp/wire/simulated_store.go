package wire

import (
	"bytes"
	"hash/maphash"
	"reflect"

	"github.com/lockproof/lockproof/adapters/amqp/wire/frame"
	"github.com/lockproof/lockproof/sim/amqp/broker"
)

// store contains the messages that clients have published, by number. Equal messages share a number, so that a queue to
// which the same message is published often takes little memory.
type store struct {
	limit   int // maximum size in bytes
	last    uint64
	byID    map[uint64]*stored
	byHash  map[uint64]uint64
	seed    maphash.Seed
	bytes   int
	cleanAt int // size in bytes at which put calls clean
}

// stored is a message as it was published.
type stored struct {
	content       *frame.Content
	exchange, key string
	hash          uint64
}

// overhead is the approximate size of a message without its body.
const overhead = 512

// put stores a message and returns its number; 0 if there is no room for it.
func (s *store) put(m *frame.BasicPublish, c *frame.Content, b *broker.Broker) uint64 {
	if s.byID == nil {
		s.byID, s.byHash, s.seed, s.cleanAt = make(map[uint64]*stored), make(map[uint64]uint64), maphash.MakeSeed(), 1<<20
	}
	hash := s.hash(m, c)
	if id, ok := s.byHash[hash]; ok && s.byID[id].says(m, c) {
		return id
	}
	if s.bytes+len(c.Body)+overhead > s.cleanAt {
		s.clean(b)
	}
	if s.bytes+len(c.Body)+overhead > s.limit {
		return 0
	}
	s.last++
	s.byID[s.last] = &stored{c, m.Exchange, m.RoutingKey, hash}
	s.byHash[hash] = s.last
	s.bytes += len(c.Body) + overhead
	return s.last
}

func (s *store) hash(m *frame.BasicPublish, c *frame.Content) uint64 {
	var h maphash.Hash
	h.SetSeed(s.seed)
	h.WriteString(m.RoutingKey)
	h.WriteByte(0)
	h.WriteString(c.Properties.MessageID)
	h.WriteByte(0)
	h.WriteString(c.Properties.CorrelationID)
	h.Write(c.Body)
	return h.Sum64()
}

func (s *stored) says(m *frame.BasicPublish, c *frame.Content) bool {
	return s.key == m.RoutingKey && s.exchange == m.Exchange && bytes.Equal(s.content.Body, c.Body) &&
		reflect.DeepEqual(s.content.Properties, c.Properties)
}

// clean removes messages that are in no queue any more.
func (s *store) clean(b *broker.Broker) {
	there := make(map[uint64]bool)
	for _, id := range b.AppendMessages(nil) {
		there[id] = true
	}
	for id, m := range s.byID {
		if !there[id] {
			s.bytes -= len(m.content.Body) + overhead
			if s.byHash[m.hash] == id {
				delete(s.byHash, m.hash)
			}
			delete(s.byID, id)
		}
	}
	s.cleanAt = max(1<<20, 2*s.bytes)
}

// get is the stored message with the given number; nil if there is none.
func (s *store) get(id uint64) *stored { return s.byID[id] }
