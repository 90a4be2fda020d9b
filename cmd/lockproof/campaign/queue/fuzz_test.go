package queue

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/lockproof/lockproof/cmd/lockproof/campaign"
)

// plans has a plan of each kind whose results can be read without running programs.
var plans = []string{
	`"target": {"name": "locked-is-success"}, "sample": {}, "budget": {"executions": 4}, "shard": 2`,
	`"sample": {"guided": 0.5}, "budget": {"executions": 4}, "shard": 2`,
	`"mutants": {"only": ["locked-is-full"]}, "budget": {"executions": 4}, "shard": 2`,
	`"configurations": [{"clients": 1}, {"clients": 1, "slots": 1}], "shard": 1`,
}

// jobs returns the jobs of the plans, without any results.
func jobs(t testing.TB) (out []campaign.Job) {
	t.Helper()
	for _, text := range plans {
		p, err := campaign.Decode([]byte(`{"lockproof": "campaign", "version": 1, "name": "night", ` + text + `}`))
		if err != nil {
			t.Fatal(err)
		}
		j, err := p.Job(campaign.Options{})
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, j)
	}
	return out
}

// FuzzShard reads arbitrary data as a shard. It must be refused, or be a valid shard of normal size.
func FuzzShard(f *testing.F) {
	for _, text := range []string{`{"number":0,"from":0,"to":2}`, `{"number":-1,"from":-2,"to":0}`, `{"number":1,"from":2,"to":9223372036854775807}`, `{"number":1,"from":2,"to":4,"of":3}`, `{}`, `[`, ""} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for i, j := range jobs(t) {
			s, err := decodeShard(j, data)
			if err == nil && (s.Number < 0 || s.From < 0 || s.To <= s.From || s.To-s.From > 2 || s.To > 4) {
				t.Errorf("plan %d has the shard %+v", i, s)
			}
		}
	})
}

// FuzzResult reads arbitrary data as a stored result. It must be refused, or be accepted and reported without a crash.
func FuzzResult(f *testing.F) {
	for _, j := range jobs(f) {
		s := j.Batch()[0]
		made, err := j.Work(context.Background(), s)
		if err != nil {
			f.Fatal(err)
		}
		result, err := json.Marshal(made)
		if err != nil {
			f.Fatal(err)
		}
		data, err := json.Marshal(answer{Shard: s.Number, Worker: "w", Delivered: 1, Result: result})
		if err != nil {
			f.Fatal(err)
		}
		f.Add(s.Key(), data)
		f.Add("x", data)
	}
	for _, text := range []string{`{}`, `{"shard":1}`, `{"shard":0,"result":{}}`, `{"shard":0,"result":[]}`, `{"shard":0,"result":[{"states":1,"verdicts":["x"]}]}`, `{"shard":0,"object":"x"}`} {
		f.Add("000000000", []byte(text))
	}
	f.Fuzz(func(t *testing.T, key string, data []byte) {
		a, err := decodeStored(key, data)
		if err != nil || a.bad != nil || a.Object != "" {
			return
		}
		if a.Shard != a.shard || fmt.Sprintf("%09d", a.Shard) != key {
			t.Errorf("%q is of shard %d", key, a.Shard)
		}
		for _, j := range jobs(t) {
			s := j.Batch()[0]
			result, err := j.Read(s, a.Result)
			if err != nil {
				continue
			}
			j.News(result)
			j.Take(s, result)
			j.Progress()
			if j.Sofar() == nil {
				t.Errorf("there is no report of %s", a.Result)
			}
		}
	})
}

// FuzzPage reads arbitrary data as a stored page. It must be refused, or be limited in size.
func FuzzPage(f *testing.F) {
	for _, text := range []string{"", "<html>", string(make([]byte, 1<<20))} {
		var packed bytes.Buffer
		to := gzip.NewWriter(&packed)
		if _, err := to.Write([]byte(text)); err != nil {
			f.Fatal(err)
		}
		if err := to.Close(); err != nil {
			f.Fatal(err)
		}
		f.Add(packed.Bytes())
		f.Add(packed.Bytes()[:packed.Len()/2])
	}
	f.Fuzz(func(t *testing.T, packed []byte) {
		if page, err := unpack(packed); err == nil && len(page) > mostBytes {
			t.Errorf("a page of %d bytes", len(page))
		}
	})
}

// FuzzManifest reads arbitrary data as a manifest. It must be refused, or have a plan that can be carried out.
func FuzzManifest(f *testing.F) {
	for _, text := range plans {
		f.Add([]byte(`{"plan":{"lockproof":"campaign","version":1,"name":"night",` + text + `},"tool":"0","build":"commit x"}`))
	}
	for _, text := range []string{`{}`, `{"plan":null}`, `{"plan":{"configurations":[{"clients":1,"admins":2147483648}]}}`, `[`, `{"plan":{"target":{"exec":"cat amqp://u:p@h"},"sample":{}}}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := campaign.DecodeManifest(data)
		if err != nil {
			return
		}
		named := m.Plan.Permit(true, "")
		if m.Plan.Target.Exec != "" && named == nil {
			t.Errorf("%q is allowed by nobody", m.Plan.Target.Exec)
		}
		if m.Plan.Check() != nil {
			return
		}
		if _, err := m.Plan.Job(campaign.Options{}); err != nil {
			t.Error(err)
		}
		if _, err := json.Marshal(m); err != nil {
			t.Error(err)
		}
	})
}
