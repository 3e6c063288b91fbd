import type { Agent } from 'node:http';

export type RequestResult = number | 'refused' | 'reset';

export interface RequestOptions {
  readonly path?: string;
  readonly agent?: Agent | undefined;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export function sendRequest(options: RequestOptions & { readonly port: number }): Promise<RequestResult>;

export function requestContinuously(options: {
  readonly port: number;
  readonly clients: number;
  readonly next: (client: number, turn: number) => RequestOptions;
  readonly pauseMs?: number;
}): () => Promise<Map<RequestResult, number>[]>;
