import type { SiteSettings } from '../calendar/settings.ts';
import type { Memberships } from '../wordpress/content-languages.ts';
import type { Metas, Post, Term } from '../wordpress/rows.ts';

/** Context of pure rules: the site's settings and the present moment. */
export interface RuleContext {
  readonly settings: SiteSettings;
  readonly now: Date;
}

/** Context of rendering. */
export interface RenderContext extends RuleContext {
  /** Home URL with the language segment of the request, without trailing slash. */
  readonly home: string;
  readonly namespace: string;
  /** URL of uploaded files, without trailing slash. */
  readonly uploads: string;
  /**
   * Whether the request may see the protected content of this record: it sent the password, or the caller may edit the
   * record.
   */
  readonly isOpen: (row: Post) => boolean;
  /** The word for a price of zero, in the language of records. */
  readonly freeLabel: string;
  /** Whether the caller may read this venue, organizer or event. */
  readonly mayRead: (row: Post) => boolean;
  /** Whether the caller may read this file of the library, which is attached to `parent`. */
  readonly mayReadFile: (row: Post, parent: Post | undefined) => boolean;
  /** Whether linked records are shown in the language of the event, if they are translated into it. */
  readonly translatesLinks?: boolean;
  /** Whether records contain their JSON-LD. A record that is read by itself does; those of most lists do not. */
  readonly withJsonLd?: boolean | undefined;
  /**
   * Whether a gallery without ids shows the images attached to the post, as on its page, instead of those without a
   * parent.
   */
  readonly withinPost?: boolean | undefined;
}

/** All rows that the records of one answer consist of. They are loaded at once, and rendering is synchronous. */
export interface Bundle {
  readonly posts: ReadonlyMap<number, Post>;
  readonly metas: ReadonlyMap<number, Metas>;
  /** Terms of each post, by name. */
  readonly terms: ReadonlyMap<number, readonly Term[]>;
  /** Images attached to posts that galleries show; 0: images without a parent. */
  readonly attached: ReadonlyMap<number, readonly number[]>;
  /** Pages of the single dates of recurring events; events without an entry have the page of their post. */
  readonly pages: ReadonlyMap<number, OccurrencePage>;
  /** Set if the site's content has languages. */
  readonly languages?: BundleLanguages | undefined;
}

/** Languages of the records of a bundle and of the records that they link to. */
export interface BundleLanguages extends Memberships {
  /** Other members of the records' translation groups that are not among the posts of the bundle. */
  readonly siblings: ReadonlyMap<number, Post>;
  /** Terms of the records and the translations shown instead of them, by id. */
  readonly termMembers: ReadonlyMap<number, Term>;
}

/** The page of one date of a recurring event. */
export interface OccurrencePage {
  /** Slug of the event. */
  readonly slug: string;
  /** `YYYY-MM-DD`, local. */
  readonly date: string;
  /** Number of the date among several on that day, from 1; undefined if there is only one. */
  readonly number: number | undefined;
}
