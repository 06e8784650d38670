<?php

namespace App\Models;

use Illuminate\Database\Eloquent\Model;

/** A row with a sentence. */
class Fortune extends Model
{
    public $timestamps = false;

    protected $table = 'fortune';

    protected $fillable = ['id', 'message'];
}
