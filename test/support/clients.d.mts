import type { Agent } from 'node:http';

export type Fate = number | 'refused' | 'reset';

export interface Asked {
  readonly path?: string;
  readonly agent?: Agent | undefined;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export function ask(options: Asked & { readonly port: number }): Promise<Fate>;

export function keepAsking(options: {
  readonly port: number;
  readonly clients: number;
  readonly next: (client: number, turn: number) => Asked;
}): () => Promise<Map<Fate, number>[]>;
