export function until<T>(
  what: string,
  isSo: () => T | Promise<T>,
  options?: { readonly patienceMs?: number; readonly lookMs?: number },
): Promise<T>;
