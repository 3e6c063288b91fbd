import type { PostKind, PostValues, StoredPost } from '../../kinds/kind.ts';
import type { LanguageValues } from '../../kinds/language-fields.ts';
import type { Database } from '../../storage/engine/database.ts';
import type { ContentLanguage } from '../../wordpress/content-languages.ts';
import type { Caller } from '../caller.ts';
import type { PostPlan } from './post-plan.ts';

/** The new language of a record, its current one, and the values about its translations. */
export interface LanguageOfWrite {
  readonly language: ContentLanguage;
  readonly before: string | null;
  readonly values: LanguageValues;
}

/** The context for writing records of one kind: the transaction, the caller, and the kind. */
export interface KindWrite {
  readonly db: Database;
  readonly caller: Caller;
  readonly kind: PostKind;
}

/** The context of every step of a write of one record. */
export interface WriteContext extends KindWrite {
  /** Absent if the record has no language, or keeps its current one. */
  readonly language?: LanguageOfWrite | undefined;
}

/** A new record that a request asks for. */
export interface NewPost {
  readonly kind: PostKind;
  readonly values: PostValues;
  readonly plan: PostPlan;
  /** Whether it is created even if its kind reuses a record with the same title. */
  readonly alwaysCreates?: boolean | undefined;
  /** Whether it is known that no record of its kind has its external ID. */
  readonly hasFreeName?: boolean;
  /** The record that it is a translation of. */
  readonly source?: StoredPost | undefined;
  /** The id of the event whose recurrence it shares if it begins and ends with it. */
  readonly recurrenceOf?: number | undefined;
}
