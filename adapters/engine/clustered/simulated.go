package clustered

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/lockproof/lockproof/adapters/amqp/cluster"
	"github.com/lockproof/lockproof/adapters/amqp/cluster/designs"
	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/adapters/nemesis"
	"github.com/lockproof/lockproof/histories/report"
	simulated "github.com/lockproof/lockproof/sim/amqp/cluster"
)

// MostSimulated is the maximum number of nodes of a simulated cluster.
const MostSimulated = simulated.MostModelled

// ModelConfig says which designs, modes and faults to explore on the simulated cluster.
type ModelConfig struct {
	Designs []designs.Design
	Modes   []cluster.Mode
	Faults  []nemesis.Fault
	// InTurn makes one cluster suffer all faults, one after the other. Otherwise each fault has a cluster of its own.
	InTurn bool
	// At is the placement of the clients and the queue. nil means all placements of the measured table. The fault
	// affects node n1.
	At *Placement
	// Nodes is the number of nodes of the cluster.
	Nodes int
	// Khepri makes nodes keep their metadata in Khepri, as RabbitMQ 4.0 and 4.1 do on request. The mode then makes no
	// difference.
	Khepri bool
}

// Explore searches the simulated cluster for the shortest execution in which two clients hold the lock at once, for
// each cell of the table.
func Explore(c ModelConfig) (*report.ClusterModel, error) {
	m := &report.ClusterModel{Tool: engine.Version, Server: fmt.Sprintf("a simulated cluster of %d nodes; the fault befalls n1", c.Nodes)}
	if c.Khepri {
		m.Server = fmt.Sprintf("a simulated cluster of %d nodes with Khepri; the fault befalls n1", c.Nodes)
	}
	for _, mode := range c.Modes {
		m.Modes = append(m.Modes, string(mode))
	}
	for _, faults := range c.sequences() {
		m.Faults = append(m.Faults, named(faults))
		for _, d := range c.Designs {
			if d.Mirrored && c.Khepri {
				continue // with Khepri there are no mirrored queues
			}
			if err := c.explore(m, d, faults); err != nil {
				return nil, err
			}
		}
	}
	return m, nil
}

// sequences returns the sequences of faults to explore, one for each cluster.
func (c *ModelConfig) sequences() (all [][]nemesis.Fault) {
	if c.InTurn {
		return [][]nemesis.Fault{c.Faults}
	}
	for _, f := range c.Faults {
		all = append(all, []nemesis.Fault{f})
	}
	return all
}

// named joins the names of faults by commas, as in flags.
func named(faults []nemesis.Fault) string {
	var names []string
	for _, f := range faults {
		names = append(names, string(f))
	}
	return strings.Join(names, ",")
}

// explore explores a design under one sequence of faults, in all placements and modes.
func (c *ModelConfig) explore(m *report.ClusterModel, d designs.Design, faults []nemesis.Fault) error {
	places := Placements(d)
	if c.At != nil {
		places = []Placement{*c.At}
	}
	for _, p := range places {
		if !d.Hosted {
			p.Queue = 0 // the queue is on its holder's node
		}
		for _, mode := range c.Modes {
			model, err := c.model(d, p, mode, faults)
			if err != nil {
				return err
			}
			r, err := model.Explore()
			if err != nil {
				return fmt.Errorf("%s, %s: %w", d.Name, p, err)
			}
			m.Cells = append(m.Cells, report.ClusterModelCell{
				Design: d.Name, Placement: p.String(), Mode: string(mode), Fault: named(faults), Steps: r.Steps, States: r.States,
				Real: "lockproof cluster prove" + c.flags(d, p, mode, faults),
			})
		}
	}
	return nil
}

// flags returns the flags with which `cluster prove` repeats the same trial on real nodes.
func (c *ModelConfig) flags(d designs.Design, p Placement, mode cluster.Mode, faults []nemesis.Fault) (said string) {
	if c.Khepri {
		said = " --rabbitmq FOLDER --khepri"
	}
	said += fmt.Sprintf(" --design %s --mode %s --fault %s --fault-at 1 --clients-at %d,%d", d.Name, mode, named(faults), p.A, p.B)
	if d.Hosted {
		said += fmt.Sprintf(" --queue-at %d", p.Queue)
	}
	return said
}

// model returns the model for one cell of the table.
func (c *ModelConfig) model(d designs.Design, p Placement, mode cluster.Mode, faults []nemesis.Fault) (simulated.Model, error) {
	steps := nemesis.Plan{Nodes: c.Nodes, Faults: faults, At: 1}.Draw()
	return ModelOf(&Trial{Design: &d, Clients: []int{p.A, p.B}, Queue: p.Queue}, steps, c.Nodes, mode, c.Khepri)
}

// ModelOf returns the model of a trial: two clients of a built-in design, on a cluster with the given number of nodes.
// steps are the faults.
func ModelOf(t *Trial, steps []nemesis.Step, nodes int, mode cluster.Mode, khepri bool) (simulated.Model, error) {
	if t.Design == nil || len(t.Clients) != 2 {
		return simulated.Model{}, errors.New("the model has two clients of a design of ours")
	}
	design, err := simulated.DesignNamed(t.Design.Name)
	if err != nil {
		return simulated.Model{}, err
	}
	m := simulated.Model{
		Design: design, Mode: simulated.Mode(slices.Index(cluster.Modes, mode)), Khepri: khepri, Nodes: nodes, A: t.Clients[0], B: t.Clients[1], Queue: t.host(),
	}
	for _, s := range steps {
		m.Faults = append(m.Faults, simulated.Fault{F: s.F, Nodes: s.Nodes, To: s.To})
	}
	return m, nil
}
