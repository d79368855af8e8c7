package layout_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
)

// ownHTTP are the paths, or their beginnings, of files that make HTTP servers or
// clients by themselves, and why.
var ownHTTP = map[string]string{
	"proto/rpc/":         "it is the place where they are made",
	"proto/drover/v1/":   "generated code",
	"client/clienttest/": "fake agents and servers for tests",
	"cmd/drover-lab/":    "measures against plain HTTP",
}

var (
	newClient  = regexp.MustCompile(`^New\w+Client$`)
	newHandler = regexp.MustCompile(`^New\w+Handler$`)
	// httpItself are the names of net/http that serve or call without proto/rpc.
	httpItself = map[string]bool{
		"Server": true, "Client": true, "Transport": true, "DefaultClient": true, "DefaultTransport": true,
		"DefaultServeMux": true, "NewServeMux": true,
		"ListenAndServe": true, "ListenAndServeTLS": true, "Serve": true, "ServeTLS": true, "Handle": true,
		"HandleFunc": true,
		"Get":        true, "Head": true, "Post": true, "PostForm": true,
	}
)

// An interceptor that is added to rpc.Serve or rpc.Client reaches every call only
// if nothing goes past them.
func TestEveryHandlerAndEveryClientIsMadeByProtoRPC(t *testing.T) {
	problems, made, err := checkHTTP(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Error(p)
	}
	for _, service := range []string{
		"AgentService", "ServerService", "PeerService", "NodeService", "SupervisorService",
	} {
		for _, want := range []string{"rpc.Handle(New" + service + "Handler", "rpc.Client(New" + service + "Client"} {
			if !made[want] {
				t.Errorf("no %s): the check does not see the service", want)
			}
		}
	}
}

// checkHTTP returns where files of tree go past proto/rpc, and the handlers and
// clients that are made by it.
func checkHTTP(tree fs.FS) (problems []string, made map[string]bool, err error) {
	made = map[string]bool{}
	err = fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir():
			return enter(tree, name)
		case path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		for beginning := range ownHTTP {
			if strings.HasPrefix(name, beginning) {
				return nil
			}
		}
		found, err := checkHTTPOf(tree, name, made)
		problems = append(problems, found...)
		return err
	})
	return problems, made, err
}

func checkHTTPOf(tree fs.FS, name string, made map[string]bool) ([]string, error) {
	source, err := fs.ReadFile(tree, name)
	if err != nil {
		return nil, err
	}
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, name, source, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	imports := importsOf(file)
	var problems []string
	passed := map[ast.Expr]bool{} // arguments of rpc.Handle and rpc.Client
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			fun := n.Fun
			if generic, ok := fun.(*ast.IndexExpr); ok {
				fun = generic.X
			}
			if pkg, f := qualified(fun, imports); pkg == module+"/proto/rpc" && (f == "Handle" || f == "Client") {
				for _, arg := range n.Args {
					passed[arg] = true
					if _, constructor := qualified(arg, imports); constructor != "" {
						made["rpc."+f+"("+constructor] = true
					}
				}
			}
		case *ast.SelectorExpr:
			pkg, name := qualified(n, imports)
			past := pkg == "net/http" && httpItself[name] ||
				path.Base(pkg) == "droverv1connect" && !passed[n] && (newClient.MatchString(name) ||
					newHandler.MatchString(name))
			if past && !isPointer(file, n) {
				problems = append(problems,
					fmt.Sprintf("%s: %s.%s goes past proto/rpc: use rpc.Serve with rpc.Handle, or rpc.Client of a "+
						"rpc.Caller",
						files.Position(n.Pos()), path.Base(pkg), name))
			}
		}
		return true
	})
	return problems, nil
}

// isPointer reports whether a name stands in a pointer type, *http.Server, which
// makes nothing.
func isPointer(file *ast.File, selector *ast.SelectorExpr) bool {
	found := false
	ast.Inspect(file, func(n ast.Node) bool {
		if star, ok := n.(*ast.StarExpr); ok && star.X == selector {
			found = true
		}
		return !found
	})
	return found
}

// importsOf returns the paths of a file's imports by the names that they have in it.
func importsOf(file *ast.File) map[string]string {
	imports := map[string]string{}
	for _, spec := range file.Imports {
		full, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue // the parser has refused it
		}
		name := path.Base(full)
		if spec.Name != nil {
			name = spec.Name.Name
		}
		imports[name] = full
	}
	return imports
}

// qualified returns the package and the name of "pkg.Name", or "" for another
// expression.
func qualified(e ast.Expr, imports map[string]string) (pkg, name string) {
	selector, ok := e.(*ast.SelectorExpr)
	if !ok {
		return "", ""
	}
	if id, ok := selector.X.(*ast.Ident); ok && imports[id.Name] != "" {
		return imports[id.Name], selector.Sel.Name
	}
	return "", ""
}

func TestCheckHTTPFindsWhatGoesPastProtoRPC(t *testing.T) {
	const header = `package p
import (
	"net/http"
	"` + module + `/proto/rpc"
	v1 "` + module + `/proto/drover/v1/droverv1connect"
)
`
	for name, tc := range map[string]struct {
		source string
		want   string // in the one problem, or empty
	}{
		"a handler by rpc.Handle":  {`var _ = rpc.Handle[v1.AHandler](v1.NewAHandler, nil)`, ""},
		"a client by rpc.Client":   {`var _ = rpc.Client(nil, v1.NewAClient, "")`, ""},
		"a pointer to a server":    {`func f(s *http.Server) {}`, ""},
		"a request":                {`func f(r *http.Request) { http.Error(nil, "", 1) }`, ""},
		"a handler by itself":      {`var path, h = v1.NewAHandler(nil)`, "NewAHandler"},
		"a client by itself":       {`var c = v1.NewAClient(nil, "")`, "NewAClient"},
		"a constructor kept":       {`var f = v1.NewAClient`, "NewAClient"},
		"a server by itself":       {`var s = &http.Server{}`, "http.Server"},
		"a transport by itself":    {`var t = &http.Transport{}`, "http.Transport"},
		"the client of net/http":   {`var c = http.DefaultClient`, "http.DefaultClient"},
		"a request without client": {`func f() { http.Get("") }`, "http.Get"},
	} {
		t.Run(name, func(t *testing.T) {
			got, _, err := checkHTTP(fstest.MapFS{"server/a.go": {Data: []byte(header + tc.source)}})
			switch {
			case err != nil:
				t.Fatal(err)
			case tc.want == "" && len(got) > 0:
				t.Errorf("problems: %q, want none", got)
			case tc.want != "" && (len(got) != 1 || !strings.Contains(got[0], tc.want)):
				t.Errorf("problems: %q, want one with %q", got, tc.want)
			}
		})
	}
}
