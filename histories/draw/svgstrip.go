package draw

import (
	"fmt"
	"strconv"

	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/monitor"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
)

// The measures of the strips, in pixels.
const (
	stripName  = 84  // smallest width of a slot's name
	stripWord  = 66  // width of the two strips' labels
	stripWidth = 760 // approximate width of the time axis
	stripBar   = 12
)

// svgStrips draws two strips along time for each slot. One shows which client believes that it holds the slot. The
// other shows which client's connection holds it.
type svgStrips struct {
	canvas
	*timeline
	t    *scenario.Trace
	unit int // width of a step, in pixels
	name int // width of the column with the slots' names, in pixels
}

// Strips draws, along time and for each slot, which clients believe that they hold it and which client does hold it,
// and marks where these differ. It is "" if the broker's state is not known.
func Strips(t *scenario.Trace) string {
	if len(t.Setup) == 0 || len(t.Steps) == 0 {
		return ""
	}
	d := &svgStrips{timeline: tell(t), t: t}
	d.unit = min(max(stripWidth/len(d.steps), 6), 40)
	slots := d.slots()
	if len(slots) == 0 {
		return ""
	}
	d.name = stripName
	for _, s := range slots {
		d.name = max(d.name, textWidth(d.slotName(s[0], s[1]))+margin)
	}
	d.width, d.height = d.name+stripWord+d.unit*len(d.steps), 18
	for _, s := range slots {
		d.slot(s[0], s[1])
	}
	d.axis()
	return d.picture(property.ForKind(d.kind, "For each slot, who", "Who") + " believes to hold it and whose connection has it, along the steps. " + d.overlaps())
}

// slots are the slots that any client ever holds, or believes it holds, each with its lock.
func (d *svgStrips) slots() (all [][2]int) {
	for l := range d.locks {
		for slot := 1; slot <= monitor.Slots; slot++ {
			if d.used(l, slot) {
				all = append(all, [2]int{l, slot})
			}
		}
	}
	return all
}

// slotName names a slot, and its lock too if there are several locks.
func (d *svgStrips) slotName(l, slot int) string {
	name := property.SlotName(d.kind, slot)
	if len(d.locks) > 1 {
		return d.locks[l] + ", " + name
	}
	return name
}

// used reports whether any client ever holds a slot, or believes that it does.
func (d *svgStrips) used(l, slot int) bool {
	for i := range d.steps {
		if d.steps[i].truth[l].Taken>>slot&1 == 1 || len(d.believers(i, l, slot)) > 0 {
			return true
		}
	}
	return false
}

// believers are the clients that believe, after a step, that they hold a slot.
func (d *svgStrips) believers(i, l, slot int) (all []int) {
	for c := 1; c <= d.clients; c++ {
		held := d.steps[i].columns[c-1].held
		if held == unnumbered {
			held = 1
		}
		if held == slot && d.t.Scenario.Clients[c-1].Lock == l {
			all = append(all, c)
		}
	}
	return all
}

// owner is the client whose connection holds a slot after a step. It is 0 if nobody holds the slot, and [nobody] if its
// queue is not exclusive.
func (d *svgStrips) owner(i, l, slot int) int {
	t := &d.steps[i].truth[l]
	switch {
	case t.Taken>>slot&1 == 0:
		return 0
	case t.Owner[slot] == 0:
		return nobody
	}
	return int(t.Owner[slot] &^ monitor.HalfOpen)
}

// overlap reports whether a slot belongs to several clients after a step. Two clients believe that they hold it, or one
// believes so while another client's connection holds it.
func (d *svgStrips) overlap(i, l, slot int) bool {
	who, owner := d.believers(i, l, slot), d.owner(i, l, slot)
	return len(who) > 1 || len(who) == 1 && owner != 0 && owner != nobody && owner != who[0]
}

func (d *svgStrips) x(i int) int { return d.name + stripWord + i*d.unit }

