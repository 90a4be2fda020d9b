package queue_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nkeys"

	"github.com/lockproof/lockproof/cmd/lockproof/campaign"
	"github.com/lockproof/lockproof/cmd/lockproof/campaign/queue"
	"github.com/lockproof/lockproof/internal/natstest"
)

// TestSecureServer checks that lockproof can connect to a server that requires an NKey and a client certificate.
// Connections without them are refused.
func TestSecureServer(t *testing.T) {
	dir := t.TempDir()
	user, err := nkeys.CreateUser()
	if err != nil {
		t.Fatal(err)
	}
	seed, err := user.Seed()
	if err != nil {
		t.Fatal(err)
	}
	public, err := user.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	nkey := write(t, dir, "user.nk", seed)
	ca := newAuthority(t, dir)
	cert, key := ca.issue(t, dir, "client")
	serverCert, serverKey := ca.issue(t, dir, "server")
	secured := natstest.Start(t, fmt.Sprintf("jetstream: {store_dir: %q}\nauthorization: {users: [{nkey: %s}]}\ntls: {cert_file: %q, key_file: %q, ca_file: %q, verify: true}",
		dir, public, serverCert, serverKey, ca.path))
	whole := campaign.Server{URL: strings.Replace(secured.URL, "nats:", "tls:", 1), NKey: nkey, Cert: cert, Key: key, CA: ca.path}
	p := plan(t, sampling, "semaphore", 200, 50)
	if _, err := queue.Run(t.Context(), campaign.RunConfig{Plan: p, Server: whole, Workers: 1}); err != nil {
		t.Fatal(err)
	}
	for what, change := range map[string]func(*campaign.Server){
		"no NKey": func(s *campaign.Server) { s.NKey = "" }, "no certificate": func(s *campaign.Server) { s.Cert, s.Key = "", "" },
		"no authority": func(s *campaign.Server) { s.CA = "" }, "another's key": func(s *campaign.Server) { s.Key = serverKey },
	} {
		s := whole
		change(&s)
		said := refusal(t, s, p)
		t.Log(said)
		if strings.Contains(said, "\n") {
			t.Errorf("%s: %q: expected one line", what, said)
		}
	}
}

func write(t *testing.T, dir, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// authority is a certificate authority for tests.
type authority struct {
	path string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t *testing.T, dir string) *authority {
	t.Helper()
	a := &authority{cert: &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"}, NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}}
	var err error
	if a.key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		t.Fatal(err)
	}
	der, err := x509.CreateCertificate(rand.Reader, a.cert, a.cert, a.key.Public(), a.key)
	if err != nil {
		t.Fatal(err)
	}
	a.path = write(t, dir, "ca.pem", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	return a
}

// issue makes a certificate with its key, and returns the files.
func (a *authority) issue(t *testing.T, dir, name string) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name}, NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth},
	}, a.cert, private.Public(), a.key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return write(t, dir, name+".pem", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})),
		write(t, dir, name+".key", pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}))
}
