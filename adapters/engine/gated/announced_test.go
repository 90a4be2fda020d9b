package gated

import (
	"testing"

	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/adapters/foreign"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
)

// TestAnnounced checks the properties that the clients' declarations require. They must be judged on every server,
// unless the run names the properties to judge.
func TestAnnounced(t *testing.T) {
	announced := property.Set(0).With(property.FencingMonotone).With(property.LossTold).With(property.FreesAtOnce)
	for _, server := range []string{AMQP, "redis"} {
		for asked, want := range map[property.Set]property.Set{0: announced, property.Set(0).With(property.MutualExclusion): 0} {
			run, err := Config{Lock: Lock{Kind: lock.Mutex, On: Server{Kind: server}}, Judging: engine.Judging{Properties: asked}}.run()
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

// TestUnseen checks that properties which need the server's state are skipped if the server's state is not visible.
func TestUnseen(t *testing.T) {
	f := &sharedRun{Config: Config{Lock: Lock{Kind: lock.Mutex, On: Server{Kind: "tcp", Unseen: "what the server has is not seen"}}}}
	f.about.Operations = lock.Mutex.Operations()
	for p, skipped := range map[property.Property]bool{property.NoLeak: true, property.NameSafety: true, property.MutualExclusion: false, property.Progress: false} {
		if why := f.skip(p); (why == unseen) != skipped {
			t.Errorf("%s is skipped for %q", p, why)
		}
	}
	if f.On.Unseen = ""; f.skip(property.NoLeak) != "" {
		t.Error("no-leak is skipped where the server is seen")
	}
}
