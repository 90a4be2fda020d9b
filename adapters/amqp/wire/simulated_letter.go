package wire

import (
	"maps"
	"slices"

	"github.com/lockproof/lockproof/adapters/amqp/wire/frame"
	"github.com/lockproof/lockproof/sim/amqp/broker"
)

// message is a message in the form in which a client receives it: as published or, if letter is not 0, with the headers
// of a dead letter.
func (x *simSession) message(id uint64, letter uint32) *stored {
	says := x.host.messages.get(id)
	l, is := x.host.broker.Letter(letter)
	four := x.s.opts.Broker.Four
	if !is || len(l.Deaths) == 0 {
		if four && len(says.content.Properties.Headers) > 0 {
			content := *says.content
			content.Properties.Headers = sorted(maps.Collect(content.Properties.Headers.All()))
			return &stored{content: &content, exchange: says.exchange, key: says.key}
		}
		return says
	}
	content := *says.content
	p := &content.Properties
	p.Headers = deathHeaders(p.Headers, p.Expiration, l.Deaths, four)
	p.Has = p.Has&^frame.HasExpiration | frame.HasHeaders
	p.Expiration = ""
	return &stored{content: &content, exchange: l.Exchange, key: l.Key}
}

// deathHeaders are the headers of a dead letter, sorted by name as in RabbitMQ. deaths lists its deaths, latest first.
// four selects RabbitMQ 4's form.
func deathHeaders(headers frame.Table, expiration string, deaths []broker.Death, four bool) frame.Table {
	values := maps.Collect(headers.All())
	var all frame.Array
	for _, d := range deaths {
		all = all.With(deathTable(d, expiration, four))
		if d.First {
			values["x-first-death-exchange"], values["x-first-death-queue"], values["x-first-death-reason"] = d.Exchange, d.Queue, d.Reason.String()
		}
	}
	if last := deaths[0]; four {
		values["x-last-death-exchange"], values["x-last-death-queue"], values["x-last-death-reason"] = last.Exchange, last.Queue, last.Reason.String()
	}
	values["x-death"] = all
	return sorted(values)
}

// deathTable is one entry of the header x-death: when and why the message died. Before RabbitMQ 4, the fields of an
// entry are sorted by name, unless it is the entry of the first death and has the count 1.
func deathTable(d broker.Death, expiration string, four bool) frame.Table {
	t := frame.Table{}
	original := d.First && expiration != ""
	if original && four {
		t = t.With("original-expiration", expiration)
	}
	t = t.With("count", int64(d.Count)).With("reason", d.Reason.String()).With("queue", d.Queue).
		With("time", frame.Timestamp(d.At/1000)).With("exchange", d.Exchange).With("routing-keys", frame.Array{}.With(d.Key))
	if original && !four {
		t = t.With("original-expiration", expiration)
	}
	if four || d.First && d.Count == 1 {
		return t
	}
	return sorted(maps.Collect(t.All()))
}

// sorted is a table of the given values, sorted by name.
func sorted(values map[string]any) frame.Table {
	t := frame.Table{}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		t = t.With(name, values[name])
	}
	return t
}
