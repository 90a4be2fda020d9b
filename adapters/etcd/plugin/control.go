package plugin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"

	"github.com/lockproof/lockproof/adapters/gate/process"
)

// control sends lockproof's own requests to the server, through etcd's JSON gateway.
type control struct {
	url    string
	client *http.Client
}

// mostAnswer is the maximum number of bytes read of an answer.
const mostAnswer = 64 << 20

func newControl(port int) *control {
	return &control{url: "http://127.0.0.1:" + strconv.Itoa(port), client: &http.Client{Transport: &http.Transport{}}}
}

// key is a key with its lease, in the JSON form of the gateway.
type key struct {
	Key   []byte `json:"key"`
	Lease int64  `json:"lease,string"`
}

// ask makes a call, and decodes its answer into out.
func (c *control) ask(method string, in, out any) error {
	ctx, cancel := context.WithTimeout(context.Background(), process.AnswerLimit)
	defer cancel()
	answer, err := c.post(ctx, method, in)
	if err != nil {
		return fmt.Errorf("asking our etcd: %w", err)
	}
	defer answer.Body.Close()
	data, err := io.ReadAll(io.LimitReader(answer.Body, mostAnswer))
	switch {
	case err != nil:
		return fmt.Errorf("asking our etcd: %w", err)
	case answer.StatusCode == http.StatusNotFound:
		return errAbsent
	case answer.StatusCode != http.StatusOK:
		return fmt.Errorf("asking our etcd: %s: %s", method, bytes.TrimSpace(data))
	}
	return json.Unmarshal(data, out)
}

// errAbsent is the error if a lease does not exist.
var errAbsent = errors.New("our etcd has no such lease")

// post sends the request of a call, and returns before its answer is complete.
func (c *control) post(ctx context.Context, method string, in any) (*http.Response, error) {
	body, err := json.Marshal(in)
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url+"/v3/"+method, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	return c.client.Do(r)
}

// everything is the key range of a request that concerns all keys.
var everything = map[string][]byte{"key": {0}, "range_end": {0}}

// keys returns all keys on the server, in order.
func (c *control) keys() ([]key, error) {
	var found struct {
		Kvs []key `json:"kvs"`
	}
	err := c.ask("kv/range", everything, &found)
	return found.Kvs, err
}

// remove deletes a key.
func (c *control) remove(name []byte) error {
	return c.ask("kv/deleterange", map[string][]byte{"key": name}, new(struct{}))
}

// revoke ends a lease. It is no error if the lease has already ended.
func (c *control) revoke(lease int64) error {
	err := c.ask("lease/revoke", map[string]string{"ID": strconv.FormatInt(lease, 10)}, new(struct{}))
	if errors.Is(err, errAbsent) {
		return nil
	}
	return err
}

// keep keeps a lease alive, and reports whether the lease still exists.
func (c *control) keep(lease int64) (there bool, err error) {
	var kept struct {
		Result struct {
			TTL int64 `json:",string"`
		} `json:"result"`
	}
	err = c.ask("lease/keepalive", map[string]string{"ID": strconv.FormatInt(lease, 10)}, &kept)
	return kept.Result.TTL > 0, err
}

// sync returns when all watchers that began at an old revision are up to date. To know that, it begins a watcher of
// its own after them, and waits until this one is up to date.
func (c *control) sync() error {
	ctx, cancel := context.WithTimeout(context.Background(), process.AnswerLimit)
	defer cancel()
	var ours struct {
		Header struct {
			Revision int64 `json:"revision,string"`
		} `json:"header"`
	}
	if err := c.ask("kv/put", map[string][]byte{"key": probe}, &ours); err != nil {
		return err
	}
	from := map[string]any{"create_request": map[string]any{"key": probe, "start_revision": strconv.FormatInt(ours.Header.Revision, 10)}}
	answer, err := c.post(ctx, "watch", from)
	if err != nil {
		return fmt.Errorf("watching at our etcd: %w", err)
	}
	defer answer.Body.Close()
	all := json.NewDecoder(io.LimitReader(answer.Body, mostAnswer))
	for {
		var said struct {
			Result struct {
				Events []json.RawMessage `json:"events"`
			} `json:"result"`
		}
		if err := all.Decode(&said); err != nil {
			return fmt.Errorf("watching at our etcd: %w", err)
		}
		if len(said.Result.Events) > 0 {
			return nil
		}
	}
}

// probe is the key that our own watcher watches.
var probe = []byte("\x00lockproof")

// close closes the idle connections of control.
func (c *control) close() { c.client.CloseIdleConnections() }
