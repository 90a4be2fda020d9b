package clustered

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lockproof/lockproof/adapters/amqp/cluster"
	"github.com/lockproof/lockproof/adapters/amqp/cluster/designs"
	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/adapters/nemesis"
	"github.com/lockproof/lockproof/histories/report"
)

// Placement says on which nodes clients A and B and the queue are. The fault affects node 1.
type Placement struct{ A, B, Queue int }

var (
	// besides are the placements for a lock whose queue is on its holder's node.
	besides = []Placement{{A: 1, B: 2}, {A: 2, B: 1}}
	// hosted are the placements for a lock whose queue is on a node of its own choice.
	hosted = []Placement{{A: 2, B: 1, Queue: 1}, {A: 1, B: 3, Queue: 2}, {A: 1, B: 2, Queue: 1}, {A: 2, B: 1, Queue: 2}}
)

// String describes the placement, for example "A n2, B n1, queue n1". Client A holds the lock before the fault, and
// client B tries to acquire it.
func (p Placement) String() string {
	said := fmt.Sprintf("A n%d, B n%d", p.A, p.B)
	if p.Queue > 0 {
		said += fmt.Sprintf(", queue n%d", p.Queue)
	}
	return said
}

// Placements returns the placements in which a design is measured.
func Placements(d designs.Design) []Placement {
	if d.Hosted {
		return hosted
	}
	return besides
}

// TableConfig says which designs, modes and faults to measure, and how often.
type TableConfig struct {
	Designs []designs.Design
	Modes   []cluster.Mode
	Faults  []nemesis.Fault
	// Rounds is the number of measurements of each cell, each on a fresh cluster.
	Rounds int
	// Folder contains the RabbitMQ to start; "" means the installed one. Khepri makes RabbitMQ keep its metadata in
	// Khepri.
	Folder string
	Khepri bool
	// Length is the duration of a network cut or of a node's pause. Pause is the waiting time before each fault.
	Length, Pause time.Duration
	// Log is called with each event of a run as one line of text. It may be nil.
	Log func(string)
}

// tableNodes is the number of nodes of each cluster that Table starts.
const tableNodes = 3

// Table measures designs under modes and faults. Each fault under each mode has a fresh cluster. All placements of all
// designs share it, as separate locks. After an error the table has the results so far.
func Table(ctx context.Context, c TableConfig) (*report.ClusterTable, error) {
	if c.Log == nil {
		c.Log = func(string) {}
	}
	began := time.Now()
	m := measuring{config: c, cells: make(map[cellKey]int)}
	m.table.Tool = engine.Version
	for _, f := range c.Faults {
		m.table.Faults = append(m.table.Faults, string(f))
	}
	for _, mode := range c.Modes {
		m.table.Modes = append(m.table.Modes, string(mode))
	}
	err := m.all(ctx)
	m.table.Elapsed, m.table.Interrupted = time.Since(began), err != nil
	return &m.table, err
}

// measuring is a table whose measurement is in progress.
type measuring struct {
	config TableConfig
	table  report.ClusterTable
	cells  map[cellKey]int // index of each cell in the table
}

func (m *measuring) all(ctx context.Context) error {
	for round := range m.config.Rounds {
		for _, f := range m.config.Faults {
			for _, mode := range m.config.Modes {
				m.config.Log(fmt.Sprintf("%s under %s, %d of %d", f, mode, round+1, m.config.Rounds))
				if err := m.measure(ctx, f, mode); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// measure causes one fault on a fresh cluster, and measures all placements of all designs on it.
func (m *measuring) measure(ctx context.Context, f nemesis.Fault, mode cluster.Mode) (err error) {
	c, err := cluster.Start(ctx, cluster.Options{Nodes: tableNodes, Mode: mode, Khepri: m.config.Khepri, Folder: m.config.Folder})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Stop()) }()
	m.table.Server = fmt.Sprintf("%s, clusters of %d nodes; the fault befalls n1", c.Version, tableNodes)
	var trials []Trial
	var where []Placement
	for i := range m.config.Designs {
		d := &m.config.Designs[i]
		if d.Mirrored && !c.Mirrors() {
			m.config.Log(fmt.Sprintf("%s is left out: %s has no mirrored queues", d.Name, c.Version))
			continue
		}
		for _, p := range Placements(*d) {
			trials = append(trials, Trial{Design: d, Clients: []int{p.A, p.B}, Queue: p.Queue})
			where = append(where, p)
		}
	}
	steps := nemesis.Plan{Nodes: tableNodes, Faults: []nemesis.Fault{f}, At: 1, Length: m.config.Length, Pause: m.config.Pause}.Draw()
	outcomes, err := Run(ctx, Config{Cluster: c, Trials: trials, Steps: steps})
	if err != nil {
		return err
	}
	for i := range outcomes {
		m.put(cellKey{outcomes[i].Trial.Design.Name, where[i].String(), string(mode), string(f)}, runOf(&outcomes[i]))
	}
	return ctx.Err()
}

// cellKey identifies a cell.
type cellKey struct{ design, placement, mode, fault string }

// put adds the result of one run to the cell with key k.
func (m *measuring) put(k cellKey, run report.ClusterRun) {
	i, known := m.cells[k]
	if !known {
		i = len(m.table.Cells)
		m.cells[k] = i
		m.table.Cells = append(m.table.Cells, report.ClusterCell{Design: k.design, Placement: k.placement, Mode: k.mode, Fault: k.fault})
	}
	m.table.Cells[i].Runs = append(m.table.Cells[i].Runs, run)
}

// runOf converts an outcome to an entry of the table.
func runOf(o *Outcome) report.ClusterRun {
	if o.History == nil || o.Err != nil {
		return report.ClusterRun{Failed: fmt.Sprint(o.Err), Tokens: -1}
	}
	m := &o.Measure
	return report.ClusterRun{
		Twice: m.Twice(), Together: m.Longest, Standing: m.Standing, Told: m.Told, Lost: m.Lost, Stuck: m.Stuck, Tokens: m.Tokens,
	}
}
