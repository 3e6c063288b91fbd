import type { SampleDay } from './days.ts';
import type { PictureName } from './pictures.ts';

/**
 * An event of the sample calendar. `startTime` and `endTime`: local times; without them, it is all-day. `days`: its
 * duration, one day by default.
 */
export interface SampleEventText {
  readonly title: string;
  readonly day: SampleDay;
  readonly startTime?: string;
  readonly endTime?: string;
  readonly days?: number;
  /** Keys of the venue and the organizers, slugs of categories and tags. */
  readonly venue?: string;
  readonly organizers: readonly string[];
  readonly categories: readonly string[];
  readonly tags?: readonly string[];
  readonly cost?: string | readonly string[];
  readonly picture?: PictureName;
  readonly description: string;
  /** Its texts in the other language of the calendar. */
  readonly translation: { readonly title: string; readonly description: string; readonly excerpt?: string };
  /** Values of further fields: status, flags, website, excerpt. */
  readonly extraFields?: Readonly<Record<string, unknown>>;
}

/** An event with its original language. */
export interface SampleEvent extends SampleEventText {
  readonly language: SampleLanguage;
}

/** Languages of the calendar; the first one is its default. */
export const LANGUAGES = ['en', 'it'] as const;
export type SampleLanguage = (typeof LANGUAGES)[number];
