// Package ciguard guards printed text against services that read the output of their jobs, and take parts of it for
// commands. GitHub takes a line that begins with :: and ##[ anywhere, others ##vso[ and ##teamcity[.
package ciguard
