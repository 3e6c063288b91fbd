import type { ContentLanguage } from '../../wordpress/content-languages.ts';
import type { TranslationGroup } from '../../wordpress/translation-group.ts';
import type { Database } from '../engine/database.ts';

/** A kind of record that may have a language: a post type or a taxonomy. */
export interface Translatable {
  readonly is: 'post' | 'term';
  readonly type: string;
}

/**
 * Writes languages and groups in one form. All methods must be called inside the transaction that writes the record.
 * Ids are those of posts and of terms (`term_id`).
 */
export interface LanguageWriter {
  /** Replaces the language of a record. If it is in a group, the group must be written afterwards. */
  setLanguage(db: Database, of: Translatable, id: number, language: ContentLanguage): Promise<void>;
  /** Sets the language of new records without any language data. `visible`: how many of them are published posts. */
  assign(db: Database, of: Translatable, ids: readonly number[], language: ContentLanguage, visible: number): Promise<void>;
  /**
   * Updates the counts when a post with a language becomes published (`shown`) or stops being published (`hidden`). It
   * is called before a deletion.
   */
  countVisible(db: Database, id: number, change: 'shown' | 'hidden'): Promise<void>;
  /**
   * Reads the groups of these records and locks them. The groups include members in the trash, and may include deleted
   * ones.
   */
  lockGroups(db: Database, of: Translatable, ids: readonly number[]): Promise<ReadonlyMap<number, TranslationGroup>>;
  /**
   * Makes these records one group. Their languages must already be written. The first record is the original of the
   * others.
   */
  writeGroup(db: Database, of: Translatable, members: TranslationGroup): Promise<void>;
  /** Removes a record from its group. It keeps its language. */
  leaveGroup(db: Database, of: Translatable, id: number): Promise<void>;
  /** Deletes the language data of a record that is deleted permanently. */
  forget(db: Database, of: Translatable, id: number): Promise<void>;
}
