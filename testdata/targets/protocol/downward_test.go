package protocol

import (
	"context"
	"fmt"
	"log"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/lockproof/lockproof"
	"github.com/lockproof/lockproof/model/amqp/amqplock"
)

// downward returns the lock as a target. It sends commands one by one, so that each reply decides what the client
// does next.
func downward(name string, wraps bool) lockproof.Target {
	return lockproof.Protocol(name, lockproof.Semaphore, func(reference *amqplock.Protocol) amqplock.Implementation {
		return Downward{Protocol: reference, Slots: 2, Wraps: wraps}
	}).With("pipeline", "0")
}

// ask explores a lock, and prints the verdict on each property.
func ask(t lockproof.Target, b lockproof.Bounds) {
	b.Admins, b.Crashes = lockproof.None, lockproof.None
	res, err := lockproof.Explore(context.Background(), t, b)
	if err != nil {
		log.Fatal(err)
	}
	for _, j := range res.Judgements {
		fmt.Println(res.Target, "·", j.Property, j.Verdict)
		if c := j.Counterexample; c != nil && c.Steps > 0 {
			fmt.Printf("   %s, in %d steps\n", c.Detail, c.Steps)
		}
	}
}

// Does an acquire find a free slot? Only if the scan wraps around.
func ExampleDownward() {
	for _, t := range []lockproof.Target{downward("downward", false), downward("downward, wrapping", true)} {
		ask(t, lockproof.Bounds{
			Options: lockproof.Options{Properties: []lockproof.Property{lockproof.MutualExclusion, lockproof.Progress, lockproof.Linearizable}},
			Slots:   2,
		})
	}
	// Output:
	// downward · mutual-exclusion proved
	// downward · linearizable violated
	//    c2 was told that the lock is full (steps 6 to 9), but unanswered acquires cannot have had each of slots 1 and 2, which nobody else had, in 9 steps
	// downward · progress violated
	//    c2: acquire did not find a slot that was free all along, in 9 steps
	// downward, wrapping · mutual-exclusion proved
	// downward, wrapping · linearizable proved
	// downward, wrapping · progress proved
}

// Does a gap in the slot numbers matter? The reference ends its scan at the gap; this lock does not.
func ExampleDownward_hole() {
	for _, t := range []lockproof.Target{lockproof.Reference(lockproof.Semaphore), downward("downward, wrapping", true)} {
		ask(t, lockproof.Bounds{
			Options: lockproof.Options{
				Properties: []lockproof.Property{lockproof.MutualExclusion, lockproof.Progress},
				Own:        []lockproof.Own{lockproof.Sometimes("found-behind-the-hole", func(v lockproof.View) bool { return len(v.Locks[0].Holders) > 0 })},
			},
			Start: []int{2},
		})
	}
	// Output:
	// semaphore · mutual-exclusion skipped
	// semaphore · progress violated
	//    c1: acquire did not find a slot that was free all along, in 4 steps
	// semaphore · found-behind-the-hole violated
	// downward, wrapping · mutual-exclusion proved
	// downward, wrapping · progress proved
	// downward, wrapping · found-behind-the-hole proved
}

// TestPage: all code in README.md is also in downward.go or in this file.
func TestPage(t *testing.T) {
	page, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	text := ""
	for _, file := range []string{"downward.go", "downward_test.go"} {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		text += strings.ReplaceAll(string(data), "\t// ", "")
	}
	for _, fence := range regexp.MustCompile("(?ms)^```[a-z]+\n(.*?)^```$").FindAllStringSubmatch(string(page), -1) {
		if !strings.Contains(text, strings.TrimSpace(fence[1])) {
			t.Errorf("nowhere:\n%s", fence[1])
		}
	}
	handler, err := lockproof.Explorer(downward("downward", true), lockproof.Bounds{Start: []int{2}})
	if err != nil || handler == nil {
		t.Error(err)
	}
}
