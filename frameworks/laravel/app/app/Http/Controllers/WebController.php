<?php

namespace App\Http\Controllers;

use Illuminate\Http\JsonResponse;
use Illuminate\Http\Request;
use Illuminate\Http\Response;
use Illuminate\Routing\Controller;
use Symfony\Component\HttpFoundation\StreamedResponse;

/** What needs many routes, files, large bodies or time. */
class WebController extends Controller
{
    private const MOST_EVENTS = 100;

    private const EVENT_INTERVAL_NS = 10_000_000;

    /** One of the many routes. */
    public function route(string $id, int $k): Response
    {
        return $this->text("$k:$id");
    }

    /** The first records, each with its total; the web server compresses them. */
    public function items(Request $request, int $count): JsonResponse
    {
        // PHP keeps nothing from one request to the next.
        $records = json_decode(file_get_contents(getenv('FILES') . '/items.json'), true);
        abort_unless($count >= 1 && $count <= count($records), 404);
        $factor = (int) $request->query('m');
        $items = array_map(
            fn (array $item) => [...$item, 'total' => $item['price'] * $item['quantity'] * $factor],
            array_slice($records, 0, $count),
        );

        return response()->json(['count' => $count, 'items' => $items]);
    }

    /** The CRC-32 of a body, which is never in memory as a whole. */
    public function upload(Request $request): Response
    {
        $hash = hash_init('crc32b');
        hash_update_stream($hash, $request->getContent(asResource: true));

        return $this->text((string) hexdec(hash_final($hash)));
    }

    /** The sum of all members named `value` in a document. */
    public function sumOfDocument(Request $request): Response
    {
        // Laravel takes a body that is not JSON for one without members.
        $document = $request->json()->all();
        abort_if($document === [], 400);

        return $this->text((string) $this->sumOfValues($document));
    }

    /** Events, each sent when it is due; the process does nothing else meanwhile. */
    public function stream(int $count): StreamedResponse
    {
        abort_unless($count >= 1 && $count <= self::MOST_EVENTS, 404);

        return response()->stream(fn () => $this->sendEvents($count), 200, [
            'Content-Type' => 'text/event-stream',
            'Cache-Control' => 'no-cache',
            'X-Accel-Buffering' => 'no', // nginx would wait for more
        ]);
    }

    private function sendEvents(int $count): void
    {
        while (ob_get_level() > 0) {
            ob_end_flush();
        }
        $start = hrtime(true);
        for ($i = 0; $i < $count; $i++) {
            $wait = $start + $i * self::EVENT_INTERVAL_NS - hrtime(true);
            usleep(max(0, intdiv($wait, 1000) + 1));
            echo "data: $i\n\n";
            flush();
        }
    }

    private function sumOfValues(mixed $document): int
    {
        if (! is_array($document)) {
            return 0;
        }
        $sum = 0;
        foreach ($document as $name => $member) {
            $sum += $name === 'value' && is_int($member) ? $member : $this->sumOfValues($member);
        }

        return $sum;
    }

    /** Without a Content-Length the answer would be chunked. */
    private function text(string $body): Response
    {
        return response($body)
            ->header('Content-Type', 'text/plain')
            ->header('Content-Length', strlen($body));
    }
}
