// The answers that need nothing but the request.

import { crc32 } from 'node:zlib';
import {
  Body,
  Controller,
  Get,
  Header,
  HttpCode,
  Param,
  ParseIntPipe,
  Post,
  Query,
  Res,
} from '@nestjs/common';
import type { FastifyReply } from 'fastify';

const LETTERS = Buffer.alloc(2048, 'A');
const LETTERS_8192 = Buffer.alloc(8192, 'A');
const LETTERS_32768 = Buffer.alloc(32768, 'A');
const HELLO = Buffer.from('Hello, World!');

type Args = Record<string, string>;

interface Person {
  id: number;
  firstName: string;
  lastName: string;
}

@Controller()
export class ContractController {
  @Get('empty')
  empty() {}

  @Get('2048')
  @Header('Content-Type', 'text/plain')
  letters2048() {
    return LETTERS;
  }

  @Get('8192')
  @Header('Content-Type', 'text/plain')
  letters8192() {
    return LETTERS_8192;
  }

  @Get('32768')
  @Header('Content-Type', 'text/plain')
  letters32768() {
    return LETTERS_32768;
  }

  @Get('plaintext')
  @Header('Content-Type', 'text/plain')
  plaintext() {
    return HELLO;
  }

  @Get('getArgs2048')
  @Header('Content-Type', 'text/plain')
  getArgs(@Query() args: Args, @Res({ passthrough: true }) reply: FastifyReply) {
    return answerArgs(args, reply);
  }

  @Post('postArgs2048')
  @HttpCode(200)
  @Header('Content-Type', 'text/plain')
  postArgs(@Body() args: Args, @Res({ passthrough: true }) reply: FastifyReply) {
    return answerArgs(args, reply);
  }

  @Post('postArgsMulti2048')
  @HttpCode(200)
  @Header('Content-Type', 'text/plain')
  postArgsMulti(@Body() args: Args, @Res({ passthrough: true }) reply: FastifyReply) {
    return answerArgs(args, reply);
  }

  // The CRC-32 of the values by rising name, each followed by a line feed.
  @Get('args')
  checksum(@Query() args: Args) {
    const lines = Object.keys(args)
      .sort()
      .map((name) => `${args[name]}\n`);
    return String(crc32(lines.join('')));
  }

  @Post('json')
  @HttpCode(200)
  json(@Body() { id, firstName, lastName }: Person): Person {
    return { id, firstName, lastName };
  }

  @Get('fibonacci/:n')
  fibonacci(@Param('n', ParseIntPipe) n: number) {
    return fibonacciNumber(n).toString();
  }
}

// Visits every decoded value and says how many bytes they have together.
function answerArgs(args: Args, reply: FastifyReply) {
  let decoded = 0;
  for (const value of Object.values(args)) {
    decoded += Buffer.byteLength(value);
  }
  reply.header('decoded-bytes', decoded);
  return LETTERS;
}

// Adds n - 1 times.
function fibonacciNumber(n: number) {
  let [a, b] = [0n, 1n];
  if (n === 0) return a;
  for (let i = 1; i < n; i++) {
    [a, b] = [b, a + b];
  }
  return b;
}
