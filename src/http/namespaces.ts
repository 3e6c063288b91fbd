/** The namespace under which existing clients of the calendar know the interface. */
const ORIGINAL = 'tribe/events/v1';

/** The namespaces that serve the same routes: the configured one first. */
export const servedNamespaces = ({ restNamespace }: { readonly restNamespace: string }): readonly string[] => [...new Set([restNamespace, ORIGINAL])];
