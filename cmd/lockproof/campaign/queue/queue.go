package queue

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/lockproof/lockproof/cmd/lockproof/campaign"
)

// Queue is a campaign's data on a server: the shards that are not finished, and the results.
type Queue struct {
	*connection
	manifest *campaign.Manifest
	shards   jetstream.Stream
	workers  jetstream.Consumer
	state    jetstream.KeyValue // the manifest and the progress of the campaign
	results  jetstream.KeyValue // results by shard; each key is created once
	stored   jetstream.Stream   // the results, in order of creation
	objects  jetstream.ObjectStore
}

// mark is the prefix of the names and descriptions of all data that campaigns have on a server.
const mark = "lockproof"

// The keys under which a campaign's state is stored.
const (
	keyManifest = "manifest"
	keyStatus   = "status"
	keyElapsed  = "elapsed" // running time of the campaign
	keyOver     = "over"    // why the campaign is over; missing while it is not
	keyFailed   = "failed"  // why a worker could not carry out a shard
)

const (
	consumer   = "workers"
	inline     = 256 << 10       // maximum bytes of a result that is stored in its key; a larger one is an object
	asking     = 5 * time.Second // maximum time to wait for an answer of the server
	patience   = 2 * time.Minute // maximum time for a server that is gone to come back
	publishing = 1000            // maximum number of shards published at once
	idle       = time.Second     // how long a worker waits for a shard before it checks whether the campaign is over
)

// The names of a campaign's data on a server.
func base(name string) string      { return mark + "_" + name }
func subject(name string) string   { return mark + "." + name + ".shards" }
func resultsOf(name string) string { return base(name) + "_results" }

// describe returns the description that all of a campaign's data on a server has.
func describe(name string) string { return mark + " campaign " + name }

// plant creates a campaign's data on a server. If the data exists already, it must belong to this campaign.
func plant(ctx context.Context, server campaign.Server, m *campaign.Manifest) (*Queue, error) {
	c, err := connect(&server)
	if err != nil {
		return nil, err
	}
	q := &Queue{connection: c, manifest: m}
	if err := q.plant(ctx); err != nil {
		q.close()
		return nil, err
	}
	return q, nil
}

func (q *Queue) plant(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, asking)
	defer cancel()
	var err error
	name := q.manifest.Plan.Name
	if q.state, err = q.bucket(ctx, base(name)); err != nil {
		return err
	}
	if err := q.agree(ctx); err != nil {
		return err
	}
	if q.results, err = q.bucket(ctx, resultsOf(name)); err != nil {
		return err
	}
	if q.objects, err = q.js.ObjectStore(ctx, base(name)); errors.Is(err, jetstream.ErrBucketNotFound) {
		q.objects, err = q.js.CreateObjectStore(ctx, jetstream.ObjectStoreConfig{Bucket: base(name), Description: describe(name)})
	}
	if err != nil {
		return q.explain(err)
	}
	if q.shards, err = q.js.Stream(ctx, base(name)); errors.Is(err, jetstream.ErrStreamNotFound) {
		q.shards, err = q.js.CreateStream(ctx, jetstream.StreamConfig{
			Name: base(name), Description: describe(name), Subjects: []string{subject(name)}, Retention: jetstream.WorkQueuePolicy,
		})
	}
	if err != nil {
		return q.explain(err)
	}
	if err := q.ours("stream", q.shards.CachedInfo().Config.Description); err != nil {
		return err
	}
	q.workers, err = q.shards.CreateOrUpdateConsumer(ctx, jetstream.ConsumerConfig{
		Durable: consumer, AckPolicy: jetstream.AckExplicitPolicy, AckWait: q.manifest.Plan.LeaseTime(), MaxAckPending: -1, MaxDeliver: -1,
	})
	if err != nil {
		return q.explain(err)
	}
	return q.findStored(ctx)
}

// findStored finds the stream that contains the bucket of results.
func (q *Queue) findStored(ctx context.Context) (err error) {
	q.stored, err = q.js.Stream(ctx, "KV_"+q.results.Bucket())
	return q.explain(err)
}

