<?php

// What needs files, compression, large bodies or time.

declare(strict_types=1);

const MOST_EVENTS = 100;
const EVENT_INTERVAL_NS = 10_000_000;

/** The first records, each with its total; compressed where the client takes that. */
function answerItems(int $count): void
{
    // PHP keeps nothing from one request to the next.
    $records = json_decode(file_get_contents(getenv('FILES') . '/items.json'), true);
    if ($count < 1 || $count > count($records)) {
        answerMissing();
        return;
    }
    $factor = (int) ($_GET['m'] ?? 1);
    $items = array_map(
        fn (array $item) => [...$item, 'total' => $item['price'] * $item['quantity'] * $factor],
        array_slice($records, 0, $count),
    );
    ob_start('ob_gzhandler');
    header('Content-Type: application/json');
    echo json_encode(['count' => $count, 'items' => $items], JSON_THROW_ON_ERROR);
}

/** The CRC-32 of the body, which is never in memory as a whole. */
function checksumOfBody(): string
{
    $hash = hash_init('crc32b');
    hash_update_stream($hash, fopen('php://input', 'rb'));
    return (string) hexdec(hash_final($hash));
}

/** The sum of all members named `value` in a document. */
function answerSumOfValues(string $body): void
{
    try {
        $document = json_decode($body, true, flags: JSON_THROW_ON_ERROR);
    } catch (JsonException $error) {
        answer("{$error->getMessage()}\n", 400);
        return;
    }
    answer((string) sumOfValues($document));
}

function sumOfValues(mixed $document): int
{
    if (!is_array($document)) {
        return 0;
    }
    $sum = 0;
    foreach ($document as $name => $member) {
        $sum += $name === 'value' && is_int($member) ? $member : sumOfValues($member);
    }
    return $sum;
}

/** Events, each sent when it is due; the process does nothing else meanwhile. */
function answerStream(int $count): void
{
    if ($count < 1 || $count > MOST_EVENTS) {
        answerMissing();
        return;
    }
    header('Content-Type: text/event-stream');
    header('Cache-Control: no-cache');
    header('X-Accel-Buffering: no'); // nginx would wait for more
    while (ob_get_level() > 0) {
        ob_end_flush();
    }
    $start = hrtime(true);
    for ($i = 0; $i < $count; $i++) {
        $wait = $start + $i * EVENT_INTERVAL_NS - hrtime(true);
        usleep(max(0, intdiv($wait, 1000) + 1));
        echo "data: $i\n\n";
        flush();
    }
}
