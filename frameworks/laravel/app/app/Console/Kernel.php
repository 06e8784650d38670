<?php

namespace App\Console;

use Illuminate\Foundation\Console\ConfigCacheCommand;
use Illuminate\Foundation\Console\ConfigClearCommand;
use Illuminate\Foundation\Console\Kernel as ConsoleKernel;
use Illuminate\Foundation\Console\RouteCacheCommand;
use Illuminate\Foundation\Console\RouteClearCommand;
use Illuminate\Foundation\Console\ViewCacheCommand;
use Illuminate\Foundation\Console\ViewClearCommand;

class Kernel extends ConsoleKernel
{
    // What a deployment runs. The provider of all commands would need the whole of Laravel.
    protected $commands = [
        ConfigCacheCommand::class,
        ConfigClearCommand::class,
        RouteCacheCommand::class,
        RouteClearCommand::class,
        ViewCacheCommand::class,
        ViewClearCommand::class,
    ];
}
