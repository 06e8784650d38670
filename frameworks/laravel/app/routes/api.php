<?php

use App\Http\Controllers\ContractController;
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
