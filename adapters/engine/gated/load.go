package gated

import (
	"fmt"
	"os"
	"runtime"
)

// load is the total time of all processors since the machine started, in clock ticks. It includes the time of other
// programs.
type load struct{ busy, idle uint64 }

// loadNow reads the load from the system, on Linux from /proc/stat. It returns zero if the system does not report it.
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

// processors returns the average number of busy processors between the two measurements since and l. ok is false if it
// is unknown.
func (l load) processors(since load) (used float64, ok bool) {
	if l == (load{}) || l.busy+l.idle <= since.busy+since.idle || l.busy < since.busy {
		return 0, false
	}
	busy, all := l.busy-since.busy, l.busy+l.idle-since.busy-since.idle
	return float64(busy) / float64(all) * float64(runtime.NumCPU()), true
}
