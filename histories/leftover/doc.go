// Package leftover knows which files and folders belong to a run of lockproof, and whether that run has ended. A run
// locks its own file through the operating system, which removes the lock however the run ends. A file or folder is
// deleted only if it has lockproof's mark, belongs to this user and is not locked; age proves nothing.
package leftover
