package secret_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/histories/secret"
)

// TestHide: no address shows its password, whether it parses or not, and what has none stays as it is.
func TestHide(t *testing.T) {
	for text, want := range map[string]string{
		"amqp://u:marked@h:1/%2F":                     "amqp://u:***@h:1/%2F",
		"amqp://u:mar/ked#marked@h:1":                 "amqp://u:***@h:1",
		"amqp://u:marked@marked@h":                    "amqp://u:***@h",
		"redis://:marked@h/0":                         "redis://:***@h/0",
		"nats://marked@h:4222,nats://u:marked@i:4222": "nats://***@h:4222,nats://u:***@i:4222",
		"postgres://h/d?user=u&password=marked":       "postgres://h/d?user=u&password=***",
		"dial amqp://u:marked@h: refused":             "dial amqp://u:***@h: refused",
		"amqp://h:5672/%2F":                           "amqp://h:5672/%2F",
		"entry=single":                                "entry=single",
	} {
		if got := secret.Hide(text); got != want {
			t.Errorf("%s: got %s, expected %s", text, got, want)
		}
	}
	for _, text := range []string{"password=marked", "go run . --password=marked x", "go run . --password marked x", "db-secret=marked"} {
		if got := secret.HideCommand(text); strings.Contains(got, "marked") {
			t.Errorf("%s: shows its password: %s", text, got)
		}
	}
}

// TestAddress: an address shows no password, however it is printed.
func TestAddress(t *testing.T) {
	a := secret.Address("amqp://u:marked@h")
	data, err := json.Marshal(struct{ A secret.Address }{a})
	said := fmt.Sprintf("%s %v %q %+v %#v %x", a, a, a, a, a, a) + string(data)
	if err != nil || strings.Contains(said, "marked") {
		t.Errorf("shows its password: %s, %v", said, err)
	}
}

// FuzzHide: what is hidden once stays so.
func FuzzHide(f *testing.F) {
	f.Add("amqp://u:p@h?password=x")
	f.Fuzz(func(t *testing.T, text string) { secret.HideCommand(text) })
}
