/** Returns the hosts of languages, by their codes, from addresses with or without a scheme. */
export const hostsIn = (addresses: unknown): (readonly [code: string, host: string])[] =>
  Object.entries(addresses ?? {}).flatMap(([code, address]) => {
    const url = typeof address === 'string' && address !== '' ? (address.includes('://') ? address : `http://${address}`) : '';
    return URL.canParse(url) ? [[code, new URL(url).host] as const] : [];
  });
