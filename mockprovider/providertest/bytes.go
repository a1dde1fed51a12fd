package providertest

// Bytes makes choices from the bytes of a fuzzer's script, zeros when they are
// used up.
type Bytes struct{ Script []byte }

// Below returns a number from 0 to n − 1.
func (b *Bytes) Below(n int) int {
	if len(b.Script) == 0 {
		return 0
	}
	v := int(b.Script[0])
	b.Script = b.Script[1:]
	return v % n
}
