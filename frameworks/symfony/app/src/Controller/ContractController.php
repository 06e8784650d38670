<?php

namespace App\Controller;

use GMP;
use Symfony\Bundle\FrameworkBundle\Controller\AbstractController;
use Symfony\Component\HttpFoundation\InputBag;
use Symfony\Component\HttpFoundation\JsonResponse;
use Symfony\Component\HttpFoundation\Request;
use Symfony\Component\HttpFoundation\Response;
use Symfony\Component\Routing\Annotation\Route;

/** What each path of the contract answers. */
class ContractController extends AbstractController
{
    #[Route('/empty', methods: ['GET'])]
    public function empty(): Response
    {
        return $this->text('');
    }

    #[Route('/plaintext', methods: ['GET'])]
    public function plaintext(): Response
    {
        return $this->text('Hello, World!');
    }

    #[Route('/{count}', requirements: ['count' => '2048|8192|32768'], methods: ['GET'])]
    public function letters(int $count): Response
    {
        return $this->text(str_repeat('A', $count));
    }

    #[Route('/getArgs2048', methods: ['GET'])]
    public function queryArgs(Request $request): Response
    {
        return $this->countedDecodedBytes($request->query);
    }

    #[Route('/postArgs2048', methods: ['POST'])]
    #[Route('/postArgsMulti2048', methods: ['POST'])]
    public function formArgs(Request $request): Response
    {
        return $this->countedDecodedBytes($request->request);
    }

    /** The CRC-32 of the values by rising name, each followed by a line feed. */
    #[Route('/args', methods: ['GET'])]
    public function checksum(Request $request): Response
    {
        $arguments = $request->query->all();
        ksort($arguments);
        $lines = array_map(fn (string $value) => "$value\n", $arguments);

        return $this->text((string) crc32(implode($lines)));
    }

    /** Symfony answers 400 when toArray() finds no JSON. */
    #[Route('/json', methods: ['POST'])]
    public function person(Request $request): JsonResponse
    {
        return $this->json($request->toArray());
    }

    #[Route('/fibonacci/{n}', requirements: ['n' => '\d{1,5}'], methods: ['GET'])]
    public function fibonacci(int $n): Response
    {
        return $this->text(gmp_strval($this->fibonacciNumber($n)));
    }

    /** The constant body, with the length of all values in UTF-8 as proof that they were decoded. */
    private function countedDecodedBytes(InputBag $arguments): Response
    {
        $decodedBytes = array_sum(array_map('strlen', $arguments->all()));

        return $this->text(str_repeat('A', 2048), ['decoded-bytes' => $decodedBytes]);
    }

    /** Without a Content-Length the answer would be chunked. */
    private function text(string $body, array $headers = []): Response
    {
        $headers += ['Content-Type' => 'text/plain', 'Content-Length' => strlen($body)];

        return new Response($body, Response::HTTP_OK, $headers);
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
