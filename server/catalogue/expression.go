package catalogue

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/vm"
)

// Limits of one expression.
const (
	maxExpression = 1024 // bytes of source
	maxNodes      = 200  // nodes of its tree
	memoryBudget  = 1000 // elements that the expression machine can allocate
)

// functions are our own functions that an expression can call. All take and return
// float64. None reads a clock, a file or a random source.
var functions = map[string]func(float64) float64{
	"sqrt": math.Sqrt,
	"log":  math.Log,
	"log2": math.Log2,
	"exp":  math.Exp,
}

// builtins are the functions of package expr that an expression can call.
var builtins = []string{"abs", "ceil", "floor", "round", "min", "max"}

// words holds the names that no argument can have, because they have a meaning in
// expressions or command templates.
var words = map[string]bool{
	"width": true, "walltime": true,
	"true": true, "false": true, "nil": true, "not": true, "and": true, "or": true, "in": true,
	"let": true, "if": true, "else": true,
	"matches": true, "contains": true, "startswith": true, "endswith": true,
	"abs": true, "ceil": true, "floor": true, "round": true, "min": true, "max": true,
	"sqrt": true, "log": true, "log2": true, "exp": true,
}

// The members of an input file, vector and matrix in an expression. Members, unlike
// functions, do not take names away from the arguments.
type (
	fileEnv struct {
		Size float64 `expr:"size"`
	}
	vectorEnv struct {
		Size   float64 `expr:"size"`
		Length float64 `expr:"length"`
	}
	matrixEnv struct {
		Size float64 `expr:"size"`
		Rows float64 `expr:"rows"`
		Cols float64 `expr:"cols"`
	}
)

// expression is a formula over a service's arguments. It is a pure function without
// loops. Numbers are float64, and each operation is a separate call in the expression
// machine, so no compiler can fuse two of them.
type expression struct {
	source  string
	program *vm.Program
}

// compile compiles a formula and checks it against the types of the arguments.
func compile(source string, args []Argument) (*expression, error) {
	if len(source) > maxExpression {
		return nil, fmt.Errorf("expression of %d bytes, accepted: at most %d", len(source), maxExpression)
	}
	guard := &guard{}
	ops := []expr.Option{
		expr.Env(environment(args, nil)), expr.AsFloat64(), expr.MaxNodes(maxNodes),
		expr.DisableAllBuiltins(), expr.Patch(guard),
	}
	for _, name := range builtins {
		ops = append(ops, expr.EnableBuiltin(name))
	}
	for name, f := range functions {
		ops = append(ops, expr.Function(name, func(params ...any) (any, error) {
			x, ok := params[0].(float64)
			if !ok {
				return nil, fmt.Errorf("%s of a %T", name, params[0])
			}
			return f(x), nil
		}, f))
	}
	program, err := expr.Compile(source, ops...)
	if guard.refused != "" {
		return nil,
			fmt.Errorf("expression %q: %s, accepted: numbers, arguments, + - * / **, comparisons, ?:, let, and %s",
				source, guard.refused, functionNames)
	}
	if err != nil {
		return nil, fmt.Errorf("expression %q: %s", source, typeWords.Replace(firstLine(err)))
	}
	return &expression{source: source, program: program}, nil
}

// typeWords replaces Go type names in messages with the names of argument types.
var typeWords = strings.NewReplacer(
	"catalogue.fileEnv", "file", "catalogue.vectorEnv", "vector", "catalogue.matrixEnv", "matrix")

const functionNames = "abs, ceil, exp, floor, log, log2, max, min, round, sqrt"

// eval returns the formula's value. A value that is not finite is an error.
func (e *expression) eval(v Values) (float64, error) {
	machine := vm.VM{MemoryBudget: memoryBudget}
	out, err := machine.Run(e.program, environment(v.service.Arguments, v.list))
	if err != nil {
		return 0, fmt.Errorf("expression %q: %s", e.source, firstLine(err))
	}
	f, ok := out.(float64)
	if !ok || math.IsNaN(f) || math.IsInf(f, 0) {
		return 0, fmt.Errorf("expression %q: got %v, accepted: a finite number", e.source, out)
	}
	return f, nil
}

// environment returns the variables of a formula; with nil values they carry only types.
func environment(args []Argument, values []Value) map[string]any {
	env := make(map[string]any, len(args))
	for i := range args {
		var v Value
		if values != nil {
			v = values[i]
		}
		switch args[i].Type {
		case TypeInt, TypeFloat:
			env[args[i].Name] = v.Float()
		case TypeString:
			env[args[i].Name] = v.Text()
		case TypeBool:
			env[args[i].Name] = v.Bool()
		case TypeFileIn, TypeFileInOut:
			env[args[i].Name] = fileEnv{Size: float64(v.file.Size)}
		case TypeVector, TypeVectorInOut:
			env[args[i].Name] = vectorEnv{Size: float64(v.file.Size), Length: float64(v.dims[0])}
		case TypeMatrix, TypeMatrixInOut:
			env[args[i].Name] = matrixEnv{
				Size: float64(v.file.Size), Rows: float64(v.dims[0]), Cols: float64(v.dims[1]),
			}
		}
	}
	return env
}

// guard converts every number to float64, so that no integer overflows silently, and
// refuses syntax that can loop or allocate.
type guard struct{ refused string }

// Visit checks one node of the formula.
func (g *guard) Visit(node *ast.Node) {
	switch n := (*node).(type) {
	case *ast.IntegerNode:
		ast.Patch(node, &ast.FloatNode{Value: float64(n.Value)})
	case *ast.BinaryNode:
		switch n.Operator {
		case "..", "in", "matches", "contains", "startsWith", "endsWith", "??":
			g.refuse("operator " + n.Operator)
		}
	case *ast.IdentifierNode:
		if strings.HasPrefix(n.Value, "$") {
			g.refuse("name " + n.Value)
		}
	case *ast.FloatNode, *ast.BoolNode, *ast.StringNode, *ast.UnaryNode, *ast.ConditionalNode, *ast.MemberNode,
		*ast.BuiltinNode, *ast.CallNode, *ast.VariableDeclaratorNode:
	default:
		g.refuse(strings.TrimSuffix(strings.TrimPrefix(fmt.Sprintf("%T", n), "*ast."), "Node") + " syntax")
	}
}

func (g *guard) refuse(what string) {
	if g.refused == "" {
		g.refused = what
	}
}

// firstLine returns expr's message without the source excerpt that follows it.
func firstLine(err error) string {
	var at *file.Error
	if errors.As(err, &at) {
		return fmt.Sprintf("%s at column %d", at.Message, at.Column+1)
	}
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}
