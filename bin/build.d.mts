import type { BuildOptions } from 'esbuild';

export const ABSENT: readonly string[];
export const OPTIONS: BuildOptions;
