// A container that does what it is told by HTTP, for recordings of what a kubelet says about it. PORT is where it listens.
// GET /ready answers what was told last, 200 at first. GET /live answers 200.
// POST /ready?answer=503, /exit?code=1, /eat?megabytes=40; without a number it eats until it is killed.
// SIGTERM ends it after STOP_SECONDS. With the argument `once` it ends at once, with `crash` it fails.
package main

import (
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"
)

func main() {
	if len(os.Args) > 1 {
		if os.Args[1] == "crash" {
			os.Exit(1)
		}
		return
	}
	var answer atomic.Int64
	answer.Store(http.StatusOK)
	http.HandleFunc("GET /ready", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(int(answer.Load())) })
	http.HandleFunc("POST /ready", func(_ http.ResponseWriter, r *http.Request) { answer.Store(number(r.FormValue("answer"))) })
	http.HandleFunc("POST /exit", func(_ http.ResponseWriter, r *http.Request) {
		go func() {
			time.Sleep(100 * time.Millisecond)
			os.Exit(int(number(r.FormValue("code"))))
		}()
	})
	http.HandleFunc("GET /live", func(http.ResponseWriter, *http.Request) {})
	http.HandleFunc("POST /eat", func(_ http.ResponseWriter, r *http.Request) { go eat(number(r.FormValue("megabytes"))) })
	go func() { panic(http.ListenAndServe(":"+os.Getenv("PORT"), nil)) }()
	end := make(chan os.Signal, 1)
	signal.Notify(end, syscall.SIGTERM)
	<-end
	time.Sleep(time.Duration(number(os.Getenv("STOP_SECONDS"))) * time.Second)
}

var eaten [][]byte

func eat(megabytes int64) {
	for len(eaten) < int(megabytes) || megabytes == 0 {
		bytes := make([]byte, 1<<20)
		for index := 0; index < len(bytes); index += 4096 {
			bytes[index] = 1
		}
		eaten = append(eaten, bytes)
	}
}

func number(text string) int64 {
	parsed, _ := strconv.ParseInt(text, 10, 64)
	return parsed
}
