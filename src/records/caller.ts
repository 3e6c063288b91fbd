import type { SiteSettings } from '../calendar/settings.ts';
import type { RenderContext } from '../kinds/kind.ts';
import type { Post } from '../wordpress/rows.ts';
import type { Viewer } from '../wordpress/viewer.ts';

/** Everything about one request that the verbs of this room need to know: who, when, in which words and under which address. */
export interface Caller {
  readonly viewer: Viewer;
  readonly settings: SiteSettings;
  readonly now: Date;
  readonly language: string;
  /** Home address with the language segment of the request, without trailing slash. */
  readonly home: string;
  /** Namespace of the request, e.g. `calendar/events/v1`: URLs in the answer use it. */
  readonly namespace: string;
  /** Address of uploaded files, without trailing slash. */
  readonly uploads: string;
  /** The word for a price of nothing, in the caller's language. */
  readonly free: string;
}

/** What rendering may know of this caller. */
export function renderContext(caller: Caller, mayRead: (row: Post) => boolean, password?: string): RenderContext {
  const { settings, now, home, namespace, uploads, free } = caller;
  return { settings, now, home, namespace, uploads, free, password, mayRead };
}
