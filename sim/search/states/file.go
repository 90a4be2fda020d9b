package states

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/lockproof/lockproof/histories/infile"
)

// The errors with which searches of every kind refuse a checkpoint.
var (
	ErrDamaged   = errors.New("cut off or damaged: restore it from a copy, or start anew without it")
	ErrOtherwise = errors.New("the program that wrote it writes states otherwise: go on with that one, or start anew")
)

// checkpointInput limits the size of a checkpoint to 256 GiB. A checkpoint is little larger than the search's memory.
var checkpointInput = infile.Input{Noun: "checkpoint of a search", Most: 256 << 30}

// Open opens a checkpoint and calls decode to read it. It returns the error other if the file does not begin with
// magic, [ErrDamaged] if the file is incomplete or changed, and otherwise the error of decode.
func Open(path, magic string, other error, decode func(*Decoder) error) error {
	f, err := checkpointInput.Open(path)
	if err == nil {
		defer f.Close()
		err = Decode(f, magic, other, decode)
	}
	if err != nil {
		return fmt.Errorf("resuming from the checkpoint %s: %w", path, err)
	}
	return nil
}

// Decode reads a checkpoint twice: first to verify that it is complete, then to decode it. For the error other, see
// [Open].
func Decode(in io.ReadSeeker, magic string, other error, decode func(*Decoder) error) error {
	left, err := Verify(in, magic, other)
	if err != nil {
		return err
	}
	return decode(NewDecoder(bufio.NewReaderSize(in, 1<<16), left))
}

// Verify reads the whole file and checks its magic and its digest. Then it seeks to the first byte after the magic.
// left is the number of bytes from there to the digest. For the error other, see [Open].
func Verify(in io.ReadSeeker, magic string, other error) (left int64, err error) {
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
		return 0, ErrDamaged
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
		return 0, ErrDamaged
	}
	_, err = in.Seek(int64(len(magic)), io.SeekStart)
	return left, err
}

// CheckVersion reads a checkpoint's version, and returns an error if it is not want.
func CheckVersion(d *Decoder, want uint32) error {
	if v := d.U32(); d.Err != nil {
		return d.Err
	} else if v != want {
		return fmt.Errorf("version %d, and this program reads %d: go on with the program that wrote it, or start anew", v, want)
	}
	return nil
}

// Configurations returns the JSON fields of two configurations: that of the current search (here), and that of the
// checkpoint, which it reads from d (there).
func Configurations(of any, d *Decoder) (here, there map[string]json.RawMessage, err error) {
	data, err := json.Marshal(of)
	if err != nil {
		return nil, nil, err
	}
	if err := json.Unmarshal(data, &here); err != nil {
		return nil, nil, err
	}
	return here, there, d.JSON(&there)
}

// Differing returns an error that names the first field in which the two configurations differ.
func Differing(here, there map[string]json.RawMessage) error {
	for _, k := range slices.Sorted(maps.Keys(here)) {
		if !bytes.Equal(here[k], there[k]) {
			return fmt.Errorf("it is another search's: %s is %s there and %s here: give the same configuration, or start anew", k, there[k], here[k])
		}
	}
	return nil
}
