// A thousand routes, each registered by itself: decorators are functions, so a loop can call them.

import { Controller, Get, Param } from '@nestjs/common';

const ROUTES = 1000;

@Controller('r')
export class RoutesController {}

for (let k = 0; k < ROUTES; k++) {
  const name = `route${k}`;
  const descriptor = {
    value: (id: string) => `${k}:${id}`,
    configurable: true,
    writable: true,
  };
  Object.defineProperty(RoutesController.prototype, name, descriptor);
  Get(`${k}/x/:id`)(RoutesController.prototype, name, descriptor);
  Param('id')(RoutesController.prototype, name, 0);
}
