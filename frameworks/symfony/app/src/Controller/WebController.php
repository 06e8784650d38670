<?php

namespace App\Controller;

use Symfony\Bundle\FrameworkBundle\Controller\AbstractController;
use Symfony\Component\HttpFoundation\JsonResponse;
use Symfony\Component\HttpFoundation\Request;
use Symfony\Component\HttpFoundation\Response;
use Symfony\Component\HttpFoundation\StreamedResponse;
use Symfony\Component\Routing\Annotation\Route;

/** What needs many routes, files, large bodies or time. */
class WebController extends AbstractController
{
    private const MOST_EVENTS = 100;

    private const EVENT_INTERVAL_NS = 10_000_000;

    /** One of the many routes, which the kernel registers. */
    public function numbered(int $k, string $id): Response
    {
        return $this->text("$k:$id");
    }

    /** The first records, each with its total; the web server compresses them. */
    #[Route('/items/{count}', requirements: ['count' => '\d{1,9}'], methods: ['GET'])]
    public function items(Request $request, int $count): JsonResponse
    {
        // PHP keeps nothing from one request to the next.
        $records = json_decode(file_get_contents(getenv('FILES') . '/items.json'), true);
        if ($count < 1 || $count > count($records)) {
            throw $this->createNotFoundException();
        }
        $factor = $request->query->getInt('m');
        $items = array_map(
            fn (array $item) => [...$item, 'total' => $item['price'] * $item['quantity'] * $factor],
            array_slice($records, 0, $count),
        );

        return $this->json(['count' => $count, 'items' => $items]);
    }

    /** The CRC-32 of a body, which is never in memory as a whole. */
    #[Route('/upload', methods: ['POST'])]
    public function upload(Request $request): Response
    {
        $hash = hash_init('crc32b');
        hash_update_stream($hash, $request->getContent(asResource: true));

        return $this->text((string) hexdec(hash_final($hash)));
    }

    /** The sum of all members named `value`; Symfony answers 400 when toArray() finds no JSON. */
    #[Route('/json-in', methods: ['POST'])]
    public function sumOfDocument(Request $request): Response
    {
        return $this->text((string) $this->sumOfValues($request->toArray()));
    }

    /** Events, each sent when it is due; the process does nothing else meanwhile. */
    #[Route('/stream/{count}', requirements: ['count' => '\d{1,9}'], methods: ['GET'])]
    public function events(int $count): StreamedResponse
    {
        if ($count < 1 || $count > self::MOST_EVENTS) {
            throw $this->createNotFoundException();
        }

        return new StreamedResponse(fn () => $this->sendEvents($count), Response::HTTP_OK, [
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
        if (!is_array($document)) {
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
        return new Response($body, Response::HTTP_OK, [
            'Content-Type' => 'text/plain',
            'Content-Length' => strlen($body),
        ]);
    }
}
