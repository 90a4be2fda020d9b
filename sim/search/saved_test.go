package search

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"slices"
	"testing"
	"testing/iotest"

	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/sim"
)

// reread has something read of what was written, and reports an error if it is refused or read in part only.
func reread(t *testing.T, write func(*encoder), read func(*decoder)) error {
	t.Helper()
	var file bytes.Buffer
	e := newEncoder(&file)
	write(e)
	if err := e.w.Flush(); err != nil || e.err != nil {
		t.Fatal(err, e.err)
	}
	d := &decoder{r: &file, left: int64(file.Len())}
	if read(d); d.err == nil && d.left != 0 {
		t.Errorf("%d bytes were not read", d.left)
	}
	return d.err
}

// begun is a search for any number of clients that has some contexts, steps and effects.
func begun(t *testing.T) *anySearch {
	s := newAnySearch(t.Context(), anyStandard(1, 1, property.Applicable(lock.Semaphore), false), AnyOptions{Workers: 1})
	s.workers[0].begin()
	for range 8 {
		s.collect()
		s.round()
	}
	s.collect()
	return s
}

// TestNumbersWithin: a number of a checkpoint is less than what there is of its kind, wherever it stands; and what is as
// short as it can be is not taken for cut off.
func TestNumbersWithin(t *testing.T) {
	fits := func(n uint32) bool { return n < 70 }
	for name, c := range map[string]struct {
		write func(e *encoder, n uint32)
		read  func(d *decoder)
	}{
		"a number":     {func(e *encoder, n uint32) { e.u32(n) }, func(d *decoder) { d.below(70) }},
		"numbers":      {func(e *encoder, n uint32) { e.numbers([]uint32{3, n}) }, func(d *decoder) { d.numbers(70) }},
		"one of some":  {func(e *encoder, n uint32) { e.numbers([]uint32{n}) }, func(d *decoder) { d.numbers(70) }},
		"a set":        {func(e *encoder, n uint32) { var s bitset; s.add(n); e.set(s) }, func(d *decoder) { d.set(70) }},
		"keys":         {func(e *encoder, n uint32) { e.mapping(map[uint32]uint32{n: 1}) }, func(d *decoder) { d.mapping(make(map[uint32]uint32), 70, 2) }},
		"values":       {func(e *encoder, n uint32) { e.mapping(map[uint32]uint32{1: n}) }, func(d *decoder) { d.mapping(make(map[uint32]uint32), 2, 70) }},
		"several keys": {func(e *encoder, n uint32) { e.mapping(map[uint32]uint32{0: 1, n: 1}) }, func(d *decoder) { d.mapping(make(map[uint32]uint32), 70, 2) }},
	} {
		for _, n := range []uint32{1, 69, 70, 71} {
			if err := reread(t, func(e *encoder) { c.write(e, n) }, c.read); (err == nil) != fits(n) {
				t.Errorf("%s: %d of 70: %v", name, n, err)
			}
		}
	}
}

