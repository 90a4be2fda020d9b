package amqp

import "strings"

// Words are the flags of a set among some, as AMQP calls them, each with a space before it.
func (set Flags) Words(among ...Flags) string {
	words := ""
	for _, f := range among {
		if set.Has(f) {
			words += " " + flagNames[f]
		}
	}
	return words
}

// String is the flags that a queue may have.
func (set Flags) String() string {
	return strings.TrimSpace(set.Words(Durable, Exclusive, AutoDelete))
}

var flagNames = map[Flags]string{
	Passive: "passive", Durable: "durable", Exclusive: "exclusive", AutoDelete: "auto-delete",
	Persistent: "persistent", NoAck: "no-ack", IfUnused: "if-unused", IfEmpty: "if-empty",
	Multiple: "multiple", Requeue: "requeue",
}
