package main

import (
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"mime"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/labstack/echo/v5"
	"github.com/labstack/echo/v5/middleware"
)

const (
	numberOfRoutes = 1_000
	maxUpload      = 20 << 20 // bytes
	maxEvents      = 100
	eventInterval  = 10 * time.Millisecond
	maxIdle        = 1_024 // connections to the upstream
	subjectKey     = "subject"
)

type rating struct {
	Score float64 `json:"score"`
	Count int     `json:"count"`
}

type item struct {
	ID       int      `json:"id"`
	Name     string   `json:"name"`
	Category string   `json:"category"`
	Price    int      `json:"price"`
	Quantity int      `json:"quantity"`
	Active   bool     `json:"active"`
	Tags     []string `json:"tags"`
	Rating   rating   `json:"rating"`
}

type pricedItem struct {
	item
	Total int `json:"total"`
}

type itemList struct {
	Count int          `json:"count"`
	Items []pricedItem `json:"items"`
}

// web answers what needs neither a database nor the study's bodies.
type web struct {
	files    string
	key      []byte
	tokens   *jwt.Parser
	upstream string
	client   *http.Client
	items    func() ([]item, error)
}

func newWeb() *web {
	files := os.Getenv("FILES")
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConns, transport.MaxIdleConnsPerHost = maxIdle, maxIdle
	return &web{
		files:    files,
		key:      []byte(os.Getenv("AUTH_KEY")),
		tokens:   jwt.NewParser(jwt.WithValidMethods([]string{"HS256"}), jwt.WithExpirationRequired()),
		upstream: os.Getenv("UPSTREAM_URL"),
		client:   &http.Client{Transport: transport},
		items: sync.OnceValues(func() ([]item, error) {
			return readItems(filepath.Join(files, "items.json"))
		}),
	}
}

func readItems(path string) (items []item, err error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	err = json.Unmarshal(content, &items)
	return items, err
}

func (s *web) register(e *echo.Echo) {
	for k := range numberOfRoutes {
		e.GET(fmt.Sprintf("/r/%d/x/:id", k), route(k))
	}
	e.GET("/items/:n", s.listItems, middleware.Gzip())
	s.serveFiles(e)
	e.GET("/auth", subject, middleware.KeyAuth(s.isValidToken))
	e.POST("/upload", upload, middleware.BodyLimit(maxUpload))
	e.POST("/json-in", sumValues, middleware.BodyLimit(maxUpload))
	e.GET("/up/:id", s.doubled)
	e.GET("/stream/:n", stream)
}

func route(k int) echo.HandlerFunc {
	prefix := strconv.Itoa(k) + ":"
	return func(c *echo.Context) error {
		id := c.Param("id")
		// The last parameter of a path takes all that is left of it, with further slashes.
		if strings.Contains(id, "/") {
			return echo.ErrNotFound
		}
		return c.String(http.StatusOK, prefix+id)
	}
}

func (s *web) listItems(c *echo.Context) error {
	items, err := s.items()
	if err != nil {
		return err
	}
	n, err := echo.PathParam[int](c, "n")
	if err != nil || n < 1 || n > len(items) {
		return echo.ErrNotFound
	}
	factor, err := echo.QueryParam[int](c, "m")
	if err != nil {
		return err
	}
	list := itemList{n, make([]pricedItem, n)}
	for i, one := range items[:n] {
		list.Items[i] = pricedItem{one, one.Price * one.Quantity * factor}
	}
	return c.JSON(http.StatusOK, list)
}

// serveFiles needs two types that are not among those that Go knows without a system's table.
func (s *web) serveFiles(e *echo.Echo) {
	mime.AddExtensionType(".txt", "text/plain; charset=utf-8")
	mime.AddExtensionType(".woff2", "font/woff2")
	e.StaticFS("/static/", os.DirFS(filepath.Join(s.files, "static")))
}

// isValidToken keeps the subject of a token for the handler.
func (s *web) isValidToken(c *echo.Context, token string, _ middleware.ExtractorSource) (bool, error) {
	var claims jwt.RegisteredClaims
	_, err := s.tokens.ParseWithClaims(token, &claims, func(*jwt.Token) (any, error) { return s.key, nil })
	if err != nil {
		return false, err
	}
	c.Set(subjectKey, claims.Subject)
	return true, nil
}

func subject(c *echo.Context) error {
	found, err := echo.ContextGet[string](c, subjectKey)
	if err != nil {
		return err
	}
	return c.String(http.StatusOK, found)
}

// upload answers with the CRC-32 of a body, which is never in memory as a whole.
func upload(c *echo.Context) error {
	crc := crc32.NewIEEE()
	if _, err := io.Copy(crc, c.Request().Body); err != nil {
		return err
	}
	return c.String(http.StatusOK, strconv.FormatUint(uint64(crc.Sum32()), 10))
}

func sumValues(c *echo.Context) error {
	var document any
	if err := bindJSON(c, &document); err != nil {
		return err
	}
	return c.String(http.StatusOK, strconv.FormatInt(int64(math.Round(sum(document))), 10))
}

// sum adds the numbers of all members named value; float64 is exact up to 53 bits.
func sum(document any) (total float64) {
	switch node := document.(type) {
	case []any:
		for _, element := range node {
			total += sum(element)
		}
	case map[string]any:
		for name, member := range node {
			if number, ok := member.(float64); !ok {
				total += sum(member)
			} else if name == "value" {
				total += number
			}
		}
	}
	return total
}

func (s *web) doubled(c *echo.Context) error {
	id, err := echo.PathParam[uint32](c, "id")
	if err != nil {
		return err
	}
	value, err := s.value(c.Request(), id)
	if err != nil {
		return echo.NewHTTPError(http.StatusBadGateway, "no value from the upstream").Wrap(err)
	}
	return c.JSON(http.StatusOK, struct {
		ID      uint32 `json:"id"`
		Doubled uint64 `json:"doubled"`
	}{id, 2 * value})
}

// value asks the upstream for the value of an id.
func (s *web) value(r *http.Request, id uint32) (uint64, error) {
	url := fmt.Sprintf("%s/value/%d", s.upstream, id)
	request, err := http.NewRequestWithContext(r.Context(), http.MethodGet, url, nil)
	if err != nil {
		return 0, err
	}
	response, err := s.client.Do(request)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return 0, err
	}
	if response.StatusCode != http.StatusOK {
		return 0, fmt.Errorf("the upstream responded with status %d", response.StatusCode)
	}
	var found struct{ Value uint64 }
	err = json.Unmarshal(body, &found)
	return found.Value, err
}

// stream sends each event when it is due: event i at i intervals after the head.
func stream(c *echo.Context) error {
	n, err := echo.PathParam[int](c, "n")
	if err != nil || n < 1 || n > maxEvents {
		return echo.ErrNotFound
	}
	w := c.Response()
	w.Header().Set(echo.HeaderContentType, "text/event-stream")
	w.Header().Set(echo.HeaderCacheControl, "no-cache")
	controller, begun := http.NewResponseController(w), time.Now()
	for i := range n {
		due := begun.Add(time.Duration(i) * eventInterval)
		select {
		case <-time.After(time.Until(due)):
		case <-c.Request().Context().Done():
			return nil
		}
		if _, err := fmt.Fprintf(w, "data: %d\n\n", i); err != nil {
			return nil // the client is gone
		}
		if controller.Flush() != nil {
			return nil
		}
	}
	return nil
}
