// Lets through requests with a valid token, as Nest's page on authentication has it.

import {
  type CanActivate,
  type ExecutionContext,
  Injectable,
  UnauthorizedException,
} from '@nestjs/common';
import { JwtService } from '@nestjs/jwt';
import type { FastifyRequest } from 'fastify';

export interface Claims {
  sub: string;
  exp?: number;
}

export type AuthenticatedRequest = FastifyRequest & { claims: Claims };

@Injectable()
export class TokenGuard implements CanActivate {
  constructor(private readonly tokens: JwtService) {}

  async canActivate(context: ExecutionContext) {
    const request = context.switchToHttp().getRequest<AuthenticatedRequest>();
    request.claims = await this.verified(request.headers.authorization);
    return true;
  }

  private async verified(header = ''): Promise<Claims> {
    const [scheme, token] = header.split(' ');
    if (scheme !== 'Bearer' || token === undefined) throw new UnauthorizedException();
    const claims = await this.tokens.verifyAsync<Claims>(token).catch(() => undefined);
    if (claims?.exp === undefined) throw new UnauthorizedException();
    return claims;
  }
}
