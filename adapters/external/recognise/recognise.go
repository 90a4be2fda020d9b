package recognise

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/lockproof/lockproof/adapters/wire/frame"
	"github.com/lockproof/lockproof/model/lock"
)

// evidence is what comes with acquiring a lock and goes with releasing it: queues of which each says who holds it.
type evidence struct {
	owned    []string // exclusive queues
	stay     []string // those that do not go
	messages []string // queues of which a message is taken
	moved    []string // queues of which a message is taken that goes to another of the lock's queues
	active   []string // queues of messages or of consumed that have a single active consumer, who goes as well
	gone     []string // queues of which a message is gone: taken and acknowledged at once
	still    []string // queues that are consumed, and still are when it is released
	sole     []string // those of them of which that consumer is an exclusive one
	consumed []string // queues that are consumed
	shared   []string // those of them that others may consume as well
	made     []string // other queues that come with it
	foreign  []string // exclusive queues, whose names have nothing to do with the lock's
	fewer    bool     // some queue, whatever its name, has a message less, or one that is taken
}

// Lasts reports whether something is there that came with acquiring the lock.
func (u *Use) Lasts() bool {
	for name, q := range u.During {
		b, a := u.Before[name], u.After[name]
		if q.owned && !b.owned && a.owned || len(q.taken) > len(b.taken) && len(a.taken) >= len(q.taken) ||
			q.consumers > b.consumers && a.consumers >= q.consumers {
			return true
		}
	}
	return false
}

// evidence is what one use shows, of queues whose names have to do with the lock's.
func (u *Use) evidence() (e evidence) {
	for _, name := range slices.Sorted(maps.Keys(u.During)) {
		q, b, a := u.During[name], u.Before[name], u.After[name]
		e.fewer = e.fewer || len(q.taken) > len(b.taken) || q.size() < max(b.size(), a.size())
		if !mentions(name, u.Lock) {
			if q.owned && !b.owned && !a.owned {
				e.foreign = append(e.foreign, name)
			}
			continue
		}
		_, before := u.Before[name]
		_, after := u.After[name]
		switch {
		case q.owned && !b.owned && a.owned:
			e.stay = append(e.stay, name)
		case q.owned && !b.owned:
			e.owned = append(e.owned, name)
		case q.sole && !b.sole && !a.sole && !q.owned: // whoever has messages of it besides, nobody else is sent any
			e.consumed = append(e.consumed, name)
		case len(q.taken) > len(b.taken) && len(a.taken) < len(q.taken):
			e.messages = append(e.messages, name)
			if len(a.taken)+len(a.ready) < len(q.taken)+len(q.ready) {
				e.moved = append(e.moved, name)
			}
			if q.single && q.consumers > b.consumers && a.consumers < q.consumers {
				e.active = append(e.active, name)
			}
		case q.consumers > b.consumers && a.consumers < q.consumers && !q.owned:
			e.consumed = append(e.consumed, name)
			if q.shared {
				e.shared = append(e.shared, name)
			}
			if q.single {
				e.active = append(e.active, name)
			}
		case q.consumers > b.consumers && !q.owned:
			e.still = append(e.still, name)
			if q.sole {
				e.sole = append(e.sole, name)
			}
		case after && len(q.taken) == len(a.taken) && len(a.ready) == len(q.ready)+1:
			e.gone = append(e.gone, name)
		case !before:
			e.made = append(e.made, name)
		}
	}
	return e
}

// alone are the queues that come to be consumed by somebody beside whom nobody else may consume them, or is active.
func (e *evidence) alone() []string {
	return slices.DeleteFunc(slices.Clone(e.consumed), func(queue string) bool { return slices.Contains(e.shared, queue) })
}

// moves reports whether a message that is taken goes to another queue when the lock is released, as by dead-lettering.
func (e *evidence) moves() bool { return len(e.moved) > 0 && len(e.gone) > 0 }

// mentions reports whether a queue's name has a lock's, written somehow.
func mentions(queue, lock string) bool {
	return slices.ContainsFunc(writings, func(w writing) bool {
		_, _, _, ok := w.find(queue, lock)
		return ok
	})
}

// Design is how the lock is held, as far as all uses show the same.
func (p *Probe) Design(kind lock.Kind, given Naming) Design {
	d := Design{Used: strings.Join(p.methods, ", "), Asks: p.publishes}
	p.Uses = slices.DeleteFunc(p.Uses, func(u *Use) bool { return !u.Granted })
	if kind != lock.Mutex && !given.A.Known() && !given.B.Known() && p.guided() {
		d.Holding, d.Naming = ByQueue, Guidelines
		d.Admin = given.Or(Naming{Admin: p.administers(Guidelines.B)}).Admin
		return d
	}
	if len(p.Uses) == 0 {
		d.Why = "a lock that nobody held was not acquired"
		return d
	}
	shown := make([]evidence, len(p.Uses))
	for i, u := range p.Uses {
		shown[i] = u.evidence()
	}
	p.decide(&d, kind, given, shown)
	d.Alike = kind == lock.Semaphore && p.alike()
	return d
}

