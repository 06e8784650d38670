// Command app serves Plimsoll's contract with Gin; pgx reads the database.
package main

import (
	"bytes"
	"context"
	"errors"
	"hash/crc32"
	"io"
	"log"
	"maps"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/gin-gonic/gin/binding"
)

const gracePeriod = 5 * time.Second // for the requests in flight when a stop is asked for

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
		Handler:   router(),
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

// router has no logger, which gin.Default() would add.
func router() *gin.Engine {
	r := gin.New()
	r.Use(gin.Recovery())
	r.GET("/empty", empty)
	r.GET("/2048", constant(body2048))
	r.GET("/8192", constant(body8192))
	r.GET("/32768", constant(body32768))
	r.GET("/plaintext", constant(hello))
	r.GET("/getArgs2048", getArgs)
	r.POST("/postArgs2048", postArgs)
	r.POST("/postArgsMulti2048", postArgs)
	r.GET("/args", checksum)
	r.POST("/json", echo)
	r.GET("/fibonacci/:n", fibonacci)
	openDatabase().register(r)
	newWeb().register(r)
	return r
}

func empty(c *gin.Context) {
	c.Status(http.StatusOK)
}

func constant(body []byte) gin.HandlerFunc {
	return func(c *gin.Context) {
		text(c, body)
	}
}

func getArgs(c *gin.Context) {
	args := make(map[string]string)
	if err := c.BindQuery(args); err != nil {
		return
	}
	answerArgs(c, args)
}

// postArgs serves both kinds of form.
func postArgs(c *gin.Context) {
	args := make(map[string]string)
	if err := c.MustBindWith(args, binding.Form); err != nil {
		return
	}
	answerArgs(c, args)
}

// answerArgs visits every decoded value and says how many bytes they have together.
func answerArgs(c *gin.Context, args map[string]string) {
	decoded := 0
	for _, value := range args {
		decoded += len(value)
	}
	c.Header("Decoded-Bytes", strconv.Itoa(decoded))
	text(c, body2048)
}

// checksum answers with the CRC-32 of the values by rising name, each followed by a line feed.
func checksum(c *gin.Context) {
	args := make(map[string]string)
	if err := c.BindQuery(args); err != nil {
		return
	}
	crc := crc32.NewIEEE()
	for _, name := range slices.Sorted(maps.Keys(args)) {
		io.WriteString(crc, args[name]+"\n")
	}
	text(c, strconv.AppendUint(nil, uint64(crc.Sum32()), 10))
}

func echo(c *gin.Context) {
	var p person
	if err := c.BindJSON(&p); err != nil {
		return
	}
	c.JSON(http.StatusOK, p)
}

func fibonacci(c *gin.Context) {
	n, err := strconv.ParseUint(c.Param("n"), 10, 16)
	if err != nil {
		c.AbortWithError(http.StatusBadRequest, err)
		return
	}
	text(c, []byte(fib(n).String()))
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

// text answers with a Content-Length; net/http adds none of its own to more than 2048 bytes.
func text(c *gin.Context, body []byte) {
	c.Header("Content-Length", strconv.Itoa(len(body)))
	c.Data(http.StatusOK, "text/plain", body)
}
