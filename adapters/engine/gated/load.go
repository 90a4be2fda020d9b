package gated

import (
	"fmt"
	"os"
	"runtime"
)

// load is the total time of all processors since the start of the machine, in clock ticks. It includes other programs.
type load struct{ busy, idle uint64 }

// loadNow reads the load if the system reports it, as Linux does in proc(5). Otherwise it is zero.
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

// processors is the average number of busy processors since then; ok is false if it is unknown.
func (l load) processors(since load) (used float64, ok bool) {
	if l == (load{}) || l.busy+l.idle <= since.busy+since.idle || l.busy < since.busy {
		return 0, false
	}
	busy, all := l.busy-since.busy, l.busy+l.idle-since.busy-since.idle
	return float64(busy) / float64(all) * float64(runtime.NumCPU()), true
}
