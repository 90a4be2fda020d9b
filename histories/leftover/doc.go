// Package leftover knows which files and folders are a run's of lockproof's, and whether that run has ended. A run holds a
// lock of the operating system on a file of its own, which ends with the run, however that ends. Only what carries our
// mark, belongs to our user and is locked by nobody is deleted; age proves nothing.
package leftover
