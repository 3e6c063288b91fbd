import type { When } from './days.ts';
import type { PictureName } from './pictures.ts';

/**
 * An event of the sample calendar. `at` and `until`: local times; without them, it is all-day. `days`: its duration,
 * one day by default.
 */
export interface SampleText {
  readonly title: string;
  readonly when: When;
  readonly at?: string;
  readonly until?: string;
  readonly days?: number;
  /** Keys of the venue and the organizers, slugs of categories and tags. */
  readonly venue?: string;
  readonly by: readonly string[];
  readonly in: readonly string[];
  readonly tags?: readonly string[];
  readonly cost?: string | readonly string[];
  readonly picture?: PictureName;
  readonly text: string;
  /** Its texts in the other language of the calendar. */
  readonly other: { readonly title: string; readonly text: string; readonly excerpt?: string };
  /** Values of further fields: status, flags, website, excerpt. */
  readonly more?: Readonly<Record<string, unknown>>;
}

/** An event with its original language. */
export interface SampleEvent extends SampleText {
  readonly language: SampleLanguage;
}

/** Languages of the calendar; the first one is its default. */
export const LANGUAGES = ['en', 'it'] as const;
export type SampleLanguage = (typeof LANGUAGES)[number];
