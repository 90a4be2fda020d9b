package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/lockproof/lockproof/adapters/amqp/rabbitmq"
	"github.com/lockproof/lockproof/adapters/container"
)

// containers starts servers in containers; nil if only another program can.
var containers container.Starter

// handOver makes lockproof-servers run the command line if its broker is to run in a container: from an image that --on
// names, or from the default image if no broker is found.
func (f *onFlags) handOver(c *cobra.Command) error {
	if containers != nil {
		return nil
	}
	if _, image := container.Parse(f.on); image {
		return serversProgram.handOver(c, nil)
	}
	if f.on == "rabbitmq" && container.MayStart() && rabbitmq.Lacking(c.Context(), rabbitmq.Options{Restarts: c.Flags().Changed("restarts")}) {
		err := serversProgram.handOver(c, nil) // returns only if that program is not available
		if c.Context().Err() != nil {
			return err
		}
		tell(err.Error())
	}
	return nil
}

// started is a broker that already exists or is started: in a container, if the address is an image.
func started(c *cobra.Command, o rabbitmq.Options) (*rabbitmq.Broker, error) {
	if i, ok := container.Parse(o.URL); ok && i.Name == "rabbitmq" {
		o.Log = tell
		return rabbitmq.StartContainer(c.Context(), i, o)
	}
	return rabbitmq.Start(c.Context(), o)
}

// inContainer starts a server of this kind in a container, which runs until the command ends, and returns its address.
func (k *kindOfServer) inContainer(c *cobra.Command, i container.Image) (string, error) {
	tell("starting " + i.String() + " in a container")
	s, err := containers(c.Context(), i, func(ctx context.Context, url string) error {
		found, err := finders[k.backend](ctx, url)
		if err != nil {
			return err
		}
		return found.Close()
	})
	if err != nil {
		return "", err
	}
	atEnd(c, s.Stop)
	return s.URL(), nil
}
