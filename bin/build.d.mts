import type { BuildOptions } from 'esbuild';

export const ABSENT: readonly string[];
/** Folders of the project, and their names in the build. */
export const COPIED: readonly (readonly [source: string, name: string])[];
export const OPTIONS: BuildOptions;
