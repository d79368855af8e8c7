package client

// ArgumentType is the type of an argument.
type ArgumentType string

// The types of arguments. What is only sent has no suffix.
const (
	TypeInt         ArgumentType = "int"
	TypeFloat       ArgumentType = "float"
	TypeString      ArgumentType = "string"
	TypeBool        ArgumentType = "bool"
	TypeFile        ArgumentType = "file"
	TypeFileOut     ArgumentType = "file-out"
	TypeFileInout   ArgumentType = "file-inout"
	TypeVector      ArgumentType = "vector"
	TypeVectorOut   ArgumentType = "vector-out"
	TypeVectorInout ArgumentType = "vector-inout"
	TypeMatrix      ArgumentType = "matrix"
	TypeMatrixOut   ArgumentType = "matrix-out"
	TypeMatrixInout ArgumentType = "matrix-inout"
)

// Sent says whether a file, vector or matrix of this type goes to the site.
func (t ArgumentType) Sent() bool {
	switch t {
	case TypeFile, TypeFileInout, TypeVector, TypeVectorInout, TypeMatrix, TypeMatrixInout:
		return true
	}
	return false
}

// Written says whether the job writes a file, vector or matrix for this type, which
// can be fetched.
func (t ArgumentType) Written() bool {
	switch t {
	case TypeFileOut, TypeFileInout, TypeVectorOut, TypeVectorInout, TypeMatrixOut, TypeMatrixInout:
		return true
	}
	return false
}

// Array says whether it is a vector or a matrix.
func (t ArgumentType) Array() bool { return t.dimensions() > 0 }

// dimensions returns how many dimensions there are, 0 for what is no array.
func (t ArgumentType) dimensions() int {
	switch t {
	case TypeVector, TypeVectorOut, TypeVectorInout:
		return 1
	case TypeMatrix, TypeMatrixOut, TypeMatrixInout:
		return 2
	}
	return 0
}

// accepted says which Go values an argument takes.
func accepted(a *Argument) string {
	of := string(a.Element)
	switch a.Type {
	case TypeInt:
		return "an integer of 64 bits"
	case TypeFloat:
		return "a number"
	case TypeString:
		return "a string"
	case TypeBool:
		return "a bool"
	case TypeFile:
		return "a string, the path of a file, or a []byte, its content"
	case TypeFileOut:
		return "a string, the path to write to, a *[]byte, an io.Writer, or nil"
	case TypeFileInout:
		return "a string, the path of a file, or a *[]byte, its content"
	case TypeVector:
		return "a vector of " + of + ": a []" + of + ", or a string, the path of a .npy file"
	case TypeVectorOut:
		return "a *[]" + of + ", a string, the path to write to, an io.Writer, or nil"
	case TypeVectorInout:
		return "a vector of " + of + ": a *[]" + of + ", or a string, the path of a .npy file"
	case TypeMatrix:
		return "a matrix of " + of + ": a *Dense[" + of + "], or a string, the path of a .npy file"
	case TypeMatrixOut:
		return "a *Dense[" + of + "], a string, the path to write to, an io.Writer, or nil"
	case TypeMatrixInout:
		return "a matrix of " + of + ": a *Dense[" + of + "], or a string, the path of a .npy file"
	}
	return "nothing: this client does not know the type " + string(a.Type)
}
