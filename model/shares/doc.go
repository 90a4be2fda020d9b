// Package shares judges the history of a lock of which clients take shares: several permits of a semaphore at once,
// or a mutex in read or write mode. Many clients may read at once, but a writer excludes all others.
//
//   - An acquire takes all that it asks for, or nothing.
//   - A release gives back the number of permits that it states; without a number it gives back those of the client's last
//     acquire.
//   - A refusal says that at some moment of the call too little was free.
//   - A caller that states a lower limit than the capacity leaves the rest free.
//
// If all grants and releases can be explained, they can be explained by the shortest holds: each acquire takes effect
// when it returns, and each release when it is called. Grants are therefore judged together, and exactly. A refusal
// is easiest to explain by the longest holds of others. Each refusal is judged on its own, so a history in which
// refusals contradict grants may pass.
package shares
