package cli

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockproof/lockproof/adapters/engine/clustered"
	"github.com/lockproof/lockproof/adapters/redis/sentinel"
	"github.com/lockproof/lockproof/model/lock"
)

// redisCluster is the value of --server for a cluster of Redis with Sentinels.
const redisCluster = "redis"

// checkServer returns an error for an unknown kind of cluster, and for flags that this kind does not support.
func (f *clusterProveFlags) checkServer(c *cobra.Command) error {
	switch f.server {
	case "rabbitmq":
		return nil
	case redisCluster:
	default:
		return fmt.Errorf("--server %q: expected rabbitmq or redis", f.server)
	}
	if err := given(c, "with --server redis: leave it out", "mode", "queue-at", "rabbitmq", "khepri", "net-ticktime", "on", "hook"); err != nil {
		return err
	}
	if f.nodes < sentinel.Fewest {
		return fmt.Errorf("--nodes %d with --server redis: expected %d to %d, since Sentinels decide by majority", f.nodes, sentinel.Fewest, sentinel.Most)
	}
	if f.hold == 0 {
		f.hold = usualHold
	}
	if f.exec == "" && f.hold > sentinel.LeaseTime/2 {
		return fmt.Errorf("--hold %s: the leases of our designs last %s, and a hold has to be over in good time", f.hold, sentinel.LeaseTime)
	}
	return nil
}

// usualHold is the default time for which a client holds a lock with a lease.
const usualHold = time.Second

// lease returns the trial of a built-in lock with a lease.
func (f *clusterProveFlags) lease() (t clustered.Trial, err error) {
	name, names := cmp.Or(f.design, sentinel.Leases[0].Name), []string(nil)
	for _, l := range sentinel.Leases {
		if l.Name == name {
			return clustered.Trial{Exec: l.Doc, Starter: l.Starter(), Kind: lock.Mutex}, nil
		}
		names = append(names, l.Name)
	}
	return t, fmt.Errorf("--design %q with --server redis: expected one of %s", name, strings.Join(names, ", "))
}
