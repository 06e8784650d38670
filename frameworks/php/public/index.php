<?php

// Serves Plimsoll's contract with plain PHP: the web server hands every request to this file.

declare(strict_types=1);

require __DIR__ . '/../src/database.php';
require __DIR__ . '/../src/web.php';

$path = (string) parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH);

match ("{$_SERVER['REQUEST_METHOD']} $path") {
    'GET /empty' => answer(''),
    'GET /plaintext' => answer('Hello, World!'),
    'GET /2048' => answer(str_repeat('A', 2048)),
    'GET /8192' => answer(str_repeat('A', 8192)),
    'GET /32768' => answer(str_repeat('A', 32768)),
    'GET /getArgs2048' => answerArgs($_GET),
    // PHP has decoded the body by now, whichever kind of form it is.
    'POST /postArgs2048', 'POST /postArgsMulti2048' => answerArgs($_POST),
    'GET /args' => answerChecksum($_GET),
    'POST /json' => answerJson(file_get_contents('php://input')),
    'GET /fortunes' => answerFortunes(),
    'POST /upload' => answer(checksumOfBody()),
    'POST /json-in' => answerSumOfValues(file_get_contents('php://input')),
    default => preg_match('#^(/[a-z]+)/(\d{1,9})$#', $path, $matches)
        ? answerNumber("{$_SERVER['REQUEST_METHOD']} $matches[1]", (int) $matches[2])
        : answerMissing(),
};

/** The paths that end with a number. */
function answerNumber(string $request, int $number): void
{
    match ($request) {
        'GET /fibonacci' => answer(gmp_strval(fibonacci($number))),
        'GET /db' => answerRow($number),
        'POST /updates' => answerUpdates($number),
        'GET /items' => answerItems($number),
        'GET /stream' => answerStream($number),
        default => answerMissing(),
    };
}

function answerMissing(): void
{
    answer("no such page\n", 404);
}

function answer(string $body, int $status = 200, string $type = 'text/plain'): void
{
    http_response_code($status);
    header("Content-Type: $type");
    header('Content-Length: ' . strlen($body));
    echo $body;
}

/** The constant body, with the length of all values in UTF-8 as proof that they were decoded. */
function answerArgs(array $arguments): void
{
    header('decoded-bytes: ' . array_sum(array_map('strlen', $arguments)));
    answer(str_repeat('A', 2048));
}

/** The CRC-32 of the values by rising name, each followed by a line feed. */
function answerChecksum(array $arguments): void
{
    ksort($arguments);
    $lines = array_map(fn (string $value) => "$value\n", $arguments);
    answer((string) crc32(implode($lines)));
}

function answerJson(string $body): void
{
    try {
        $person = json_decode($body, flags: JSON_THROW_ON_ERROR);
    } catch (JsonException $error) {
        answer("{$error->getMessage()}\n", 400);
        return;
    }
    answerAsJson($person);
}

function answerAsJson(mixed $value): void
{
    answer(json_encode($value, JSON_THROW_ON_ERROR), type: 'application/json');
}

/** F(n) by n - 1 additions; F(0) = 0, F(1) = 1. */
function fibonacci(int $n): GMP
{
    $previous = gmp_init(0);
    $current = gmp_init(min($n, 1));
    for ($i = 1; $i < $n; $i++) {
        $next = $previous + $current;
        $previous = $current;
        $current = $next;
    }
    return $current;
}
