// Package shares judges histories of locks of which clients take shares: several permits of a semaphore at once, or a
// mutex in read or write mode. Any number of clients may have a mutex in read mode at once, but only one in write mode.
//
//   - An acquire takes all that it asks for, or nothing.
//   - A release gives back the number of permits that it states; without a number it gives back those of the client's last
//     acquire.
//   - A refusal says that at some moment of the call too little was free.
//   - If the caller of an acquire states a limit below the lock's capacity, the limit counts as the capacity.
//
// If grants and releases have any explanation, they also have one with the shortest holds: an acquire takes effect when
// it returns, and a release when it is called. All grants are therefore judged together, and exactly. A failed acquire
// is easiest to explain by the longest holds of other clients. Failed acquires are judged one by one, so that a history
// may pass in which they contradict the grants.
package shares