// bucket finds a bucket, or creates it.
func (q *Queue) bucket(ctx context.Context, bucket string) (jetstream.KeyValue, error) {
	name := q.manifest.Plan.Name
	kv, err := q.js.KeyValue(ctx, bucket)
	if errors.Is(err, jetstream.ErrBucketNotFound) {
		kv, err = q.js.CreateKeyValue(ctx, jetstream.KeyValueConfig{Bucket: bucket, Description: describe(name)})
	}
	if err != nil {
		return nil, q.explain(err)
	}
	status, err := kv.Status(ctx)
	if err != nil {
		return nil, q.explain(err)
	}
	if s, ok := status.(*jetstream.KeyValueBucketStatus); ok {
		return kv, q.ours("bucket", s.StreamInfo().Config.Description)
	}
	return kv, nil
}

// ours returns an error if data with the campaign's name was not written by lockproof.
func (q *Queue) ours(what, description string) error {
	name := q.manifest.Plan.Name
	if description == describe(name) {
		return nil
	}
	return fmt.Errorf("queue %s: the %s %s is not lockproof's (%q): give the campaign another name", q.name, what, base(name), description)
}

// agree stores the manifest. It returns an error if the server has a different manifest.
func (q *Queue) agree(ctx context.Context) error {
	data, err := json.Marshal(q.manifest, json.Deterministic(true))
	if err != nil {
		return err
	}
	_, err = q.state.Create(ctx, keyManifest, data)
	if !errors.Is(err, jetstream.ErrKeyExists) {
		return q.explain(err)
	}
	there, err := q.there(ctx)
	if err != nil {
		return err
	}
	return q.same(there)
}

// there returns the campaign's manifest from the server.
func (q *Queue) there(ctx context.Context) (*campaign.Manifest, error) {
	entry, err := q.state.Get(ctx, keyManifest)
	if err != nil {
		return nil, q.explain(err)
	}
	m, err := campaign.DecodeManifest(entry.Value())
	if err != nil {
		return nil, fmt.Errorf("queue %s: the campaign %s there is of another version of lockproof: give this one another name", q.name, q.state.Bucket())
	}
	return m, nil
}

// same returns an error if the server's manifest belongs to another campaign of the same name.
func (q *Queue) same(there *campaign.Manifest) error {
	if what := q.manifest.Differs(there); what != "" {
		return fmt.Errorf("queue %s: there is another campaign %s: %s; give this one another name", q.name, there.Plan.Name, what)
	}
	return nil
}

// join finds a campaign that another process runs, to work on it, and returns its plan. It returns an error for another
// build of lockproof, another target, or a command that is not allowed here.
func join(ctx context.Context, c campaign.WorkConfig) (*Queue, *campaign.Plan, error) {
	q, err := find(ctx, c.Server, c.Name)
	if err != nil {
		return nil, nil, err
	}
	there := q.manifest
	mine := *there.Plan
	if err = mine.Check(); err != nil {
		err = fmt.Errorf("queue %s: the plan of campaign %s: %w", q.name, mine.Name, err)
	} else if err = mine.Permit(c.Name != "", c.AllowExec); err != nil {
		err = fmt.Errorf("queue %s: %w", q.name, err)
	} else if q.manifest, err = campaign.NewManifest(&mine); err == nil {
		err = q.same(there)
	}
	if err != nil {
		q.close()
		return nil, nil, err
	}
	return q, &mine, nil
}

// find finds a campaign that another process runs, to watch it.
func find(ctx context.Context, server campaign.Server, name string) (*Queue, error) {
	c, err := connect(&server)
	if err != nil {
		return nil, err
	}
	q := &Queue{connection: c}
	if err := q.find(ctx, name); err != nil {
		q.close()
		return nil, err
	}
	return q, nil
}

func (q *Queue) find(ctx context.Context, name string) (err error) {
	ctx, cancel := context.WithTimeout(ctx, asking)
	defer cancel()
	if name == "" {
		if name, err = q.only(ctx); err != nil {
			return err
		}
	}
	missing := fmt.Errorf("queue %s: there is no campaign %s: start it with lockproof campaign run", q.name, name)
	for bucket, kv := range map[string]*jetstream.KeyValue{base(name): &q.state, resultsOf(name): &q.results} {
		if *kv, err = q.js.KeyValue(ctx, bucket); errors.Is(err, jetstream.ErrBucketNotFound) {
			return missing
		} else if err != nil {
			return q.explain(err)
		}
	}
	if q.manifest, err = q.there(ctx); err != nil {
		return err
	}
	if there := q.manifest.Plan.Name; there != name {
		return fmt.Errorf("queue %s: the campaign %s says that it is called %q: delete it, and run it again", q.name, name, there)
	}
	if q.objects, err = q.js.ObjectStore(ctx, base(name)); err != nil {
		return q.explain(err)
	}
	if q.shards, err = q.js.Stream(ctx, base(name)); err != nil {
		return q.explain(err)
	}
	if q.workers, err = q.shards.Consumer(ctx, consumer); err != nil {
		return q.explain(err)
	}
	return q.findStored(ctx)
}

