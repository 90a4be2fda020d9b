// Package ciguard prevents CI services, which interpret the output of their jobs, from taking printed text for
// commands. GitHub interprets lines that begin with ::, and ##[ anywhere. Azure interprets ##vso[, and TeamCity
// ##teamcity[.
package ciguard
