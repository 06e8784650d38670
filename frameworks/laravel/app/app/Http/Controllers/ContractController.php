<?php

namespace App\Http\Controllers;

use GMP;
use Illuminate\Http\JsonResponse;
use Illuminate\Http\Request;
use Illuminate\Http\Response;
use Illuminate\Routing\Controller;

/** What each path of the contract answers. */
class ContractController extends Controller
{
    public function empty(): Response
    {
        return $this->text('');
    }

    public function plaintext(): Response
    {
        return $this->text('Hello, World!');
    }

    public function letters(int $count): Response
    {
        return $this->text(str_repeat('A', $count));
    }

    public function queryArgs(Request $request): Response
    {
        return $this->countedDecodedBytes($request->query());
    }

    public function formArgs(Request $request): Response
    {
        return $this->countedDecodedBytes($request->post());
    }

    /** The CRC-32 of the values by rising name, each followed by a line feed. */
    public function checksum(Request $request): Response
    {
        $lines = collect($request->query())->sortKeys()->map(fn (string $value) => "$value\n");

        return $this->text((string) crc32($lines->implode('')));
    }

    public function person(Request $request): JsonResponse
    {
        // Laravel takes a body that is not JSON for one without members.
        abort_unless($request->has(['id', 'firstName', 'lastName']), 400);

        return response()->json($request->only(['id', 'firstName', 'lastName']));
    }

    public function fibonacci(int $n): Response
    {
        return $this->text(gmp_strval($this->fibonacciNumber($n)));
    }

    /** The constant body, with the length of all values in UTF-8 as proof that they were decoded. */
    private function countedDecodedBytes(array $arguments): Response
    {
        $decodedBytes = array_sum(array_map('strlen', $arguments));

        return $this->text(str_repeat('A', 2048))->header('decoded-bytes', $decodedBytes);
    }

    /** Without a Content-Length the answer would be chunked. */
    private function text(string $body): Response
    {
        return response($body)
            ->header('Content-Type', 'text/plain')
            ->header('Content-Length', strlen($body));
    }

    /** F(n) by n - 1 additions; F(0) = 0, F(1) = 1. */
    private function fibonacciNumber(int $n): GMP
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
}
