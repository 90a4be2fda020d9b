package databases_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/adapters/sql"
)

// A database that an address names and the server does not have is an error, on one line, though ours are made beside it.
func TestUnknownDatabase(t *testing.T) {
	for _, d := range dialects {
		t.Run(d.String(), func(t *testing.T) {
			u, err := url.Parse(database(t, d).URL)
			if err != nil {
				t.Fatal(err)
			}
			u.Path = "/lockproof_nobody_has"
			s, err := databases.At(t.Context(), u.String())
			if err == nil {
				t.Fatalf("%s: expected an error, got %v", u.Redacted(), s)
			}
			if said := err.Error(); !strings.Contains(said, "lockproof_nobody_has") || strings.Contains(said, "\n") {
				t.Errorf("expected one line that names the database, got %q", said)
			}
		})
	}
}
