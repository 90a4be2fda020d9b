package consul

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestOfficialClient: the lock and the semaphore of hashicorp/consul/api behave here as with an agent. The client is
// no dependency of this module and brings modules of its own: its tests are a separate module, and run only on
// request.
func TestOfficialClient(t *testing.T) {
	if os.Getenv("LOCKPROOF_CONSUL_CLIENT") == "" {
		t.Skip("Consul's official client is run by `make consul`, which sets LOCKPROOF_CONSUL_CLIENT: it downloads modules")
	}
	agents(t, func(t *testing.T, a *agent) {
		test := exec.CommandContext(t.Context(), "go", "test", "-count", "1", "-v", ".")
		test.Dir = filepath.Join("..", "..", "testdata", "targets", "consulclient")
		test.Env = append(os.Environ(), "CONSUL_HTTP_ADDR="+a.url)
		said, err := test.CombinedOutput()
		if t.Logf("%s", said); err != nil {
			t.Error(err)
		}
	})
}
