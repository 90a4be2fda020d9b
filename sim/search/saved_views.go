package search

import (
	"encoding/binary"

	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
)

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
		if of.view >= uint64(v.len()) || r.number(of) != uint32(id) {
			d.damaged()
		}
	}
}

// consistent reports whether what is said of clients' parts that were read is there.
func (s *anySearch) consistent() bool {
	for id := range s.clients.count() {
		d := s.clients.get(id)
		if int(s.clients.image(id)[0]) >= len(s.bounds.Clients) || d.view >= uint64(s.views.len()) || d.holds && int(d.role) >= len(s.roles.ids) {
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
		writeEffect(e, of)
		f := t.list[id]
		f.inert.save(e)
		f.known.save(e)
		e.mapping(f.to)
		e.mapping(f.roles)
	}
}

func (t *effectTable) restore(d *decoder, p *anyPlan) {
	parts, holders := p.clients.count(), uint32(len(p.roles.ids))
	n := d.fits(uint64(d.u32()), 4*5)
	for id := 0; id < n && d.err == nil; id++ {
		var of sim.Effect
		readEffect(d, &of)
		if t.number(of) != uint32(id) {
			d.damaged()
		}
		if d.err != nil {
			return
		}
		f := t.list[id]
		f.inert, f.known = readSet(d, parts), readSet(d, parts)
		d.mapping(f.to, parts, parts)
		d.mapping(f.roles, holders, holders+1)
		if !f.complete() {
			d.damaged()
		}
	}
}

// effect writes one: all of its fields are of fixed size.
func writeEffect(e *encoder, of sim.Effect) {
	b, err := binary.Append(nil, binary.LittleEndian, &of)
	e.failed(err)
	e.bytes(b)
}

func readEffect(d *decoder, of *sim.Effect) {
	b := make([]byte, binary.Size(of))
	d.read(b)
	_, err := binary.Decode(b, binary.LittleEndian, of)
	d.failed(err)
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

// save writes first who there is in each context, since steps name contexts, then what is known of each.
func (c *contexts) save(e *encoder) {
	e.u32(uint32(len(c.list)))
	for _, g := range c.list {
		e.u32(g.shared)
		e.numbers(g.holders)
	}
	for _, g := range c.list {
		g.seen.save(e)
		g.done.save(e)
		e.numbers(g.besides)
		e.bytes([]byte{flags(g.begun, g.looked, g.audited)})
		e.u32(uint32(len(g.steps)))
		for i := range g.steps {
			writeStep(e, &g.steps[i])
		}
	}
}

func writeStep(e *encoder, s *step) {
	e.u32(s.to.id)
	e.u32(s.by)
	e.bytes([]byte{flags(s.all)})
	writeTaken(e, s.how)
	e.u32(uint32(len(s.open)))
	for _, o := range s.open {
		e.u64(o.view)
		writeTaken(e, o.how)
	}
}

func writeTaken(e *encoder, how *takenIn) {
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
		shared := d.below(s.shared.count())
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
	parts := s.clients.count()
	g.seen, g.done, g.besides = readSet(d, parts), readSet(d, parts), d.numbers(parts+1)
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
	shared, parts := s.shared.count(), s.clients.count()
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