// only returns the name of the only campaign on the server.
func (q *Queue) only(ctx context.Context) (string, error) {
	var found []string
	list := q.js.KeyValueStoreNames(ctx)
	for bucket := range list.Name() {
		if name, ok := strings.CutPrefix(bucket, mark+"_"); ok && !strings.HasSuffix(name, "_results") {
			found = append(found, name)
		}
	}
	if err := list.Error(); err != nil {
		return "", q.explain(err)
	}
	if len(found) == 0 {
		return "", fmt.Errorf("queue %s: there is no campaign: start one with lockproof campaign run", q.name)
	}
	if len(found) > 1 {
		var err error
		if found, err = q.unfinished(ctx, found); err != nil {
			return "", err
		}
	}
	if len(found) != 1 {
		return "", fmt.Errorf("queue %s: there are %d campaigns that are not over %v: name one", q.name, len(found), found)
	}
	return found[0], nil
}

// unfinished returns those campaigns in found that are not over.
func (q *Queue) unfinished(ctx context.Context, found []string) (out []string, err error) {
	for _, name := range found {
		kv, err := q.js.KeyValue(ctx, base(name))
		if err != nil {
			return nil, q.explain(err)
		}
		_, err = kv.Get(ctx, keyOver)
		if errors.Is(err, jetstream.ErrKeyNotFound) {
			out = append(out, name)
		} else if err != nil {
			return nil, q.explain(err)
		}
	}
	return out, nil
}

// Delete deletes a campaign's data on a server. It does not touch data that lockproof has not written.
func Delete(ctx context.Context, server campaign.Server, name string) error {
	if err := campaign.CheckName(name); err != nil {
		return err
	}
	c, err := connect(&server)
	if err != nil {
		return err
	}
	defer c.close()
	q := &Queue{connection: c, manifest: &campaign.Manifest{Plan: &campaign.Plan{Name: name}}}
	ctx, cancel := context.WithTimeout(ctx, asking)
	defer cancel()
	found := false
	for _, stream := range []string{base(name), "OBJ_" + base(name), "KV_" + resultsOf(name), "KV_" + base(name)} {
		s, err := q.js.Stream(ctx, stream)
		if errors.Is(err, jetstream.ErrStreamNotFound) {
			continue
		}
		if err == nil {
			if err := q.ours("stream", s.CachedInfo().Config.Description); err != nil {
				return err
			}
			err = q.js.DeleteStream(ctx, stream)
		}
		if err != nil {
			return q.explain(err)
		}
		found = true
	}
	if !found {
		return fmt.Errorf("queue %s: there is no campaign %s", q.name, name)
	}
	return nil
}

// fill makes the queue contain exactly these shards. Workers that are carrying out a shard continue. If two workers
// carry out the same shard, the first result counts.
func (q *Queue) fill(ctx context.Context, shards []campaign.Shard) error {
	if err := q.persist(ctx, func(ctx context.Context) error { return q.shards.Purge(ctx) }); err != nil {
		return err
	}
	for len(shards) > 0 {
		n := min(len(shards), publishing)
		if err := q.persist(ctx, func(ctx context.Context) error { return q.publish(ctx, shards[:n]) }); err != nil {
			return err
		}
		shards = shards[n:]
	}
	return nil
}

