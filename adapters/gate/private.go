package gate

import "github.com/lockproof/lockproof/model/holding"

// Private implements the methods of a [Server] that was started for one worker only, and whose holders can't be declared. A
// plug-in embeds Private, and implements the other methods itself.
type Private struct{}

// Endpoints is 1.
func (Private) Endpoints() int { return 1 }

// Prefix is "", since no other worker uses the server.
func (Private) Prefix() string { return "" }

// Ours is true: the server has virtual time.
func (Private) Ours() bool { return true }

// Restart does nothing.
func (Private) Restart() {}

// Holders is nil: they are unknown.
func (Private) Holders(holding.Declared, string, int, func(Conn) uint8) []holding.Hold { return nil }

// Crowds is false, since the server has no other run.
func (Private) Crowds() bool { return false }

// Disagreement is "", since there is no simulated server.
func (Private) Disagreement() string { return "" }

// Agreed is 0.
func (Private) Agreed() int { return 0 }
