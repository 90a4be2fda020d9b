package rabbitmq_test

import (
	"errors"
	"net"
	"net/url"
	"strings"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/lockproof/lockproof/adapters/amqp/rabbitmq"
	"github.com/lockproof/lockproof/internal/rabbitmqtest"
)

// The flag has priority over the environment variable. A broker that was not started here cannot be restarted, and Stop
// leaves it running.
func TestStartUsesTheBrokerThatIsNamed(t *testing.T) {
	url := rabbitmqtest.URL(t)
	t.Setenv(rabbitmq.EnvURL, "amqp://127.0.0.1:1")
	b, err := rabbitmq.Start(t.Context(), rabbitmq.Options{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	if b.URL != url || !strings.HasPrefix(b.Version, "RabbitMQ ") {
		t.Errorf("got %s, %q; want %s", b.URL, b.Version, url)
	}
	if err := b.Restart(t.Context()); b.CanRestart() || err == nil || !strings.Contains(err.Error(), "only a broker that was started here") {
		t.Errorf("restarting it: can %v, did: %v", b.CanRestart(), err)
	}
	if err := b.Stop(); err != nil {
		t.Error(err)
	}
	connect(t, url)
}

// If there is no broker at a named address, Start returns an error that says who named it. It looks for no other
// broker.
func TestStartSaysWhoNamedABadBroker(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := "amqp://user:secret@" + l.Addr().String()
	_ = l.Close()

	for _, c := range []struct{ flag, env, want string }{
		{flag: address, want: "--on: connecting to amqp://user:***@" + l.Addr().String() + "/%2F: nobody listens there"},
		{env: address, want: rabbitmq.EnvURL + ": connecting to "},
		{flag: "http://x", env: address, want: `--on: "http://x" is not the address of a broker`},
		{env: "x", want: rabbitmq.EnvURL + `: "x" is not the address of a broker`},
	} {
		t.Setenv(rabbitmq.EnvURL, c.env)
		_, err := rabbitmq.Start(t.Context(), rabbitmq.Options{URL: c.flag, Flag: "--on"})
		if err == nil || errors.Is(err, rabbitmq.ErrNoBroker) || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("flag %q, environment %q: %v\nwant %q", c.flag, c.env, err, c.want)
			continue
		}
		if strings.Contains(err.Error(), "secret") {
			t.Errorf("shows the password: %v", err)
		}
	}
}

// The error says whether no broker is there, something else is there, or the broker refuses the login. It does not
// contain the password.
func TestStartSaysWhatIsWrongWithAnAddress(t *testing.T) {
	t.Parallel()
	good, err := url.Parse(rabbitmqtest.URL(t))
	if err != nil {
		t.Fatal(err)
	}
	wrong := *good
	wrong.User = url.UserPassword("guest", "not-the-secret")
	nowhere := *good
	nowhere.Path, nowhere.RawPath = "/no-such-host", ""
	for address, want := range map[string]string{
		wrong.String():   "the broker there refuses the user name or the password",
		nowhere.String(): "the broker there has no such virtual host",
		"amqp://guest:not-the-secret@" + impostor(t): "expected a broker that speaks AMQP 0-9-1 there",
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel() // RabbitMQ delays its answer to a wrong login
			_, err := rabbitmq.Start(t.Context(), rabbitmq.Options{URL: address, Flag: "--on"})
			if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "--on: ") || strings.Contains(err.Error(), "not-the-secret") {
				t.Errorf("%s: %v, want %q", address, err, want)
			}
		})
	}
}

// impostor is an address at which a server answers in HTTP.
func impostor(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Write([]byte("HTTP/1.1 400 Bad Request\r\n\r\n"))
			_ = conn.Close()
		}
	}()
	return l.Addr().String()
}

// Start uses a broker at the default address, and reports it as found.
func TestStartFindsTheUsualBroker(t *testing.T) {
	const usual = "127.0.0.1:5672"
	if !strings.Contains(rabbitmqtest.URL(t), "guest:guest@"+usual+"/%2F") {
		t.Skip("skipped: there is no RabbitMQ at " + usual)
	}
	t.Setenv(rabbitmq.EnvURL, "")
	b, err := rabbitmq.Start(t.Context(), rabbitmq.Options{Log: func(line string) { t.Error(line) }})
	if err != nil {
		t.Fatal(err)
	}
	if want := b.Version + " at " + usual + " (found)"; !b.Found || b.CanRestart() || b.String() != want {
		t.Errorf("found %v, can be restarted %v, %q, want %q", b.Found, b.CanRestart(), b.String(), want)
	}
	named, err := rabbitmq.Start(t.Context(), rabbitmq.Options{URL: b.URL})
	if err != nil {
		t.Fatal(err)
	}
	if want := b.Version + " at " + usual; named.String() != want {
		t.Errorf("%q, want %q", named.String(), want)
	}
}

// wantRealRestart fails the test unless a restart keeps durable queues and the URL, and drops transient queues.
func wantRealRestart(t *testing.T, b *rabbitmq.Broker) {
	t.Helper()
	client := connect(t, b.URL)
	declare := func(name string, durable, exclusive bool) {
		t.Helper()
		if _, err := client.QueueDeclare(name, durable, false, exclusive, false, nil); err != nil {
			t.Fatal(err)
		}
	}
	declare("durable", true, false)
	declare("transient", false, false)
	declare("exclusive", false, true)

	if err := b.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"durable": true, "transient": false, "exclusive": false} {
		if got := queueExists(t, b.URL, name); got != want {
			t.Errorf("after the restart, the %s queue exists: %v, want %v", name, got, want)
		}
	}
}

// connect opens a connection and a channel, which are closed at the end of the test.
func connect(t *testing.T, url string) *amqp.Channel {
	t.Helper()
	conn, err := amqp.Dial(url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	ch, err := conn.Channel()
	if err != nil {
		t.Fatal(err)
	}
	return ch
}

func queueExists(t *testing.T, url, name string) bool {
	t.Helper()
	_, err := connect(t, url).QueueDeclarePassive(name, false, false, false, false, nil)
	if refusal, ok := err.(*amqp.Error); ok && refusal.Code == amqp.NotFound {
		return false
	}
	if err != nil {
		t.Fatal(err)
	}
	return true
}

func listenersAt(address string) (left []string) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return nil
	}
	if conn, err := net.DialTimeout("tcp", u.Host, time.Second); err == nil {
		_ = conn.Close()
		left = append(left, u.Host)
	}
	return left
}
