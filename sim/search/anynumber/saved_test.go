package anynumber

import (
	"encoding/binary"
	"math"
	"slices"
	"testing"

	"github.com/lockproof/lockproof/internal/searchtest"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/sim"
	"github.com/lockproof/lockproof/sim/search/states"
)

// begun returns a search for any number of clients that has reached some contexts, steps and effects.
func begun(t *testing.T) *exploration {
	s := newExploration(t.Context(), standard(1, 1, property.Applicable(lock.Semaphore), false), Options{Workers: 1})
	s.workers[0].begin()
	for range 8 {
		s.collect()
		s.round()
	}
	s.collect()
	return s
}

// TestDamagedRoles: decoding refuses a role that occurs twice, and accepts roles with the shortest possible encoding.
func TestDamagedRoles(t *testing.T) {
	for name, c := range map[string]struct {
		images []string
		ok     bool
	}{
		"none": {nil, true}, "one": {[]string{"a"}, true}, "two": {[]string{"a", "b"}, true}, "twice": {[]string{"a", "a"}, false}, "empty": {[]string{""}, false},
	} {
		if err := searchtest.Reread(t, func(e *states.Encoder) {
			e.U32(uint32(len(c.images)))
			for _, image := range c.images {
				e.Bytes([]byte{0})
				e.U64(1)
				e.Blob([]byte(image))
			}
		}, func(d *states.Decoder) {
			v := twoViews()
			(&roles{ids: make(map[role]uint32)}).restore(d, v)
		}); (err == nil) != (c.ok || name == "empty") {
			t.Errorf("roles, %s: %v", name, err)
		}
	}
}

// twoViews returns a table of two views, with the numbers 0 and 1.
func twoViews() *states.Views {
	v := states.NewViews()
	v.Number(nil)
	v.Number([]byte("seen"))
	return v
}

