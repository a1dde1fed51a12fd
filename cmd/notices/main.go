// Command notices writes THIRD_PARTY_NOTICES, the licences of everything that the
// herdlab binary links on Linux, macOS and Windows. It is run in the directory of the
// module, where it needs the source of the modules, which it downloads if necessary:
//
//	go run ./cmd/notices          write THIRD_PARTY_NOTICES and the copy in cmd/cli
//	go run ./cmd/notices -check   fail if one of them is not current
package main

import (
	"bytes"
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"log"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// files are the notices and the copy that the command line embeds: go:embed cannot
// reach files outside the directory of its package.
var files = []string{"THIRD_PARTY_NOTICES", "cmd/cli/THIRD_PARTY_NOTICES"}

// systems are the operating systems whose binaries are covered.
var systems = []string{"linux", "darwin", "windows"}

const head = `Third-party notices of herdlab

The herdlab binary contains the software that is listed here, besides its own. Each
text is preceded by the modules that it belongs to. The fonts in the pictures are the
Liberation fonts.

This file is made by: go run ./cmd/notices
`

func main() {
	check := flag.Bool("check", false, "fail if the files are not current; write nothing")
	flag.Parse()
	if err := run(*check); err != nil {
		log.Fatal("notices: ", err)
	}
}

func run(check bool) error {
	text, err := notices()
	if err != nil {
		return err
	}
	for _, name := range files {
		if !check {
			if err := os.WriteFile(name, text, 0o644); err != nil {
				return err
			}
			continue
		}
		old, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if !bytes.Equal(old, text) {
			return fmt.Errorf("%s is not current; run go run ./cmd/notices", name)
		}
	}
	return nil
}

// notices returns the text of the file.
func notices() ([]byte, error) {
	found := map[string][]string{} // the owners of each text
	root, err := output("", "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	if err := collect(found, "The Go standard library and runtime", strings.TrimSpace(string(root)), nil); err != nil {
		return nil, err
	}
	for _, system := range systems {
		if err := linked(found, system); err != nil {
			return nil, err
		}
	}
	texts := make([]string, 0, len(found))
	for text := range found {
		slices.Sort(found[text])
		found[text] = slices.Compact(found[text])
		texts = append(texts, text)
	}
	slices.SortFunc(texts, func(a, b string) int {
		return cmp.Or(slices.Compare(found[a], found[b]), strings.Compare(a, b))
	})
	var b bytes.Buffer
	b.WriteString(head)
	for _, text := range texts {
		fmt.Fprintf(&b, "\n%s\n%s\n%[1]s\n\n%[3]s\n", strings.Repeat("=", 80), strings.Join(found[text], "\n"), text)
	}
	return b.Bytes(), nil
}

// linked collects the licences of the packages that the binary links on a system.
func linked(found map[string][]string, system string) error {
	const format = `{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}	{{.Dir}}	{{$.Dir}}{{end}}{{end}}`
	text, err := output(system, "list", "-deps", "-f", format, "./cmd/herdlab")
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(text)) {
		part := strings.Split(strings.TrimSpace(line), "\t")
		if len(part) != 3 {
			continue
		}
		name, root, dir := part[0], part[1], part[2]
		var inside []string // the directories from the package up to the module
		for dir != root {
			inside = append(inside, dir)
			dir = filepath.Dir(dir)
		}
		if err := collect(found, name, root, inside); err != nil {
			return err
		}
	}
	return nil
}

var (
	// licence matches the names of files with licences and notices.
	licence = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents)`)
	// further are directories of licences of code that a module has copied.
	further = []string{"licenses", "THIRD_PARTY_LICENSES"}
	// declined are licences that do not apply to us: the second of a choice of two,
	// and that of documentation.
	declined = []string{"gpl.txt", "LICENSE-link.txt"}
)

// collect adds the licences of one module, and those of directories inside it.
func collect(found map[string][]string, name, root string, inside []string) error {
	some := false
	for _, dir := range append(inside, root) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if e.IsDir() || !licence.MatchString(e.Name()) || slices.Contains(declined, e.Name()) {
				continue
			}
			some = true
			if err := add(found, name, root, filepath.Join(dir, e.Name())); err != nil {
				return err
			}
		}
	}
	for _, dir := range further {
		entries, err := os.ReadDir(filepath.Join(root, dir))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		for _, e := range entries {
			if slices.Contains(declined, e.Name()) {
				continue
			}
			if err := add(found, name, root, filepath.Join(root, dir, e.Name())); err != nil {
				return err
			}
		}
	}
	if !some {
		return fmt.Errorf("%s has no licence in %s", name, root)
	}
	return nil
}

// add adds one file. A file that is not in the directory of the module itself is
// named.
func add(found map[string][]string, name, root, file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	inside, err := filepath.Rel(root, file)
	if err != nil {
		return err
	}
	if inside = filepath.ToSlash(inside); path.Dir(inside) != "." {
		name += ", " + inside
	}
	plain := strings.Trim(strings.ReplaceAll(string(text), "\r\n", "\n"), "\n")
	found[plain] = append(found[plain], name)
	return nil
}

// output runs the go command, for a system if one is given.
func output(system string, args ...string) ([]byte, error) {
	cmd := exec.Command("go", args...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if system != "" {
		cmd.Env = append(cmd.Env, "GOOS="+system, "GOARCH=amd64")
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	text, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go %s: %w: %s", strings.Join(args, " "), err, stderr.Bytes())
	}
	return text, nil
}
