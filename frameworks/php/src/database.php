<?php

// What needs PostgreSQL: rows by PDO, pages by PHP itself.

declare(strict_types=1);

const ROWS = 10_000;
const MOST_UPDATES = 500;
const UPDATE_WORLDS = 'UPDATE world SET random_number = new.number'
    . ' FROM unnest(?::int[], ?::int[]) AS new(id, number) WHERE world.id = new.id';
const ADDED = 'This sentence was added when the request came.';

/**
 * The connection of this process, which it keeps: libpq has its address from the environment.
 */
function database(): PDO
{
    return new PDO('pgsql:', options: [PDO::ATTR_PERSISTENT => true]);
}

/** One row, by its id. */
function answerRow(int $id): void
{
    $found = database()->prepare('SELECT id, random_number AS "randomNumber" FROM world WHERE id = ?');
    $found->execute([$id]);
    $row = $found->fetch(PDO::FETCH_ASSOC);
    $row ? answerAsJson($row) : answerMissing();
}

/** All sentences and one more, sorted, as a page. */
function answerFortunes(): void
{
    $fortunes = database()->query('SELECT id, message FROM fortune')->fetchAll(PDO::FETCH_ASSOC);
    $fortunes[] = ['id' => 0, 'message' => ADDED];
    usort($fortunes, fn (array $one, array $other) => strcmp($one['message'], $other['message']));
    ob_start();
    require __DIR__ . '/fortunes.php';
    answer(ob_get_clean(), type: 'text/html; charset=utf-8');
}

/**
 * One column of rows, as PostgreSQL writes an array.
 *
 * @param list<array{id: int, randomNumber: int}> $rows
 */
function column(array $rows, string $name): string
{
    return '{' . implode(',', array_column($rows, $name)) . '}';
}

/** Rows that are read, get new numbers, and are written. */
function answerUpdates(int $count): void
{
    if ($count < 1 || $count > MOST_UPDATES) {
        answer("between 1 and 500\n", 400);
        return;
    }
    $database = database();
    $database->beginTransaction();
    $rows = lockedRows($database, array_rand(array_fill(1, ROWS, true), $count));
    foreach ($rows as &$row) {
        $row['randomNumber'] = random_int(1, ROWS);
    }
    $database->prepare(UPDATE_WORLDS)->execute([column($rows, 'id'), column($rows, 'randomNumber')]);
    $database->commit();
    answerAsJson($rows);
}

/**
 * Rows, locked in the order of their ids, so that transactions wait for each other and never in a
 * circle.
 *
 * @param int|list<int> $ids
 * @return list<array{id: int, randomNumber: int}>
 */
function lockedRows(PDO $database, int|array $ids): array
{
    $places = implode(', ', array_fill(0, count((array) $ids), '?'));
    $read = $database->prepare(
        "SELECT id, random_number AS \"randomNumber\" FROM world WHERE id IN ($places) ORDER BY id FOR UPDATE",
    );
    $read->execute((array) $ids);
    return $read->fetchAll(PDO::FETCH_ASSOC);
}
