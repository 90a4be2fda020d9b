package gate

import "github.com/lockproof/lockproof/model/holding"

// Private answers for a server that was started for one worker, that has nobody else's names, and of whose holders nothing can be
// declared. A plug-in embeds it, and answers for itself what is otherwise.
type Private struct{}

// Endpoints is one.
func (Private) Endpoints() int { return 1 }

// Prefix is "": the server is nobody else's.
func (Private) Prefix() string { return "" }

// Ours is true.
func (Private) Ours() bool { return true }

// Restart does nothing.
func (Private) Restart() {}

// Holders are not known.
func (Private) Holders(holding.Declared, string, int, func(Conn) uint8) []holding.Hold { return nil }

// Crowds is false: no other run is there.
func (Private) Crowds() bool { return false }

// Disagreement is "": there is no simulated server beside it.
func (Private) Disagreement() string { return "" }

// Agreed is 0.
func (Private) Agreed() int { return 0 }