// publish puts shards into the queue. After an error, some of them may be in the queue; that does no harm.
func (q *Queue) publish(ctx context.Context, shards []campaign.Shard) error {
	var waiting []jetstream.PubAckFuture
	for _, s := range shards {
		data, err := json.Marshal(s)
		if err != nil {
			return err
		}
		f, err := q.js.PublishAsync(subject(q.manifest.Plan.Name), data)
		if err != nil {
			return err
		}
		waiting = append(waiting, f)
	}
	for _, f := range waiting {
		select {
		case <-f.Ok():
		case err := <-f.Err():
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// persist repeats a request until the server carries it out. It waits for a server that is gone. It does not repeat a
// request that the server refuses, or for which the server is full.
func (q *Queue) persist(ctx context.Context, do func(context.Context) error) error {
	var since time.Time
	for {
		once, cancel := context.WithTimeout(ctx, asking)
		err := do(once)
		cancel()
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case full(err) || refused(err) || without(err) || definite(err):
			return q.explain(err)
		case since.IsZero():
			since = time.Now()
		case time.Since(since) > patience:
			return q.explain(fmt.Errorf("no answer for %v: %w", patience, err))
		}
		select {
		case <-time.After(again):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// definite reports whether an error is an answer of the server. Other errors mean that no answer came.
func definite(err error) bool {
	for _, known := range []error{
		jetstream.ErrKeyExists, jetstream.ErrKeyNotFound, jetstream.ErrMsgNotFound, jetstream.ErrStreamNotFound, jetstream.ErrBucketNotFound,
		jetstream.ErrObjectNotFound, jetstream.ErrDigestMismatch, jetstream.ErrBadObjectMeta, errTooLarge, jetstream.ErrConsumerNotFound, nats.ErrConnectionClosed, nats.ErrMaxPayload,
	} {
		if errors.Is(err, known) {
			return true
		}
	}
	return false
}

// answer is a shard's stored result.
type answer struct {
	Shard int `json:"shard"`
	// Of is the shard's [Queue.definition]: a hash of the manifest and the shard.
	Of        string  `json:"of"`
	Worker    string  `json:"worker"`
	Delivered uint64  `json:"delivered"` // number of deliveries of the shard to workers
	Seconds   float64 `json:"seconds"`
	// Result is the result. If it is large, Result is empty, and Object is the name of the object that contains it.
	Result jsontext.Value `json:"result,omitempty"`
	Object string         `json:"object,omitempty"`
}

// store stores a shard's result. It reports whether this was the shard's first result.
func (q *Queue) store(ctx context.Context, s campaign.Shard, a *answer) (first bool, err error) {
	if len(a.Result) > inline {
		a.Object = s.Key() + "." + a.Worker
		large := []byte(a.Result)
		if err := q.persist(ctx, func(ctx context.Context) error {
			_, err := q.objects.PutBytes(ctx, a.Object, large)
			return err
		}); err != nil {
			return false, err
		}
		a.Result = nil
	}
	a.Of = q.definition(s)
	data, err := json.Marshal(a)
	if err != nil {
		return false, err
	}
	// If an answer was lost, the next attempt finds the key. It may be our own key, which is fine.
	err = q.persist(ctx, func(ctx context.Context) error {
		_, err := q.results.Create(ctx, s.Key(), data)
		return err
	})
	if errors.Is(err, jetstream.ErrKeyExists) {
		return false, nil
	}
	return err == nil, err
}

// done reports whether a shard has a result.
func (q *Queue) done(ctx context.Context, s campaign.Shard) (bool, error) {
	err := q.persist(ctx, func(ctx context.Context) error {
		_, err := q.results.Get(ctx, s.Key())
		return err
	})
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return false, nil
	}
	return err == nil, err
}

// note stores a value of the campaign's state.
func (q *Queue) note(ctx context.Context, key string, value []byte) error {
	return q.persist(ctx, func(ctx context.Context) error {
		_, err := q.state.Put(ctx, key, value)
		return err
	})
}

// noted returns a value of the campaign's state; nil if it is not set.
func (q *Queue) noted(ctx context.Context, key string) (value []byte, err error) {
	err = q.persist(ctx, func(ctx context.Context) error {
		entry, err := q.state.Get(ctx, key)
		if err == nil {
			value = entry.Value()
		}
		return err
	})
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		err = nil
	}
	return value, err
}

// forget deletes values of the campaign's state.
func (q *Queue) forget(ctx context.Context, keys ...string) error {
	for _, key := range keys {
		if err := q.persist(ctx, func(ctx context.Context) error { return q.state.Delete(ctx, key) }); err != nil {
			return err
		}
	}
	return nil
}
