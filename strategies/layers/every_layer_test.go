package layers_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// No layer is missing from those that live through any history and a day in the
// simulator, but for mistakes that hang.
func TestEveryLayerIsThere(t *testing.T) {
	there := map[string]bool{
		"RecursiveSemaphore": true,
	}
	for _, l := range everyLayer() {
		there[reflect.TypeOf(l).Name()] = true
	}
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	layers := 0
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, d := range file.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv != nil && fn.Name.Name == "Build" {
				receiver, ok := fn.Recv.List[0].Type.(*ast.Ident)
				require.True(t, ok && there[receiver.Name], "everyLayer has no %s", fn.Recv.List[0].Type)
				layers++
			}
		}
	}
	require.Equal(t, len(there), layers)
}

// The comment of each layer, backoff and trip states where to use it, or that it is
// a known mistake.
func TestEveryLayerStatesWhereToUseIt(t *testing.T) {
	kinds := map[string]bool{}
	for method, folder := range map[string]string{"Build": ".", "Delay": "../backoffs", "Note": "."} {
		for _, name := range exported(t, folder, method) {
			kinds[name] = true
		}
	}
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	more, err := filepath.Glob("../backoffs/*.go")
	require.NoError(t, err)
	files = append(files, more...)
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments|parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, d := range file.Decls {
			decl, ok := d.(*ast.GenDecl)
			if !ok || decl.Tok != token.TYPE {
				continue
			}
			if of := decl.Specs[0].(*ast.TypeSpec).Name.Name; kinds[of] {
				text := strings.Join(strings.Fields(decl.Doc.Text()), " ")
				require.Regexp(t, `\b([Uu]se it|is right|and right|, right|best with|a known mistake)\b`, text, of)
				delete(kinds, of)
			}
		}
	}
	require.Empty(t, kinds)
}
