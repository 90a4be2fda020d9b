package draw

import (
	"github.com/lockproof/lockproof/model/monitor"
)

// The broker's side of the page's diagram: the state of each slot, as bars along time.

// largest is the number of the lock's highest slot that ever exists or is held in the execution, and at least 1.
func (d *svgDiagram) largest(lock int) int {
	most := 1
	for i := range d.steps {
		t := &d.steps[i].truth[lock]
		for slot := most + 1; slot <= monitor.Slots; slot++ {
			if (t.Exists|t.Taken)>>slot&1 == 1 {
				most = slot
			}
		}
	}
	return most
}

// run is a range of rows in which one number, such as the owner of a slot, stays the same.
type run struct{ from, to, value int }

// runs are the ranges of rows in which a number from the lock's state stays the same and is not 0.
func (d *svgDiagram) runs(what func(*monitor.Truth) int, lock int) []run {
	var runs []run
	last := 0
	for i := range d.steps {
		value := what(&d.steps[i].truth[lock])
		switch {
		case value == 0:
		case value == last:
			runs[len(runs)-1].to = i
		default:
			runs = append(runs, run{i, i, value})
		}
		last = value
	}
	return runs
}

func administrator(t *monitor.Truth) int { return int(t.Admin) }

// span is the y coordinate of a range's upper edge and its height, in pixels.
func (d *svgDiagram) span(r run) (y, height int) {
	y = d.rows[r.from] - rowHeight/2
	return y, d.rows[r.to] + rowHeight/2 - y
}

// nobody stands for the owner of a B queue that exists but is not exclusive. The number 0 means that there is no B
// queue.
const nobody = 1 << 8

// slot draws one slot on the broker: an outline while it exists, filled while it has a holder.
func (d *svgDiagram) slot(l, slot int) {
	x := d.slots[l] + (slot-1)*slotWidth
	exists := func(t *monitor.Truth) int { return int(t.Exists >> slot & 1) }
	owner := func(t *monitor.Truth) int {
		switch {
		case t.Taken>>slot&1 == 0:
			return 0
		case t.Owner[slot] == 0:
			return nobody
		}
		return int(t.Owner[slot])
	}
	for _, r := range d.runs(exists, l) {
		y, height := d.span(r)
		d.rect("slot", "", x-15, y+2, 30, height-4)
	}
	d.holders(d.runs(owner, l), x)
}

// holders draws a bar for each owner of a queue, at x. The bar of a half-open connection is paler.
func (d *svgDiagram) holders(runs []run, x int) {
	for _, r := range runs {
		class, inner, color, name, owner := "taken", "owner", "var(--soft)", "B", uint8(r.value)
		if owner != 0 {
			color, name = clientColor(int(owner&^monitor.HalfOpen)), OwnerName(owner)
		}
		if owner&monitor.HalfOpen != 0 {
			class, inner = "faint", "over"
		}
		y, height := d.span(r)
		d.rect(class, color, x-11, y+4, 22, height-8)
		d.centered(inner, "", x, d.rows[r.from], name)
	}
}
