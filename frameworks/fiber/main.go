// Command app serves Plimsoll's contract with Fiber.
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
	"os"
	"os/signal"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/gofiber/contrib/v3/websocket"
	"github.com/gofiber/fiber/v3"
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

	app := newApp()
	children := forked(app)
	address := net.JoinHostPort(os.Getenv("HOST"), os.Getenv("PORT"))
	failed := make(chan error, 1)
	go func() { failed <- app.Listen(address, listenConfig()) }()

	select {
	case err := <-failed:
		log.Fatal(err)
	case <-ctx.Done():
		if children.stop() {
			<-failed // when they have ended
			return
		}
		err := app.ShutdownWithTimeout(gracePeriod)
		if err != nil && !errors.Is(err, context.DeadlineExceeded) {
			log.Fatal(err)
		}
	}
}

// listenConfig has a certificate where TLS is asked for, and a process for each core where PREFORK is.
func listenConfig() fiber.ListenConfig {
	return fiber.ListenConfig{
		DisableStartupMessage: true,
		CertFile:              os.Getenv("TLS_CERT"),
		CertKeyFile:           os.Getenv("TLS_KEY"),
		EnablePrefork:         os.Getenv("PREFORK") != "",
	}
}

// processes are the children of the one that was started, where Fiber forks.
type processes struct {
	mutex sync.Mutex
	ids   []int
}

func forked(app *fiber.App) *processes {
	children := new(processes)
	app.Hooks().OnFork(func(id int) error {
		children.mutex.Lock()
		defer children.mutex.Unlock()
		children.ids = append(children.ids, id)
		return nil
	})
	return children
}

// stop asks all of them to end, which Fiber itself leaves to each of them, and says if there are any.
func (p *processes) stop() bool {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	for _, id := range p.ids {
		syscall.Kill(id, syscall.SIGTERM)
	}
	return len(p.ids) > 0
}

func newApp() *fiber.App {
	app := fiber.New(fiber.Config{BodyLimit: maxUpload})
	app.Get("/empty", empty)
	app.Get("/2048", constant(body2048))
	app.Get("/8192", constant(body8192))
	app.Get("/32768", constant(body32768))
	app.Get("/plaintext", constant(hello))
	app.Get("/getArgs2048", getArgs)
	app.Post("/postArgs2048", postArgs)
	app.Post("/postArgsMulti2048", postArgs)
	app.Get("/args", checksum)
	app.Post("/json", echo)
	app.Get("/fibonacci/:n", fibonacci)
	app.Get("/echo", websocket.New(echoMessages))
	openDatabase().register(app)
	registerWeb(app)
	return app
}

func empty(c fiber.Ctx) error {
	return c.Send(nil)
}

func constant(body []byte) fiber.Handler {
	return func(c fiber.Ctx) error {
		return c.Type("txt").Send(body)
	}
}

func getArgs(c fiber.Ctx) error {
	return answerArgs(c, c.Queries())
}

// postArgs serves both kinds of form; the binder looks at the content type.
func postArgs(c fiber.Ctx) error {
	args := make(map[string]string)
	if err := c.Bind().WithAutoHandling().Form(args); err != nil {
		return err
	}
	return answerArgs(c, args)
}

// answerArgs visits every decoded value and says how many bytes they have together.
func answerArgs(c fiber.Ctx, args map[string]string) error {
	decoded := 0
	for _, value := range args {
		decoded += len(value)
	}
	c.Set("Decoded-Bytes", strconv.Itoa(decoded))
	return c.Type("txt").Send(body2048)
}

// checksum answers with the CRC-32 of the values by rising name, each followed by a line feed.
func checksum(c fiber.Ctx) error {
	args := c.Queries()
	crc := crc32.NewIEEE()
	for _, name := range slices.Sorted(maps.Keys(args)) {
		io.WriteString(crc, args[name]+"\n")
	}
	return c.Type("txt").SendString(strconv.FormatUint(uint64(crc.Sum32()), 10))
}

func echo(c fiber.Ctx) error {
	var p person
	if err := c.Bind().WithAutoHandling().JSON(&p); err != nil {
		return err
	}
	return c.JSON(p)
}

func fibonacci(c fiber.Ctx) error {
	n, err := strconv.ParseUint(c.Params("n"), 10, 16)
	if err != nil {
		return fiber.NewError(fiber.StatusBadRequest, err.Error())
	}
	return c.Type("txt").SendString(fib(n).String())
}

// echoMessages returns every message as it came; pings and close frames are answered while it reads.
func echoMessages(conn *websocket.Conn) {
	for {
		kind, message, err := conn.ReadMessage()
		if err != nil {
			return
		}
		if err := conn.WriteMessage(kind, message); err != nil {
			return
		}
	}
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
