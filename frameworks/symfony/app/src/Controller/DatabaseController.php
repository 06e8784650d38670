<?php

namespace App\Controller;

use Doctrine\DBAL\ArrayParameterType;
use Doctrine\DBAL\Connection;
use Symfony\Bundle\FrameworkBundle\Controller\AbstractController;
use Symfony\Component\HttpFoundation\JsonResponse;
use Symfony\Component\HttpFoundation\Response;
use Symfony\Component\HttpKernel\Exception\BadRequestHttpException;
use Symfony\Component\Routing\Annotation\Route;

/** What needs PostgreSQL: rows by Doctrine DBAL, pages by Twig. */
class DatabaseController extends AbstractController
{
    private const ROWS = 10_000;

    private const MOST_UPDATES = 500;

    private const ADDED = 'This sentence was added when the request came.';

    public function __construct(private Connection $connection)
    {
    }

    /** One row, by its id. */
    #[Route('/db/{id}', requirements: ['id' => '\d{1,9}'], methods: ['GET'])]
    public function world(int $id): JsonResponse
    {
        $row = $this->connection->fetchAssociative(
            'SELECT id, random_number AS "randomNumber" FROM world WHERE id = ?',
            [$id],
        );

        return $this->json($row ?: throw $this->createNotFoundException());
    }

    /** All sentences and one more, sorted, as a page. */
    #[Route('/fortunes', methods: ['GET'])]
    public function fortunes(): Response
    {
        $fortunes = $this->connection->fetchAllAssociative('SELECT id, message FROM fortune');
        $fortunes[] = ['id' => 0, 'message' => self::ADDED];
        usort($fortunes, fn (array $one, array $other) => strcmp($one['message'], $other['message']));

        return $this->render('fortunes.html.twig', ['fortunes' => $fortunes]);
    }

    /** Rows that are read, get new numbers, and are written. */
    #[Route('/updates/{count}', requirements: ['count' => '\d{1,9}'], methods: ['POST'])]
    public function updates(int $count): JsonResponse
    {
        if ($count < 1 || $count > self::MOST_UPDATES) {
            throw new BadRequestHttpException();
        }
        $ids = (array) array_rand(array_fill(1, self::ROWS, true), $count);

        return $this->json($this->connection->transactional(fn () => $this->renumbered($ids)));
    }

    /** They are locked in the order of their ids, so that transactions never wait in a circle. */
    private function renumbered(array $ids): array
    {
        $rows = $this->connection->fetchAllAssociative(
            'SELECT id, random_number AS "randomNumber" FROM world WHERE id IN (?) ORDER BY id FOR UPDATE',
            [$ids],
            [ArrayParameterType::INTEGER],
        );
        foreach ($rows as &$row) {
            $row['randomNumber'] = random_int(1, self::ROWS);
        }
        $this->connection->executeStatement(
            'UPDATE world SET random_number = new.number'
            . ' FROM unnest(?::int[], ?::int[]) AS new(id, number) WHERE world.id = new.id',
            [$this->column($rows, 'id'), $this->column($rows, 'randomNumber')],
        );

        return $rows;
    }

    /** One column of rows, as PostgreSQL writes an array. */
    private function column(array $rows, string $name): string
    {
        return '{' . implode(',', array_column($rows, $name)) . '}';
    }
}
