package main

import (
	"fmt"
	"io"
	"sync"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/lockproof/lockproof/adapters/wire"
	"github.com/lockproof/lockproof/sim/broker"
)

// brokerFlags say where the simulated broker listens, and which version it is like.
type brokerFlags struct {
	listen  string
	refuses bool
}

func brokerCommand() *cobra.Command {
	f := new(brokerFlags)
	cmd := &cobra.Command{
		Use:   "broker",
		Short: "run the simulated broker for any AMQP 0-9-1 client, until interrupted",
		Long: `broker runs the simulated broker for any AMQP 0-9-1 client, until interrupted.

Queues, messages, confirms, transactions and consumers are as in RabbitMQ 3.10.8, errors
and their texts included. What it does not have, such as exchanges of one's own, it refuses
with 540 NOT_IMPLEMENTED. Nothing is kept when it ends.

It prints its address first, and when it is interrupted what clients have sent.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return f.run(c) },
	}
	cmd.Flags().StringVar(&f.listen, "listen", "127.0.0.1:5673", "the `ADDRESS` to listen on; port 0 picks a free one")
	cmd.Flags().BoolVar(&f.refuses, "refuse-transient", false, "refuse queues that are neither durable nor exclusive, as RabbitMQ 4.3 does")
	return cmd
}

// run serves until it is interrupted, which is how this is meant to end.
func (f *brokerFlags) run(c *cobra.Command) error {
	b := wire.NewSimulated(wire.SimulatedOptions{Broker: broker.Options{TransientRefused: f.refuses}})
	var clock sync.WaitGroup
	server, err := wire.Listen(f.listen, wire.Config{Backend: b})
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

// writeCounts writes what clients have sent.
func writeCounts(out io.Writer, counts wire.Counts) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "connections\t%d\nchannels\t%d\nround trips\t%d\n", counts.Opened, counts.ChannelsOpened, counts.RoundTrips)
	for id, m := range counts.Used() {
		fmt.Fprintf(w, "%s\t%d\n", id, m.Received)
	}
	w.Flush()
}
