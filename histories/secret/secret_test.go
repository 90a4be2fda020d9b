package secret_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/histories/secret"
)

// TestHide: the password in an address is hidden, even if the address cannot be parsed. Text without a password is
// unchanged.
func TestHide(t *testing.T) {
	for text, want := range map[string]string{
		"amqp://u:marked@h:1/%2F":                     "amqp://u:***@h:1/%2F",
		"amqp://u:mar/ked#marked@h:1":                 "amqp://u:***@h:1",
		"amqp://u:marked@marked@h":                    "amqp://u:***@h",
		"redis://:marked@h/0":                         "redis://:***@h/0",
		"nats://marked@h:4222,nats://u:marked@i:4222": "nats://***@h:4222,nats://u:***@i:4222",
		"postgres://h/d?user=u&password=marked":       "postgres://h/d?user=u&password=***",
		"--on amqp://USER:PASSWORD@HOST:5672":         "--on amqp://USER:PASSWORD@HOST:5672",
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

// TestAddress: an address hides its password with every format verb and in JSON.
func TestAddress(t *testing.T) {
	a := secret.Address("amqp://u:marked@h")
	data, err := json.Marshal(struct{ A secret.Address }{a})
	said := fmt.Sprintf("%s %v %q %+v %#v %x", a, a, a, a, a, a) + string(data)
	if err != nil || strings.Contains(said, "marked") {
		t.Errorf("shows its password: %s, %v", said, err)
	}
}

// TestHideOption: the value of an option is hidden if the option's name, such as "password", indicates a secret. In
// other options, only passwords in addresses are hidden.
func TestHideOption(t *testing.T) {
	for _, c := range [][3]string{
		{"password", "a b", "***"}, {"api-token", "x", "***"}, {"DB_PASS", "x", "***"}, {"auth", "x", "***"}, {"client-secret", "x", "***"},
		{"url", "redis://u:x@h/0", "redis://u:***@h/0"}, {"order", "descending", "descending"}, {"author", "x", "x"}, {"password", "", ""},
		{"delete-keys", "false", "false"}, {"config", `{"password": "x"}`, `{"password": "***"}`},
	} {
		if got := secret.HideOption(c[0], c[1]); got != c[2] {
			t.Errorf("%s=%s: got %s, expected %s", c[0], c[1], got, c[2])
		}
	}
}

// TestRestore: hiding removes the secrets from a command, and the names of the variables for them are known. Restoring
// them gives the original command.
func TestRestore(t *testing.T) {
	for _, c := range []struct{ command, hidden, variables string }{
		{"PASSWORD=marked python3 a.py", "PASSWORD=*** python3 a.py", "PASSWORD"},
		{"DB_PASS='marked' TOKEN=marked ./a", "DB_PASS='***' TOKEN=*** ./a", "DB_PASS TOKEN"},
		{`export API_KEY="marked"; ./a`, `export API_KEY="***"; ./a`, "API_KEY"},
		{"export PASSWORD=marked; ./a", "export PASSWORD=***; ./a", "PASSWORD"},
		{"./a --password marked --token=marked", "./a --password *** --token=***", "LOCKPROOF_SECRET_1 LOCKPROOF_SECRET_2"},
		{"./a --url 'amqp://u:marked@h/'", "./a --url 'amqp://u:***@h/'", "LOCKPROOF_SECRET_1"},
		{"URL=redis://:marked@h/0 ./a", "URL=redis://:***@h/0 ./a", "LOCKPROOF_SECRET_1"},
		{"sh -c 'PASSWORD=marked ./a' 'b'", "sh -c 'PASSWORD=*** ./a' 'b'", "PASSWORD"},
		{"sh -c './a --password=marked' 'b'", "sh -c './a --password=***' 'b'", "LOCKPROOF_SECRET_1"},
		{"PASSWORD=marked ./a & PASSWORD=marked ./b", "PASSWORD=*** ./a & PASSWORD=*** ./b", "PASSWORD LOCKPROOF_SECRET_1"},
		{`PASSWORD="$SECRET" ./a --token $TOKEN`, `PASSWORD="$SECRET" ./a --token $TOKEN`, ""},
		{"python3 a.py ***", "python3 a.py ***", ""},
		{`curl -H 'Authorization: Bearer marked' h`, `curl -H 'Authorization: Bearer ***' h`, "LOCKPROOF_SECRET_1"},
	} {
		hidden := secret.Command(c.command)
		if names := strings.Join(secret.Variables(hidden), " "); hidden != c.hidden || names != c.variables {
			t.Errorf("%s: got %s with %s, expected %s with %s", c.command, hidden, names, c.hidden, c.variables)
		}
		again, missing := secret.Restore(hidden, func(string) (string, bool) { return "marked", true })
		if again != c.command || missing != nil {
			t.Errorf("%s: restored to %s, missing %q", c.command, again, missing)
		}
	}
	if got, missing := secret.Restore("A_PASS=*** b", func(string) (string, bool) { return "", false }); len(missing) != 1 || missing[0] != "A_PASS" {
		t.Errorf("got %s, missing %q", got, missing)
	}
	for command, want := range map[string]string{
		"PASSWORD=*** a": `PASSWORD='it'\''s $1' a`, `PASSWORD="***" a`: `PASSWORD="it's \$1" a`, "PASSWORD='***' a": `PASSWORD='it'\''s $1' a`,
	} {
		if got, _ := secret.Restore(command, func(string) (string, bool) { return "it's $1", true }); got != want {
			t.Errorf("%s: restored to %s, expected %s", command, got, want)
		}
	}
}

// TestHideWholeValue: a secret value is hidden up to its end, however it is quoted.
func TestHideWholeValue(t *testing.T) {
	for _, text := range []string{
		`PASSWORD=a'marked b' ./a`, `PASSWORD=a\ marked ./a`, `PASSWORD="a\"marked" ./a`, `password=it'smarked`, `--password "a marked"`,
	} {
		if got := secret.HideCommand(text); strings.Contains(got, "marked") {
			t.Errorf("%s: shows its password: %s", text, got)
		}
	}
}

// FuzzHide: hiding secrets in any text, and restoring secrets in any command, does not panic.
func FuzzHide(f *testing.F) {
	f.Add("amqp://u:p@h?password=x")
	f.Fuzz(func(t *testing.T, text string) {
		secret.Hide(text)
		secret.Restore(secret.Command(text), func(string) (string, bool) { return "x", true })
	})
}
