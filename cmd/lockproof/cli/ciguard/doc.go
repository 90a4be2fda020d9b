// Package ciguard prevents services that interpret the output of their jobs from taking printed text for commands. GitHub
// interprets lines that begin with ::, and ##[ anywhere; others interpret ##vso[ and ##teamcity[.
package ciguard