// alike reports whether two clients were told that they hold the same slot at once, of a lock that has two.
func (p *Probe) alike() bool {
	for i, u := range p.Uses {
		if slices.ContainsFunc(p.Uses[:i], func(o *Use) bool { return o.Lock == u.Lock && o.Slot == u.Slot }) {
			return true
		}
	}
	return false
}

// decide has a design say by what the lock is held, from what all uses show: what shows it most clearly comes first.
func (p *Probe) decide(d *Design, kind lock.Kind, given Naming, shown []evidence) {
	all := func(what func(evidence) []string) (out [][]string) {
		for _, e := range shown {
			if len(what(e)) == 0 {
				return nil
			}
			out = append(out, what(e))
		}
		return out
	}
	owned := all(func(e evidence) []string { return e.owned })
	messages := all(func(e evidence) []string { return e.messages })
	consumed := all(func(e evidence) []string { return e.consumed })
	shared := all(func(e evidence) []string { return e.shared })
	alone := all(func(e evidence) []string { return e.alone() })
	gone := all(func(e evidence) []string { return e.gone })
	made := all(func(e evidence) []string { return e.made })
	stay := all(func(e evidence) []string { return e.stay })
	still := all(func(e evidence) []string { return e.still })
	sole := all(func(e evidence) []string { return e.sole })
	foreign := all(func(e evidence) []string { return e.foreign })
	active := all(func(e evidence) []string { return e.active })
	switch {
	case slices.ContainsFunc(shown, func(e evidence) bool { return e.moves() }):
		d.Why = "a message of one queue comes with acquiring it, and goes to another queue with releasing it"
	case foreign != nil && owned == nil: // what else comes with it may be there for something else
		d.Why = "an exclusive queue comes with acquiring it and goes with releasing it, whose name is not made from the lock's in any way that is known"
	case owned != nil && messages != nil:
		d.Why = "both an exclusive queue and a message of another queue come with acquiring it and go with releasing it"
	case messages != nil && alone != nil:
		d.Why = "both a message of one queue and a consumer of another, beside which nobody else may be active, come with acquiring it and go with releasing it"
	case messages != nil && consumed != nil && kind != lock.Mutex: // a slot may be there as long as that is
		d.Why = "both a message of one queue and a consumer of another come with acquiring it and go with releasing it"
	case messages != nil:
		p.byMessage(d, kind, given, messages)
		d.Active = active != nil
		d.Bare = d.Known() && p.bare(d.A)
	case owned != nil && p.takes != "" && slices.ContainsFunc(shown, func(e evidence) bool { return e.fewer }):
		d.Why = "it takes messages from a queue that is not exclusive, by " + p.takes
	case owned != nil:
		p.byQueue(d, kind, given, owned)
	case shared != nil && kind != lock.Semaphore: // who has consumed it first need not be who is told that it has the lock
		d.Why = "a consumer of a queue comes with acquiring it and goes with releasing it, beside which others may consume the queue"
	case consumed != nil:
		p.byConsumer(d, kind, given, consumed)
		d.Active = active != nil
	case gone != nil && p.takes != "":
		p.byMessage(d, kind, given, gone)
	case stay != nil && kind != lock.Mutex: // as many queues as there are slots can hardly be for something else
		p.byQueue(d, kind, given, stay)
	case still != nil && kind != lock.Mutex:
		p.byConsumer(d, kind, given, still)
	case sole != nil: // what others may not consume is hardly there for something else
		p.byConsumer(d, kind, given, sole)
	case made != nil && kind != lock.Mutex:
		p.byQueue(d, kind, given, made)
	case p.takes != "" && slices.ContainsFunc(shown, func(e evidence) bool { return e.fewer }):
		d.Why = "it takes messages, by " + p.takes + ", from a queue that is not exclusive, whose name is not made from the lock's in any way that is known"
	case p.takes != "":
		d.Why = "it takes messages from a queue that is not exclusive, by " + p.takes + ", and has none of them while the lock is held"
	case slices.ContainsFunc(shown, func(e evidence) bool { return len(e.stay) > 0 }):
		d.Why = "the exclusive queue that comes with acquiring it stays when it is released"
	default:
		d.Why = "nothing on the broker that has its name comes with acquiring it and lasts until it is released: no exclusive queue, no message that is not acknowledged, no consumer"
	}
}

