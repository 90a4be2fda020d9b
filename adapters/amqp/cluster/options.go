package cluster

import (
	"cmp"
	"fmt"
	"strings"
)

// Mode is what nodes do when they are separated from others: RabbitMQ's cluster_partition_handling.
type Mode string

// The modes.
const (
	Ignore        Mode = "ignore"
	PauseMinority Mode = "pause_minority"
	Autoheal      Mode = "autoheal"
)

// Modes are all modes, in the order of RabbitMQ's documentation.
var Modes = []Mode{Ignore, PauseMinority, Autoheal}

// ModeNamed is the mode with that name.
func ModeNamed(name string) (Mode, error) {
	for _, m := range Modes {
		if string(m) == name {
			return m, nil
		}
	}
	return "", fmt.Errorf("%q: expected ignore, pause_minority or autoheal", name)
}

// Bounds of a cluster's size. Each node takes 100 to 150 MB.
const (
	SmallestCluster = 2
	LargestCluster  = 7
)

// DefaultTick is the nodes' net_ticktime in seconds, unless another is asked for. RabbitMQ's own is 60.
const DefaultTick = 4

// Options say which cluster to start.
type Options struct {
	// Nodes is how many there are; 0 is three.
	Nodes int
	// Mode is what nodes do when they are separated; "" is ignore, as RabbitMQ has it.
	Mode Mode
	// Khepri has nodes keep their records by Khepri, where RabbitMQ can and does not by itself: from 4.0 to 4.1.
	Khepri bool
	// Tick is net_ticktime, in seconds: how long another node may say nothing; 0 is [DefaultTick].
	Tick int
	// Folder has the RabbitMQ to start; "" is the installed one. See [rabbitmq.FindPrograms].
	Folder string
	// Log is called with what is being done, one line a call. It may be nil.
	Log func(string)
}

// check completes the options, or says what is wrong with them.
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

// config is what every node's rabbitmq.conf has.
func (o *Options) config() string {
	var b strings.Builder
	fmt.Fprintf(&b, "cluster_partition_handling = %s\n", o.Mode)
	b.WriteString("cluster_formation.peer_discovery_backend = classic_config\n")
	for i := range o.Nodes {
		fmt.Fprintf(&b, "cluster_formation.classic_config.nodes.%d = %s@localhost\n", i+1, nodeName(i))
	}
	b.WriteString("vm_memory_high_watermark.absolute = 512MB\n") // of a busy machine's memory a share can be little
	return b.String()
}

// nodeName is what a node is called, counted from 0 here and from 1 in names.
func nodeName(i int) string { return fmt.Sprintf("lp%d", i+1) }
