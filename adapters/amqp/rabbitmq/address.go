package rabbitmq

import (
	"fmt"
	"net/url"
	"strings"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/lockproof/lockproof/histories/infile"
	"github.com/lockproof/lockproof/histories/secret"
)

const exampleURL = "amqp://guest:guest@127.0.0.1:5672/%2F"

// shownURL is an example of a broker's address, for error messages.
const shownURL = "amqp://USER:PASSWORD@HOST:5672/%2F"

// checkURL checks a broker's address and returns it in a form that all drivers read in the same way. The virtual host
// is always explicit, as drivers disagree about a missing one and about a bare "/".
func checkURL(address string) (string, error) {
	wrong := func(what string) error {
		return fmt.Errorf("%q is not the address of a broker: %s; expected something like %s", redact(address), what, shownURL)
	}
	u, err := url.Parse(address)
	if err != nil && strings.Contains(address, "@") {
		return "", wrong("it does not parse; reserved characters in a user name or password are written as %XX, such as %40 for @")
	}
	if err != nil {
		return "", wrong(err.(*url.Error).Err.Error())
	}
	if u.Scheme != "amqp" && u.Scheme != "amqps" {
		return "", wrong(fmt.Sprintf("its scheme is %q, not amqp or amqps", u.Scheme))
	}
	if u.Hostname() == "" {
		return "", wrong("it names no host")
	}
	if err := infile.Certificate.CheckNamed(u.Query().Get, "cacertfile", "certfile", "keyfile"); err != nil {
		return "", wrong(err.Error())
	}
	parsed, err := amqp.ParseURI(address)
	if err != nil {
		return "", wrong(err.Error())
	}
	if parsed.Port < 1 || parsed.Port > 65535 {
		return "", wrong(fmt.Sprintf("its port is %d, not 1 to 65535", parsed.Port))
	}
	u.Path, u.RawPath = "/"+parsed.Vhost, "/"+url.PathEscape(parsed.Vhost)
	return u.String(), nil
}

// redact returns the address without its password, for logs and errors.
func redact(address string) string { return secret.Hide(address) }
