package amqplock_test

import (
	"testing"

	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/lock"
)

// TestRenamed: files and flags may use an option's earlier name (skew). It is written with its present name (jitter).
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

// none are settings without any option.
type none struct{}

func (none) Check() error      { return nil }
func (none) Facts() lock.Facts { return lock.Facts{} }

// TestTwoNames: NewTable panics if two options share a name; earlier names count as well.
func TestTwoNames(t *testing.T) {
	field := func(name, was string) (f lock.Field[none]) {
		f.Name, f.Was = name, was
		return f
	}
	for _, two := range [][2]lock.Field[none]{
		{field("lease", ""), field("lease", "")}, {field("lease", "ttl"), field("ttl", "")},
		{field("ttl", ""), field("lease", "ttl")}, {field("lease", "ttl"), field("term", "ttl")},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s (was %q) and %s (was %q) are told apart by nothing", two[0].Name, two[0].Was, two[1].Name, two[1].Was)
				}
			}()
			lock.NewTable("some", none{}, two[0], two[1])
		}()
	}
}
