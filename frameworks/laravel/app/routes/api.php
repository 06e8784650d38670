<?php

use App\Http\Controllers\ContractController;
use App\Http\Controllers\DatabaseController;
use App\Http\Controllers\WebController;
use Illuminate\Support\Facades\Route;

Route::get('/empty', [ContractController::class, 'empty']);
Route::get('/plaintext', [ContractController::class, 'plaintext']);
Route::get('/{count}', [ContractController::class, 'letters'])->where('count', '2048|8192|32768');
Route::get('/getArgs2048', [ContractController::class, 'queryArgs']);
Route::post('/postArgs2048', [ContractController::class, 'formArgs']);
Route::post('/postArgsMulti2048', [ContractController::class, 'formArgs']);
Route::get('/args', [ContractController::class, 'checksum']);
Route::post('/json', [ContractController::class, 'person']);
Route::get('/fibonacci/{n}', [ContractController::class, 'fibonacci'])->where('n', '\d{1,5}');

Route::pattern('number', '\d{1,9}');

Route::get('/db/{number}', [DatabaseController::class, 'world']);
Route::get('/fortunes', [DatabaseController::class, 'fortunes']);
Route::post('/updates/{number}', [DatabaseController::class, 'updates']);

Route::get('/items/{number}', [WebController::class, 'items']);
Route::post('/upload', [WebController::class, 'upload']);
Route::post('/json-in', [WebController::class, 'sumOfDocument']);
Route::get('/stream/{number}', [WebController::class, 'stream']);
for ($k = 0; $k < 1000; $k++) {
    Route::get("/r/$k/x/{number}", [WebController::class, 'route'])->defaults('k', $k);
}
