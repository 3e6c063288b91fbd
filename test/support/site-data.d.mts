export type Fixture = Record<string, { columns: string[]; rows: (string | number | null)[][] }>;
export type EngineName = 'mysql' | 'sqlite';
export const FIXTURES: URL;
export function readFixture(file?: string | URL): Fixture;
export function resetScript(
  fixture: Fixture,
  options: { engine: EngineName; prefix: string; counted?: boolean; emptied?: boolean; tables?: string[] },
): string;
export function optionText(stored: string | undefined, value: unknown): Promise<string>;
export function optionScript(name: string, text: string, options: { engine: EngineName; prefix: string }): string;
