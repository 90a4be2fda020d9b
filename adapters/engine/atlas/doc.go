// Package atlas answers the questions about the locks on a kind of server that a text leaves open. The questions are in
// sim/*/questions.go, in the form of sim/question. Each is answered by visiting every execution of small configurations.
// Then all combinations of options are tried, to see which options a lock requires.
package atlas
