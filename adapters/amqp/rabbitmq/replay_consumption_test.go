package rabbitmq_test

import (
	"flag"
	"testing"

	"github.com/lockproof/lockproof/model/amqp/consumption"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	_ "github.com/lockproof/lockproof/sim/amqp/consumption"
)

var consumed = flag.Int("consumed", 8, "how many executions of each lock by consumption are carried out on a real RabbitMQ")

// Traces of locks by consumption can be replayed on a real RabbitMQ with the same results. Compared are every reply and
// delivery and, after every step, the number of ready messages and whether the queue has a consumer.
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

// Mutants of locks by consumption violate their properties on a real broker as well. Two of them are left out, because
// they need a restart or the broker's consumer timeout, which a shared broker does not allow.
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
