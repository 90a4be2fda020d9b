package cli

import (
	"fmt"
	"io"
	"math"
	"net"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockproof/lockproof/adapters/amqp/wire"
	"github.com/lockproof/lockproof/sim/amqp/broker"
)

// brokerFlags say where the simulated broker listens, which version it simulates, and how it confirms.
type brokerFlags struct {
	listen   string
	anywhere bool
	version  string
	hosts    []string
	refuses  bool
	joins    bool
	routes   bool
	beat     int // heartbeat interval in seconds
	timeout  int // consumer timeout in seconds
}

func brokerCommand() *cobra.Command {
	f := &brokerFlags{beat: 60, timeout: 30 * 60}
	cmd := &cobra.Command{
		Use:   "broker",
		Short: "run the simulated broker for any AMQP 0-9-1 client, until interrupted",
		Long: `broker runs the simulated broker for any AMQP 0-9-1 client, until interrupted.

Queues, exchanges, messages, confirms, transactions and consumers are as in RabbitMQ 3.10.8,
or in the version that --rabbitmq names, errors and their texts included; quorum queues are
as in 3.10.8. The broker refuses features that it does not have, such as streams, with 540
NOT_IMPLEMENTED. Nothing is kept when it ends.

Anybody who reaches its address can use it, with the name and password guest. So it listens
on this machine alone, unless --listen-anywhere is given. It prints its address first, and when
it is interrupted what clients have sent.`,
		Example: `  lockproof broker --listen 127.0.0.1:5673`,
		GroupID: "beside", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return f.run(c) },
	}
	cmd.Flags().StringVar(&f.listen, "listen", "127.0.0.1:5673", "the `ADDRESS` to listen on; port 0 picks a free one")
	cmd.Flags().BoolVar(&f.anywhere, "listen-anywhere", false, "allow --listen with an address that other machines can reach")
	cmd.Flags().StringVar(&f.version, "rabbitmq", "3.10.8", "the `VERSION` of RabbitMQ to be like; 3.10.8 and 4.0.5 were measured")
	cmd.Flags().StringArrayVar(&f.hosts, "vhost", nil, "the `NAME` of a virtual host besides /; may be given several times")
	cmd.Flags().BoolVar(&f.joins, "multiple-confirms", true, "confirm messages that come together by one confirm, as RabbitMQ does; if false, each by its own")
	cmd.Flags().BoolVar(&f.refuses, "refuse-transient", false, "refuse queues that are neither durable nor exclusive, as RabbitMQ 4.3 does")
	cmd.Flags().BoolVar(&f.routes, "route-when-published", false, "look a transaction's queues up when a message is published and not when it is committed, as RabbitMQ 4 does")
	cmd.Flags().Var(number[int]{&f.beat, 0, math.MaxUint16}, "heartbeat", "the `SECONDS` between heartbeats that clients are offered; 0 is none")
	cmd.Flags().Var(number[int]{&f.timeout, 0, math.MaxInt32}, "consumer-timeout", "for how many `SECONDS` a channel may keep a message unacknowledged; 0 is for ever")
	return cmd
}

// run serves until it is interrupted. An interrupt is the normal end and no error.
func (f *brokerFlags) run(c *cobra.Command) error {
	if err := local(f.listen, f.anywhere, "with the password guest"); err != nil {
		return err
	}
	options, err := f.options()
	if err != nil {
		return err
	}
	b := wire.NewSimulated(options)
	var clock sync.WaitGroup
	var gate wire.Gate = wire.Through{}
	if f.joins {
		gate = wire.Together{}
	}
	server, err := wire.Listen(f.listen, wire.Config{Backend: b, Gate: gate})
	if err != nil {
		return err
	}
	clock.Go(func() { b.FollowClock(c.Context()) })
	fmt.Fprintln(c.OutOrStdout(), server.URL())
	<-c.Context().Done()
	clock.Wait()
	err = server.Close()
	writeCounts(c.OutOrStdout(), server.Counts())
	return err
}

// options returns the options of the simulated broker, according to the flags.
func (f *brokerFlags) options() (wire.SimulatedOptions, error) {
	var major, minor int
	if n, _ := fmt.Sscanf(f.version, "%d.%d", &major, &minor); n < 2 {
		return wire.SimulatedOptions{}, fmt.Errorf("--rabbitmq %q: expected a version, such as 4.0.5", f.version)
	}
	like := broker.Like("RabbitMQ " + f.version)
	like.TransientRefused = like.TransientRefused || f.refuses
	like.RoutedAtPublish = like.RoutedAtPublish || f.routes
	return wire.SimulatedOptions{
		Broker: like, Version: f.version, VirtualHosts: f.hosts, Heartbeat: orNone(f.beat), ConsumerTimeout: orNone(f.timeout),
	}, nil
}

// orNone converts a number of seconds to an option of the broker. 0 seconds become a negative duration, which turns the
// option off.
func orNone(seconds int) time.Duration {
	if seconds == 0 {
		return -1
	}
	return time.Duration(seconds) * time.Second
}

// local returns an error for an address that other machines can reach, unless anywhere is set.
func local(listen string, anywhere bool, how string) error {
	host, _, err := net.SplitHostPort(listen)
	if err != nil {
		return fmt.Errorf("--listen %q: expected an address with a port, such as 127.0.0.1:5673", listen)
	}
	ip := net.ParseIP(host)
	if anywhere || host == "localhost" || ip != nil && ip.IsLoopback() {
		return nil
	}
	return fmt.Errorf("--listen %s can be reached from other machines, by anybody, %s: add --listen-anywhere if that is meant, or listen on 127.0.0.1", listen, how)
}

// writeCounts writes how often clients have sent each method.
func writeCounts(out io.Writer, counts wire.Counts) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "connections\t%d\nchannels\t%d\nround trips\t%d\n", counts.Opened, counts.ChannelsOpened, counts.RoundTrips)
	for id, m := range counts.Used() {
		fmt.Fprintf(w, "%s\t%d\n", id, m.Received)
	}
	w.Flush()
}
