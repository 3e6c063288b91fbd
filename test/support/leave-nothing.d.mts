export function killOnExit(child: import('node:child_process').ChildProcess): void;
export function scratchFolder(name: string): string;
