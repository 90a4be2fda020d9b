package search

import (
	"encoding/binary"
	"maps"
	"slices"

	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
)

// set writes a set of numbers.
func (e *encoder) set(s bitset) {
	e.u32(uint32(len(s)))
	for _, word := range s {
		e.u64(word)
	}
}

// set reads a set of numbers less than n.
func (d *decoder) set(n uint32) (s bitset) {
	for k := d.fits(uint64(d.u32()), 8); k > 0; k-- {
		s = append(s, d.u64())
	}
	for m := range s.all {
		if m >= n {
			d.damaged()
			return nil
		}
	}
	return s
}

// below reads a number less than n.
func (d *decoder) below(n uint32) uint32 {
	m := d.u32()
	if m >= n {
		d.damaged()
		return 0
	}
	return m
}

// numbers writes some.
func (e *encoder) numbers(of []uint32) {
	e.u32(uint32(len(of)))
	e.tuple(of)
}

// numbers reads some that are less than n.
func (d *decoder) numbers(n uint32) (out []uint32) {
	for k := d.fits(uint64(d.u32()), 4); k > 0 && d.err == nil; k-- {
		out = append(out, d.below(n))
	}
	return out
}

func (r *roles) save(e *encoder) {
	byNumber := make([]role, len(r.ids))
	for of, id := range r.ids {
		byNumber[id] = of
	}
	e.u32(uint32(len(byNumber)))
	for _, of := range byNumber {
		e.bytes([]byte{of.class})
		e.u64(of.view)
		e.blob([]byte(of.part))
	}
}

func (r *roles) restore(d *decoder, v *views) {
	n := d.fits(uint64(d.u32()), 1+8+4)
	for id := 0; id < n && d.err == nil; id++ {
		var class [1]byte
		d.read(class[:])
		of := role{class: class[0], view: d.u64()}
		of.part = string(d.blob())
		if of.view >= uint64(len(v.ids)) || r.number(of) != uint32(id) {
			d.damaged()
		}
	}
}

// consistent reports whether what is said of clients' parts that were read is there.
func (p *parts) consistent(v *views, r *roles, classes int) bool {
	for id := range p.n.Load() {
		d := p.get(id)
		if int(p.image(id)[0]) >= classes || d.view >= uint64(len(v.ids)) || d.holds && int(d.role) >= len(r.ids) {
			return false
		}
	}
	return true
}

// save writes the effects in the order of their numbers, each with what it is known to do.
func (t *effectTable) save(e *encoder) {
	byNumber := make([]sim.Effect, len(t.list))
	for of, id := range t.ids {
		byNumber[id] = of
	}
	e.u32(uint32(len(byNumber)))
	for id, of := range byNumber {
		e.effect(of)
		f := t.list[id]
		e.set(f.inert)
		e.set(f.known)
		e.mapping(f.to)
		e.mapping(f.roles)
	}
}

func (t *effectTable) restore(d *decoder, p *anyPlan) {
	parts, holders := p.clients.n.Load(), uint32(len(p.roles.ids))
	n := d.fits(uint64(d.u32()), 4*5)
	for id := 0; id < n && d.err == nil; id++ {
		var of sim.Effect
		d.effect(&of)
		if t.number(of) != uint32(id) {
			d.damaged()
		}
		if d.err != nil {
			return
		}
		f := t.list[id]
		f.inert, f.known = d.set(parts), d.set(parts)
		d.mapping(f.to, parts, parts)
		d.mapping(f.roles, holders, holders+1)
		if !f.complete() {
			d.damaged()
		}
	}
}

// effect writes one: all of its fields are of fixed size.
func (e *encoder) effect(of sim.Effect) {
	b, err := binary.Append(nil, binary.LittleEndian, &of)
	if err != nil && e.err == nil {
		e.err = err
	}
	e.bytes(b)
}

func (d *decoder) effect(of *sim.Effect) {
	b := make([]byte, binary.Size(of))
	d.read(b)
	if _, err := binary.Decode(b, binary.LittleEndian, of); err != nil && d.err == nil {
		d.err = err
	}
}

// complete reports whether it is said of every part that is known what becomes of it.
func (f *influence) complete() bool {
	for part := range f.known.all {
		if _, ok := f.to[part]; !ok && !f.inert.has(part) {
			return false
		}
	}
	return true
}

// mapping writes one in the order of its keys.
func (e *encoder) mapping(m map[uint32]uint32) {
	e.u32(uint32(len(m)))
	for _, k := range slices.Sorted(maps.Keys(m)) {
		e.tuple([]uint32{k, m[k]})
	}
}

