package cluster

import (
	"cmp"
	"fmt"
	"strings"
)

// Mode says what nodes do when they are separated from others. It is RabbitMQ's setting cluster_partition_handling.
type Mode string

// The modes of cluster_partition_handling.
const (
	Ignore        Mode = "ignore"
	PauseMinority Mode = "pause_minority"
	Autoheal      Mode = "autoheal"
)

// Modes are all modes, in the order of RabbitMQ's documentation.
var Modes = []Mode{Ignore, PauseMinority, Autoheal}

// ModeNamed is the mode with the given name.
func ModeNamed(name string) (Mode, error) {
	for _, m := range Modes {
		if string(m) == name {
			return m, nil
		}
	}
	return "", fmt.Errorf("%q: expected ignore, pause_minority or autoheal", name)
}

// Bounds of a cluster's size. Each node needs 100 to 150 MB.
const (
	SmallestCluster = 2
	LargestCluster  = 7
)

// DefaultTick is the default of [Options.Tick]. RabbitMQ's own default is 60.
const DefaultTick = 4

// Options say which cluster to start.
type Options struct {
	// Nodes is the number of nodes; 0 means three.
	Nodes int
	// Mode says what nodes do when they are separated; "" means ignore, RabbitMQ's default.
	Mode Mode
	// Khepri makes nodes keep their metadata in Khepri. It is for versions that support Khepri but do not use it by default:
	// 4.0 and 4.1.
	Khepri bool
	// Tick is RabbitMQ's net_ticktime in seconds: a node that is silent for longer counts as down. 0 means
	// [DefaultTick].
	Tick int
	// Folder contains the RabbitMQ to start; "" means the installed one. See [rabbitmq.FindPrograms].
	Folder string
	// Log is called with each action, in one line. It may be nil.
	Log func(string)
}

// check sets defaults, and returns an error for invalid options.
func (o *Options) check() error {
	if o.Nodes == 0 {
		o.Nodes = 3
	}
	if o.Nodes < SmallestCluster || o.Nodes > LargestCluster {
		return fmt.Errorf("a cluster of %d nodes: expected %d to %d", o.Nodes, SmallestCluster, LargestCluster)
	}
	if o.Mode == "" {
		o.Mode = Ignore
	}
	o.Tick = cmp.Or(o.Tick, DefaultTick)
	_, err := ModeNamed(string(o.Mode))
	return err
}

func (o *Options) logf(format string, args ...any) {
	if o.Log != nil {
		o.Log(fmt.Sprintf(format, args...))
	}
}

// config is the content of every node's rabbitmq.conf.
func (o *Options) config() string {
	var b strings.Builder
	fmt.Fprintf(&b, "cluster_partition_handling = %s\n", o.Mode)
	b.WriteString("cluster_formation.peer_discovery_backend = classic_config\n")
	for i := range o.Nodes {
		fmt.Fprintf(&b, "cluster_formation.classic_config.nodes.%d = %s@localhost\n", i+1, nodeName(i))
	}
	b.WriteString("vm_memory_high_watermark.absolute = 512MB\n") // RabbitMQ's default is a share of memory
	return b.String()
}

// nodeName is the name of node i without its host: i counts from 0, names from lp1.
func nodeName(i int) string { return fmt.Sprintf("lp%d", i+1) }
