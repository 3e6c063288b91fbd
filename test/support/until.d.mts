export function until<T>(
  what: string,
  condition: () => T | Promise<T>,
  options?: { readonly timeoutMs?: number; readonly pollMs?: number },
): Promise<T>;
