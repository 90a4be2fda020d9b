// Package judge composes the judges of an execution into its verdict. The simulated world, the runner of external
// clients and readers of recorded histories share it.
//
//	judge             decides                                        from which evidence
//	package monitor   all properties but linearizable and no-crash,  the server's state at every moment, and every
//	                  as they happen; keeps a witness of             exchange
//	                  linearizability
//	package linear    linearizable                                   the history alone
//	package beliefs   mutual-exclusion, stale-belief-ends,           the clients' beliefs, from the history
//	                  progress, fencing-monotone and
//	                  limit-respected, if the server's state is
//	                  not known
//	                  effective-release, crash-frees and others     the audit at the end of a history
//	                  of recovery
//	package shares    linearizable and mutual-exclusion, if         the history alone
//	                  clients take several permits at once, or
//	                  read
//	package own       users' own properties                          whatever they look at
//
// The runner judges no-crash: it sees a client panic, exit or throw, and reports this to the monitor. [Execution] adds
// the verdicts that need the whole history to those of a monitor. [History] gives the verdicts on a run without a
// monitor; if the history is linearizable, nobody is accused of breaking mutual-exclusion. [Violation] finds the step
// of a violation in a trace. An exhaustive search stops on a path once the monitor has no witness of linearizability
// (sim.System.Witnessed), and has the histories of such executions judged separately.
package judge
