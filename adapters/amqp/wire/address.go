package wire

import (
	"fmt"
	"net"
	"net/url"
)

// ProxyTo is a proxy for the broker at an AMQP URL.
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

// URLFor is the server's address with the other parts of the AMQP URL of the broker behind a proxy: user, password, virtual
// host, and options of the driver.
func (s *Server) URLFor(address string) (string, error) {
	u, err := url.Parse(address)
	if err != nil {
		return "", fmt.Errorf("the address of a proxy: %w", err)
	}
	u.Host = s.Addr().String()
	return u.String(), nil
}
