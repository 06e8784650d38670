package main

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"log"
	"math"
	"mime"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gin-contrib/gzip"
	"github.com/gin-gonic/gin"
	"github.com/golang-jwt/jwt/v5"
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

func (s *web) register(r *gin.Engine) {
	for k := range numberOfRoutes {
		r.GET(fmt.Sprintf("/r/%d/x/:id", k), route(k))
	}
	r.GET("/items/:n", gzip.Gzip(gzip.DefaultCompression), s.listItems)
	s.serveFiles(r)
	r.GET("/auth", s.verified, subject)
	r.POST("/upload", upload)
	r.POST("/json-in", sumValues)
	r.GET("/up/:id", s.doubled)
	r.GET("/stream/:n", stream)
}

func route(k int) gin.HandlerFunc {
	prefix := strconv.Itoa(k) + ":"
	return func(c *gin.Context) { text(c, []byte(prefix+c.Param("id"))) }
}

func (s *web) listItems(c *gin.Context) {
	items, err := s.items()
	if err != nil {
		fail(c, err)
		return
	}
	n, err := strconv.Atoi(c.Param("n"))
	if err != nil || n < 1 || n > len(items) {
		c.AbortWithStatus(http.StatusNotFound)
		return
	}
	factor, err := strconv.Atoi(c.Query("m"))
	if err != nil {
		c.AbortWithError(http.StatusBadRequest, err)
		return
	}
	list := itemList{n, make([]pricedItem, n)}
	for i, one := range items[:n] {
		list.Items[i] = pricedItem{one, one.Price * one.Quantity * factor}
	}
	c.JSON(http.StatusOK, list)
}

// serveFiles needs two types that are not among those that Go knows without a system's table.
func (s *web) serveFiles(r *gin.Engine) {
	mime.AddExtensionType(".txt", "text/plain; charset=utf-8")
	mime.AddExtensionType(".woff2", "font/woff2")
	r.Static("/static", filepath.Join(s.files, "static"))
}

// verified keeps the subject of a valid token for the handler, and refuses a request without one.
func (s *web) verified(c *gin.Context) {
	var claims jwt.RegisteredClaims
	token, _ := strings.CutPrefix(c.GetHeader("Authorization"), "Bearer ")
	_, err := s.tokens.ParseWithClaims(token, &claims, func(*jwt.Token) (any, error) { return s.key, nil })
	if err != nil {
		c.Header("WWW-Authenticate", "Bearer")
		c.AbortWithStatus(http.StatusUnauthorized)
		return
	}
	c.Set(subjectKey, claims.Subject)
}

func subject(c *gin.Context) {
	text(c, []byte(c.GetString(subjectKey)))
}

// upload answers with the CRC-32 of a body, which is never in memory as a whole.
func upload(c *gin.Context) {
	crc := crc32.NewIEEE()
	if _, err := io.Copy(crc, http.MaxBytesReader(c.Writer, c.Request.Body, maxUpload)); err != nil {
		c.AbortWithError(http.StatusRequestEntityTooLarge, err)
		return
	}
	text(c, strconv.AppendUint(nil, uint64(crc.Sum32()), 10))
}

// sumValues decodes a body as a whole: Gin's binding would leave what comes behind a document.
func sumValues(c *gin.Context) {
	body, err := c.GetRawData()
	if err != nil {
		c.AbortWithError(http.StatusBadRequest, err)
		return
	}
	var document any
	if err := json.Unmarshal(body, &document); err != nil {
		c.AbortWithError(http.StatusBadRequest, err)
		return
	}
	text(c, strconv.AppendInt(nil, int64(math.Round(sum(document))), 10))
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

func (s *web) doubled(c *gin.Context) {
	id, err := strconv.ParseUint(c.Param("id"), 10, 32)
	if err != nil {
		c.AbortWithStatus(http.StatusNotFound)
		return
	}
	value, err := s.value(c.Request.Context(), id)
	if err != nil {
		log.Print(err)
		c.AbortWithStatus(http.StatusBadGateway)
		return
	}
	c.JSON(http.StatusOK, gin.H{"id": id, "doubled": 2 * value})
}

// value asks the upstream for the value of an id.
func (s *web) value(ctx context.Context, id uint64) (uint64, error) {
	url := fmt.Sprintf("%s/value/%d", s.upstream, id)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
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
func stream(c *gin.Context) {
	n, err := strconv.Atoi(c.Param("n"))
	if err != nil || n < 1 || n > maxEvents {
		c.AbortWithStatus(http.StatusNotFound)
		return
	}
	c.Header("Content-Type", "text/event-stream")
	c.Header("Cache-Control", "no-cache")
	i, begun := 0, time.Now()
	c.Stream(func(w io.Writer) bool {
		time.Sleep(time.Until(begun.Add(time.Duration(i) * eventInterval)))
		fmt.Fprintf(w, "data: %d\n\n", i)
		i++
		return i < n
	})
}

// fail answers with a status of 500, and writes down why.
func fail(c *gin.Context, err error) {
	log.Print(err)
	c.AbortWithStatus(http.StatusInternalServerError)
}
