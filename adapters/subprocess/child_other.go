//go:build !unix

package subprocess

import (
	"errors"
	"time"
)

// child would be a running program. It needs process groups and signals, which this system does not have.
type child struct {
	stdin, stdout, stderr stream
	ended                 chan struct{}
	how                   string
	over                  func()
}

func startChild(string, string, []string) (*child, error) {
	return nil, errors.New("programs are run as clients on Unix systems only")
}

func (c *child) kill()                         {}
func (c *child) terminate()                    {}
func (c *child) pause()                        {}
func (c *child) resume()                       {}
func (c *child) endsWithin(time.Duration) bool { return true }
func (c *child) release()                      {}
