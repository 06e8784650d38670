// Command app serves Plimsoll's contract with Echo; pgx reads the database.
package main

import (
	"bytes"
	"context"
	"hash/crc32"
	"html/template"
	"io"
	"log"
	"log/slog"
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

	"github.com/labstack/echo/v5"
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
	if err := serve(ctx, newEcho()); err != nil {
		log.Fatal(err)
	}
}

func serve(ctx context.Context, e *echo.Echo) error {
	start := echo.StartConfig{
		Address:         net.JoinHostPort(os.Getenv("HOST"), os.Getenv("PORT")),
		HideBanner:      true,
		HidePort:        true,
		GracefulTimeout: gracePeriod,
		BeforeServeFunc: configure,
	}
	if os.Getenv("TLS_CERT") == "" {
		return start.Start(ctx, e)
	}
	certificate, err := os.ReadFile(os.Getenv("TLS_CERT"))
	if err != nil {
		return err
	}
	key, err := os.ReadFile(os.Getenv("TLS_KEY"))
	if err != nil {
		return err
	}
	return start.StartTLS(ctx, e, certificate, key)
}

// configure adds HTTP/2 without TLS where that is asked for, and takes away Echo's limit of 30 s, which
// is also how long a connection may be idle.
func configure(server *http.Server) error {
	server.ReadTimeout = 0
	server.Protocols = new(http.Protocols)
	server.Protocols.SetHTTP1(true)
	server.Protocols.SetHTTP2(true)
	server.Protocols.SetUnencryptedHTTP2(os.Getenv("PROTOCOL") == "http2")
	return nil
}

func newEcho() *echo.Echo {
	e := echo.New()
	e.Logger = slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError}))
	e.HTTPErrorHandler = logged(e.HTTPErrorHandler)
	e.Renderer = &echo.TemplateRenderer{Template: template.Must(template.ParseFS(pages, "*.html"))}

	e.GET("/empty", func(c *echo.Context) error { return c.NoContent(http.StatusOK) })
	e.GET("/2048", constant(body2048))
	e.GET("/8192", constant(body8192))
	e.GET("/32768", constant(body32768))
	e.GET("/plaintext", constant(hello))
	e.GET("/getArgs2048", getArgs)
	e.POST("/postArgs2048", postArgs)
	e.POST("/postArgsMulti2048", postArgs)
	e.GET("/args", checksum)
	e.POST("/json", echoPerson)
	e.GET("/fibonacci/:n", fibonacci)
	openDatabase().register(e)
	newWeb().register(e)
	return e
}

// logged writes down what is no fault of the client: Echo itself leaves this to its logger of requests.
func logged(handle echo.HTTPErrorHandler) echo.HTTPErrorHandler {
	return func(c *echo.Context, err error) {
		if status := echo.StatusCode(err); status == 0 || status >= http.StatusInternalServerError {
			c.Logger().Error("cannot respond", "path", c.Request().URL.Path, "error", err)
		}
		handle(c, err)
	}
}

func constant(body []byte) echo.HandlerFunc {
	return func(c *echo.Context) error { return text(c, body) }
}

func getArgs(c *echo.Context) error {
	return answerArgs(c, c.QueryParams())
}

// postArgs answers forms of both kinds: the content type says which one it is.
func postArgs(c *echo.Context) error {
	args, err := c.FormValues()
	if err != nil {
		return echo.ErrBadRequest.Wrap(err)
	}
	return answerArgs(c, args)
}

// answerArgs visits every decoded value and says how many bytes they have together.
func answerArgs(c *echo.Context, args url.Values) error {
	decoded := 0
	for _, values := range args {
		for _, value := range values {
			decoded += len(value)
		}
	}
	c.Response().Header().Set("Decoded-Bytes", strconv.Itoa(decoded))
	return text(c, body2048)
}

// checksum answers with the CRC-32 of the values by rising name, each followed by a line feed.
func checksum(c *echo.Context) error {
	args := c.QueryParams()
	crc := crc32.NewIEEE()
	for _, name := range slices.Sorted(maps.Keys(args)) {
		io.WriteString(crc, args.Get(name)+"\n")
	}
	return c.String(http.StatusOK, strconv.FormatUint(uint64(crc.Sum32()), 10))
}

func echoPerson(c *echo.Context) error {
	var p person
	if err := bindJSON(c, &p); err != nil {
		return err
	}
	return c.JSON(http.StatusOK, p)
}

// bindJSON decodes a body. To Echo, an empty one is no error: it binds nothing.
func bindJSON(c *echo.Context, target any) error {
	if c.Request().ContentLength == 0 {
		return echo.ErrBadRequest
	}
	return c.Bind(target)
}

func fibonacci(c *echo.Context) error {
	n, err := echo.PathParam[uint16](c, "n")
	if err != nil {
		return err
	}
	return c.String(http.StatusOK, fib(n).String())
}

// fib adds n-1 times.
func fib(n uint16) *big.Int {
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

// text sends a constant; net/http would send more than 2 KiB in chunks if it were not told the length.
func text(c *echo.Context, body []byte) error {
	c.Response().Header().Set(echo.HeaderContentLength, strconv.Itoa(len(body)))
	return c.Blob(http.StatusOK, echo.MIMETextPlain, body)
}
