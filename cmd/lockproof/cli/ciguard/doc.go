// Package ciguard keeps what is printed from being taken for commands by a service that reads the output of its jobs:
// GitHub takes a line that begins with :: and ##[ anywhere, others ##vso[ and ##teamcity[.
package ciguard
