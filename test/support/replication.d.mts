interface Server {
  readonly url: string;
  readonly version: string;
  readonly pid: number;
  readonly stop: () => Promise<void>;
}

export function startReplication(
  folder: string,
  settings?: readonly string[],
): Promise<
  | {
      readonly reason: undefined;
      readonly primary: Server;
      readonly replica: Server;
      readonly follow: () => Promise<unknown>;
      readonly hold: () => Promise<unknown>;
      readonly stop: () => Promise<void>;
    }
  | { readonly reason: string }
>;
