// Package atlas answers open questions about the locks on a kind of server. The questions are in sim/*/questions.go, in
// the form of sim/question. To answer a question, the package visits every execution of small configurations. Then it
// tries all combinations of options, to find out which options a lock needs.
package atlas
