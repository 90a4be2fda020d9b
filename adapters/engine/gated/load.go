package gated

import (
	"fmt"
	"os"
	"runtime"
)

// load is what all processors of the machine have done since it was started, in ticks of its clock: ours and whoever else's.
type load struct{ busy, idle uint64 }

// loadNow reads it where the system tells it, as Linux does by proc(5). Elsewhere it is zero.
func loadNow() (l load) {
	file, err := os.Open("/proc/stat")
	if err != nil {
		return load{}
	}
	defer file.Close()
	var user, nice, system, idle, ioWait, irq, softIRQ, steal uint64
	if _, err := fmt.Fscanf(file, "cpu %d %d %d %d %d %d %d %d", &user, &nice, &system, &idle, &ioWait, &irq, &softIRQ, &steal); err != nil {
		return load{}
	}
	return load{busy: user + nice + system + irq + softIRQ + steal, idle: idle + ioWait}
}

// processors is how many of them were at work since then, on an average; ok is false where that is not known.
func (l load) processors(since load) (used float64, ok bool) {
	if l == (load{}) || l.busy+l.idle <= since.busy+since.idle || l.busy < since.busy {
		return 0, false
	}
	busy, all := l.busy-since.busy, l.busy+l.idle-since.busy-since.idle
	return float64(busy) / float64(all) * float64(runtime.NumCPU()), true
}
