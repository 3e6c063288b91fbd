import type { SiteSettings } from '../calendar/settings.ts';
import type { Memberships } from '../wordpress/content-languages.ts';
import type { Metas, Post, Term } from '../wordpress/rows.ts';

/** What pure rules may know: the site's settings and the moment. */
export interface RuleContext {
  readonly settings: SiteSettings;
  readonly now: Date;
}

/** What a rendering may know. */
export interface RenderContext extends RuleContext {
  /** Home address with the language segment of the request, without trailing slash. */
  readonly home: string;
  readonly namespace: string;
  /** Address of uploaded files, without trailing slash. */
  readonly uploads: string;
  /** Whether the request opens this protected record: by its password, or to edit it. */
  readonly opens: (row: Post) => boolean;
  /** The word for a price of nothing, in the caller's language. */
  readonly free: string;
  /** Whether the caller may read this venue, organizer or event. */
  readonly mayRead: (row: Post) => boolean;
  /** Whether linked records are shown in the language of the event, where they are translated into it. */
  readonly translatesLinks?: boolean;
  /** Whether records carry their JSON-LD, as one that is read by itself does, and those of most lists do not. */
  readonly withJsonLd?: boolean | undefined;
  /** Whether a gallery that names nothing shows the images of the post, as on its page; else those of none. */
  readonly withinPost?: boolean | undefined;
}

/** All rows that the records of one answer are made of; loaded at once, rendered without waiting. */
export interface Bundle {
  readonly posts: ReadonlyMap<number, Post>;
  readonly metas: ReadonlyMap<number, Metas>;
  /** Terms of each post, by name. */
  readonly terms: ReadonlyMap<number, readonly Term[]>;
  /** Images attached to posts that galleries ask for; 0: to none. */
  readonly attached: ReadonlyMap<number, readonly number[]>;
  /** Pages of the single dates of events that recur; events without one have the page of their post. */
  readonly pages: ReadonlyMap<number, OccurrencePage>;
  /** Set where the content of the site has languages. */
  readonly languages?: BundleLanguages | undefined;
}

/** The languages of the records of a bundle, and of what they link to. */
export interface BundleLanguages extends Memberships {
  /** Other members of the groups of the records, as far as they are not among the posts of the bundle. */
  readonly siblings: ReadonlyMap<number, Post>;
  /** The terms of the records and those shown in their place, by their ids. */
  readonly termMembers: ReadonlyMap<number, Term>;
}

/** The page of one date of an event that recurs. */
export interface OccurrencePage {
  /** Of the event. */
  readonly slug: string;
  /** `YYYY-MM-DD`, local. */
  readonly date: string;
  /** Which of several on that day, from 1; undefined where there is one. */
  readonly number: number | undefined;
}
