package amqplock_test

import (
	"testing"

	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/lock"
)

// TestRenamed: an option's earlier name is read in files and flags, and written as the name that it has now.
func TestRenamed(t *testing.T) {
	def := amqplock.DefaultOptions()
	now, err := def.With("jitter", "3")
	if err != nil {
		t.Fatal(err)
	}
	read, err := lock.ReadOptions(def, []byte(`{"skew":"3"}`))
	if err != nil || read != now {
		t.Errorf("a file's skew: %v, %v", read, err)
	}
	set, err := lock.SetOptions(def, [][2]string{{"skew", "3"}})
	if err != nil || set.Value("jitter") != "3" {
		t.Errorf("a flag's skew: %v, %v", set, err)
	}
	if got := lock.Renamed(def, [][2]string{{"skew", "3"}, {"retries", "0"}}); got[0] != [2]string{"jitter", "3"} || got[1][0] != "retries" {
		t.Errorf("renamed: %v", got)
	}
}
