package layout_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// cores is the line of the Makefile with the packages that are tested without the race detector.
var cores = regexp.MustCompile(`(?m)^CORES = (.*)$`)

// A package that is tested without the race detector, and its tests, must not start goroutines.
func TestCoresStartNoGoroutine(t *testing.T) {
	tree := os.DirFS("../..")
	line := cores.FindStringSubmatch(page(t, tree, "Makefile"))
	if line == nil {
		t.Fatal("the Makefile has no CORES")
	}
	isCore := regexp.MustCompile(strings.ReplaceAll(line[1], "$$", "$"))
	found := 0
	err := fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir():
			return enter(tree, name)
		case path.Ext(name) != ".go" || !isCore.MatchString("/"+path.Dir(name)):
			return nil
		}
		found++
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, name, page(t, tree, name), parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if startsGoroutine(n) {
				t.Errorf("%v starts a goroutine", set.Position(n.Pos()))
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	if found == 0 {
		t.Error("CORES matches no package")
	}
}

// startsGoroutine recognizes go statements, WaitGroup.Go and its likes, and parallel tests.
func startsGoroutine(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.GoStmt:
		return true
	case *ast.CallExpr:
		if f, ok := n.Fun.(*ast.SelectorExpr); ok {
			return slices.Contains([]string{"Go", "Parallel", "RunParallel", "AfterFunc"}, f.Sel.Name)
		}
	}
	return false
}
