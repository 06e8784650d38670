// Command app serves Plimsoll's contract with chi; pgx reads the database.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"hash/crc32"
	"io"
	"log"
	"maps"
	"math/big"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/go-chi/chi/v5"
)

const (
	maxMemory   = 32 << 20        // bytes of a multipart body kept in memory
	gracePeriod = 5 * time.Second // for the requests in flight when a stop is asked for
)

var (
	body2048  = bytes.Repeat([]byte("A"), 2048)
	body8192  = bytes.Repeat([]byte("A"), 8192)
	body32768 = bytes.Repeat([]byte("A"), 32768)
	hello     = []byte("Hello, World!")
)

type person struct {
	ID        int    `json:"id"`
	FirstName string `json:"firstName"`
	LastName  string `json:"lastName"`
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()

	server := &http.Server{
		Addr:      net.JoinHostPort(os.Getenv("HOST"), os.Getenv("PORT")),
		Handler:   routes(),
		Protocols: protocols(),
	}
	failed := make(chan error, 1)
	go func() { failed <- serve(server) }()

	select {
	case err := <-failed:
		log.Fatal(err)
	case <-ctx.Done():
		shutdown(server)
	}
}

// protocols is the default of net/http, and HTTP/2 without TLS where that is asked for.
func protocols() *http.Protocols {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(true)
	protocols.SetUnencryptedHTTP2(os.Getenv("PROTOCOL") == "http2")
	return protocols
}

func serve(server *http.Server) error {
	if certificate := os.Getenv("TLS_CERT"); certificate != "" {
		return server.ListenAndServeTLS(certificate, os.Getenv("TLS_KEY"))
	}
	return server.ListenAndServe()
}

// shutdown lets the requests in flight end, for as long as the grace period, then closes what is left.
func shutdown(server *http.Server) {
	ctx, cancel := context.WithTimeout(context.Background(), gracePeriod)
	defer cancel()
	if err := server.Shutdown(ctx); errors.Is(err, context.DeadlineExceeded) {
		server.Close()
	}
}

func routes() http.Handler {
	r := chi.NewRouter()
	r.Get("/empty", empty)
	r.Get("/2048", constant(body2048))
	r.Get("/8192", constant(body8192))
	r.Get("/32768", constant(body32768))
	r.Get("/plaintext", constant(hello))
	r.Get("/getArgs2048", getArgs)
	r.Post("/postArgs2048", postArgs)
	r.Post("/postArgsMulti2048", postArgsMulti)
	r.Get("/args", checksum)
	r.Post("/json", echo)
	r.Get("/fibonacci/{n}", fibonacci)
	openDatabase().register(r)
	newWeb().register(r)
	return r
}

func empty(w http.ResponseWriter, _ *http.Request) {
	w.WriteHeader(http.StatusOK)
}

func constant(body []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		answer(w, "text/plain", body)
	}
}

func getArgs(w http.ResponseWriter, r *http.Request) {
	args, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	answerArgs(w, args)
}

func postArgs(w http.ResponseWriter, r *http.Request) {
	if err := r.ParseForm(); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	answerArgs(w, r.PostForm)
}

func postArgsMulti(w http.ResponseWriter, r *http.Request) {
	if err := r.ParseMultipartForm(maxMemory); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	answerArgs(w, r.MultipartForm.Value)
}

// answerArgs visits every decoded value and says how many bytes they have together.
func answerArgs(w http.ResponseWriter, args url.Values) {
	decoded := 0
	for _, values := range args {
		for _, value := range values {
			decoded += len(value)
		}
	}
	w.Header().Set("Decoded-Bytes", strconv.Itoa(decoded))
	answer(w, "text/plain", body2048)
}

// checksum answers with the CRC-32 of the values by rising name, each followed by a line feed.
func checksum(w http.ResponseWriter, r *http.Request) {
	args, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	crc := crc32.NewIEEE()
	for _, name := range slices.Sorted(maps.Keys(args)) {
		io.WriteString(crc, args.Get(name)+"\n")
	}
	answer(w, "text/plain", strconv.AppendUint(nil, uint64(crc.Sum32()), 10))
}

func echo(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	var p person
	if err := json.Unmarshal(body, &p); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	answerJSON(w, p)
}

func fibonacci(w http.ResponseWriter, r *http.Request) {
	n, err := strconv.ParseUint(chi.URLParam(r, "n"), 10, 16)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	answer(w, "text/plain", []byte(fib(n).String()))
}

// fib adds n-1 times.
func fib(n uint64) *big.Int {
	if n == 0 {
		return big.NewInt(0)
	}
	a, b := big.NewInt(0), big.NewInt(1)
	for range n - 1 {
		a.Add(a, b)
		a, b = b, a
	}
	return b
}

func answer(w http.ResponseWriter, contentType string, body []byte) {
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.Write(body)
}
