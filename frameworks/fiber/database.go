package main

import (
	"context"
	_ "embed"
	"errors"
	"html/template"
	"log"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v3"
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

func (d *database) register(app *fiber.App) {
	app.Get("/db/:id", d.world)
	app.Get("/fortunes", d.fortunes)
	app.Post("/updates/:n", d.updates)
}

func (d *database) world(c fiber.Ctx) error {
	id, err := strconv.ParseInt(c.Params("id"), 10, 32)
	if err != nil {
		return fiber.ErrNotFound
	}
	rows, _ := d.pool.Query(c.Context(), selectWorld, id)
	found, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[world])
	if errors.Is(err, pgx.ErrNoRows) {
		return fiber.ErrNotFound
	}
	if err != nil {
		return err
	}
	return c.JSON(found)
}

func (d *database) fortunes(c fiber.Ctx) error {
	rows, _ := d.pool.Query(c.Context(), selectFortunes)
	fortunes, err := pgx.CollectRows(rows, pgx.RowToStructByPos[fortune])
	if err != nil {
		return err
	}
	fortunes = append(fortunes, fortune{0, "This sentence was added when the request came."})
	slices.SortFunc(fortunes, func(a, b fortune) int { return strings.Compare(a.Message, b.Message) })
	c.Type("html", "utf-8")
	return fortunesPage.Execute(c, fortunes)
}

func (d *database) updates(c fiber.Ctx) error {
	n, err := strconv.Atoi(c.Params("n"))
	if err != nil || n < 1 || n > maxUpdates {
		return fiber.ErrBadRequest
	}
	worlds, err := d.update(c.Context(), differentIDs(n))
	if err != nil {
		return err
	}
	return c.JSON(worlds)
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
