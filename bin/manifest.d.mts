export interface Manifest {
  readonly [name: string]: unknown;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

export function packed(manifest: Manifest): Manifest;
