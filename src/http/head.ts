import type { Request } from 'express';
import type { Notes } from './answered.ts';

/** The head of a request. A request within a batch (`batch.ts`) has a separate head and separate notes. */
export interface Head extends Pick<Request, 'method' | 'originalUrl' | 'headers' | 'secure' | 'ip'> {
  readonly get: (name: string) => string | undefined;
  readonly notes?: Notes;
}
