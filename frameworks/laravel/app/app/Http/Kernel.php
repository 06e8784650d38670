<?php

namespace App\Http;

use Illuminate\Foundation\Http\Kernel as HttpKernel;
use Illuminate\Foundation\Http\Middleware\PreventRequestsDuringMaintenance;
use Illuminate\Foundation\Http\Middleware\ValidatePostSize;
use Illuminate\Routing\Middleware\SubstituteBindings;

class Kernel extends HttpKernel
{
    // TrimStrings and ConvertEmptyStringsToNull, which a new application has, would change arguments.
    protected $middleware = [
        PreventRequestsDuringMaintenance::class,
        ValidatePostSize::class,
    ];

    protected $middlewareGroups = [
        'api' => [SubstituteBindings::class],
    ];
}
