export function slowTests(): Map<string, readonly string[]>;
export function withoutDatabase(name: string): string;
