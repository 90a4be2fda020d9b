package broker

import (
	"slices"
	"strings"

	"github.com/lockproof/lockproof/model/amqp"
)

// publishable returns the error code of publishing to the exchange with this name; 0 if it is possible.
func (b *Broker) publishable(name string) amqp.Code {
	x, exists := b.Exchange(name)
	switch {
	case !exists:
		return amqp.NotFound
	case x.Internal:
		return amqp.AccessRefused
	}
	return 0
}

// Reach returns the existing queues that the message of a basic.publish would reach if it were published now, in
// ascending order.
func (b *Broker) Reach(cmd *amqp.Command) []amqp.Queue {
	r := b.names.Routing(cmd.Route)
	if r.Exchange == "" {
		if b.Exists(cmd.Queue) {
			return []amqp.Queue{cmd.Queue}
		}
		return nil
	}
	return b.reachOf(&r)
}

// reachOf returns the queues that a message with routing r would reach now, in ascending order.
func (b *Broker) reachOf(r *amqp.Routing) []amqp.Queue {
	if r.Exchange == "" {
		if id, known := b.names.Lookup(r.Key); known && b.Exists(id) {
			return []amqp.Queue{id}
		}
		return nil
	}
	var queues []amqp.Queue
	seen := []string{r.Exchange}
	for i := 0; i < len(seen); i++ { // seen grows in the loop; each exchange is followed once
		queues, seen = b.follow(seen[i], r, queues, seen)
	}
	slices.Sort(queues)
	return slices.Compact(queues)
}

// follow adds the queues and the new exchanges to which one exchange routes a message. If no binding matches, the
// message goes to the alternate exchange.
func (b *Broker) follow(name string, r *amqp.Routing, queues []amqp.Queue, seen []string) ([]amqp.Queue, []string) {
	x, exists := b.Exchange(name)
	if !exists {
		return queues, seen
	}
	taken := false
	lead := func(to string) {
		if !slices.Contains(seen, to) {
			seen = append(seen, to)
		}
	}
	if b.routing != nil {
		for i := range b.routing.bindings {
			switch o := &b.routing.bindings[i]; {
			case o.source != name || !o.takes(x.Type, r):
				continue
			case o.queue != 0:
				queues = append(queues, o.queue)
			default:
				lead(o.destination)
			}
			taken = true
		}
	}
	if !taken && x.Alternate != "" {
		lead(x.Alternate)
	}
	return queues, seen
}

// takes reports whether a binding matches a message.
func (x *binding) takes(kind string, r *amqp.Routing) bool {
	switch kind {
	case "fanout":
		return true
	case "topic":
		return topicTakes(topicWords(x.key), topicWords(r.Key))
	case "headers":
		return headersTake(x.headers, r.Headers)
	}
	return x.key == r.Key
}

// topicWords returns the words of a topic, which dots separate. An empty topic has no words.
func topicWords(key string) []string {
	if key == "" {
		return nil
	}
	return strings.Split(key, ".")
}

// topicTakes reports whether a pattern matches a topic: * stands for one word, # for any number of words.
func topicTakes(pattern, words []string) bool {
	for i, p := range pattern {
		switch {
		case p == "#":
			for n := i; n <= len(words); n++ {
				if topicTakes(pattern[i+1:], words[n:]) {
					return true
				}
			}
			return false
		case i >= len(words), p != "*" && p != words[i]:
			return false
		}
	}
	return len(pattern) == len(words)
}

// matchArgument is the argument of a headers binding that says whether all or any of the other arguments must match.
const matchArgument = "x-match"

// matching parses the argument x-match. If any is true, one matching header suffices; otherwise all must match, as
// without x-match. withX says that headers that begin with x- count. ok is false for an invalid value.
func matching(arguments amqp.Headers) (any, withX, ok bool) {
	how, said := arguments.Lookup(matchArgument)
	switch {
	case !said, how == "all":
		return false, false, true
	case how == "any":
		return true, false, true
	}
	return how == "any-with-x", true, how == "any-with-x" || how == "all-with-x"
}

// headersTake reports whether a message's headers match a binding's arguments. Arguments that begin with x- count only
// if x-match says so.
func headersTake(arguments, headers amqp.Headers) bool {
	any, withX, _ := matching(arguments)
	for name, want := range arguments.All() {
		if name == matchArgument || !withX && strings.HasPrefix(name, "x-") {
			continue
		}
		value, has := headers.Lookup(name)
		if hit := has && (want == amqp.Present || want == value); hit == any {
			return any
		}
	}
	return !any
}
