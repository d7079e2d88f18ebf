package token

// Receipt is what a guard gives for a write that took effect, and gives again
// for each later attempt at the same operation.
type Receipt struct {
	// Token is the one under which the write took effect. For a repeated
	// operation it can be lower than the token of the attempt that asks.
	Token Token
	// Value is what the write returned when it took effect.
	Value []byte
	// Repeated says that an earlier attempt at the operation took effect, and
	// this one wrote nothing.
	Repeated bool
}
