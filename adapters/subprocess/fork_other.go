//go:build !linux

package subprocess

import (
	"context"
	"errors"
)

// canFork is false: this system cannot identify the process at the other end of a socket, or cannot tell when it
// ends.
const canFork = false

type sockets struct{ path string }

func listen() (*sockets, error) { return nil, errors.ErrUnsupported }

func (s *sockets) accept(context.Context) (*child, error) { return nil, errors.ErrUnsupported }

func (s *sockets) end() {}
