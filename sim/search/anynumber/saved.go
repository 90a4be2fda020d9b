package anynumber

import (
	"encoding/binary"

	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
	"github.com/lockproof/lockproof/sim/search/states"
)

func (r *roles) save(e *states.Encoder) {
	byNumber := make([]role, len(r.ids))
	for of, id := range r.ids {
		byNumber[id] = of
	}
	e.U32(uint32(len(byNumber)))
	for _, of := range byNumber {
		e.Bytes([]byte{of.class})
		e.U64(of.view)
		e.Blob([]byte(of.part))
	}
}

func (r *roles) restore(d *states.Decoder, v *states.Views) {
	n := d.Fits(uint64(d.U32()), 1+8+4)
	for id := 0; id < n && d.Err == nil; id++ {
		var class [1]byte
		d.Read(class[:])
		of := role{class: class[0], view: d.U64()}
		of.part = string(d.Blob())
		if of.view >= uint64(v.Len()) || r.number(of) != uint32(id) {
			d.Damaged()
		}
	}
}

// consistent reports whether each decoded part of a client names an existing class, view and role.
func (s *exploration) consistent() bool {
	for id := range s.clients.Len() {
		d := s.clients.At(id)
		if int(s.clients.Image(id)[0]) >= len(s.bounds.Clients) || d.View >= uint64(s.views.Len()) || d.Holds && int(d.Role) >= len(s.roles.ids) {
			return false
		}
	}
	return true
}

// save writes the effects in the order of their numbers, each with its known results.
func (t *effectTable) save(e *states.Encoder) {
	byNumber := make([]sim.Effect, len(t.list))
	for of, id := range t.ids {
		byNumber[id] = of
	}
	e.U32(uint32(len(byNumber)))
	for id, of := range byNumber {
		writeEffect(e, of)
		f := t.list[id]
		f.inert.Save(e)
		f.known.Save(e)
		e.Mapping(f.to)
		e.Mapping(f.roles)
	}
}

func (t *effectTable) restore(d *states.Decoder, p *plan) {
	parts, holders := p.clients.Len(), uint32(len(p.roles.ids))
	n := d.Fits(uint64(d.U32()), 4*5)
	for id := 0; id < n && d.Err == nil; id++ {
		var of sim.Effect
		readEffect(d, &of)
		if t.number(of) != uint32(id) {
			d.Damaged()
		}
		if d.Err != nil {
			return
		}
		f := t.list[id]
		f.inert, f.known = states.ReadSet(d, parts), states.ReadSet(d, parts)
		d.Mapping(f.to, parts, parts)
		d.Mapping(f.roles, holders, holders+1)
		if !f.complete() {
			d.Damaged()
		}
	}
}

// writeEffect writes an effect, whose fields all have a fixed size.
func writeEffect(e *states.Encoder, of sim.Effect) {
	b, err := binary.Append(nil, binary.LittleEndian, &of)
	e.Failed(err)
	e.Bytes(b)
}

func readEffect(d *states.Decoder, of *sim.Effect) {
	b := make([]byte, binary.Size(of))
	d.Read(b)
	_, err := binary.Decode(b, binary.LittleEndian, of)
	d.Failed(err)
}

// complete reports whether a result is stored for each known part.
func (f *influence) complete() bool {
	for part := range f.known.All {
		if _, ok := f.to[part]; !ok && !f.inert.Has(part) {
			return false
		}
	}
	return true
}

// save writes first the keys of all contexts, since steps refer to contexts, and then the rest of each context.
func (c *contexts) save(e *states.Encoder) {
	e.U32(uint32(len(c.list)))
	for _, g := range c.list {
		e.U32(g.shared)
		e.Numbers(g.holders)
	}
	for _, g := range c.list {
		g.seen.Save(e)
		g.done.Save(e)
		e.Numbers(g.besides)
		e.Bytes([]byte{states.Flags(g.begun, g.looked, g.audited)})
		e.U32(uint32(len(g.steps)))
		for i := range g.steps {
			writeStep(e, &g.steps[i])
		}
	}
}

