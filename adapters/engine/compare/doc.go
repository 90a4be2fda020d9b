// Package compare puts the locks of all backends side by side: each is explored with every kind of fault, sampled, and measured
// where there is a server.
package compare
