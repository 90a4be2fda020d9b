package wire

import (
	"fmt"
	"net"
	"net/url"
)

// ProxyTo returns a proxy for the broker at an AMQP URL. The URL must begin with amqp://, because a proxy cannot read
// encrypted connections.
func ProxyTo(address string) (*Proxy, error) {
	u, err := url.Parse(address)
	switch {
	case err != nil:
		return nil, fmt.Errorf("a proxy in front of a broker: %w", err)
	case u.Scheme != "amqp":
		return nil, fmt.Errorf("a proxy in front of %s: expected an address that begins with amqp://, since what is encrypted can't be read on its way", u.Redacted())
	}
	host := u.Host
	if u.Port() == "" {
		host = net.JoinHostPort(u.Hostname(), "5672")
	}
	return &Proxy{Address: host}, nil
}

// URLFor takes the AMQP URL of the broker behind a proxy and replaces its host and port by the server's. User,
// password, virtual host and driver options stay.
func (s *Server) URLFor(address string) (string, error) {
	u, err := url.Parse(address)
	if err != nil {
		return "", fmt.Errorf("the address of a proxy: %w", err)
	}
	u.Host = s.Addr().String()
	return u.String(), nil
}