// guided reports whether queues have the guidelines' names: those of slots once they are made, and a holder's while a
// slot is held, if one ever is.
func (p *Probe) guided() bool {
	for _, c := range p.Made {
		for s := 1; s <= c.Slots; s++ {
			if _, ok := c.After[Guidelines.A.Queue(c.Lock, s)]; !ok {
				return false
			}
		}
	}
	for _, u := range p.Uses {
		if _, ok := u.During[Guidelines.B.Queue(u.Lock, u.Slot)]; !ok {
			return false
		}
	}
	return len(p.Made) > 0
}

// pattern is how those queues are called of which each use shows some: the given pattern, or one that is learnt.
// slots says whether there may be one for each slot.
func (p *Probe) pattern(d *Design, given Pattern, queues [][]string, slots bool, what string) (Pattern, bool) {
	var examples []example
	for i, all := range queues {
		u := p.Uses[i]
		if given.Known() {
			all = slices.DeleteFunc(slices.Clone(all), func(q string) bool { return q != given.Queue(u.Lock, u.Slot) })
		}
		switch {
		case len(all) == 0:
			d.Why = "no " + what + " is called " + given.String() + " while the lock is held"
			return Pattern{}, false
		case len(all) > 1:
			d.Why = "several come with acquiring it and go with releasing it, each of which may be the " + what
			return Pattern{}, false
		}
		e := example{queue: all[0], lock: u.Lock}
		if slots {
			e.slot = u.Slot
		}
		examples = append(examples, e)
	}
	if given.Known() {
		return given, true
	}
	out, ok := learn(examples)
	if !ok {
		d.Why = "the " + what + " is not called by the same pattern for each lock and client: " + examples[0].queue + ", and " + examples[len(examples)-1].queue
	}
	return out, ok
}

// ByQueue is a design in which whoever has an exclusive queue holds the lock.
func (p *Probe) byQueue(d *Design, kind lock.Kind, given Naming, queues [][]string) {
	b, ok := p.pattern(d, given.B, queues, kind != lock.Mutex, "queue of the holder")
	if !ok {
		return
	}
	if d.Naming = (Naming{B: b}); kind == lock.Mutex {
		d.Holding = ByQueue
		return
	}
	if d.A = p.slots(given.A, b); !d.A.Known() {
		d.Why = "create makes no queue for each slot by which it could be told which slots there are"
		if kind == lock.PersistentMutex {
			d.Why = "create makes no queue by which it could be told whether the lock is there"
		}
		return
	}
	if q, routed := p.routed(d.A); routed && !given.A.Known() {
		d.Why = "whether a slot is there is asked of an exchange, to which the queue " + q + " is bound"
		return
	}
	d.Holding, d.Filled = ByQueue, p.filled(d.A)
	d.Admin = given.Or(Naming{Admin: p.administers(b)}).Admin
}

// filled reports whether a slot's queue had a message when the lock was made.
func (p *Probe) filled(a Pattern) bool {
	return slices.ContainsFunc(p.Made, func(c Creation) bool { return c.After[a.Queue(c.Lock, 1)].size() > 0 })
}

// routed gives a queue of slots that is bound to an exchange, and of which nobody asked by its own name whether it is there: a slot
// is there as long as it is bound, then.
func (p *Probe) routed(a Pattern) (queue string, is bool) {
	for _, c := range p.Made {
		if queue = a.Queue(c.Lock, 1); p.bound[queue] && !p.named[queue] {
			return queue, true
		}
	}
	return "", false
}

// ByMessage is a design in which whoever has a message of a queue holds the lock.
func (p *Probe) byMessage(d *Design, kind lock.Kind, given Naming, queues [][]string) {
	d.Single = kind == lock.Semaphore && p.single(queues)
	a, ok := p.pattern(d, given.A, queues, kind != lock.Mutex && !d.Single, "queue of which a message is taken")
	if !ok {
		return
	}
	d.A = a
	if kind == lock.Semaphore && !a.Numbered() && p.several(a) { // who holds one may have taken all
		d.Single = true
	}
	if d.Single {
		if !p.alike() { // numbers that clients are not told of are not the slots'
			d.Number = p.numbering(a)
		}
		if d.Number == noNumber && !p.each(a) {
			d.Why = "the messages that stand for slots are in one queue, " + a.String() + ", which has not as many as there are slots, nor numbers by which to tell them"
			return
		}
	}
	d.Holding = ByMessage
	d.Admin = given.Or(Naming{Admin: p.administers(Pattern{})}).Admin
}

