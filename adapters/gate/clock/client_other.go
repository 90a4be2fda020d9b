//go:build !linux

package clock

import "time"

// Client would be the virtual time of a client. This system does not support it.
type Client struct{}

// NewClient returns [ErrNone]: only on Linux can clients have virtual time.
func NewClient() (*Client, error) { return nil, ErrNone }

// Environment returns nil.
func (*Client) Environment() []string { return nil }

// Set does nothing, since clients have no virtual time on this system.
func (*Client) Set(time.Duration) {}

// Taken returns false, since clients have no virtual time on this system.
func (*Client) Taken() bool { return false }

// Rest returns false: it is unknown whether the client is at rest.
func (*Client) Rest() (rests bool, next time.Duration) { return false, 0 }

// Close does nothing, since there is nothing to close.
func (*Client) Close() error { return nil }
