package rabbitmq

import (
	"context"

	"github.com/lockproof/lockproof/adapters/container"
)

// inContainer is a broker that lockproof has started in a container.
type inContainer struct{ container.Server }

func (c inContainer) restart(ctx context.Context) error { return c.Restart(ctx) }
func (c inContainer) stop() error                       { return c.Stop() }

// StartContainer starts a RabbitMQ in a container of the given image. It ignores the environment variables that name a
// broker.
func StartContainer(ctx context.Context, i container.Image, o Options) (*Broker, error) {
	o.logf("starting %v in a container", i)
	var version string
	s, err := o.Container(ctx, i, func(ctx context.Context, url string) (err error) {
		version, err = greet(ctx, url)
		return err
	})
	if err != nil {
		return nil, err
	}
	return &Broker{URL: s.URL(), Version: version, Origin: "a container of " + i.String(), own: inContainer{s}}, nil
}