// TestDamagedState: every part of a state must be there, and be one of a client with its workload.
func TestDamagedState(t *testing.T) {
	b := standard(2, 1, 1, 1, 1) // two clients of one workload, and an administrator
	s := newSearch(context.Background(), b, Options{Workers: 1, Reductions: Reductions{Symmetry: true}})
	defer s.seen.free()
	good := slices.Clone(s.workers[0].initial())
	shared, clients := s.shared.n.Load(), s.clients.n.Load()
	for name, c := range map[string]struct {
		change func(t []uint32)
		ok     bool
	}{
		"as it is":                     {func([]uint32) {}, true},
		"clients of one workload":      {func(t []uint32) { t[1], t[2] = t[2], t[1] }, true},
		"no such shared part":          {func(t []uint32) { t[0] = shared }, false},
		"no such part, first":          {func(t []uint32) { t[1] = clients }, false},
		"no such part, last":           {func(t []uint32) { t[3] = clients }, false},
		"another's part, first":        {func(t []uint32) { t[1] = t[3] }, false},
		"another's part, in the midst": {func(t []uint32) { t[2] = t[3] }, false},
		"another's part, last":         {func(t []uint32) { t[3] = t[1] }, false},
	} {
		state := slices.Clone(good)
		c.change(state)
		err := reread(t, func(e *encoder) { e.tuple(state) }, func(d *decoder) { d.tuple(make([]uint32, len(state)), s.plan) })
		if (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestDamagedVisited: the states that were seen are each there once.
func TestDamagedVisited(t *testing.T) {
	b := standard(2, 1, 0, 1, 0)
	for name, c := range map[string]struct {
		fps []uint64
		ok  bool
	}{
		"none": {nil, true}, "one": {[]uint64{7}, true}, "two": {[]uint64{7, 1 << 63}, true}, "twice": {[]uint64{7, 8, 7}, false}, "no state": {[]uint64{7, 0}, false},
	} {
		f := newFingerprints()
		err := reread(t, func(e *encoder) {
			e.u64(uint64(len(c.fps)))
			for _, fp := range c.fps {
				e.u64(fp)
			}
		}, f.restore)
		if (err == nil) != c.ok || c.ok && f.count() != int64(len(c.fps)) {
			t.Errorf("fingerprints, %s: %v, %d", name, err, f.count())
		}
		f.free()
	}
	s := newSearch(context.Background(), b, Options{Workers: 1, Storage: Exact})
	state := s.workers[0].initial()
	for n := range 3 {
		x := newExact(s.plan)
		err := reread(t, func(e *encoder) {
			e.u64(uint64(n))
			for range n {
				e.tuple(state)
			}
		}, x.restore)
		if (err == nil) != (n < 2) || n < 2 && x.count() != int64(n) {
			t.Errorf("exact, %d times: %v, %d", n, err, x.count())
		}
	}
	a, read := newBitArray(64, 3), newBitArray(64, 3)
	for fp := range uint64(20) {
		a.add(mix(fp))
	}
	if err := reread(t, a.save, read.restore); err != nil || !slices.Equal(a.words, read.words) || a.set.Load() != read.set.Load() || a.count() != read.count() {
		t.Errorf("bits: %v, %d of %d and %d of %d", err, read.count(), a.count(), read.set.Load(), a.set.Load())
	}
}

// TestDamagedParts: parts, views, links, roles and effects are each there once, say nothing of what is not there, and are
// read if they are as short as can be.
func TestDamagedParts(t *testing.T) {
	for name, c := range map[string]struct {
		images []string
		ok     bool
	}{
		"none": {nil, true}, "one": {[]string{"a"}, true}, "two": {[]string{"a", "b"}, true}, "twice": {[]string{"a", "a"}, false}, "empty": {[]string{""}, false},
	} {
		p := newParts()
		err := reread(t, func(e *encoder) {
			e.u32(uint32(len(c.images)))
			for i, image := range c.images {
				e.blob([]byte(image))
				e.u64(0)
				e.bytes(make([]byte, 2+6))
				e.u32(uint32(i))
			}
		}, p.restore)
		if (err == nil) != c.ok || c.ok && int(p.n.Load()) != len(c.images) {
			t.Errorf("parts, %s: %v, %d", name, err, p.n.Load())
		}
		v := newViews()
		err = reread(t, func(e *encoder) {
			e.u32(uint32(len(c.images)))
			for _, image := range c.images {
				e.blob([]byte(image))
			}
		}, v.restore)
		if (err == nil) != (c.ok || name == "empty") {
			t.Errorf("views, %s: %v", name, err)
		}
		if err := reread(t, func(e *encoder) {
			e.u32(uint32(len(c.images)))
			for _, image := range c.images {
				e.bytes([]byte{0})
				e.u64(1)
				e.blob([]byte(image))
			}
		}, func(d *decoder) {
			v := &views{ids: map[string]uint64{"": 0, "seen": 1}}
			(&roles{ids: make(map[role]uint32)}).restore(d, v)
		}); (err == nil) != (c.ok || name == "empty") {
			t.Errorf("roles, %s: %v", name, err)
		}
	}
	p := &plan{clients: newParts()}
	p.clients.intern([]byte("a"), func() part { return part{} })
	p.clients.intern([]byte("b"), func() part { return part{} })
	for _, k := range []uint64{0, 1, 1 << 32, 1<<32 | 1, 2, 2 << 32, math.MaxUint64} {
		err := reread(t, func(e *encoder) { links{k: {}}.save(e) }, func(d *decoder) { readLinks(d, p) })
		if (err == nil) != (uint32(k) < 2 && k>>32 < 2) {
			t.Errorf("a link %x: %v", k, err)
		}
	}
}

// TestInconsistent: what is said of clients' parts must be there.
func TestInconsistent(t *testing.T) {
	v, r := &views{ids: map[string]uint64{"": 0, "seen": 1}}, &roles{ids: map[role]uint32{{}: 0, {class: 1}: 1}}
	for name, c := range map[string]struct {
		class byte
		part  part
		want  bool
	}{
		"all there":             {1, part{view: 1, holds: true, role: 1}, true},
		"no such client":        {2, part{}, false},
		"no such view":          {0, part{view: 2}, false},
		"no such role":          {0, part{holds: true, role: 2}, false},
		"nobody asks which one": {0, part{role: 2}, true},
	} {
		p := newParts()
		p.intern([]byte{0, 'x'}, func() part { return part{} })
		p.intern([]byte{c.class, 'y'}, func() part { return c.part })
		if got := p.consistent(v, r, 2); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	for _, view := range []uint64{0, 1, 2} {
		err := reread(t, func(e *encoder) {
			e.u32(1)
			e.bytes([]byte{0})
			e.u64(view)
			e.blob(nil)
		}, func(d *decoder) { (&roles{ids: make(map[role]uint32)}).restore(d, v) })
		if (err == nil) != (view < 2) {
			t.Errorf("a role that sees %d of 2: %v", view, err)
		}
	}
}

// TestDamagedEffects: effects are each there once, and tell of every part that is known what becomes of it.
func TestDamagedEffects(t *testing.T) {
	s := begun(t)
	parts, holders := s.clients.n.Load(), uint32(len(s.roles.ids))
	set := func(of ...uint32) (s bitset) {
		for _, n := range of {
			s.add(n)
		}
		return s
	}
	one := func(change func(f *influence)) func(e *encoder) {
		return func(e *encoder) {
			f := &influence{inert: set(0, 1), known: set(0, 1, 2), to: map[uint32]uint32{2: 3}, roles: map[uint32]uint32{0: 1}}
			change(f)
			(&effectTable{ids: map[sim.Effect]uint32{{}: 0}, list: []*influence{f}}).save(e)
		}
	}
	for name, c := range map[string]struct {
		write func(e *encoder)
		ok    bool
	}{
		"none": {func(e *encoder) { e.u32(0) }, true},
		"bare": {one(func(f *influence) { *f = influence{} }), true},
		"one":  {one(func(*influence) {}), true},
		"twice": {func(e *encoder) {
			e.u32(2)
			for range 2 {
				e.effect(sim.Effect{})
				e.tuple(make([]uint32, 4))
			}
		}, false},
		"cut off":                   {func(e *encoder) { e.u32(1); e.bytes(make([]byte, binary.Size(sim.Effect{}))) }, false},
		"nothing becomes of a part": {one(func(f *influence) { f.known.add(4) }), false},
		"the last part":             {one(func(f *influence) { f.inert.add(parts - 1); f.known.add(parts - 1) }), true},
		"no such part is inert":     {one(func(f *influence) { f.inert.add(parts) }), false},
		"no such part is known":     {one(func(f *influence) { f.known.add(parts); f.inert.add(parts) }), false},
		"to the last part":          {one(func(f *influence) { f.to[2] = parts - 1 }), true},
		"to no part":                {one(func(f *influence) { f.to[2] = parts }), false},
		"of no part":                {one(func(f *influence) { f.to[parts] = 1 }), false},
		"of the last role":          {one(func(f *influence) { f.roles[holders-1] = holders }), true},
		"of no role":                {one(func(f *influence) { f.roles[holders] = 0 }), false},
		"to no role":                {one(func(f *influence) { f.roles[0] = holders + 1 }), false},
	} {
		read := effectTable{ids: make(map[sim.Effect]uint32)}
		err := reread(t, c.write, func(d *decoder) { read.restore(d, s.anyPlan) })
		if (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestDamagedContexts: contexts are each there once, and what is said of them and of their steps names what there is.
func TestDamagedContexts(t *testing.T) {
	s := begun(t)
	shared, parts := s.shared.n.Load(), s.clients.n.Load()
	holders, number := uint32(len(s.roles.ids)), uint32(len(s.contexts.list))
	g := s.contexts.list[slices.IndexFunc(s.contexts.list, func(g *anyContext) bool {
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
		err := reread(t, func(e *encoder) { e.taken(&how) }, func(d *decoder) { got = s.readTaken(d) })
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
		"to no context":       {func(st *step) { st.to = &anyContext{id: number} }, false},
		"by the last role":    {func(st *step) { st.by = holders }, true},
		"by no role":          {func(st *step) { st.by = holders + 1 }, false},
		"all, or not":         {func(st *step) { st.all = !st.all }, true},
		"open":                {func(st *step) { st.open = []opening{{1, &of}, {2, &of}} }, true},
	} {
		changed := st
		c.change(&changed)
		var got step
		err := reread(t, func(e *encoder) { e.step(&changed) }, func(d *decoder) { got = s.readStep(d) })
		if (err == nil) != c.ok || c.ok && (got.to != changed.to || got.by != changed.by || got.all != changed.all || len(got.open) != len(changed.open)) {
			t.Errorf("a step, %s: %v, %+v, written was %+v", name, err, got, changed)
		}
	}
	for name, c := range map[string]struct {
		change func(g *anyContext)
		ok     bool
	}{
		"nothing known":              {func(*anyContext) {}, true},
		"the last part is there":     {func(g *anyContext) { g.seen.add(parts - 1); g.done.add(parts - 1) }, true},
		"no such part is there":      {func(g *anyContext) { g.seen.add(parts) }, false},
		"no such part was looked at": {func(g *anyContext) { g.done.add(parts) }, false},
		"beside the last part":       {func(g *anyContext) { g.besides = []uint32{1, parts} }, true},
		"beside no part":             {func(g *anyContext) { g.besides = []uint32{parts + 1} }, false},
		"beside nobody":              {func(g *anyContext) { g.besides = []uint32{0} }, false},
		"no such shared part":        {func(g *anyContext) { g.shared = shared }, false},
		"no such role":               {func(g *anyContext) { g.holders = []uint32{holders} }, false},
		"the last role":              {func(g *anyContext) { g.holders = []uint32{holders - 1} }, true},
	} {
		var changed anyContext
		c.change(&changed)
		for times := 1; times < 3; times++ {
			of := contexts{list: slices.Repeat([]*anyContext{&changed}, times)}
			fresh := &anySearch{anyPlan: s.anyPlan}
			fresh.contexts.ids = make(map[string]*anyContext)
			if err := reread(t, of.save, fresh.readContexts); (err == nil) != (c.ok && times == 1) {
				t.Errorf("a context, %s, %d times: %v", name, times, err)
			}
		}
	}
}

// TestFirstErrorStays: where a file cannot be read further, that is the error, whatever is read then; and a file that is
// cut off, at whatever place, is refused.
func TestFirstErrorStays(t *testing.T) {
	broken := errors.New("the disk is broken")
	small := standard(1, 1, 0, 1, 0)
	options := []Options{{}, {Storage: Exact}, {Storage: Bits, Array: 64}}
	check := func(name string, file []byte, magic string, decode func(d *decoder) error) {
		body := file[len(magic) : len(file)-sha256.Size]
		for n := 0; n < len(body); n += 1 + len(body)/150 {
			d := &decoder{r: io.MultiReader(bytes.NewReader(body[:n]), iotest.ErrReader(broken)), left: int64(len(body))}
			if err := decode(d); err != broken {
				t.Fatalf("%s, broken after %d of %d bytes: %v", name, n, len(body), err)
			}
			d = &decoder{r: bytes.NewReader(body[:n]), left: int64(n)}
			if err := decode(d); err == nil {
				t.Fatalf("%s: it is read though it ends after %d of %d bytes", name, n, len(body))
			}
		}
	}
	for _, o := range options {
		o.Workers = 1
		check(o.Storage.String(), written(t, small, o), checkpointMagic, func(d *decoder) error {
			s := newSearch(t.Context(), small, o)
			defer s.seen.free()
			return s.decode(d)
		})
	}
	b := anyStandard(1, 0, 1<<property.NoPhantomSlot, true)
	check("any number", anyWritten(t, b), anyMagic, newDecoding(t, b))
}

// newDecoding has a new search for any number of clients read a checkpoint.
func newDecoding(t *testing.T, b AnyBounds) func(d *decoder) error {
	return func(d *decoder) error { return newAnySearch(t.Context(), b, AnyOptions{Workers: 1}).decode(d) }
}
