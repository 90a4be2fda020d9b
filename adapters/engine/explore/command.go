package explore

import (
	"fmt"
	"strings"

	"github.com/lockproof/lockproof/model/property"
)

// Command returns the command line that repeats the exploration.
func (e *Exploration) Command() string {
	args := []string{"lockproof explore", e.Target.Name}
	flag := func(name string, value any, usual any) {
		if value != usual {
			args = append(args, fmt.Sprintf("--%s %v", name, value))
		}
	}
	for _, name := range e.Names {
		args = append(args, "--lock "+name)
	}
	flag("clients", e.Clients, 2)
	flag("rounds", e.Rounds, 1)
	flag("admins", e.Admins, 1)
	if e.Start != 0 {
		args = append(args, "--start "+StartFlag(e.Start))
	} else {
		flag("slots", e.Slots, 2)
	}
	flag("calls", CallsFlag(e.Calls), "")
	flag("admin-calls", CallsFlag(e.AdminCalls), "")
	flag("crashes", e.Faults.Crashes, 1)
	flag("drops", e.Faults.Drops, 0)
	flag("channel-errors", e.Faults.ChannelErrors, 0)
	flag("lost", e.Faults.Lost, 0)
	flag("restarts", e.Faults.Restarts, 0)
	flag("clocks", e.Faults.Clocks, 0)
	if !e.Faults.Late {
		args = append(args, "--late=false")
	}
	for _, o := range e.Options {
		args = append(args, "-o "+o[0]+"="+o[1])
	}
	for p := range property.Count {
		if e.Properties.Has(p) {
			args = append(args, "--property "+p.String())
		}
	}
	return strings.Join(args, " ")
}
