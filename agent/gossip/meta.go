package gossip

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/hashicorp/memberlist"
)

// metaVersion is the first byte of a member's metadata. Readers ignore members with
// another version. Fields can be added at the end without a new version.
const metaVersion = 1

// errMeta is the error of metadata that this reader cannot use.
var errMeta = errors.New("metadata of another format")

// meta is a member's metadata: at most memberlist.MetaMaxSize (512) bytes encoded.
type meta struct {
	role         Role
	api          int
	instance     uint64 // differs between restarts of a member
	url          string
	capabilities []string
}

// encode returns the metadata as bytes, or an error if they are too many.
func (m meta) encode() ([]byte, error) {
	b := []byte{metaVersion, byte(m.role)}
	b = binary.AppendUvarint(b, uint64(m.api))
	b = binary.AppendUvarint(b, m.instance)
	b = appendString(b, m.url)
	b = binary.AppendUvarint(b, uint64(len(m.capabilities)))
	for _, c := range m.capabilities {
		b = appendString(b, c)
	}
	if len(b) > memberlist.MetaMaxSize {
		return nil, fmt.Errorf("gossip: URL and capabilities take %d bytes, accepted: at most %d",
			len(b), memberlist.MetaMaxSize)
	}
	return b, nil
}

// decodeMeta decodes what encode returned. It returns errMeta for anything else, and
// ignores bytes after the last known field.
func decodeMeta(b []byte) (meta, error) {
	if len(b) < 2 || b[0] != metaVersion {
		return meta{}, errMeta
	}
	m := meta{role: Role(b[1])}
	d := decoder{rest: b[2:]}
	m.api = int(d.uint(1 << 30))
	m.instance = d.uint(^uint64(0))
	m.url = d.string()
	// Each capability takes at least a byte, which bounds the loop.
	for range d.uint(uint64(len(d.rest))) {
		m.capabilities = append(m.capabilities, d.string())
	}
	if d.bad || m.role != Agent && m.role != Server {
		return meta{}, errMeta
	}
	return m, nil
}

func appendString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// decoder reads fields until one is invalid, and then returns zeros.
type decoder struct {
	rest []byte
	bad  bool
}

func (d *decoder) uint(most uint64) uint64 {
	v, n := binary.Uvarint(d.rest)
	if d.bad || n <= 0 || v > most {
		d.bad = true
		return 0
	}
	d.rest = d.rest[n:]
	return v
}

func (d *decoder) string() string {
	n := d.uint(uint64(len(d.rest)))
	if d.bad || n > uint64(len(d.rest)) {
		d.bad = true
		return ""
	}
	s := string(d.rest[:n])
	d.rest = d.rest[n:]
	return s
}
