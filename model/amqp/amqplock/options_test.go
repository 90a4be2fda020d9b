package amqplock_test

import (
	"testing"

	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/lock"
)

// TestOptionsTogether: two options are refused together only if one makes the other useless.
func TestOptionsTogether(t *testing.T) {
	for _, c := range []struct {
		name    string
		options [][2]string
		refused bool
	}{
		{"the defaults", nil, false},
		{"rejecting", [][2]string{{"overflow", "reject-publish"}}, false},
		{"committing", [][2]string{{"confirm", "transactions"}}, false},
		{"both", [][2]string{{"overflow", "reject-publish"}, {"confirm", "transactions"}}, true},
		{"both, where no queue is ever full", [][2]string{{"overflow", "reject-publish"}, {"confirm", "transactions"}, {"max-length", "none"}}, false},
		{"no confirms, and probes that are published", [][2]string{{"confirm", "none"}}, true},
		{"no confirms, and nothing published", [][2]string{{"confirm", "none"}, {"existence", "passive"}}, false},
		{"both, where nothing is published", [][2]string{{"overflow", "reject-publish"}, {"confirm", "transactions"}, {"existence", "passive"}}, false},
	} {
		o, err := lock.SetOptions(amqplock.DefaultOptions(), c.options)
		if err != nil {
			t.Fatal(err)
		}
		if err := o.Check(); (err != nil) != c.refused {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
