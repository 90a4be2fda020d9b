package search

// save writes the numbers in the set.
func (s bitset) save(e *encoder) {
	e.u32(uint32(len(s)))
	for _, word := range s {
		e.u64(word)
	}
}

// readSet reads a set of numbers less than n.
func readSet(d *decoder, n uint32) (s bitset) {
	for k := d.fits(uint64(d.u32()), 8); k > 0; k-- {
		s = append(s, d.u64())
	}
	for m := range s.all {
		if m >= n {
			d.damaged()
			return nil
		}
	}
	return s
}
