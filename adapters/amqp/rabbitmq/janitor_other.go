//go:build !unix

package rabbitmq

// janitor cleans up on Unix systems only: elsewhere a container outlives a process that is killed.
type janitor struct{}

const removeContainer = ""

func startJanitor(string, string) (*janitor, error) { return new(janitor), nil }

func (*janitor) gone() error { return nil }

func (*janitor) release() {}
