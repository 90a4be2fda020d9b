// Package judge composes the judges of an execution into its verdict, once for all who run one: the simulated world, the
// runner of external clients, and whoever reads a recorded history.
//
//	judge             decides                                        from which evidence
//	package monitor   all properties but linearizable and no-crash,  what the server has at every moment, and every exchange
//	                  as they happen; keeps a witness of
//	                  linearizability
//	package linear    linearizable                                   the history alone
//	package beliefs   mutual-exclusion, stale-belief-ends,           what clients were told, by the history
//	                  progress, fencing-monotone and
//	                  limit-respected, where what the server
//	                  has is not known
//	package own       users' own properties                          whatever they look at
//
// no-crash is the runner's own: it sees a client panic, exit or throw, and tells the monitor.
//
// Who composes what: [Execution] says what the whole history adds to what a monitor has found, [History] what a
// history shows of a run that no monitor watched, [Violation] where in a trace that was. An exhaustive search goes no further
// along a path on which the monitor has lost its witness (sim.System.Witnessed), and has such executions judged one by one.
package judge
