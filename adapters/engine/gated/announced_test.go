package gated

import (
	"testing"

	"github.com/lockproof/lockproof/adapters/foreign"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
)

// TestAnnounced: what clients announce is judged on every server, unless somebody asked for other properties only.
func TestAnnounced(t *testing.T) {
	announced := property.Set(0).With(property.FencingMonotone).With(property.LossTold).With(property.FreesAtOnce)
	for _, server := range []string{AMQP, "redis"} {
		for asked, want := range map[property.Set]property.Set{0: announced, property.Set(0).With(property.MutualExclusion): 0} {
			run, err := Config{Kind: lock.Mutex, On: Server{Kind: server}, Properties: asked}.run()
			if err != nil {
				t.Fatal(err)
			}
			run.about = foreign.About{Tokens: true, Losses: true, Leases: true}
			run.announce()
			if got := run.Properties & announced; got != want {
				t.Errorf("%s, asked for %v: %v is judged, expected %v", server, asked.Names(), got.Names(), want.Names())
			}
		}
	}
}
