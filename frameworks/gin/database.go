package main

import (
	"context"
	"embed"
	"errors"
	"html/template"
	"log"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"
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

//go:embed *.html
var pages embed.FS

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

func (d *database) register(r *gin.Engine) {
	r.SetHTMLTemplate(template.Must(template.ParseFS(pages, "*.html")))
	r.GET("/db/:id", d.world)
	r.GET("/fortunes", d.fortunes)
	r.POST("/updates/:n", d.updates)
}

func (d *database) world(c *gin.Context) {
	id, err := strconv.ParseInt(c.Param("id"), 10, 32)
	if err != nil {
		c.AbortWithStatus(http.StatusNotFound)
		return
	}
	rows, _ := d.pool.Query(c.Request.Context(), selectWorld, id)
	found, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[world])
	if errors.Is(err, pgx.ErrNoRows) {
		c.AbortWithStatus(http.StatusNotFound)
		return
	}
	if err != nil {
		fail(c, err)
		return
	}
	c.JSON(http.StatusOK, found)
}

func (d *database) fortunes(c *gin.Context) {
	rows, _ := d.pool.Query(c.Request.Context(), selectFortunes)
	fortunes, err := pgx.CollectRows(rows, pgx.RowToStructByPos[fortune])
	if err != nil {
		fail(c, err)
		return
	}
	fortunes = append(fortunes, fortune{0, "This sentence was added when the request came."})
	slices.SortFunc(fortunes, func(a, b fortune) int { return strings.Compare(a.Message, b.Message) })
	c.HTML(http.StatusOK, "fortunes.html", fortunes)
}

func (d *database) updates(c *gin.Context) {
	n, err := strconv.Atoi(c.Param("n"))
	if err != nil || n < 1 || n > maxUpdates {
		c.String(http.StatusBadRequest, "not a number from 1 to 500")
		return
	}
	worlds, err := d.update(c.Request.Context(), differentIDs(n))
	if err != nil {
		fail(c, err)
		return
	}
	c.JSON(http.StatusOK, worlds)
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