// stretches calls draw for each range of steps in which a number stays the same and is not 0.
func (d *svgStrips) stretches(value func(i int) int, draw func(from, to, value int)) {
	for i := 0; i < len(d.steps); {
		v, from := value(i), i
		for i < len(d.steps) && value(i) == v {
			i++
		}
		if v != 0 {
			draw(from, i, v)
		}
	}
}

// slot draws the strips of one slot.
func (d *svgStrips) slot(l, slot int) {
	top := d.height
	d.text("bold", "", margin/2, top+stripBar, d.slotName(l, slot))
	rows := 0
	for c := 1; c <= d.clients; c++ {
		believes := func(i int) int {
			for _, b := range d.believers(i, l, slot) {
				if b == c {
					return 1
				}
			}
			return 0
		}
		drawn := false
		d.stretches(believes, func(from, to, _ int) {
			d.bar("belief", c, top+rows*(stripBar+2), from, to, clientName(c)+" believes")
			drawn = true
		})
		if drawn {
			rows++
		}
	}
	rows = max(rows, 1)
	d.text("soft", "", d.name, top+rows*(stripBar+2)/2, "believes")
	has := top + rows*(stripBar+2) + 4
	d.text("soft", "", d.name, has+stripBar/2, "has")
	d.stretches(func(i int) int { return d.owner(i, l, slot) }, func(from, to, owner int) {
		d.bar("taken", owner&^nobody, has, from, to, map[bool]string{false: clientName(owner) + " has", true: "nobody's alone"}[owner == nobody])
	})
	overlaps := func(i int) int {
		if d.overlap(i, l, slot) {
			return 1
		}
		return 0
	}
	bottom := has + stripBar
	d.stretches(overlaps, func(from, to, _ int) {
		d.rect("overlap", "", d.x(from), top-3, (to-from)*d.unit, bottom-top+6)
	})
	d.height = bottom + 12
}

// bar is a client's part of a strip, with its name if there is room.
func (d *svgStrips) bar(class string, client, y, from, to int, title string) {
	color := "var(--soft)"
	if client > 0 {
		color = clientColor(client)
	}
	width := (to - from) * d.unit
	fmt.Fprintf(&d.b, `<rect class="%s"%s x="%d" y="%d" width="%d" height="%d" rx="2"><title>%s, steps %d to %d</title></rect>`+"\n",
		class, fillStyle(color), d.x(from), y, width, stripBar, escaped(title), d.steps[from].number, d.steps[to-1].number)
	if name := clientName(client); client > 0 && width > textWidth(name) {
		d.centered("owner", "", d.x(from)+width/2, y+stripBar/2, name)
	}
}

// axis draws the time axis: the numbers of the steps, and marks at the steps that decide or show a violation.
func (d *svgStrips) axis() {
	every := max(1, 30/d.unit)
	for i := range d.steps {
		m := &d.steps[i]
		switch {
		case len(m.broken) > 0:
			d.centered("bad", "", d.x(i)+d.unit/2, 8, shows+strconv.Itoa(m.number))
		case len(m.decides) > 0:
			d.centered("bad", "", d.x(i)+d.unit/2, 8, decided+strconv.Itoa(m.number))
		case m.number%every == 0 && d.unit >= 18 || m.number%10 == 0:
			d.centered("soft", "", d.x(i)+d.unit/2, 8, strconv.Itoa(m.number))
		}
	}
}

// overlaps says in a sentence at which steps a slot belonged to several clients.
func (d *svgStrips) overlaps() string {
	text := ""
	for l := range d.locks {
		for slot := 1; slot <= monitor.Slots; slot++ {
			for i := range d.steps {
				if d.overlap(i, l, slot) {
					text += fmt.Sprintf("From step %d on, %s is not one client's alone. ", d.steps[i].number, property.SlotName(d.kind, slot))
					break
				}
			}
			if d.kind != lock.Semaphore {
				break
			}
		}
	}
	if text == "" {
		return "Nobody's belief or hold overlaps with another's."
	}
	return text
}
