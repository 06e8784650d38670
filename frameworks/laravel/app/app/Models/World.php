<?php

namespace App\Models;

use Illuminate\Database\Eloquent\Model;

/** A row with a number. */
class World extends Model
{
    public $timestamps = false;

    protected $table = 'world';

    /** What a response says of it. */
    public function toArray(): array
    {
        return ['id' => $this->id, 'randomNumber' => $this->random_number];
    }
}
