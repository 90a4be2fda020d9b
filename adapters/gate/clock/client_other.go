//go:build !linux

package clock

import "time"

// Client is the time of a client. There is none on this system.
type Client struct{}

// NewClient is refused: only on Linux can we give a client our clock.
func NewClient() (*Client, error) { return nil, ErrNone }

// Environment is empty.
func (*Client) Environment() []string { return nil }

// Set does nothing.
func (*Client) Set(time.Duration) {}

// Taken is false.
func (*Client) Taken() bool { return false }

// Rest is not known.
func (*Client) Rest() (rests bool, next time.Duration) { return false, 0 }

// Close does nothing.
func (*Client) Close() error { return nil }
