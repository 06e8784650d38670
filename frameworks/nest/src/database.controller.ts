// What needs PostgreSQL; pages are those of Handlebars.

import {
  BadRequestException,
  Controller,
  Get,
  HttpCode,
  NotFoundException,
  Param,
  ParseIntPipe,
  Post,
  Render,
} from '@nestjs/common';
import { Rows } from './rows.js';

const MOST_UPDATES = 500;

@Controller()
export class DatabaseController {
  constructor(private readonly rows: Rows) {}

  @Get('db/:id')
  async world(@Param('id', ParseIntPipe) id: number) {
    const row = await this.rows.world(id);
    if (row === undefined) throw new NotFoundException();
    return row;
  }

  @Get('fortunes')
  @Render('fortunes.hbs')
  async fortunes() {
    const fortunes = await this.rows.fortunes();
    fortunes.push({ id: 0, message: 'This sentence was added when the request came.' });
    fortunes.sort((a, b) => (a.message < b.message ? -1 : a.message > b.message ? 1 : 0));
    return { fortunes };
  }

  @Post('updates/:n')
  @HttpCode(200)
  updates(@Param('n', ParseIntPipe) n: number) {
    if (n < 1 || n > MOST_UPDATES) throw new BadRequestException();
    return this.rows.update(n);
  }
}
