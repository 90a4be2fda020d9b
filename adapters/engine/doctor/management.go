package doctor

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/lockproof/lockproof/histories/secret"
)

// Limits for an answer of the management interface.
const (
	managementLimit = 10 * time.Second
	mostAnswered    = 8 << 20
)

// errForbidden is the error for data that the user has no permission to see.
var errForbidden = errors.New("the user may not see it: a user with the tag monitoring may")

// management is a client of RabbitMQ's management interface (plugin rabbitmq_management).
type management struct {
	base   *url.URL
	client *http.Client
	user   *url.Userinfo
}

// newManagement returns a client of the management interface at an address. It logs in as the user in the address. If
// the address has none, it logs in as the user of; if that is nil, as guest.
func newManagement(address string, of *url.Userinfo) (*management, error) {
	base, err := url.Parse(address)
	if err != nil || base.Scheme != "http" && base.Scheme != "https" || base.Host == "" {
		return nil, fmt.Errorf("%q is not the address of a management interface: expected something like http://127.0.0.1:15672", secret.Hide(address))
	}
	m := &management{base: base, user: cmp.Or(base.User, of, url.UserPassword("guest", "guest"))}
	base.User = nil
	m.client = &http.Client{Timeout: managementLimit, CheckRedirect: func(*http.Request, []*http.Request) error {
		return errors.New("it sends us elsewhere, and the password is not for others: name the address that it means")
	}}
	return m, nil
}

// get requests path from the interface, and decodes the JSON answer into the value into.
func (m *management) get(ctx context.Context, path string, into any) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, m.base.JoinPath(path).String(), nil)
	if err != nil {
		return err
	}
	password, _ := m.user.Password()
	r.SetBasicAuth(m.user.Username(), password)
	answer, err := m.client.Do(r)
	if err != nil {
		return fmt.Errorf("asking the management interface: %w", err)
	}
	defer answer.Body.Close()
	switch answer.StatusCode {
	case http.StatusOK:
	case http.StatusUnauthorized, http.StatusForbidden:
		return fmt.Errorf("asking the management interface for %s: %w", path, errForbidden)
	default:
		return fmt.Errorf("asking %s for %s: it answers %s; is it RabbitMQ's management interface?", m.base, path, answer.Status)
	}
	data, err := io.ReadAll(io.LimitReader(answer.Body, mostAnswered+1))
	if err == nil && len(data) > mostAnswered {
		err = fmt.Errorf("it answers more than %d MiB", mostAnswered>>20)
	}
	if err == nil {
		err = json.Unmarshal(data, into)
	}
	if err != nil {
		return fmt.Errorf("asking %s for %s: %w; is it RabbitMQ's management interface?", m.base, path, err)
	}
	return nil
}

// node holds the fields that are read from each element of /api/nodes.
type node struct {
	Name       string   `json:"name"`
	Running    bool     `json:"running"`
	Partitions []string `json:"partitions"`
	NetTick    int      `json:"net_ticktime"` // seconds
}

// policy holds the fields that are read from each element of /api/policies.
type policy struct {
	Name       string         `json:"name"`
	Vhost      string         `json:"vhost"`
	Pattern    string         `json:"pattern"`
	Definition map[string]any `json:"definition"`
}

// feature holds the fields that are read from each element of /api/feature-flags.
type feature struct {
	Name  string `json:"name"`
	State string `json:"state"`
}

// managed is what the management interface has answered.
type managed struct {
	nodes    []node
	policies []policy
	khepri   bool
	unseen   []string // paths that the user has no permission to see
}

// ask requests everything that matters for locks. It records what the user has no permission to see.
func (m *management) ask(ctx context.Context) (*managed, error) {
	told := new(managed)
	var features []feature
	for _, part := range []struct {
		path string
		into any
	}{{"api/overview", new(struct{})}, {"api/nodes", &told.nodes}, {"api/policies", &told.policies}, {"api/feature-flags", &features}} {
		switch err := m.get(ctx, part.path, part.into); {
		case errors.Is(err, errForbidden) && part.path != "api/overview":
			told.unseen = append(told.unseen, part.path)
		case err != nil:
			return nil, err
		}
	}
	for _, f := range features {
		told.khepri = told.khepri || f.Name == "khepri_db" && f.State == "enabled"
	}
	return told, nil
}