// single reports whether one queue has the messages of several slots: two were held at once.
func (p *Probe) single(queues [][]string) bool {
	for i, u := range p.Uses {
		for j, o := range p.Uses[:i] {
			if u.Lock == o.Lock && queues[i][0] == queues[j][0] {
				return true
			}
		}
	}
	return false
}

// several reports whether create puts a message for each of several slots into a queue.
func (p *Probe) several(a Pattern) bool {
	return p.each(a) && slices.ContainsFunc(p.Made, func(c Creation) bool { return c.Slots > 1 })
}

// each reports whether create puts a message for each slot into a queue.
func (p *Probe) each(a Pattern) bool {
	return !slices.ContainsFunc(p.Made, func(c Creation) bool { return len(c.After[a.Queue(c.Lock, 0)].ready) != c.Slots })
}

// bare reports whether queues have no message when they are made, nor before somebody wants a lock.
func (p *Probe) bare(a Pattern) bool {
	return len(p.Made) > 0 && !slices.ContainsFunc(p.Made, func(c Creation) bool {
		q, made := c.After[a.Queue(c.Lock, 1)]
		return !made || q.size() > 0
	}) && !slices.ContainsFunc(p.Uses, func(u *Use) bool { return u.Before.Messages(a.Queue(u.Lock, u.Slot)) > 0 })
}

// ByConsumer is a design in which whoever consumes a queue holds the lock.
func (p *Probe) byConsumer(d *Design, kind lock.Kind, given Naming, queues [][]string) {
	if kind == lock.Semaphore && p.single(queues) {
		d.Why = "those who hold slots consume one queue, which does not tell who has which"
		return
	}
	a, ok := p.pattern(d, given.A, queues, kind != lock.Mutex, "queue that is consumed")
	if !ok {
		return
	}
	d.Holding, d.A = ByConsumer, a
	d.Admin = given.Or(Naming{Admin: p.administers(Pattern{})}).Admin
}

// slots is the pattern of the queues that create makes, one for each slot. Of several, it is the one of which it is asked whether
// they are there, none where that is so of several; or else the one that is most like that of holders.
func (p *Probe) slots(given, holders Pattern) (best Pattern) {
	if len(p.Made) == 0 || given.Known() && !p.makes(given) {
		return best
	}
	if given.Known() {
		return given
	}
	c := p.Made[0]
	likeness, asked := -1, false
	for _, name := range slices.Sorted(maps.Keys(c.After)) {
		if asked && !p.asked[name] {
			continue
		}
		found, like := p.likest(example{name, c.Lock, 1}, holders)
		switch {
		case !found.Known():
		case asked:
			return Pattern{}
		case p.asked[name] || like > likeness:
			best, likeness, asked = found, like, p.asked[name]
		}
	}
	return best
}

// likest is the pattern of a slot's queue that is most like that of holders, and how much that is.
func (p *Probe) likest(e example, holders Pattern) (best Pattern, likeness int) {
	likeness = -1
	for _, p1 := range candidates(e) {
		if like := alike(p1.Text, holders.Text); like > likeness && p1.Text != holders.Text && p.makes(p1) {
			best, likeness = p1, like
		}
	}
	return best, likeness
}

// makes reports whether create makes a queue of that pattern for each slot, and no other. One that several slots have in
// common says nothing of them: it may be there before they are, and stay.
func (p *Probe) makes(a Pattern) bool {
	return !slices.ContainsFunc(p.Made, func(c Creation) bool {
		if c.Slots > 1 && !a.Numbered() {
			return true
		}
		for s := 1; s <= c.Slots; s++ {
			q := a.Queue(c.Lock, s)
			_, before := c.Before[q]
			if _, ok := c.After[q]; !ok || before || c.After[q].owned {
				return true
			}
		}
		_, more := c.After[a.Queue(c.Lock, c.Slots+1)]
		return a.Numbered() == more
	})
}

// alike is how much two texts have in common at their beginnings and ends.
func alike(a, b string) (n int) {
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	for i := 1; i <= min(len(a), len(b))-n && a[len(a)-i] == b[len(b)-i]; i++ {
		n++
	}
	return n
}

