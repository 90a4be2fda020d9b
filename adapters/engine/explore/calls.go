package explore

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/monitor"
	"github.com/lockproof/lockproof/model/scenario"
)

// ParseCalls parses a list of calls such as "acquire,remove:1". The text "" gives no calls.
func ParseCalls(list string) (out []scenario.Operation, err error) {
	if list == "" {
		return nil, nil
	}
	for _, item := range strings.Split(list, ",") {
		name, arg, has := strings.Cut(item, ":")
		var op scenario.Operation
		if err := op.Op.UnmarshalText([]byte(name)); err != nil || op.Op == lock.Connect {
			return nil, fmt.Errorf("%q: expected operations such as acquire or remove:1", item)
		}
		takes := op.Op == lock.Create || op.Op == lock.Add || op.Op == lock.Remove || op.Op == lock.Wait
		n, err := strconv.ParseUint(arg, 10, 8)
		if takes != has || has && (err != nil || n < 1 || n > monitor.Slots-1) {
			return nil, fmt.Errorf("%q: create, add, remove and wait take a number from 1 to %d after a colon, others none", item, monitor.Slots-1)
		}
		op.Arg = uint8(n)
		out = append(out, op)
	}
	return out, nil
}

// CallsFlag is the inverse of [ParseCalls]: it returns the text for a list of calls.
func CallsFlag(ops []scenario.Operation) string {
	var out []string
	for _, o := range ops {
		if o.Arg > 0 {
			out = append(out, fmt.Sprintf("%s:%d", o.Op, o.Arg))
		} else {
			out = append(out, o.Op.String())
		}
	}
	return strings.Join(out, ",")
}

// ParseStart parses the initial slots of a lock, for example "slots=1,3".
func ParseStart(text string) (set scenario.SlotSet, err error) {
	list, ok := strings.CutPrefix(text, "slots=")
	for _, item := range strings.Split(list, ",") {
		n, err := strconv.Atoi(item)
		if !ok || err != nil || n < 1 || n > monitor.Slots-1 {
			return 0, fmt.Errorf("%q: expected the slots that there are, each from 1 to %d, such as slots=1,3", text, monitor.Slots-1)
		}
		set |= 1 << n
	}
	return set, nil
}

// StartFlag is the inverse of [ParseStart]: it returns the text for a set of slots.
func StartFlag(set scenario.SlotSet) string {
	var list []string
	for _, slot := range set.Slots() {
		list = append(list, strconv.Itoa(slot))
	}
	return "slots=" + strings.Join(list, ",")
}
