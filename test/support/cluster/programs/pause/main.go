// Waits: for SIGTERM or SIGINT, or for as many seconds as its argument says. It holds the namespaces of a pod, stands for
// programs that nothing is asked of, and is the `sleep` of images that have none. LONGEST_SLEEP_SECONDS limits it, for tests that
// have no time for the preStop of MOCO's pods.
package main

import (
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"
)

func main() {
	if len(os.Args) > 1 {
		if seconds, err := strconv.ParseFloat(os.Args[1], 64); err == nil {
			if longest, err := strconv.ParseFloat(os.Getenv("LONGEST_SLEEP_SECONDS"), 64); err == nil {
				seconds = min(seconds, longest)
			}
			time.Sleep(time.Duration(seconds * float64(time.Second)))
			return
		}
	}
	ends := make(chan os.Signal, 1)
	signal.Notify(ends, syscall.SIGTERM, syscall.SIGINT)
	// As the first process of a pod whose containers share it, this has to collect what ends.
	children := make(chan os.Signal, 1)
	signal.Notify(children, syscall.SIGCHLD)
	for {
		select {
		case <-ends:
			return
		case <-children:
			for {
				if pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil); pid <= 0 || err != nil {
					break
				}
			}
		}
	}
}
