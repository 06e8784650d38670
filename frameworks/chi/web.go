package main

import (
	"encoding/json"
	"errors"
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
	"sync"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"
	"github.com/go-chi/jwtauth/v5"
	"github.com/lestrrat-go/jwx/v2/jwt"
)

const (
	numberOfRoutes = 1_000
	maxUpload      = 20 << 20 // bytes
	maxEvents      = 100
	eventInterval  = 10 * time.Millisecond
	maxIdle        = 1_024 // connections to the upstream
	gzipLevel      = 5     // that of chi's documentation
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
	tokens   *jwtauth.JWTAuth
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
		tokens:   jwtauth.New("HS256", []byte(os.Getenv("AUTH_KEY")), nil, jwt.WithRequiredClaim(jwt.ExpirationKey)),
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

func (s *web) register(r chi.Router) {
	for k := range numberOfRoutes {
		r.Get(fmt.Sprintf("/r/%d/x/{id}", k), route(k))
	}
	r.With(middleware.Compress(gzipLevel)).Get("/items/{n}", s.listItems)
	r.Method(http.MethodGet, "/static/*", s.static())
	r.With(jwtauth.Verifier(s.tokens), jwtauth.Authenticator(s.tokens)).Get("/auth", subject)
	r.Post("/upload", upload)
	r.Post("/json-in", sumValues)
	r.Get("/up/{id}", s.doubled)
	r.Get("/stream/{n}", stream)
}

func route(k int) http.HandlerFunc {
	prefix := strconv.Itoa(k) + ":"
	return func(w http.ResponseWriter, r *http.Request) {
		answer(w, "text/plain", []byte(prefix+chi.URLParam(r, "id")))
	}
}

func (s *web) listItems(w http.ResponseWriter, r *http.Request) {
	items, err := s.items()
	if err != nil {
		fail(w, err)
		return
	}
	n, err := strconv.Atoi(chi.URLParam(r, "n"))
	if err != nil || n < 1 || n > len(items) {
		http.NotFound(w, r)
		return
	}
	factor, err := strconv.Atoi(r.URL.Query().Get("m"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	list := itemList{n, make([]pricedItem, n)}
	for i, one := range items[:n] {
		list.Items[i] = pricedItem{one, one.Price * one.Quantity * factor}
	}
	answerJSON(w, list)
}

// static serves files; two of their types are not among those that Go knows without a system's table.
func (s *web) static() http.Handler {
	mime.AddExtensionType(".txt", "text/plain; charset=utf-8")
	mime.AddExtensionType(".woff2", "font/woff2")
	files := http.FileServer(http.Dir(filepath.Join(s.files, "static")))
	return http.StripPrefix("/static", files)
}

func upload(w http.ResponseWriter, r *http.Request) {
	crc := crc32.NewIEEE()
	if _, err := io.Copy(crc, http.MaxBytesReader(w, r.Body, maxUpload)); err != nil {
		refuseBody(w, err)
		return
	}
	answer(w, "text/plain", strconv.AppendUint(nil, uint64(crc.Sum32()), 10))
}

func refuseBody(w http.ResponseWriter, err error) {
	status := http.StatusBadRequest
	if tooLarge := new(http.MaxBytesError); errors.As(err, &tooLarge) {
		status = http.StatusRequestEntityTooLarge
	}
	http.Error(w, err.Error(), status)
}

func sumValues(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxUpload))
	if err != nil {
		refuseBody(w, err)
		return
	}
	var document any
	if err := json.Unmarshal(body, &document); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	answer(w, "text/plain", strconv.AppendInt(nil, int64(math.Round(sum(document))), 10))
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

// subject answers with that of a token which jwtauth has verified.
func subject(w http.ResponseWriter, r *http.Request) {
	_, claims, _ := jwtauth.FromContext(r.Context())
	found, _ := claims["sub"].(string)
	answer(w, "text/plain", []byte(found))
}

func (s *web) doubled(w http.ResponseWriter, r *http.Request) {
	id, err := strconv.ParseUint(chi.URLParam(r, "id"), 10, 32)
	if err != nil {
		http.NotFound(w, r)
		return
	}
	value, err := s.value(r, id)
	if err != nil {
		log.Print(err)
		http.Error(w, http.StatusText(http.StatusBadGateway), http.StatusBadGateway)
		return
	}
	answerJSON(w, struct {
		ID      uint64 `json:"id"`
		Doubled uint64 `json:"doubled"`
	}{id, 2 * value})
}

// value asks the upstream for the value of an id.
func (s *web) value(r *http.Request, id uint64) (uint64, error) {
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
func stream(w http.ResponseWriter, r *http.Request) {
	n, err := strconv.Atoi(chi.URLParam(r, "n"))
	if err != nil || n < 1 || n > maxEvents {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache")
	controller, begun := http.NewResponseController(w), time.Now()
	for i := range n {
		due := begun.Add(time.Duration(i) * eventInterval)
		select {
		case <-time.After(time.Until(due)):
		case <-r.Context().Done():
			return
		}
		fmt.Fprintf(w, "data: %d\n\n", i)
		if controller.Flush() != nil {
			return
		}
	}
}
