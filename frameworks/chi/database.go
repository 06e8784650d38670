package main

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"html/template"
	"log"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/go-chi/chi/v5"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

const (
	worldRows  = 10_000
	maxUpdates = 500

	selectWorld    = "SELECT id, random_number FROM world WHERE id = $1"
	selectFortunes = "SELECT id, message FROM fortune"
	selectWorlds   = "SELECT id, random_number FROM world WHERE id = ANY($1) ORDER BY id FOR UPDATE"
	updateWorlds   = "UPDATE world SET random_number = new.number" +
		" FROM unnest($1::int[], $2::int[]) AS new(id, number) WHERE world.id = new.id"
)

var (
	//go:embed fortunes.html
	fortunesHTML string
	fortunesPage = template.Must(template.New("fortunes").Parse(fortunesHTML))
)

type world struct {
	ID           int32 `json:"id"`
	RandomNumber int32 `json:"randomNumber"`
}

type fortune struct {
	ID      int32
	Message string
}

// database answers what needs PostgreSQL, from a pool that connects when it is first used.
type database struct {
	pool *pgxpool.Pool
}

// openDatabase makes a pool of pgx's own size: four connections, or one for each CPU if these are more.
func openDatabase() *database {
	pool, err := pgxpool.New(context.Background(), os.Getenv("DATABASE_URL"))
	if err != nil {
		log.Fatal(err)
	}
	return &database{pool}
}

func (d *database) register(r chi.Router) {
	r.Get("/db/{id}", d.world)
	r.Get("/fortunes", d.fortunes)
	r.Post("/updates/{n}", d.updates)
}

func (d *database) world(w http.ResponseWriter, r *http.Request) {
	id, err := strconv.ParseInt(chi.URLParam(r, "id"), 10, 32)
	if err != nil {
		http.NotFound(w, r)
		return
	}
	rows, _ := d.pool.Query(r.Context(), selectWorld, id)
	found, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[world])
	if errors.Is(err, pgx.ErrNoRows) {
		http.NotFound(w, r)
		return
	}
	if err != nil {
		fail(w, err)
		return
	}
	answerJSON(w, found)
}

func (d *database) fortunes(w http.ResponseWriter, r *http.Request) {
	rows, _ := d.pool.Query(r.Context(), selectFortunes)
	fortunes, err := pgx.CollectRows(rows, pgx.RowToStructByPos[fortune])
	if err != nil {
		fail(w, err)
		return
	}
	fortunes = append(fortunes, fortune{0, "This sentence was added when the request came."})
	slices.SortFunc(fortunes, func(a, b fortune) int { return strings.Compare(a.Message, b.Message) })
	var page bytes.Buffer
	if err := fortunesPage.Execute(&page, fortunes); err != nil {
		fail(w, err)
		return
	}
	answer(w, "text/html; charset=utf-8", page.Bytes())
}

func (d *database) updates(w http.ResponseWriter, r *http.Request) {
	n, err := strconv.Atoi(chi.URLParam(r, "n"))
	if err != nil || n < 1 || n > maxUpdates {
		http.Error(w, "not a number from 1 to 500", http.StatusBadRequest)
		return
	}
	worlds, err := d.update(r.Context(), differentIDs(n))
	if err != nil {
		fail(w, err)
		return
	}
	answerJSON(w, worlds)
}

// update reads rows, gives each a new number, and writes them, in one transaction. Rows are locked in
// the order of their ids, so that transactions wait for each other and never in a circle.
func (d *database) update(ctx context.Context, ids []int32) (worlds []world, err error) {
	err = pgx.BeginFunc(ctx, d.pool, func(tx pgx.Tx) error {
		rows, _ := tx.Query(ctx, selectWorlds, ids)
		if worlds, err = pgx.CollectRows(rows, pgx.RowToStructByPos[world]); err != nil {
			return err
		}
		read, numbers := make([]int32, len(worlds)), make([]int32, len(worlds))
		for i := range worlds {
			worlds[i].RandomNumber = rand.Int32N(worldRows) + 1
			read[i], numbers[i] = worlds[i].ID, worlds[i].RandomNumber
		}
		_, err := tx.Exec(ctx, updateWorlds, read, numbers)
		return err
	})
	return worlds, err
}

// differentIDs draws n of them.
func differentIDs(n int) []int32 {
	drawn := make(map[int32]bool, n)
	ids := make([]int32, 0, n)
	for len(ids) < n {
		id := rand.Int32N(worldRows) + 1
		if !drawn[id] {
			drawn[id] = true
			ids = append(ids, id)
		}
	}
	return ids
}

func answerJSON(w http.ResponseWriter, value any) {
	encoded, err := json.Marshal(value)
	if err != nil {
		fail(w, err)
		return
	}
	answer(w, "application/json", encoded)
}

func fail(w http.ResponseWriter, err error) {
	log.Print(err)
	http.Error(w, http.StatusText(http.StatusInternalServerError), http.StatusInternalServerError)
}
