package databases_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/adapters/sql"
)

// If the address names a database that does not exist, Find returns an error of one line, although lockproof makes
// its own databases.
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
