import type { ContentLanguage } from '../../wordpress/content-languages.ts';
import type { TranslationGroup } from '../../wordpress/translation-group.ts';
import type { Database } from '../engine/database.ts';

/** What kind of record has a language: a type of posts, or a taxonomy. */
export interface Translatable {
  readonly is: 'post' | 'term';
  readonly type: string;
}

/**
 * How languages and groups are written in one form. Everything here is called inside the transaction that writes the
 * record. Ids are those of posts and of terms (`term_id`).
 */
export interface LanguageWriter {
  /** Gives a record this language instead of the one it has. A group that it is in is written afterwards. */
  setLanguage(db: Database, of: Translatable, id: number, language: ContentLanguage): Promise<void>;
  /**
   * Gives new records, of which nothing is noted yet, this language. `visible`: how many of them are published posts.
   */
  assign(db: Database, of: Translatable, ids: readonly number[], language: ContentLanguage, visible: number): Promise<void>;
  /** A post that has a language is published from now on, or not any more. Deletion comes after this. */
  countVisible(db: Database, id: number, change: 'shown' | 'hidden'): Promise<void>;
  /**
   * The groups that these records are in, kept from other writers; trashed members are among them, dead ones may be.
   */
  lockGroups(db: Database, of: Translatable, ids: readonly number[]): Promise<ReadonlyMap<number, TranslationGroup>>;
  /** Makes these records, whose languages are written, one group: the first is the one the others are made from. */
  writeGroup(db: Database, of: Translatable, members: TranslationGroup): Promise<void>;
  /** Takes a record out of its group. Its language stays. */
  leaveGroup(db: Database, of: Translatable, id: number): Promise<void>;
  /** Removes what is noted of a record that is deleted for good. */
  forget(db: Database, of: Translatable, id: number): Promise<void>;
}
