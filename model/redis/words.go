package redis

import "fmt"

var methodNames = [methods]string{
	"", "GET", "SET NX", "SET", "PEXPIRE", "PTTL", "DEL", "EXISTS", "steal", "release", "extend", "claim", "unclaim", "prolong", "look",
}

// String is the name of the Redis command or the script.
func (m Method) String() string { return methodNames[m] }

// Words describes the command in a line, for a lock with the given name.
func (c Command) Words(lock string) string {
	s := c.Method.String() + " " + c.Key.Name(lock)
	switch c.Method {
	case Set, SetNX, Steal, Claiming:
		s += fmt.Sprintf(" %s:%d PX %d", c.ID, c.Priority, c.Lease)
	case PExpire:
		s += fmt.Sprintf(" %d", c.Lease)
	case Extend, Prolong:
		s += fmt.Sprintf(" %s PX %d", c.ID, c.Lease)
	case Release, Unclaim:
		s += " " + c.ID.String()
		for _, id := range c.Also {
			s += " " + id.String()
		}
	}
	return s
}

var classNames = [...]string{"nothing", "OK", "no", "nil", "", "expires", "does not expire"}

// Words describes the reply in a line.
func (r Reply) Words() string {
	switch {
	case len(r.Value) == 0:
		if r.Class == Valued {
			return `""`
		}
		return classNames[r.Class]
	case r.Class == Valued:
		return r.Value.String()
	case r.Class == OK:
		return "OK, was " + r.Value.String()
	}
	return classNames[r.Class] + ", is " + r.Value.String()
}
