import type { PostKind } from '../../kinds/kind.ts';
import type { LanguageValues } from '../../kinds/language-fields.ts';
import type { Database } from '../../storage/engine/database.ts';
import type { ContentLanguage } from '../../wordpress/content-languages.ts';
import type { Caller } from '../caller.ts';

/** The language that a record gets, with the one that it has, and what the write says of its translations. */
export interface LanguageOfWrite {
  readonly language: ContentLanguage;
  readonly before: string | null;
  readonly values: LanguageValues;
}

/** A write of records of one kind: the transaction, who writes, and the kind. */
export interface KindWrite {
  readonly db: Database;
  readonly caller: Caller;
  readonly kind: PostKind;
}

/** What every step of a write of one record needs. */
export interface WriteContext extends KindWrite {
  /** Absent where the record has no language, or keeps the one that it has. */
  readonly language?: LanguageOfWrite | undefined;
}
