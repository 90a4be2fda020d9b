package wire

import (
	"strings"
	"time"

	"github.com/lockproof/lockproof/adapters/amqp/wire/frame"
)

// channelMax is the maximum number of channels of a connection, as in RabbitMQ.
const channelMax = 2047

// greeting is connection.start, the broker's first method. It lists those of RabbitMQ's capabilities that are
// implemented.
func greeting(version string) *frame.ConnectionStart {
	return &frame.ConnectionStart{
		VersionMajor: 0, VersionMinor: 9, Mechanisms: "PLAIN AMQPLAIN", Locales: "en_US",
		ServerProperties: frame.Table{}.
			With("capabilities", frame.Table{}.
				With("publisher_confirms", true).With("exchange_exchange_bindings", true).With("basic.nack", true).
				With("consumer_priorities", true).With("consumer_cancel_notify", true).With("connection.blocked", true).
				With("authentication_failure_close", true).With("per_consumer_qos", true)).
			With("product", "lockproof").
			With("version", version).
			With("information", "a simulated broker that answers as RabbitMQ "+version+" does"),
	}
}

// handshake handles the client's methods until the connection is open.
func (x *simSession) handshake(cmd *Command) *refusal {
	state := [...]string{starting: "starting", tuning: "tuning", opening: "opening"}[x.state]
	unexpected := refusef(frame.ChannelError, "unexpected method in connection state %s", state)
	if cmd.Channel != 0 {
		return unexpected
	}
	switch m := cmd.Method.(type) {
	case *frame.ConnectionStartOk:
		if x.state == starting {
			return x.login(m)
		}
	case *frame.ConnectionTuneOk:
		if x.state == tuning {
			return x.tune(m)
		}
	case *frame.ConnectionOpen:
		if x.state == opening {
			return x.open(m)
		}
	case *frame.ConnectionClose:
		x.answer(0, &frame.ConnectionCloseOk{})
		x.end()
		return nil
	}
	return unexpected
}

// login checks the user and the password.
func (x *simSession) login(m *frame.ConnectionStartOk) *refusal {
	user, password, known := credentials(m)
	if !known {
		return refusef(frame.AccessRefused, "unsupported authentication mechanism '%s'", m.Mechanism)
	}
	capabilities, _ := m.ClientProperties.Lookup("capabilities")
	can, _ := capabilities.(frame.Table)
	wanted := func(name string) bool { v, _ := can.Lookup(name); return v == true }
	if right, there := x.s.opts.Users[user]; !there || right != password {
		if !wanted("authentication_failure_close") {
			x.end()
			return nil
		}
		x.over(&refusal{code: frame.AccessRefused, text: "Login was refused using authentication mechanism " + m.Mechanism +
			". For details see the broker logfile."})
		return nil
	}
	x.user, x.cancelNotify, x.state = user, wanted("consumer_cancel_notify"), tuning
	x.to.LoggedIn(user)
	x.answer(0, &frame.ConnectionTune{ChannelMax: channelMax, FrameMax: MaxFrame, Heartbeat: uint16(max(x.s.opts.Heartbeat, 0) / time.Second)})
	return nil
}

// credentials decodes the user and password in a start-ok. known is false if the mechanism is unknown.
func credentials(m *frame.ConnectionStartOk) (user, password string, known bool) {
	switch m.Mechanism {
	case "PLAIN":
		if parts := strings.Split(m.Response, "\x00"); len(parts) == 3 {
			return parts[1], parts[2], true
		}
		return "", "", true
	case "AMQPLAIN":
		if t, ok := frame.ParseTable([]byte(m.Response)); ok {
			login, _ := t.Lookup("LOGIN")
			secret, _ := t.Lookup("PASSWORD")
			user, _ = login.(string)
			password, _ = secret.(string)
		}
		return user, password, true
	}
	return "", "", false
}

// tune stores the limits that the client has agreed to. If frame-max or channel-max is outside the broker's offer, the
// connection ends without a message, as in RabbitMQ. The value 0, which means no limit, is outside as well.
func (x *simSession) tune(m *frame.ConnectionTuneOk) *refusal {
	if m.FrameMax < frame.FrameMinSize || m.FrameMax > MaxFrame || m.ChannelMax == 0 || m.ChannelMax > channelMax {
		x.end()
		return nil
	}
	x.channelMax, x.state = m.ChannelMax, opening
	x.to.Heartbeats(time.Duration(m.Heartbeat) * time.Second)
	return nil
}

// open opens the connection to the virtual host that the client names.
func (x *simSession) open(m *frame.ConnectionOpen) *refusal {
	host := x.s.host(m.VirtualHost)
	if host == nil {
		return refusef(frame.NotAllowed, "vhost %s not found", m.VirtualHost)
	}
	host.enter(x)
	x.channels, x.state = make(map[uint16]*simChannel), running
	x.answer(0, &frame.ConnectionOpenOk{})
	return nil
}
