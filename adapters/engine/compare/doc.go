// Package compare compares the locks of all backends. Each lock is explored with every kind of fault and run on drawn
// scenarios. If a real server is available, the lock is measured on it.
package compare