// mapping reads one from numbers less than n to numbers less than m.
func (d *decoder) mapping(into map[uint32]uint32, n, m uint32) {
	for k := d.fits(uint64(d.u32()), 8); k > 0 && d.err == nil; k-- {
		from := d.below(n)
		into[from] = d.below(m)
	}
}

// save writes first who there is in each context, since steps name contexts, then what is known of each.
func (c *contexts) save(e *encoder) {
	e.u32(uint32(len(c.list)))
	for _, g := range c.list {
		e.u32(g.shared)
		e.numbers(g.holders)
	}
	for _, g := range c.list {
		e.set(g.seen)
		e.set(g.done)
		e.numbers(g.besides)
		e.bytes([]byte{flags(g.begun, g.looked, g.audited)})
		e.u32(uint32(len(g.steps)))
		for i := range g.steps {
			e.step(&g.steps[i])
		}
	}
}

func (e *encoder) step(s *step) {
	e.u32(s.to.id)
	e.u32(s.by)
	e.bytes([]byte{flags(s.all)})
	e.taken(s.how)
	e.u32(uint32(len(s.open)))
	for _, o := range s.open {
		e.u64(o.view)
		e.taken(o.how)
	}
}

func (e *encoder) taken(how *takenIn) {
	m := &how.move
	e.u32(how.shared)
	e.numbers(how.all)
	e.bytes([]byte{byte(m.action.Kind), m.action.Client, flags(m.action.Late, m.unwitnessed)})
	e.tuple([]uint32{uint32(m.action.Arg), m.shared, m.own, m.left[0], m.left[1], m.effect})
	e.u64(uint64(m.found))
}

// readContexts reads what contexts.save wrote.
func (s *anySearch) readContexts(d *decoder) {
	n := d.fits(uint64(d.u32()), 8)
	for id := 0; id < n && d.err == nil; id++ {
		shared := d.below(s.shared.n.Load())
		holders := d.numbers(uint32(len(s.roles.ids)))
		if s.contexts.intern(nil, shared, holders).id != uint32(id) {
			d.damaged()
		}
	}
	for _, g := range s.contexts.list {
		if d.err != nil {
			return
		}
		s.readContext(d, g)
	}
}

func (s *anySearch) readContext(d *decoder, g *anyContext) {
	parts := s.clients.n.Load()
	g.seen, g.done, g.besides = d.set(parts), d.set(parts), d.numbers(parts+1)
	var b [1]byte
	d.read(b[:])
	g.begun, g.looked, g.audited = b[0]&1 != 0, b[0]&2 != 0, b[0]&4 != 0
	for _, part := range g.besides {
		if part == 0 {
			d.damaged()
		}
	}
	for n := d.fits(uint64(d.u32()), 4*12); n > 0 && d.err == nil; n-- {
		st := s.readStep(d)
		if d.err != nil {
			return
		}
		out := s.outcomeOf(&st.how.move, st.by, st.all)
		g.index[out] = int32(len(g.steps))
		g.steps = append(g.steps, st)
	}
}

func (s *anySearch) readStep(d *decoder) (st step) {
	st.to = s.contexts.at(d)
	st.by = d.below(uint32(len(s.roles.ids)) + 1)
	var b [1]byte
	d.read(b[:])
	st.all, st.how = b[0] != 0, s.readTaken(d)
	if d.err == nil {
		st.does = s.effects.at(st.how.move.effect)
	}
	for n := d.fits(uint64(d.u32()), 8); n > 0 && d.err == nil; n-- {
		o := opening{view: d.u64()}
		o.how = s.readTaken(d)
		st.open = append(st.open, o)
	}
	return st
}

func (s *anySearch) readTaken(d *decoder) *takenIn {
	shared, parts := s.shared.n.Load(), s.clients.n.Load()
	how := &takenIn{shared: d.below(shared), all: d.numbers(parts)}
	var b [3]byte
	d.read(b[:])
	m := &how.move
	m.action = scenario.Action{Kind: scenario.ActionKind(b[0]), Client: b[1], Late: b[2]&1 != 0, Arg: uint16(d.below(1 << 16))}
	m.unwitnessed, m.shared, m.own = b[2]&2 != 0, d.below(shared), d.below(parts+1)
	m.left = abandoned{d.below(parts + 1), d.below(parts + 1)}
	m.effect, m.found = d.below(uint32(len(s.effects.list))), property.Set(d.u64())
	if len(how.all) < m.first() || len(how.all) > lock.MaxClients || int(m.action.Client) > m.first() {
		d.damaged()
	}
	return how
}

// at reads which context is meant.
func (c *contexts) at(d *decoder) *anyContext {
	id := d.below(uint32(len(c.list)))
	if d.err != nil {
		return nil
	}
	return c.list[id]
}