// administers is the pattern of the exclusive queue, other than holders', that is declared for each lock. Of several it
// is the first by its letters.
func (p *Probe) administers(holders Pattern) Pattern {
	var found []string
	for q, exclusive := range p.exclusive {
		if len(p.Made) == 0 || !exclusive || !mentions(q, p.Made[0].Lock) || p.holder(holders, q) {
			continue
		}
		for _, c := range candidates(example{queue: q, lock: p.Made[0].Lock}) {
			if !slices.ContainsFunc(p.Made, func(m Creation) bool { return !p.exclusive[c.Queue(m.Lock, 0)] }) {
				found = append(found, c.Text)
				break
			}
		}
	}
	if len(found) == 0 {
		return Pattern{}
	}
	return mustParse(slices.Min(found))
}

// holder reports whether a queue may be a holder's.
func (p *Probe) holder(holders Pattern, q string) bool {
	if !holders.Known() {
		return false
	}
	for _, c := range p.Made {
		for s := range c.Slots + 2 {
			if holders.Queue(c.Lock, s) == q {
				return true
			}
		}
	}
	return false
}

// numbering is where messages have the number of the slot that they stand for: in a property, or in a header by its name.
type numbering struct {
	field  field
	header string
}

type field uint8

const (
	noField field = iota
	inBody
	inMessageID
	inCorrelationID
	inType
	inHeader
)

// noNumber is that of messages that are all alike.
var noNumber numbering

// numbersOf are the numbers that a message has, by where.
func numbersOf(c *frame.Content) map[numbering]int {
	out := make(map[numbering]int)
	note := func(where numbering) {
		if n := where.Of(c); n > 0 {
			out[where] = n
		}
	}
	if c == nil {
		return out
	}
	for f := inBody; f < inHeader; f++ {
		note(numbering{field: f})
	}
	for name := range c.Properties.Headers.All() {
		note(numbering{inHeader, name})
	}
	return out
}

// Of is the number that a message has there: the last one, where it has several.
func (n numbering) Of(c *frame.Content) int {
	text := ""
	switch p := &c.Properties; n.field {
	case inBody:
		text = string(c.Body[max(0, len(c.Body)-longestNumbered):])
	case inMessageID:
		text = p.MessageID
	case inCorrelationID:
		text = p.CorrelationID
	case inType:
		text = p.Type
	case inHeader:
		if value, ok := p.Headers.Lookup(n.header); ok {
			text = fmt.Sprint(value)
		}
	}
	all := digits.FindAllString(text, -1)
	if len(all) == 0 {
		return 0
	}
	number, err := strconv.Atoi(all[len(all)-1])
	if err != nil {
		return 0
	}
	return number
}

// longestNumbered is how much of a message's end is looked through for its number.
const longestNumbered = 256

// took reports whether a message of a queue that has the slot's number is taken while the slot is held.
func (u *Use) took(queue string, where numbering) bool {
	has := func(messages []map[numbering]int) bool {
		return slices.ContainsFunc(messages, func(m map[numbering]int) bool { return m[where] == u.Slot })
	}
	during := u.During[queue]
	return has(during.taken) || has(u.After[queue].ready) && !has(during.ready)
}

// numbering finds where the messages of a queue have the numbers of slots.
func (p *Probe) numbering(a Pattern) numbering {
	all := make(map[numbering]bool)
	for _, c := range p.Made {
		for _, m := range c.After[a.Queue(c.Lock, 0)].ready {
			for where := range m {
				all[where] = true
			}
		}
	}
	order := func(a, b numbering) int {
		return cmp.Or(cmp.Compare(a.field, b.field), cmp.Compare(a.header, b.header))
	}
	for _, where := range slices.SortedFunc(maps.Keys(all), order) {
		if p.numbers(a, where) {
			return where
		}
	}
	return noNumber
}

// numbers reports whether the messages of a queue have the numbers of slots there.
func (p *Probe) numbers(a Pattern, where numbering) bool {
	for _, c := range p.Made {
		var there []int
		for _, m := range c.After[a.Queue(c.Lock, 0)].ready {
			there = append(there, m[where])
		}
		slices.Sort(there)
		for s := 1; s <= c.Slots; s++ {
			if len(there) != c.Slots || there[s-1] != s {
				return false
			}
		}
	}
	return !slices.ContainsFunc(p.Uses, func(u *Use) bool {
		queue := a.Queue(u.Lock, u.Slot)
		return !u.took(queue, where) || p.beyond(u, queue, where)
	})
}

// beyond reports whether a message of a queue had a number there that no slot has, such as a serial that begins like slots.
func (p *Probe) beyond(u *Use, queue string, where numbering) bool {
	slots := 0
	for _, c := range p.Made {
		if c.Lock == u.Lock {
			slots = c.Slots
		}
	}
	return slices.ContainsFunc(slices.Concat(u.During[queue].ready, u.During[queue].taken, u.After[queue].ready), func(m map[numbering]int) bool {
		return m[where] > slots
	})
}
