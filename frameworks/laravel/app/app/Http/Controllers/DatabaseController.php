<?php

namespace App\Http\Controllers;

use App\Models\Fortune;
use App\Models\World;
use Illuminate\Contracts\View\View;
use Illuminate\Http\JsonResponse;
use Illuminate\Routing\Controller;
use Illuminate\Support\Collection;
use Illuminate\Support\Facades\DB;

/** What needs PostgreSQL: rows by Eloquent, pages by Blade. */
class DatabaseController extends Controller
{
    private const ROWS = 10_000;

    private const MOST_UPDATES = 500;

    private const ADDED = 'This sentence was added when the request came.';

    /** One row, by its id. */
    public function world(int $id): JsonResponse
    {
        return response()->json(World::findOrFail($id));
    }

    /** All sentences and one more, sorted, as a page. */
    public function fortunes(): View
    {
        $fortunes = Fortune::all()->push(new Fortune(['id' => 0, 'message' => self::ADDED]));

        return view('fortunes', ['fortunes' => $fortunes->sortBy('message', SORT_STRING)]);
    }

    /** Rows that are read, get new numbers, and are written by one statement. */
    public function updates(int $count): JsonResponse
    {
        abort_unless($count >= 1 && $count <= self::MOST_UPDATES, 400);
        $ids = (array) array_rand(array_fill(1, self::ROWS, true), $count);

        return response()->json(DB::transaction(fn () => $this->renumbered($ids)));
    }

    /** They are locked in the order of their ids, so that transactions never wait in a circle. */
    private function renumbered(array $ids): Collection
    {
        $worlds = World::whereIn('id', $ids)->orderBy('id')->lockForUpdate()->get();
        $worlds->each(fn (World $world) => $world->random_number = random_int(1, self::ROWS));
        World::upsert($worlds->map->getAttributes()->all(), ['id'], ['random_number']);

        return $worlds;
    }
}
