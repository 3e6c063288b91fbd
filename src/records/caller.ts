import type { SiteSettings } from '../calendar/settings.ts';
import type { RenderContext } from '../kinds/kind.ts';
import type { Site } from '../site.ts';
import { trimEndOf } from '../wordpress/trim.ts';
import type { Viewer } from '../wordpress/viewer.ts';

/**
 * Everything about one request that the verbs of this room need to know: who, when, in which words and under which
 * address.
 */
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

/**
 * What rendering may know of this caller. `rights`: what the caller may read, and which protected records the request
 * opens.
 */
export function renderContext(caller: Caller, rights: Pick<RenderContext, 'mayRead' | 'opens'>): RenderContext {
  const { settings, now, home, namespace, uploads, free } = caller;
  return { settings, now, home, namespace, uploads, free, ...rights };
}

/**
 * How a viewer asks: in which language, and, where it is by a request, when, under which address and in which
 * namespace.
 */
type Way = Pick<Caller, 'language'> & Partial<Pick<Caller, 'home' | 'namespace' | 'now'>>;

/**
 * The caller that a viewer is. Unless `way` says otherwise: at this moment, under the site's home, in our namespace.
 */
export function callerFor(site: Site, settings: SiteSettings, viewer: Viewer, way: Way): Caller {
  const { language, home = settings.home, namespace = site.config.restNamespace, now = site.clock() } = way;
  return {
    viewer,
    settings,
    now,
    language,
    home,
    namespace,
    uploads: trimEndOf(settings.raw.get('upload_url_path') || `${settings.home}/wp-content/uploads`, '/'),
    free: site.texts.t(language, 'site:free'),
  };
}
