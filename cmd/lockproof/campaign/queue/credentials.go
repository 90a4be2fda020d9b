package queue

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"github.com/lockproof/lockproof/cmd/lockproof/campaign"
	"github.com/lockproof/lockproof/histories/infile"
)

// credentials returns NATS options for the user's files: the credentials, and the trusted certificates. Each new
// connection reads the files again, so that they may be renewed.
func credentials(s *campaign.Server) (out []nats.Option, err error) {
	if s.Creds != "" {
		if _, err := jwt(s.Creds); err != nil {
			return nil, fmt.Errorf("credentials: %w", err)
		}
		out = append(out, nats.UserJWT(func() (string, error) { return jwt(s.Creds) }, signer(s.Creds)))
	}
	if s.NKey != "" {
		public, err := userOf(s.NKey)
		if err != nil {
			return nil, fmt.Errorf("NKey %s: %w", s.NKey, err)
		}
		out = append(out, nats.Nkey(public, signer(s.NKey)))
	}
	if s.Cert != "" || s.Key != "" {
		if _, err := certificate(s.Cert, s.Key); err != nil {
			return nil, fmt.Errorf("certificate %q with key %q: %w", s.Cert, s.Key, err)
		}
		out = append(out, nats.ClientTLSConfig(func() (tls.Certificate, error) { return certificate(s.Cert, s.Key) }, nil))
	}
	if s.CA != "" {
		if _, err := authorities(s.CA); err != nil {
			return nil, fmt.Errorf("certificate authority: %w", err)
		}
		out = append(out, rootCAs(s.CA))
	}
	return out, nil
}

func jwt(path string) (string, error) {
	data, err := infile.Credentials.Read(path)
	if err != nil {
		return "", err
	}
	token, err := nkeys.ParseDecoratedJWT(data)
	if err != nil {
		err = fmt.Errorf("%s: %w", path, err)
	}
	return token, err
}

func seed(path string) (nkeys.KeyPair, error) {
	data, err := infile.Credentials.Read(path)
	if err != nil {
		return nil, err
	}
	return nkeys.ParseDecoratedNKey(data)
}

// userOf returns the public key of the user whose seed is in a file.
func userOf(path string) (string, error) {
	pair, err := seed(path)
	if err != nil {
		return "", err
	}
	defer pair.Wipe()
	public, err := pair.PublicKey()
	if err == nil && !nkeys.IsValidPublicUserKey(public) {
		err = errors.New("expected the seed of a user")
	}
	return public, err
}

// signer returns a function that signs with the seed in a file.
func signer(path string) nats.SignatureHandler {
	return func(nonce []byte) ([]byte, error) {
		pair, err := seed(path)
		if err != nil {
			return nil, err
		}
		defer pair.Wipe()
		return pair.Sign(nonce)
	}
}

func certificate(cert, key string) (tls.Certificate, error) {
	public, err := infile.Certificate.Read(cert)
	if err != nil {
		return tls.Certificate{}, err
	}
	private, err := infile.Certificate.Read(key)
	if err != nil {
		return tls.Certificate{}, err
	}
	return tls.X509KeyPair(public, private)
}

func authorities(path string) (*x509.CertPool, error) {
	data, err := infile.Certificate.Read(path)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(data) {
		return nil, fmt.Errorf("%s: expected certificates as PEM", path)
	}
	return pool, nil
}

// rootCAs does the same as nats.RootCAs, but does not discard a client's certificate.
func rootCAs(path string) nats.Option {
	return func(o *nats.Options) error {
		if o.TLSConfig == nil {
			o.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12}
		}
		o.RootCAsCB = func() (*x509.CertPool, error) { return authorities(path) }
		o.Secure = true
		return nil
	}
}
