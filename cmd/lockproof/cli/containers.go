package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/lockproof/lockproof/adapters/amqp/rabbitmq"
	"github.com/lockproof/lockproof/adapters/container"
)

// containers starts servers in containers. It is nil in a program that cannot do so.
var containers container.Starter

// handOver hands the command line over to lockproof-servers if its broker is to run in a container. The container's
// image is the one that --on names, or the default image if no broker is found.
func (f *onFlags) handOver(c *cobra.Command) error {
	if containers != nil {
		return nil
	}
	if _, image := container.Parse(f.on); image {
		return serversProgram.handOver(c, nil)
	}
	if f.on == "rabbitmq" && container.MayStart() && rabbitmq.Lacking(c.Context(), rabbitmq.Options{Restarts: c.Flags().Changed("restarts")}) {
		err := serversProgram.handOver(c, nil) // if handOver returns, lockproof-servers is not available
		if c.Context().Err() != nil {
			return err
		}
		tell(err.Error())
	}
	return nil
}

// started finds a broker or starts one. If the address is an image, it starts the broker in a container.
func started(c *cobra.Command, o rabbitmq.Options) (*rabbitmq.Broker, error) {
	if i, ok := container.Parse(o.URL); ok && i.Name == "rabbitmq" {
		o.Log = tell
		return rabbitmq.StartContainer(c.Context(), i, o)
	}
	return rabbitmq.Start(c.Context(), o)
}

// inContainer starts a server of this kind in a container and returns its address. The container runs until the command
// ends.
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