// TestInconsistent: each decoded part of a client must name an existing class, view and role.
func TestInconsistent(t *testing.T) {
	v, r := twoViews(), &roles{ids: map[role]uint32{{}: 0, {class: 1}: 1}}
	for name, c := range map[string]struct {
		class byte
		Part  states.Part
		want  bool
	}{
		"all there":             {1, states.Part{View: 1, Holds: true, Role: 1}, true},
		"no such client":        {2, states.Part{}, false},
		"no such view":          {0, states.Part{View: 2}, false},
		"no such role":          {0, states.Part{Holds: true, Role: 2}, false},
		"nobody asks which one": {0, states.Part{Role: 2}, true},
	} {
		s := newExploration(t.Context(), standard(1, 1, 1<<property.NoPhantomSlot, false), Options{Workers: 1}) // clients and administrators
		s.clients, s.views, s.roles = states.NewTable(), v, r
		s.clients.Number([]byte{0, 'x'}, func() states.Part { return states.Part{} })
		s.clients.Number([]byte{c.class, 'y'}, func() states.Part { return c.Part })
		if got := s.consistent(); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	for _, view := range []uint64{0, 1, 2} {
		err := searchtest.Reread(t, func(e *states.Encoder) {
			e.U32(1)
			e.Bytes([]byte{0})
			e.U64(view)
			e.Blob(nil)
		}, func(d *states.Decoder) { (&roles{ids: make(map[role]uint32)}).restore(d, v) })
		if (err == nil) != (view < 2) {
			t.Errorf("a role that sees %d of 2: %v", view, err)
		}
	}
}

// TestDamagedEffects: decoding refuses an effect that occurs twice, and an effect that lacks the result for a known
// part.
func TestDamagedEffects(t *testing.T) {
	s := begun(t)
	parts, holders := s.clients.Len(), uint32(len(s.roles.ids))
	set := func(of ...uint32) (s states.Set) {
		for _, n := range of {
			s.Add(n)
		}
		return s
	}
	one := func(change func(f *influence)) func(e *states.Encoder) {
		return func(e *states.Encoder) {
			f := &influence{inert: set(0, 1), known: set(0, 1, 2), to: map[uint32]uint32{2: 3}, roles: map[uint32]uint32{0: 1}}
			change(f)
			(&effectTable{ids: map[sim.Effect]uint32{{}: 0}, list: []*influence{f}}).save(e)
		}
	}
	for name, c := range map[string]struct {
		write func(e *states.Encoder)
		ok    bool
	}{
		"none": {func(e *states.Encoder) { e.U32(0) }, true},
		"bare": {one(func(f *influence) { *f = influence{} }), true},
		"one":  {one(func(*influence) {}), true},
		"twice": {func(e *states.Encoder) {
			e.U32(2)
			for range 2 {
				writeEffect(e, sim.Effect{})
				e.Tuple(make([]uint32, 4))
			}
		}, false},
		"cut off":                   {func(e *states.Encoder) { e.U32(1); e.Bytes(make([]byte, binary.Size(sim.Effect{}))) }, false},
		"nothing becomes of a part": {one(func(f *influence) { f.known.Add(4) }), false},
		"the last part":             {one(func(f *influence) { f.inert.Add(parts - 1); f.known.Add(parts - 1) }), true},
		"no such part is inert":     {one(func(f *influence) { f.inert.Add(parts) }), false},
		"no such part is known":     {one(func(f *influence) { f.known.Add(parts); f.inert.Add(parts) }), false},
		"to the last part":          {one(func(f *influence) { f.to[2] = parts - 1 }), true},
		"to no part":                {one(func(f *influence) { f.to[2] = parts }), false},
		"of no part":                {one(func(f *influence) { f.to[parts] = 1 }), false},
		"of the last role":          {one(func(f *influence) { f.roles[holders-1] = holders }), true},
		"of no role":                {one(func(f *influence) { f.roles[holders] = 0 }), false},
		"to no role":                {one(func(f *influence) { f.roles[0] = holders + 1 }), false},
	} {
		read := effectTable{ids: make(map[sim.Effect]uint32)}
		err := searchtest.Reread(t, c.write, func(d *states.Decoder) { read.restore(d, s.plan) })
		if (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestDamagedContexts: decoding refuses a context that occurs twice, and contexts and steps that refer to something
// missing.
func TestDamagedContexts(t *testing.T) {
	s := begun(t)
	shared, parts := s.shared.Len(), s.clients.Len()
	holders, number := uint32(len(s.roles.ids)), uint32(len(s.contexts.list))
	g := s.contexts.list[slices.IndexFunc(s.contexts.list, func(g *viewContext) bool {
		return slices.ContainsFunc(g.steps, func(st step) bool { return st.how.move.own > 0 })
	})]
	of := *g.steps[slices.IndexFunc(g.steps, func(st step) bool { return st.how.move.own > 0 })].how
	for name, c := range map[string]struct {
		change func(how *takenIn)
		ok     bool
	}{
		"as it is":             {func(*takenIn) {}, true},
		"the last shared part": {func(how *takenIn) { how.shared, how.move.shared = shared-1, shared-1 }, true},
		"in no shared part":    {func(how *takenIn) { how.shared = shared }, false},
		"to no shared part":    {func(how *takenIn) { how.move.shared = shared }, false},
		"beside the last part": {func(how *takenIn) { how.all[0] = parts - 1 }, true},
		"beside no part":       {func(how *takenIn) { how.all[0] = parts }, false},
		"the last part's":      {func(how *takenIn) { how.move.own = parts }, true},
		"no part's":            {func(how *takenIn) { how.move.own = parts + 1 }, false},
		"leaves the last part": {func(how *takenIn) { how.move.left = abandoned{parts, parts} }, true},
		"leaves no part":       {func(how *takenIn) { how.move.left[0] = parts + 1 }, false},
		"leaves no part, too":  {func(how *takenIn) { how.move.left[1] = parts + 1 }, false},
		"the last effect":      {func(how *takenIn) { how.move.effect = uint32(len(s.effects.list)) - 1 }, true},
		"no effect":            {func(how *takenIn) { how.move.effect = uint32(len(s.effects.list)) }, false},
		"flags":                {func(how *takenIn) { how.move.action.Late = true }, true},
		"other flags":          {func(how *takenIn) { how.move.unwitnessed = true }, true},
		"any argument":         {func(how *takenIn) { how.move.action.Arg = math.MaxUint16 }, true},
		"many beside":          {func(how *takenIn) { how.all = make([]uint32, lock.MaxClients) }, true},
		"too many beside":      {func(how *takenIn) { how.all = make([]uint32, lock.MaxClients+1) }, false},
		"nobody acts":          {func(how *takenIn) { how.all = nil }, false},
		"nobody needs to act":  {func(how *takenIn) { how.all, how.move.own, how.move.action.Client = nil, 0, 0 }, true},
		"who acts is nobody":   {func(how *takenIn) { how.move.own, how.move.action.Client = 0, 1 }, false},
		"who acts is another":  {func(how *takenIn) { how.move.action.Client = 2 }, false},
		"who acts is the one":  {func(how *takenIn) { how.move.action.Client = 1 }, true},
	} {
		how := of
		how.all = slices.Clone(of.all)
		c.change(&how)
		var got *takenIn
		err := searchtest.Reread(t, func(e *states.Encoder) { writeTaken(e, &how) }, func(d *states.Decoder) { got = s.readTaken(d) })
		if (err == nil) != c.ok || c.ok && (got.shared != how.shared || !slices.Equal(got.all, how.all) || got.move != how.move) {
			t.Errorf("%s: %v, %+v, written was %+v", name, err, got, how)
		}
	}
	st := g.steps[0]
	for name, c := range map[string]struct {
		change func(st *step)
		ok     bool
	}{
		"as it is":            {func(*step) {}, true},
		"to the last context": {func(st *step) { st.to = s.contexts.list[number-1] }, true},
		"to no context":       {func(st *step) { st.to = &viewContext{id: number} }, false},
		"by the last role":    {func(st *step) { st.by = holders }, true},
		"by no role":          {func(st *step) { st.by = holders + 1 }, false},
		"all, or not":         {func(st *step) { st.all = !st.all }, true},
		"open":                {func(st *step) { st.open = []opening{{1, &of}, {2, &of}} }, true},
	} {
		changed := st
		c.change(&changed)
		var got step
		err := searchtest.Reread(t, func(e *states.Encoder) { writeStep(e, &changed) }, func(d *states.Decoder) { got = s.readStep(d) })
		if (err == nil) != c.ok || c.ok && (got.to != changed.to || got.by != changed.by || got.all != changed.all || len(got.open) != len(changed.open)) {
			t.Errorf("a step, %s: %v, %+v, written was %+v", name, err, got, changed)
		}
	}
	for name, c := range map[string]struct {
		change func(g *viewContext)
		ok     bool
	}{
		"nothing known":              {func(*viewContext) {}, true},
		"the last part is there":     {func(g *viewContext) { g.seen.Add(parts - 1); g.done.Add(parts - 1) }, true},
		"no such part is there":      {func(g *viewContext) { g.seen.Add(parts) }, false},
		"no such part was looked at": {func(g *viewContext) { g.done.Add(parts) }, false},
		"beside the last part":       {func(g *viewContext) { g.besides = []uint32{1, parts} }, true},
		"beside no part":             {func(g *viewContext) { g.besides = []uint32{parts + 1} }, false},
		"beside nobody":              {func(g *viewContext) { g.besides = []uint32{0} }, false},
		"no such shared part":        {func(g *viewContext) { g.shared = shared }, false},
		"no such role":               {func(g *viewContext) { g.holders = []uint32{holders} }, false},
		"the last role":              {func(g *viewContext) { g.holders = []uint32{holders - 1} }, true},
	} {
		var changed viewContext
		c.change(&changed)
		for times := 1; times < 3; times++ {
			of := contexts{list: slices.Repeat([]*viewContext{&changed}, times)}
			fresh := &exploration{plan: s.plan}
			fresh.contexts.ids = make(map[string]*viewContext)
			if err := searchtest.Reread(t, of.save, fresh.readContexts); (err == nil) != (c.ok && times == 1) {
				t.Errorf("a context, %s, %d times: %v", name, times, err)
			}
		}
	}
}

// TestFirstErrorStays: decoding a checkpoint that is cut off or cannot be read returns an error.
func TestFirstErrorStays(t *testing.T) {
	b := standard(1, 0, 1<<property.NoPhantomSlot, true)
	searchtest.CutOff(t, "any number", written(t, b), magic, newDecoding(t, b))
}

// newDecoding returns a function that decodes a checkpoint into a new search for any number of clients.
func newDecoding(t *testing.T, b Bounds) func(d *states.Decoder) error {
	return func(d *states.Decoder) error { return newExploration(t.Context(), b, Options{Workers: 1}).decode(d) }
}
