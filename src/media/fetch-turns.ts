import { limitConcurrency, limitConcurrencyOfEach } from '../yielding.ts';

/**
 * Numbers of files that the process fetches and stores for requests at a time: for all users, and for one of them. Each
 * file is in memory until it is stored, and the body of the request that names it is too small to be counted.
 */
const MAX_AT_ONCE = 4;
const MAX_AT_ONCE_PER_USER = 2;
const inTurnOfAll = limitConcurrency(MAX_AT_ONCE);
const inTurnOfUser = limitConcurrencyOfEach(MAX_AT_ONCE_PER_USER);

/**
 * Fetches and stores a file that a request of a user names, when it is its turn. A user waits for the own files first,
 * so that the files of another one wait for two of each user at most. The wait counts as time of the request.
 */
export const fetchInTurn = <Result>(user: number, fetchAndStore: () => Promise<Result>): Promise<Result> =>
  inTurnOfUser(user, () => inTurnOfAll(fetchAndStore));
