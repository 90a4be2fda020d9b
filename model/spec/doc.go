// Package spec says what correct means: the properties, each a named sentence, the sequential
// specifications that histories are checked against, and the monitor that watches an execution of
// which the broker's own state is known.
//
// Two kinds of evidence are kept apart. A history is what clients saw: invocations and completions
// in real-time order. Truth is what the broker had at each moment. A verdict names the one it
// rests on.
package spec
