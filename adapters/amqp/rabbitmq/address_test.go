package rabbitmq

import (
	"strings"
	"testing"
)

func TestCheckURL(t *testing.T) {
	for given, want := range map[string]string{
		"amqp://guest:guest@127.0.0.1:5672/%2F": "amqp://guest:guest@127.0.0.1:5672/%2F",
		"amqp://guest:guest@127.0.0.1:5672/":    "amqp://guest:guest@127.0.0.1:5672/%2F",
		"amqp://host":                           "amqp://host/%2F",
		"amqps://host:5671//":                   "amqps://host:5671/%2F",
		"amqp://[::1]:5672/jobs":                "amqp://[::1]:5672/jobs",
		"amqp://host/a%2Fb":                     "amqp://host/a%2Fb",
		"amqp://host/%25":                       "amqp://host/%25",
		"amqp://host/?heartbeat=5":              "amqp://host/%2F?heartbeat=5",
	} {
		got, err := checkURL(given)
		if got != want || err != nil {
			t.Errorf("%s: got %q, %v; want %q", given, got, err, want)
		}
	}
}

// The error for a bad address is one line. It says what is wrong and what was expected, and does not contain the
// password.
func TestCheckURLRefuses(t *testing.T) {
	for given, want := range map[string]string{
		"":                               `its scheme is ""`,
		"localhost:5672":                 `its scheme is "localhost"`,
		"127.0.0.1:5672":                 "first path segment",
		"http://user:secret@host/":       `its scheme is "http"`,
		"amqp://":                        "it names no host",
		"amqp:///vhost":                  "it names no host",
		"amqp://user:secret@host:99999/": "its port is 99999",
		"amqp://host:abc/":               "invalid port",
		"amqp://user:secret@host:abc/":   "it does not parse",
		"amqp://user:secret%@host/":      "it does not parse",
		"amqp://user:secret?x@host/":     "it does not parse",
		"amqp://user:secret@host/a b":    "whitespace",
		"amqp://host?heartbeat=soon":     "heartbeat",
		"amqp://user:se\ncret@host/":     "it does not parse",
	} {
		_, err := checkURL(given)
		if err == nil {
			t.Errorf("%q is accepted", given)
			continue
		}
		text := err.Error()
		if !strings.Contains(text, want) || !strings.Contains(text, shownURL) {
			t.Errorf("%q: %s\nwant it to say %q, and %s", given, text, want, shownURL)
		}
		if strings.Contains(text, "secret") || strings.Contains(text, "\n") {
			t.Errorf("%q: shows the password, or more than one line: %s", given, text)
		}
	}
}

// FuzzCheckURL checks that an accepted address does not change when it is checked again, and that an error is one line.
func FuzzCheckURL(f *testing.F) {
	f.Add("amqp://guest:guest@127.0.0.1:5672/%2F")
	f.Add("amqps://a:b@[::1]:1/x%2Fy?heartbeat=1")
	f.Add("http://a:b%@c")
	f.Fuzz(func(t *testing.T, given string) {
		once, err := checkURL(given)
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("more than one line: %q", err)
			}
			return
		}
		twice, err := checkURL(once)
		if twice != once || err != nil {
			t.Errorf("%q became %q, and that %q, %v", given, once, twice, err)
		}
	})
}