func writeStep(e *states.Encoder, s *step) {
	e.U32(s.to.id)
	e.U32(s.by)
	e.Bytes([]byte{states.Flags(s.all)})
	writeTaken(e, s.how)
	e.U32(uint32(len(s.open)))
	for _, o := range s.open {
		e.U64(o.view)
		writeTaken(e, o.how)
	}
}

func writeTaken(e *states.Encoder, how *takenIn) {
	m := &how.move
	e.U32(how.shared)
	e.Numbers(how.all)
	e.Bytes([]byte{byte(m.action.Kind), m.action.Client, states.Flags(m.action.Late, m.unwitnessed)})
	e.Tuple([]uint32{uint32(m.action.Arg), m.shared, m.own, m.left[0], m.left[1], m.effect})
	e.U64(uint64(m.found))
}

// readContexts reads the contexts that contexts.save wrote.
func (s *exploration) readContexts(d *states.Decoder) {
	n := d.Fits(uint64(d.U32()), 8)
	for id := 0; id < n && d.Err == nil; id++ {
		shared := d.Below(s.shared.Len())
		holders := d.Numbers(uint32(len(s.roles.ids)))
		if s.contexts.intern(nil, shared, holders).id != uint32(id) {
			d.Damaged()
		}
	}
	for _, g := range s.contexts.list {
		if d.Err != nil {
			return
		}
		s.readContext(d, g)
	}
}

func (s *exploration) readContext(d *states.Decoder, g *viewContext) {
	parts := s.clients.Len()
	g.seen, g.done, g.besides = states.ReadSet(d, parts), states.ReadSet(d, parts), d.Numbers(parts+1)
	var b [1]byte
	d.Read(b[:])
	g.begun, g.looked, g.audited = b[0]&1 != 0, b[0]&2 != 0, b[0]&4 != 0
	for _, part := range g.besides {
		if part == 0 {
			d.Damaged()
		}
	}
	for n := d.Fits(uint64(d.U32()), 4*12); n > 0 && d.Err == nil; n-- {
		st := s.readStep(d)
		if d.Err != nil {
			return
		}
		out := s.outcomeOf(&st.how.move, st.by, st.all)
		g.index[out] = int32(len(g.steps))
		g.steps = append(g.steps, st)
	}
}

func (s *exploration) readStep(d *states.Decoder) (st step) {
	st.to = s.contexts.at(d)
	st.by = d.Below(uint32(len(s.roles.ids)) + 1)
	var b [1]byte
	d.Read(b[:])
	st.all, st.how = b[0] != 0, s.readTaken(d)
	if d.Err == nil {
		st.does = s.effects.at(st.how.move.effect)
	}
	for n := d.Fits(uint64(d.U32()), 8); n > 0 && d.Err == nil; n-- {
		o := opening{view: d.U64()}
		o.how = s.readTaken(d)
		st.open = append(st.open, o)
	}
	return st
}

func (s *exploration) readTaken(d *states.Decoder) *takenIn {
	shared, parts := s.shared.Len(), s.clients.Len()
	how := &takenIn{shared: d.Below(shared), all: d.Numbers(parts)}
	var b [3]byte
	d.Read(b[:])
	m := &how.move
	m.action = scenario.Action{Kind: scenario.ActionKind(b[0]), Client: b[1], Late: b[2]&1 != 0, Arg: d.Below(1 << 16)}
	m.unwitnessed, m.shared, m.own = b[2]&2 != 0, d.Below(shared), d.Below(parts+1)
	m.left = abandoned{d.Below(parts + 1), d.Below(parts + 1)}
	m.effect, m.found = d.Below(uint32(len(s.effects.list))), property.Set(d.U64())
	if len(how.all) < m.first() || len(how.all) > lock.MaxClients || int(m.action.Client) > m.first() {
		d.Damaged()
	}
	return how
}

// at reads the number of a context, and returns that context; after an error it returns nil.
func (c *contexts) at(d *states.Decoder) *viewContext {
	id := d.Below(uint32(len(c.list)))
	if d.Err != nil {
		return nil
	}
	return c.list[id]
}
