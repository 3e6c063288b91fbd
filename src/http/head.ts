import type { Request } from 'express';
import type { RequestNotes } from './request-notes.ts';

/** The head of a request. A request within a batch (`batch.ts`) has a separate head and separate notes. */
export interface RequestHead extends Pick<Request, 'method' | 'originalUrl' | 'headers' | 'secure' | 'ip'> {
  readonly get: (name: string) => string | undefined;
  readonly notes?: RequestNotes;
}
