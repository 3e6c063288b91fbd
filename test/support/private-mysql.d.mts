export interface PrivateMysql {
  readonly url: string;
  readonly socketUrl: string;
  readonly version: string;
  readonly pid: number;
  readonly stop: () => Promise<void>;
}

export function startPrivateMysql(folder: string, settings?: readonly string[]): Promise<PrivateMysql | { readonly reason: string }>;
export function versionAt(address: string): Promise<string>;
export function connectTo(
  address: string,
  options?: import('mysql2/promise').ConnectionOptions,
): Promise<import('mysql2/promise').Connection>;
export function freePort(): Promise<number>;
