package queue

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/lockproof/lockproof/cmd/lockproof/campaign"
)

// mostBytes is the maximum size of a stored object, and of its content after decompression.
const mostBytes = 64 << 20

var errTooLarge = fmt.Errorf("it is larger than %d MB", mostBytes>>20)

// definition returns a hash that identifies a shard: of its numbers, and of the plan, the build and the target.
func (q *Queue) definition(s campaign.Shard) string {
	data, err := json.Marshal(struct {
		Manifest *campaign.Manifest `json:"manifest"`
		Shard    campaign.Shard     `json:"shard"`
	}{q.manifest, s}, json.Deterministic(true))
	if err != nil { // cannot happen: the manifest was encoded before
		panic(err)
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// stored is a value from the bucket of results. Any program with access to the queue may have written it.
type stored struct {
	key      string
	shard    int    // number of the shard to which the key belongs
	revision uint64 // revision of the key
	answer
	bad error // why the value cannot be decoded; nil if it can
}

// decodeStored decodes the value of a key. The error is for a key that belongs to no shard.
func decodeStored(key string, data []byte) (s stored, err error) {
	s.key = key
	if s.shard, err = strconv.Atoi(key); err != nil || s.shard < 0 || (campaign.Shard{Number: s.shard}).Key() != key {
		return s, fmt.Errorf("the result %q is no shard's", key)
	}
	if s.bad = json.Unmarshal(data, &s.answer, json.RejectUnknownMembers(true)); s.bad == nil && s.Shard != s.shard {
		s.bad = fmt.Errorf("it says that it is of shard %d", s.Shard)
	}
	return s, nil
}

// arrived calls each for every result that was stored after the revision after, and returns the latest revision. It
// calls refused for each key that belongs to no shard.
func (q *Queue) arrived(ctx context.Context, after uint64, each func(stored), refused func(error)) (uint64, error) {
	var last uint64
	err := q.persist(ctx, func(ctx context.Context) error {
		info, err := q.stored.Info(ctx)
		if err == nil {
			last = info.State.LastSeq
		}
		return err
	})
	if err != nil {
		return after, err
	}
	for after < last {
		message, err := q.message(ctx, after+1)
		if err != nil {
			return after, err
		}
		if message == nil { // all later ones were replaced or deleted
			return last, nil
		}
		if after = message.Sequence; len(message.Data) == 0 {
			continue
		}
		s, err := decodeStored(strings.TrimPrefix(message.Subject, "$KV."+q.results.Bucket()+"."), message.Data)
		if err != nil {
			refused(err)
			continue
		}
		s.revision = message.Sequence
		each(s)
	}
	return after, nil
}

// message returns the first existing message with a number of n or more in the bucket of results; nil if there is none.
// Messages that were replaced or deleted cost no requests, so that reading keeps up even if a key is written very
// often.
func (q *Queue) message(ctx context.Context, n uint64) (message *jetstream.RawStreamMsg, err error) {
	err = q.persist(ctx, func(ctx context.Context) (err error) {
		message, err = q.stored.GetMsg(ctx, n, jetstream.WithGetMsgSubject("$KV."+q.results.Bucket()+".>"))
		return err
	})
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return nil, nil
	}
	return message, err
}

// object returns the content of a stored object.
func (q *Queue) object(ctx context.Context, name string) (data []byte, err error) {
	err = q.persist(ctx, func(ctx context.Context) error {
		from, err := q.objects.Get(ctx, name)
		if err != nil {
			return err
		}
		data, err = bounded(from)
		return errors.Join(err, from.Close())
	})
	return data, err
}

// bounded reads everything from a reader. It returns an error beyond mostBytes.
func bounded(from io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(from, mostBytes+1))
	if len(data) > mostBytes {
		return nil, errTooLarge
	}
	return data, err
}

// delete deletes a result, unless it has been replaced meanwhile.
func (q *Queue) delete(ctx context.Context, s stored) error {
	err := q.persist(ctx, func(ctx context.Context) error {
		return unlessAnother(q.results.Delete(ctx, s.key, jetstream.LastRevision(s.revision)))
	})
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return nil
	}
	return err
}

// replace replaces a stored result by a, unless it has been replaced meanwhile.
func (q *Queue) replace(ctx context.Context, s stored, shard campaign.Shard, a *answer) error {
	if err := q.delete(ctx, s); err != nil {
		return err
	}
	_, err := q.store(ctx, shard, a)
	return err
}

// wrongRevision is JetStream's error number for a key that has changed meanwhile.
const wrongRevision = 10071

// unlessAnother returns err, or nil if err says that the key has changed meanwhile.
func unlessAnother(err error) error {
	var api *jetstream.APIError
	if errors.As(err, &api) && api.ErrorCode == wrongRevision {
		return nil
	}
	return err
}
