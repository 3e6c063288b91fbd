import type { Request } from 'express';

/** The head of a request. One that came within another (`batch.ts`) has a head of its own. */
export interface Head extends Pick<Request, 'method' | 'originalUrl' | 'headers' | 'secure' | 'ip' | 'id'> {
  readonly get: (name: string) => string | undefined;
  refusal?: Request['refusal'];
}
