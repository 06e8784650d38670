package main

import (
	"context"
	"embed"
	"errors"
	"log"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/labstack/echo/v5"
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

func (d *database) register(e *echo.Echo) {
	e.GET("/db/:id", d.world)
	e.GET("/fortunes", d.fortunes)
	e.POST("/updates/:n", d.updates)
}

func (d *database) world(c *echo.Context) error {
	id, err := echo.PathParam[int32](c, "id")
	if err != nil {
		return err
	}
	rows, _ := d.pool.Query(c.Request().Context(), selectWorld, id)
	found, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[world])
	if errors.Is(err, pgx.ErrNoRows) {
		return echo.ErrNotFound
	}
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, found)
}

func (d *database) fortunes(c *echo.Context) error {
	rows, _ := d.pool.Query(c.Request().Context(), selectFortunes)
	fortunes, err := pgx.CollectRows(rows, pgx.RowToStructByPos[fortune])
	if err != nil {
		return err
	}
	fortunes = append(fortunes, fortune{0, "This sentence was added when the request came."})
	slices.SortFunc(fortunes, func(a, b fortune) int { return strings.Compare(a.Message, b.Message) })
	return c.Render(http.StatusOK, "fortunes.html", fortunes)
}

func (d *database) updates(c *echo.Context) error {
	n, err := echo.PathParam[int](c, "n")
	if err != nil {
		return err
	}
	if n < 1 || n > maxUpdates {
		return echo.NewHTTPError(http.StatusBadRequest, "not a number from 1 to 500")
	}
	worlds, err := d.update(c.Request().Context(), differentIDs(n))
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, worlds)
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
