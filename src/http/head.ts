import type { Request } from 'express';
import type { Notes } from './answered.ts';

/** The head of a request. One that came within another (`batch.ts`) has a head of its own, and notes of its own. */
export interface Head extends Pick<Request, 'method' | 'originalUrl' | 'headers' | 'secure' | 'ip'> {
  readonly get: (name: string) => string | undefined;
  readonly notes?: Notes;
}
