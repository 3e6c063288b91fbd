import type { Params, Selected, Values, ValuesOf } from '../kinds/param.ts';
import type { Caller } from '../records/caller.ts';
import type { LockVersion } from '../records/versions.ts';
import type { Site } from '../site.ts';
import type { Endpoint, Handler, Reply, Route } from './route.ts';
import type { Upload } from './upload.ts';

/** A handler as it is served. */
export interface ServedEndpoint<V = Values, Prepared = V> extends Omit<Endpoint<V>, 'run'> {
  readonly run: Handler<Prepared, ReturnType<Endpoint['run']>>;
  /** Parameters that it accepts although no description names them. */
  readonly unlistedParams?: Params;
  /** Whether it gets the uploaded file as the value `upload`. */
  readonly upload?: true;
  /** Work that must happen before the transaction because it is slow or outside the database; `run` gets its result. */
  readonly prepare?: Handler<V, Promise<Values>>;
  /**
   * Deletes the files that `prepare` has fetched, because no row will name them; by default those of images among its
   * result. `run` must not delete them, since it is repeated after a conflict with another transaction.
   */
  discard?(prepared: Prepared): Promise<void>;
  /** A header that every request must have. */
  readonly acknowledgementHeader?: string;
  /**
   * Present if its answers hold a secret, so that no batch runs it, and none of its answers is stored unchanged for
   * repeated requests (`Idempotency-Key`).
   */
  readonly secret?: 'never-again' | SecretMember;
  /** Whether it gets the request itself as the value `received`, because it answers for other endpoints. */
  readonly getsRequest?: true;
  /** Carries out several consecutive writes of one caller in a batch at once. */
  readonly runTogether?: CombinedRun<Prepared>;
  /** Returns the answer if nothing is left to write after `prepare`; sent without a transaction and never stored. */
  readyReply?(site: Site, prepared: Prepared): Reply | undefined;
}

/** A member of an answer that is not stored with it. `recompute` computes it again when the answer is replayed. */
export interface SecretMember {
  readonly member: string;
  readonly recompute: (site: Site, caller: Caller, body: Readonly<Record<string, unknown>>) => Promise<unknown>;
}

/**
 * Carries out several writes at once. `accepts` tells which ones; `run` returns their answers in order, and throws if
 * it would refuse one of them. Each write is then carried out separately.
 */
interface CombinedRun<V> {
  accepts(values: V): boolean;
  run(site: Site, caller: Caller, changes: readonly V[]): Promise<Reply[]>;
}

/** A route as it is served. */
export interface ServedRoute extends Route {
  readonly endpoints: readonly ServedEndpoint[];
  /** Finds the id of the record that the path names by slug; absent if it names no record, or contains the id. */
  readonly select?: (site: Site, slug: string, caller: Caller) => Promise<number | undefined>;
  /** For writes with preconditions (`If-Match`); every route whose path names a writable record must have it. */
  readonly lockVersion?: LockVersion;
  /** Members of its records that `_fields` can only take as a whole, as in WordPress's controller of this route. */
  readonly indivisibleMembers?: readonly string[];
}

/** A declaration of an endpoint. Its handlers get the values of the declared parameters, and `More`. */
type Declared<P extends Params, U extends Params, More, Prepared = ValuesOf<P & U> & More> = Omit<
  ServedEndpoint<ValuesOf<P & U> & More, Prepared>,
  'params' | 'unlistedParams' | 'upload' | 'prepare'
> & { readonly params: P; readonly unlistedParams?: U };

/** Declares an endpoint of a path that names no record. */
export const endpoint = <P extends Params, U extends Params = Record<never, never>>(declaration: Declared<P, U, unknown>): ServedEndpoint =>
  declaration;

/** Declares an endpoint of a path that names a record, by id or by slug. */
export const recordEndpoint = <P extends Params, U extends Params = Record<never, never>>(
  declaration: Declared<P, U, Selected>,
): ServedEndpoint => declaration;

/**
 * Declares an endpoint that takes a file. `store` saves it before the transaction begins; `run` gets its result as
 * `upload`.
 */
export function uploadEndpoint<P extends Params, Stored>({
  store,
  ...declaration
}: Declared<P, Record<never, never>, unknown, ValuesOf<P> & { readonly upload: Stored }> & {
  readonly store: (site: Site, caller: Caller, upload: Upload, values: ValuesOf<P>) => Promise<Stored>;
}): ServedEndpoint {
  type Uploading = ValuesOf<P> & { readonly upload: Upload };
  const prepare = async (site: Site, caller: Caller, values: Uploading) => ({
    ...values,
    upload: await store(site, caller, values.upload, values),
  });
  return { ...declaration, upload: true, prepare };
}
