<?php

namespace App\Exceptions;

use Illuminate\Foundation\Exceptions\Handler as ExceptionHandler;
use Throwable;

class Handler extends ExceptionHandler
{
    /** There are no views to show an error with. */
    protected function shouldReturnJson($request, Throwable $e): bool
    {
        return true;
    }
}
