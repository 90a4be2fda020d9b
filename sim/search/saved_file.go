package search

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
)

// What a checkpoint can be refused for, whatever it is of.
var (
	errDamaged   = errors.New("cut off or damaged: restore it from a copy, or start anew without it")
	errOtherwise = errors.New("the program that wrote it writes states otherwise: go on with that one, or start anew")
)

// opened has a checkpoint read that begins as it should, or else is another thing, and is whole.
func opened(path, magic string, other error, decode func(*decoder) error) error {
	f, err := os.Open(path)
	if err == nil {
		defer f.Close()
		err = decoded(f, magic, other, decode)
	}
	if err != nil {
		return fmt.Errorf("resuming from the checkpoint %s: %w", path, err)
	}
	return nil
}

// decoded reads a checkpoint, twice: only what is whole is looked into.
func decoded(in io.ReadSeeker, magic string, other error, decode func(*decoder) error) error {
	left, err := verify(in, magic, other)
	if err != nil {
		return err
	}
	return decode(newDecoder(bufio.NewReaderSize(in, 1<<16), left))
}

// verify reads the file to its end, tells whether it is what was written, and goes back to the first
// byte after the magic. left is how many bytes there are from there, without the digest.
func verify(in io.ReadSeeker, magic string, other error) (left int64, err error) {
	size, err := in.Seek(0, io.SeekEnd)
	if err != nil {
		return 0, err
	}
	if _, err := in.Seek(0, io.SeekStart); err != nil {
		return 0, err
	}
	begin := make([]byte, len(magic))
	if _, err := io.ReadFull(in, begin); err != nil || string(begin) != magic {
		return 0, other
	}
	left = size - int64(len(magic)) - sha256.Size
	if left < 4 {
		return 0, errDamaged
	}
	sum := sha256.New()
	sum.Write(begin)
	if _, err := io.CopyN(sum, in, left); err != nil {
		return 0, err
	}
	want := make([]byte, sha256.Size)
	if _, err := io.ReadFull(in, want); err != nil {
		return 0, err
	}
	if !bytes.Equal(sum.Sum(nil), want) {
		return 0, errDamaged
	}
	_, err = in.Seek(int64(len(magic)), io.SeekStart)
	return left, err
}

// version reports an error if a checkpoint is of another.
func version(d *decoder, want uint32) error {
	if v := d.u32(); d.err != nil {
		return d.err
	} else if v != want {
		return fmt.Errorf("version %d, and this program reads %d: go on with the program that wrote it, or start anew", v, want)
	}
	return nil
}

// bothConfigurations are that of the search at hand, and that of a checkpoint.
func bothConfigurations(of any, d *decoder) (here, there map[string]json.RawMessage, err error) {
	data, err := json.Marshal(of)
	if err != nil {
		return nil, nil, err
	}
	if err := json.Unmarshal(data, &here); err != nil {
		return nil, nil, err
	}
	return here, there, d.json(&there)
}

// differing reports an error where they differ.
func differing(here, there map[string]json.RawMessage) error {
	for _, k := range slices.Sorted(maps.Keys(here)) {
		if !bytes.Equal(here[k], there[k]) {
			return fmt.Errorf("it is another search's: %s is %s there and %s here: give the same configuration, or start anew", k, there[k], here[k])
		}
	}
	return nil
}
