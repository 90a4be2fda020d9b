package draw

import (
	"fmt"
	"strings"

	"github.com/lockproof/lockproof/model/history"
)

// Lasting machine faults, such as network cuts and paused nodes, are drawn as bands behind the calls of a history.

// bandHeight is the height, in pixels, of the row with a band's name below the clients.
const bandHeight = 16

// band is a lasting machine fault, as a coloured range of events.
type band struct {
	words      string
	begin, end int // indices of the events that begin and end the fault; end is beyond last if it lasts
	ends       history.F
	nodes      history.Nodes
}

// endOf maps an event that begins a machine fault to the event that ends it, such as kill-node to start-node.
var endOf = map[history.F]history.F{
	history.Cut: history.Heal, history.KillNode: history.StartNode, history.TerminateNode: history.StartNode, history.PauseNode: history.ResumeNode,
}

// bands finds the lasting machine faults among events. Network cuts that follow each other directly are one band.
func bands(events []history.Event) (all []band) {
	for i := range events {
		e := &events[i]
		if !e.F.Machine() {
			continue
		}
		for k := range all {
			if b := &all[k]; b.end > i && b.ends == e.F && (e.F == history.Heal || b.nodes&e.Nodes != 0) {
				b.end = i
			}
		}
		ends, begins := endOf[e.F]
		if !begins {
			continue
		}
		verb, _, _ := strings.Cut(e.F.String(), "-")
		words := fmt.Sprintf("%s %s", verb, e.Nodes)
		if e.F == history.Cut {
			words = fmt.Sprintf("cut %s → %s", e.Nodes, e.To)
			if n := len(all); n > 0 && all[n-1].ends == ends && all[n-1].begin == i-1 {
				all[n-1].words += "; " + words
				continue
			}
		}
		all = append(all, band{words: words, begin: i, end: len(events), ends: ends, nodes: e.Nodes})
	}
	return all
}

// bandsDrawn are the bands that overlap the drawn range of events.
func (d *svgHistory) bandsDrawn() (all []band) {
	for _, b := range bands(d.h.Events[:d.last+1]) {
		if b.end >= d.first {
			all = append(all, b)
		}
	}
	return all
}

// shade draws the bands, behind everything else.
func (d *svgHistory) shade() {
	for i, b := range d.bandsDrawn() {
		x, y := d.at(b.begin), clientHeight*len(d.rows)+30+bandHeight*i
		d.rect("event", "", x, 14, max(4, d.at(min(b.end, d.last+1))-x), y-14)
		d.text("warn", "", x+2, y-4, b.words)
	}
}
