package cli

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
)

// TestConsul checks that the server prints its address and answers clients. An interrupt must end it without error,
// even while a client waits for a change.
func TestConsul(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	cmd := consulCommand()
	cmd.SetArgs([]string{"--listen", "127.0.0.1:0"})
	r, w := io.Pipe()
	cmd.SetOut(w)
	ended := make(chan error)
	go func() { ended <- cmd.ExecuteContext(ctx) }()
	url, err := bufio.NewReader(r).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	url = strings.TrimSpace(url) + "/v1/kv/jobs"
	put, err := http.NewRequestWithContext(t.Context(), http.MethodPut, url, strings.NewReader("x"))
	if err != nil {
		t.Fatal(err)
	}
	index := ""
	for _, request := range []*http.Request{put, nil} {
		if request == nil {
			if request, err = http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil); err != nil {
				t.Fatal(err)
			}
		}
		res, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		index = res.Header.Get("X-Consul-Index")
		_ = res.Body.Close()
		if res.StatusCode != http.StatusOK {
			t.Errorf("%s: %s", request.Method, res.Status)
		}
	}
	waits := make(chan error)
	go func() {
		res, err := http.Get(url + "?wait=10m&index=" + index)
		if err == nil {
			_ = res.Body.Close()
		}
		waits <- err
	}()
	interrupt()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	<-waits // the waiting request gets an answer or an error
}
