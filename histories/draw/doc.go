// Package draw shows one execution as a space-time diagram: [Draw] for a terminal, [SVG] for a page, [Transcript] in
// words.
//
//	timeline.go                  an execution in words, which all pictures share
//	words.go, sentence.go        the words of steps, faults and answers; glossary.go and legend.go explain words and marks
//	decision.go                  the step that made a violation unavoidable
//	cause*.go, expected.go       the cause of a violation, and the behaviour of a correct lock
//	diagram.go, columns.go       the terminal's picture; client_columns.go has the clients' columns and their arrows
//	svg.go                       the page's pictures: lines, text and arrows. svgdiagram.go, svgslots.go, svgstrip.go and
//	                             svghistory.go place them
package draw
