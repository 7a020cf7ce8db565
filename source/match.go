package source

// Match is how sure a format is that an input's first bytes are its own.
type Match uint8

// A format answers Weak where many other things look alike (plain columns of numbers, folded stacks): it then gets only
// whole inputs, and only if no other format is Strong. More asks for more bytes than there were.
const (
	No Match = iota
	More
	Weak
	Strong
)

func (m Match) String() string { return [...]string{"no", "more", "weak", "strong"}[m] }
