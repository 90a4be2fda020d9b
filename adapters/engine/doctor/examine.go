package doctor

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"github.com/lockproof/lockproof/adapters/amqp/cluster"
	"github.com/lockproof/lockproof/adapters/amqp/rabbitmq"
	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/histories/report"
	"github.com/lockproof/lockproof/histories/style"
)

// Config says which servers to ask, and what the user states about them.
type Config struct {
	// URLs are the amqp:// addresses of one or several nodes of a cluster.
	URLs []string
	// Management is the address of one node's management interface; "" if it is not to be asked.
	Management string
	// Mode is the cluster's cluster_partition_handling; "" if the user does not state it.
	Mode cluster.Mode
}

// Examine asks the nodes for their configuration, and diagnoses what may endanger locks. The error is for a node that
// could not be asked. If only the management interface could not be asked, the diagnosis contains everything else.
func Examine(ctx context.Context, c Config) (_ *report.Diagnosis, err error) {
	e := examination{config: c, said: report.Diagnosis{Tool: engine.Version}}
	if e.told, err = rabbitmq.Ask(ctx, c.URLs...); err != nil {
		return nil, err
	}
	if c.Management != "" {
		of, err := url.Parse(c.URLs[0])
		if err != nil {
			return nil, err
		}
		m, err := newManagement(c.Management, of.User)
		if err != nil {
			return nil, err
		}
		e.managed, e.unasked = m.ask(ctx)
	}
	e.overAMQP()
	e.fromManagement()
	e.touches()
	e.measured()
	return &e.said, e.unasked
}

// examination collects what is known about the cluster so far.
type examination struct {
	config  Config
	told    []*rabbitmq.Told
	managed *managed // from the management interface; nil if it was not asked
	unasked error    // why the management interface did not answer
	said    report.Diagnosis
}

func (e *examination) fact(name, format string, args ...any) {
	e.said.Facts = append(e.said.Facts, report.Fact{Name: name, Said: fmt.Sprintf(format, args...)})
}

func (e *examination) worry(format string, args ...any) {
	e.said.Worries = append(e.said.Worries, fmt.Sprintf(format, args...))
}

// overAMQP adds what the nodes report over AMQP to the diagnosis.
func (e *examination) overAMQP() {
	first := e.told[0]
	for _, t := range e.told {
		e.fact("node", "%s: %s %s, %s, cluster %s", t.Address, t.Product, t.Version, t.Platform, t.Cluster)
		e.differs(t, first)
		if t.Heartbeat == 0 {
			e.worry("%s proposes no heartbeat: unless clients ask for one, it keeps the locks of a machine that is gone until TCP gives up, for minutes or longer", t.Address)
		}
	}
	if first.Heartbeat > 0 {
		e.fact("heartbeat", "%v, unless a client asks for a shorter one: for up to twice as long a client that is gone keeps its lock", first.Heartbeat)
	}
}

// differs adds warnings if a node differs from the first node in product, cluster or version.
func (e *examination) differs(t, first *rabbitmq.Told) {
	if t.Product != "RabbitMQ" {
		e.worry("%s is no RabbitMQ, but %q: nothing here was measured on it", t.Address, t.Product)
		return
	}
	named := !strings.Contains(t.Cluster+first.Cluster, "@") // by default, a node's cluster has the node's own name
	switch {
	case t.Cluster == first.Cluster:
	case named:
		e.worry("%s is of another cluster than %s: a lock on both is two locks", t.Address, first.Address)
	default:
		e.fact("cluster", "whether %s and %s are nodes of one is not told over AMQP: nobody has named it", first.Address, t.Address)
	}
	if t.Version != first.Version {
		e.worry("%s has another version than %s", t.Address, first.Address)
	}
}

// fromManagement adds the information from the management interface to the diagnosis.
func (e *examination) fromManagement() {
	switch {
	case e.config.Mode != "":
		e.fact("mode", "%s, as you say: no interface tells it", e.config.Mode)
	default:
		e.fact("mode", "not known: no interface tells cluster_partition_handling; name it by --mode")
	}
	m := e.managed
	if e.unasked != nil {
		e.fact("cluster", "not told: %v", e.unasked)
		return
	}
	if m == nil {
		e.fact("cluster", "not asked: --management http://HOST:15672 asks for its nodes, policies and net_ticktime")
		return
	}
	e.nodes()
	store := "Mnesia"
	if m.khepri {
		store = "Khepri"
		e.worry("The metadata store is Khepri: after a partition was mended, it deleted the live exclusive queue of a client in the majority and left its connection open (measured on 4.0.5)")
	}
	e.fact("store", "%s", store)
	for _, p := range m.policies {
		if mode, mirrors := p.Definition["ha-mode"]; mirrors {
			e.worry("The policy %q of %s mirrors queues like %q (ha-mode %v): see the row mirrored-token", p.Name, p.Vhost, p.Pattern, mode)
		}
	}
	if len(m.unseen) > 0 {
		e.fact("not seen", "%s: a user with the tag monitoring or administrator may", strings.Join(m.unseen, ", "))
	}
}

// nodes adds the state of the cluster's nodes to the diagnosis.
func (e *examination) nodes() {
	for _, n := range e.managed.nodes {
		if !n.Running {
			e.worry("%s does not run", n.Name)
		}
		if len(n.Partitions) > 0 {
			e.worry("%s is in another part of the cluster than %s: two clients may hold a lock now, until one part is restarted", n.Name, strings.Join(n.Partitions, ", "))
		}
	}
	nodes := e.managed.nodes
	if len(nodes) == 0 {
		return
	}
	e.fact("nodes", "%d", len(nodes))
	if tick := nodes[0].NetTick; tick > 0 { // a node that has just started does not report it yet
		e.fact("net_ticktime", "%d s: nodes notice within %d to %d s that another is gone, and until then each acts on its own", tick, tick*3/4, tick*5/4)
	}
}

// alone reports whether the cluster is known to have a single node.
func (e *examination) alone() bool { return e.managed != nil && len(e.managed.nodes) == 1 }

// touches reports data that runs of lockproof have left on the cluster, and that the next run may delete.
func (e *examination) touches() {
	for _, t := range e.told {
		if t.Registry {
			e.said.Touches = append(e.said.Touches, fmt.Sprintf("%s has a queue lockproof.registry with %s: runs of lockproof, or one that was killed. "+
				"The next run deletes what provably was made by a killed one. If the queue is yours, run lockproof on another virtual host.", t.Address, style.Plural(t.Entries, "entry")))
		}
	}
}
