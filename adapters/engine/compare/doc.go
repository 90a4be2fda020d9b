// Package compare compares the locks of all backends: each is explored with every kind of fault, sampled, and measured if a
// server is available.
package compare
