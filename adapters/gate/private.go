package gate

import "github.com/lockproof/lockproof/model/holding"

// Private implements some methods of a [Server] that was started for one worker only, and for which a user cannot
// declare what shows who holds a lock. A plug-in embeds Private, and implements the other methods itself.
type Private struct{}

// Endpoints returns 1: there is one server.
func (Private) Endpoints() int { return 1 }

// Prefix returns "", since no other worker uses the server.
func (Private) Prefix() string { return "" }

// Ours returns true, since the server has virtual time.
func (Private) Ours() bool { return true }

// Restart does nothing. A plug-in whose server can restart replaces it.
func (Private) Restart() {}

// Holders returns nil, since the holders are unknown.
func (Private) Holders(holding.Declared, string, int, func(Conn) uint8) []holding.Hold { return nil }

// Crowds returns false, since no other run uses the server.
func (Private) Crowds() bool { return false }

// Disagreement returns "", since there is no simulated server.
func (Private) Disagreement() string { return "" }

// Agreed returns 0, as there is nothing to compare.
func (Private) Agreed() int { return 0 }
