// The application with Fastify and its plugins.

import 'reflect-metadata';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import compress from '@fastify/compress';
import multipart from '@fastify/multipart';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { JwtModule } from '@nestjs/jwt';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import Handlebars from 'handlebars';
import { ContractController } from './contract.controller.js';
import { DatabaseController } from './database.controller.js';
import { RoutesController } from './routes.controller.js';
import { Rows } from './rows.js';
import { WebController } from './web.controller.js';

const { AUTH_KEY = 'none', FILES, PROTOCOL, TLS_CERT, TLS_KEY } = process.env;
const HOUR_MS = 3_600_000;
const LONGEST_BODY = 4 << 20;

@Module({
  imports: [
    JwtModule.register({ secret: AUTH_KEY, verifyOptions: { algorithms: ['HS256'] } }),
  ],
  controllers: [ContractController, DatabaseController, WebController, RoutesController],
  providers: [Rows],
})
class ApplicationModule {}

export async function createApplication(): Promise<NestFastifyApplication> {
  const application = await NestFactory.create<NestFastifyApplication>(
    ApplicationModule,
    new FastifyAdapter(options()),
    { logger: ['error', 'fatal'] },
  );
  const fastify = application.getHttpAdapter().getInstance();

  // Compression is for this route alone; unless told otherwise, less than 1 KiB is not compressed.
  fastify.addHook('onRoute', (route) => {
    if (route.url.startsWith('/items/')) route.compress = { threshold: 0 };
  });
  await application.register(compress, { global: false, encodings: ['gzip'] });
  await application.register(multipart, { attachFieldsToBody: 'keyValues' });

  // The body of an upload is a stream to its handler.
  fastify.addContentTypeParser('application/octet-stream', (request, body, done) =>
    done(null, body),
  );
  application.setViewEngine({ engine: { handlebars: Handlebars }, templates: join(import.meta.dirname, '..') });
  if (FILES !== undefined) {
    application.useStaticAssets({ root: join(FILES, 'static'), prefix: '/static/' });
  }
  return application;
}

// Zero is no limit, except for the time between two requests of a connection: to Fastify, zero is
// its default of 72 s.
function options() {
  const limits = { bodyLimit: LONGEST_BODY, keepAliveTimeout: HOUR_MS, requestTimeout: 0 };
  const https =
    TLS_CERT === undefined || TLS_KEY === undefined
      ? undefined
      : { cert: readFileSync(TLS_CERT), key: readFileSync(TLS_KEY) };
  if (PROTOCOL === 'http2') {
    return { ...limits, http2: true as const, http2SessionTimeout: HOUR_MS, ...(https && { https }) };
  }
  return https
    ? { ...limits, https: { ...https, headersTimeout: 0 } }
    : { ...limits, http: { headersTimeout: 0 } };
}
