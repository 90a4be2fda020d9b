// Package leftover knows which files and folders belong to a run of lockproof, and whether that run has ended. A run
// locks a file of its own by the operating system; the lock ends with the run, however that ends. A file or folder is
// deleted only if it has our mark, belongs to our user and is not locked; age proves nothing.
package leftover
