package rabbitmq_test

import (
	"flag"
	"testing"

	"github.com/lockproof/lockproof/model/amqp/consumption"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	_ "github.com/lockproof/lockproof/sim/consumption"
)

var consumed = flag.Int("consumed", 8, "how many executions of each lock by consumption are carried out on a real RabbitMQ")

// Whatever befalls the locks by consumption on the simulated broker befalls them on a real RabbitMQ: every reply, every
// message that comes unasked, and after every step how many messages are ready and whether somebody consumes.
func TestReplayConsumption(t *testing.T) {
	t.Parallel()
	b := sharedBroker(t)
	for _, target := range consumption.References {
		t.Run(target.Name, func(t *testing.T) {
			t.Parallel()
			agrees(t, b, target, *consumed)
		})
	}
}

// What is wrong with a lock by consumption on the simulated broker is wrong on a real one. The two that a restart, or the
// broker's own timeout, finds out are not asked of a broker that others use.
func TestReplayConsumptionMutants(t *testing.T) {
	t.Parallel()
	b := sharedBroker(t)
	for _, target := range consumption.Mutants {
		breaks, err := property.Named(target.Breaks)
		if err != nil {
			t.Fatal(err)
		}
		if breaks == property.SurvivesRestart || target.Name == "consumer-timeout" {
			continue
		}
		t.Run(target.Name, func(t *testing.T) {
			t.Parallel()
			tr := trace(target, find(t, target, func(tr *scenario.Trace) bool {
				return violated(tr, breaks) != nil && actions(tr, scenario.Restart) == 0
			}))
			got := replay(t, b, target, tr)
			if !got.Reproduces(*violated(tr, breaks)) {
				t.Error(got)
			}
		})
	}
}
