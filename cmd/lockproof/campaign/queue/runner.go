package queue

import (
	"context"

	"github.com/lockproof/lockproof/cmd/lockproof/campaign"
)

// Runner is a [campaign.Runner] on NATS JetStream.
type Runner struct{}

// Run implements campaign.Runner.
func (Runner) Run(ctx context.Context, c campaign.RunConfig) (*campaign.Outcome, error) {
	return Run(ctx, c)
}

// Work implements campaign.Runner.
func (Runner) Work(ctx context.Context, c campaign.WorkConfig) error { return Work(ctx, c) }

// Watch implements campaign.Runner.
func (Runner) Watch(ctx context.Context, server campaign.Server, name string) (campaign.Watcher, error) {
	w, err := Watch(ctx, server, name)
	if err != nil {
		return nil, err
	}
	return w, nil
}

// Delete implements campaign.Runner.
func (Runner) Delete(ctx context.Context, server campaign.Server, name string) error {
	return Delete(ctx, server, name)
}
