package wire

import (
	"strings"

	"github.com/lockproof/lockproof/adapters/wire/frame"
)

// onExchange handles the methods of class exchange: those that are there may be declared again, none
// can be made.
func (x *simSession) onExchange(ch *simChannel, m frame.Method) *refusal {
	switch m := m.(type) {
	case *frame.ExchangeDeclare:
		return x.declareExchange(ch, m)
	case *frame.ExchangeDelete:
		switch {
		case m.Exchange == "":
			return onDefaultExchange()
		case predeclared(m.Exchange):
			return refusef(frame.AccessRefused, "deletion of system exchange '%s' in vhost '/' not allowed", m.Exchange)
		case !m.NoWait:
			x.answer(ch.number, &frame.ExchangeDeleteOk{})
		}
		return nil
	case *frame.ExchangeBind:
		return x.bindExchange(m.Destination, m.Source)
	case *frame.ExchangeUnbind:
		return x.bindExchange(m.Destination, m.Source)
	}
	return unimplemented()
}

func (x *simSession) declareExchange(ch *simChannel, m *frame.ExchangeDeclare) *refusal {
	switch {
	case m.Exchange == "":
		return onDefaultExchange()
	case predeclared(m.Exchange):
	case m.Passive:
		return noExchange(m.Exchange)
	case strings.HasPrefix(m.Exchange, "amq."):
		return refusef(frame.AccessRefused, "exchange name '%s' contains reserved prefix 'amq.*'", m.Exchange)
	default:
		return unsupported("exchange '%s': there are only those that every broker has", m.Exchange)
	}
	if !m.NoWait {
		x.answer(ch.number, &frame.ExchangeDeclareOk{})
	}
	return nil
}

func (x *simSession) bindExchange(destination, source string) *refusal {
	switch {
	case destination == "" || source == "":
		return onDefaultExchange()
	case !predeclared(source):
		return noExchange(source)
	case !predeclared(destination):
		return noExchange(destination)
	}
	return unsupported("bindings from exchange to exchange")
}
