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

// mostBytes bounds an object that somebody has stored, and what it unpacks to.
const mostBytes = 64 << 20

var errTooLarge = fmt.Errorf("it is larger than %d MB", mostBytes>>20)

// definition is a hash of what a shard is: its numbers, and the plan, the build and the target that it is of.
func (q *Queue) definition(s campaign.Shard) string {
	data, err := json.Marshal(struct {
		Manifest *campaign.Manifest `json:"manifest"`
		Shard    campaign.Shard     `json:"shard"`
	}{q.manifest, s}, json.Deterministic(true))
	if err != nil { // it was written before
		panic(err)
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// stored is what is stored under a key of the bucket of results, where anybody may have put it.
type stored struct {
	key      string
	shard    int    // that the key is of
	revision uint64 // of the key
	answer
	bad error // why the answer can't be read
}

// decodeStored reads what is stored under a key. The error is for a key that is no shard's.
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

// arrived gives the results that were stored after so many, and how many there are then. An error for each key that
// is no shard's is given to refused.
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
		if message == nil { // all up to the last were replaced or deleted
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

// message is the first that is stored in the bucket of results from the n-th on; nil where there is none. Those that were replaced
// or deleted since take no request of their own, so that however often a key is written, reading keeps up with it.
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

// object is an object that somebody has stored.
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

// bounded is all that a reader gives, if that is not too much.
func bounded(from io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(from, mostBytes+1))
	if len(data) > mostBytes {
		return nil, errTooLarge
	}
	return data, err
}

// delete deletes a result, unless there is another by now.
func (q *Queue) delete(ctx context.Context, s stored) error {
	err := q.persist(ctx, func(ctx context.Context) error {
		return unlessAnother(q.results.Delete(ctx, s.key, jetstream.LastRevision(s.revision)))
	})
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return nil
	}
	return err
}

// replace puts a result where another is, unless there is a third by now.
func (q *Queue) replace(ctx context.Context, s stored, shard campaign.Shard, a *answer) error {
	if err := q.delete(ctx, s); err != nil {
		return err
	}
	_, err := q.store(ctx, shard, a)
	return err
}

// wrongRevision is JetStream's number for the error that a key has changed meanwhile.
const wrongRevision = 10071

// unlessAnother is an error, but not the one that a key has changed meanwhile.
func unlessAnother(err error) error {
	var api *jetstream.APIError
	if errors.As(err, &api) && api.ErrorCode == wrongRevision {
		return nil
	}
	return err
}
