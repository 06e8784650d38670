// What web applications do besides: lists as JSON, tokens, large bodies, calls of another service.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { Readable } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import { crc32 } from 'node:zlib';
import {
  BadGatewayException,
  Body,
  Controller,
  Get,
  Header,
  HttpCode,
  NotFoundException,
  Param,
  ParseIntPipe,
  PayloadTooLargeException,
  Post,
  Query,
  Req,
  UseGuards,
} from '@nestjs/common';
import { type AuthenticatedRequest, TokenGuard } from './token.guard.js';

const { FILES = '', UPSTREAM_URL } = process.env;
const MOST_EVENTS = 100;
const EVENT_INTERVAL_MS = 10;
const MOST_BYTES = 20 << 20; // of an upload

interface Item {
  price: number;
  quantity: number;
}

@Controller()
export class WebController {
  private records?: Promise<Item[]>; // read at the first request

  @Get('items/:n')
  @Header('Vary', 'accept-encoding')
  async items(@Param('n', ParseIntPipe) n: number, @Query('m', ParseIntPipe) m: number) {
    this.records ??= readFile(join(FILES, 'items.json'), 'utf8').then(JSON.parse);
    const records = await this.records;
    if (n < 1 || n > records.length) throw new NotFoundException();
    return {
      count: n,
      items: records
        .slice(0, n)
        .map((item) => ({ ...item, total: item.price * item.quantity * m })),
    };
  }

  // The CRC-32 of a body, which is never in memory as a whole.
  @Post('upload')
  @HttpCode(200)
  async upload(@Body() body: Readable) {
    let [sum, length] = [0, 0];
    for await (const piece of body) {
      length += piece.length;
      if (length > MOST_BYTES) throw new PayloadTooLargeException();
      sum = crc32(piece, sum);
    }
    return String(sum);
  }

  @Post('json-in')
  @HttpCode(200)
  sumOfValues(@Body() document: unknown) {
    return String(sumOfValues(document));
  }

  @Get('auth')
  @UseGuards(TokenGuard)
  subject(@Req() request: AuthenticatedRequest) {
    return request.claims.sub;
  }

  @Get('up/:id')
  async doubled(@Param('id', ParseIntPipe) id: number) {
    try {
      return { id, doubled: 2 * (await upstreamValue(id)) };
    } catch (error) {
      console.error(error);
      throw new BadGatewayException();
    }
  }

  @Get('stream/:n')
  @Header('Content-Type', 'text/event-stream')
  @Header('Cache-Control', 'no-cache')
  stream(@Param('n', ParseIntPipe) n: number) {
    if (n < 1 || n > MOST_EVENTS) throw new NotFoundException();
    return Readable.from(events(n));
  }
}

// fetch() keeps connections open, as many as there are calls at a time: its default.
async function upstreamValue(id: number) {
  const response = await fetch(`${UPSTREAM_URL}/value/${id}`);
  if (response.status !== 200) {
    await response.body?.cancel();
    throw new Error(`the upstream's status is ${response.status}`);
  }
  const { value } = (await response.json()) as { value: number };
  return value;
}

// The sum of all members named `value`.
function sumOfValues(document: unknown): number {
  let sum = 0;
  if (Array.isArray(document)) {
    for (const element of document) {
      sum += sumOfValues(element);
    }
  } else if (document !== null && typeof document === 'object') {
    for (const [name, member] of Object.entries(document)) {
      sum += name === 'value' && typeof member === 'number' ? member : sumOfValues(member);
    }
  }
  return sum;
}

// Each event when it is due.
async function* events(n: number) {
  const start = performance.now();
  for (let i = 0; i < n; i++) {
    const due = start + i * EVENT_INTERVAL_MS;
    await setTimeout(Math.max(0, Math.ceil(due - performance.now())));
    yield `data: ${i}\n\n`;
  }
}
