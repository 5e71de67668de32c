// Starts the mysqld beside it, named mysqld.bin, whose version MOCO does not know: lines of MOCO's my.cnf with variables that
// this server no longer has are left out. They are named in MYSQLD_UNKNOWN_VARIABLES, with commas between them.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

const (
	flag    = "--defaults-file="
	section = "[mysqld]"
	// A kernel grants asynchronous I/O to about 14 mysqld on a machine; InnoDB's own threads do as well here.
	own = "innodb_use_native_aio = OFF"
)

func main() {
	arguments := append([]string{}, os.Args...)
	for index, argument := range arguments {
		if path, found := strings.CutPrefix(argument, flag); found {
			arguments[index] = flag + edited(path)
		}
	}
	program, err := os.Executable()
	if err == nil {
		err = syscall.Exec(filepath.Join(filepath.Dir(program), "mysqld.bin"), arguments, os.Environ())
	}
	fail(err)
}

// edited returns the path of a copy that the server can read.
func edited(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		fail(err)
	}
	unknown := map[string]bool{}
	for _, name := range strings.Split(os.Getenv("MYSQLD_UNKNOWN_VARIABLES"), ",") {
		unknown[name] = true
	}
	var lines []string
	for _, line := range strings.Split(string(text), "\n") {
		if unknown[variable(line)] {
			continue
		}
		lines = append(lines, line)
		if strings.TrimSpace(line) == section {
			lines = append(lines, own)
		}
	}
	copy := filepath.Join(os.TempDir(), "my.cnf")
	if err := os.WriteFile(copy, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
		fail(err)
	}
	return copy
}

func variable(line string) string {
	name, _, _ := strings.Cut(line, "=")
	name = strings.ReplaceAll(strings.TrimSpace(name), "-", "_")
	return strings.TrimPrefix(name, "loose_")
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "mysqld:", err)
	os.Exit(1)
}
