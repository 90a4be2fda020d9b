package clustered

import (
	"fmt"
	"slices"

	"github.com/lockproof/lockproof/adapters/amqp/cluster"
	"github.com/lockproof/lockproof/adapters/amqp/cluster/designs"
	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/adapters/nemesis"
	"github.com/lockproof/lockproof/histories/report"
	simulated "github.com/lockproof/lockproof/sim/amqp/cluster"
)

// MostSimulated is how many nodes a simulated cluster has at most.
const MostSimulated = simulated.MostModelled

// ModelConfig says what to explore on the simulated cluster.
type ModelConfig struct {
	Designs []designs.Design
	Modes   []cluster.Mode
	Faults  []nemesis.Fault
	// At are where the clients and the queue are; nil is all placements of the table. The fault befalls n1.
	At *Placement
	// Nodes is how many nodes the cluster has.
	Nodes int
	// Khepri has nodes keep their records by Khepri, as RabbitMQ 4.0 and 4.1 do on request. The mode makes no difference then.
	Khepri bool
}

// Explore looks on the simulated cluster for the shortest execution in each cell in which two clients hold the lock.
func Explore(c ModelConfig) (*report.ClusterModel, error) {
	m := &report.ClusterModel{Tool: engine.Version, Server: fmt.Sprintf("a simulated cluster of %d nodes; the fault befalls n1", c.Nodes)}
	if c.Khepri {
		m.Server = fmt.Sprintf("a simulated cluster of %d nodes with Khepri; the fault befalls n1", c.Nodes)
	}
	for _, mode := range c.Modes {
		m.Modes = append(m.Modes, string(mode))
	}
	for _, f := range c.Faults {
		m.Faults = append(m.Faults, string(f))
		for _, d := range c.Designs {
			if d.Mirrored && c.Khepri {
				continue // there are none
			}
			if err := c.explore(m, d, f); err != nil {
				return nil, err
			}
		}
	}
	return m, nil
}

// explore explores a design under a fault, in all placements and modes.
func (c *ModelConfig) explore(m *report.ClusterModel, d designs.Design, f nemesis.Fault) error {
	places := Placements(d)
	if c.At != nil {
		places = []Placement{*c.At}
	}
	for _, p := range places {
		if !d.Hosted {
			p.Queue = 0 // it is where its holder is
		}
		for _, mode := range c.Modes {
			model, err := c.model(d, p, mode, f)
			if err != nil {
				return err
			}
			r, err := model.Explore()
			if err != nil {
				return fmt.Errorf("%s, %s: %w", d.Name, p, err)
			}
			m.Cells = append(m.Cells, report.ClusterModelCell{
				Design: d.Name, Placement: p.String(), Mode: string(mode), Fault: string(f), Steps: r.Steps, States: r.States,
				Real: "lockproof cluster prove" + c.flags(d, p, mode, f),
			})
		}
	}
	return nil
}

// flags are those by which `cluster prove` has the same befall real nodes.
func (c *ModelConfig) flags(d designs.Design, p Placement, mode cluster.Mode, f nemesis.Fault) (said string) {
	if c.Khepri {
		said = " --rabbitmq FOLDER --khepri"
	}
	said += fmt.Sprintf(" --design %s --mode %s --fault %s --fault-at 1 --clients-at %d,%d", d.Name, mode, f, p.A, p.B)
	if d.Hosted {
		said += fmt.Sprintf(" --queue-at %d", p.Queue)
	}
	return said
}

// model is the model of one cell.
func (c *ModelConfig) model(d designs.Design, p Placement, mode cluster.Mode, f nemesis.Fault) (simulated.Model, error) {
	design, err := simulated.DesignNamed(d.Name)
	if err != nil {
		return simulated.Model{}, err
	}
	m := simulated.Model{
		Design: design, Mode: simulated.Mode(slices.Index(cluster.Modes, mode)), Khepri: c.Khepri, Nodes: c.Nodes, A: p.A, B: p.B, Queue: max(p.Queue, 1),
	}
	for _, s := range (nemesis.Plan{Nodes: c.Nodes, Faults: []nemesis.Fault{f}, At: 1}).Draw() {
		m.Faults = append(m.Faults, simulated.Fault{F: s.F, Nodes: s.Nodes, To: s.To})
	}
	return m, nil
}
