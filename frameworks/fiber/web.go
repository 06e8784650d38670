package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"log"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/gofiber/fiber/v3"
	"github.com/gofiber/fiber/v3/client"
	"github.com/gofiber/fiber/v3/extractors"
	"github.com/gofiber/fiber/v3/middleware/compress"
	"github.com/gofiber/fiber/v3/middleware/static"
	"github.com/golang-jwt/jwt/v5"
	"github.com/valyala/fasthttp"
)

const (
	routes        = 1000
	maxEvents     = 100
	eventInterval = 10 * time.Millisecond

	maxUpload        = 20 << 20
	maxUpstreamConns = 20_000 // one for each connection that there may be; fasthttp refuses calls beyond 512
)

type item struct {
	ID       int      `json:"id"`
	Name     string   `json:"name"`
	Category string   `json:"category"`
	Price    int64    `json:"price"`
	Quantity int64    `json:"quantity"`
	Active   bool     `json:"active"`
	Tags     []string `json:"tags"`
	Rating   rating   `json:"rating"`
}

type rating struct {
	Score float64 `json:"score"`
	Count int     `json:"count"`
}

type pricedItem struct {
	item
	Total int64 `json:"total"`
}

type itemsPage struct {
	Count int          `json:"count"`
	Items []pricedItem `json:"items"`
}

type upstreamValue struct {
	Value int64 `json:"value"`
}

type doubledValue struct {
	ID      int64 `json:"id"`
	Doubled int64 `json:"doubled"`
}

// web answers what needs files, tokens or another service.
type web struct {
	records  []item
	authKey  []byte
	parser   *jwt.Parser
	token    extractors.Extractor
	upstream *client.Client
}

// openWeb reads the records of files, if there is such a folder.
func openWeb(files string) *web {
	calls := &fasthttp.Client{MaxConnsPerHost: maxUpstreamConns}
	w := &web{
		authKey: []byte(os.Getenv("AUTH_KEY")),
		parser: jwt.NewParser(
			jwt.WithValidMethods([]string{jwt.SigningMethodHS256.Alg()}),
			jwt.WithExpirationRequired(),
		),
		token:    extractors.FromAuthHeader("Bearer"),
		upstream: client.NewWithClient(calls).SetBaseURL(os.Getenv("UPSTREAM_URL")),
	}
	if files != "" {
		encoded, err := os.ReadFile(filepath.Join(files, "items.json"))
		if err == nil {
			err = json.Unmarshal(encoded, &w.records)
		}
		if err != nil {
			log.Fatal(err)
		}
	}
	return w
}

// registerWeb adds what web applications do besides. Fiber finds a route among those that begin with
// the same three bytes, so others do not pay for the many ones.
func registerWeb(app *fiber.App) {
	files := os.Getenv("FILES")
	w := openWeb(files)
	for k := range routes {
		app.Get(fmt.Sprintf("/r/%d/x/:id", k), route(k))
	}
	app.Get("/items/:n", compress.New(), w.items)
	app.Post("/upload", upload)
	app.Post("/json-in", sumOfValues)
	app.Get("/stream/:n", stream)
	app.Get("/auth", w.subject)
	app.Get("/up/:id", w.doubled)
	if files != "" {
		// Unless told otherwise, Fiber answers no ranges, and from a file it opened ten seconds before.
		config := static.Config{ByteRange: true, CacheDuration: -1}
		app.Get("/static/*", static.New(filepath.Join(files, "static"), config))
	}
}

func route(k int) fiber.Handler {
	return func(c fiber.Ctx) error {
		return c.Type("txt").SendString(strconv.Itoa(k) + ":" + c.Params("id"))
	}
}

// items answers with the first n records, each with its total.
func (w *web) items(c fiber.Ctx) error {
	n, err := strconv.Atoi(c.Params("n"))
	if err != nil || n < 1 || n > len(w.records) {
		return fiber.ErrNotFound
	}
	factor, err := strconv.ParseInt(c.Query("m"), 10, 64)
	if err != nil {
		return fiber.ErrBadRequest
	}
	found := make([]pricedItem, n)
	for i, record := range w.records[:n] {
		found[i] = pricedItem{record, record.Price * record.Quantity * factor}
	}
	return c.JSON(itemsPage{n, found})
}

// upload answers with the CRC-32 of a body.
func upload(c fiber.Ctx) error {
	crc := crc32.ChecksumIEEE(c.BodyRaw())
	return c.Type("txt").SendString(strconv.FormatUint(uint64(crc), 10))
}

// sumOfValues answers with the sum of the values in a document.
func sumOfValues(c fiber.Ctx) error {
	var document any
	if err := c.Bind().WithAutoHandling().JSON(&document); err != nil {
		return err
	}
	return c.Type("txt").SendString(strconv.FormatInt(int64(sum(document)), 10))
}

// sum adds up all members named value.
func sum(document any) (total float64) {
	switch document := document.(type) {
	case map[string]any:
		for name, member := range document {
			if number, ok := member.(float64); ok && name == "value" {
				total += number
			} else {
				total += sum(member)
			}
		}
	case []any:
		for _, element := range document {
			total += sum(element)
		}
	}
	return total
}

// stream sends n events, each when it is due.
func stream(c fiber.Ctx) error {
	n, err := strconv.Atoi(c.Params("n"))
	if err != nil || n < 1 || n > maxEvents {
		return fiber.ErrNotFound
	}
	c.Set(fiber.HeaderContentType, "text/event-stream")
	c.Set(fiber.HeaderCacheControl, "no-cache")
	return c.SendStreamWriter(func(w *bufio.Writer) {
		start := time.Now()
		for i := range n {
			time.Sleep(time.Until(start.Add(time.Duration(i) * eventInterval)))
			fmt.Fprintf(w, "data: %d\n\n", i)
			if w.Flush() != nil {
				return
			}
		}
	})
}

// subject answers with the subject of a valid token.
func (w *web) subject(c fiber.Ctx) error {
	token, err := w.token.Extract(c)
	if err != nil {
		return fiber.ErrUnauthorized
	}
	key := func(*jwt.Token) (any, error) { return w.authKey, nil }
	claims := new(jwt.RegisteredClaims)
	if _, err := w.parser.ParseWithClaims(token, claims, key); err != nil {
		return fiber.ErrUnauthorized
	}
	return c.Type("txt").SendString(claims.Subject)
}

// doubled answers with twice what the upstream says.
func (w *web) doubled(c fiber.Ctx) error {
	id, err := strconv.ParseInt(c.Params("id"), 10, 64)
	if err != nil {
		return fiber.ErrNotFound
	}
	value, err := w.upstreamValue(id)
	if err != nil {
		log.Print(err)
		return fiber.ErrBadGateway
	}
	return c.JSON(doubledValue{id, 2 * value})
}

func (w *web) upstreamValue(id int64) (int64, error) {
	response, err := w.upstream.Get("/value/" + strconv.FormatInt(id, 10))
	if err != nil {
		return 0, err
	}
	defer response.Close()
	if response.StatusCode() != fiber.StatusOK {
		return 0, errors.New("the upstream's status is " + response.Status())
	}
	var answer upstreamValue
	err = response.JSON(&answer)
	return answer.Value, err
}
