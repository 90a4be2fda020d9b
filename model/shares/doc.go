// Package shares judges the history of a lock of which clients take shares: several permits of a semaphore at once, or a
// lock to read, which many may hold, and nobody while somebody writes.
//
//   - An acquire takes all that it asks for, or nothing.
//   - A release gives back as many permits as it says; one that says nothing gives back what its client's last acquire
//     took.
//   - A refusal says that at some moment of the call too little was free.
//   - A caller that states a lower limit than there is leaves the rest free.
//
// If all grants and releases can be explained, they can be by the shortest holds: each acquire takes effect when it
// returns, and each release when it is called. Grants are therefore judged together, and exactly. A refusal wants the
// longest holds of others: each is judged on its own, so that a history in which refusals contradict grants may pass.
package shares
