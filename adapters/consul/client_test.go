package consul

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestOfficialClient runs tests of the lock and the semaphore of hashicorp/consul/api on the simulated server. The
// tests are in a separate module, since this module does not depend on that client. They run only if the environment
// variable LOCKPROOF_CONSUL_CLIENT is set.
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
