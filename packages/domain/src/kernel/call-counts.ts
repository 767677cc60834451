import type { UnixSeconds } from './ids.js';

/** Calls counted by one server under a rate limit. */
export interface CountedCalls {
  readonly rule: string;
  /** JSON of the counter's key. */
  readonly key: string;
  /** Number of calls; negative if calls were withdrawn. */
  readonly calls: number;
  /** True if the counter was reset, so that earlier calls no longer count. */
  readonly isReset: boolean;
  /** Time after which the calls no longer count. */
  readonly expiresAt: UnixSeconds;
}

/**
 * Counted calls in commit order, so that each server can add the calls of the others. Every implementation passes
 * call-count-repository.contract.ts.
 */
export interface CallCountReads {
  /** Returns at most `limit` rows written by other servers after this id, by id. */
  listOfOthers(
    server: string,
    after: number,
    limit: number,
  ): Promise<readonly (CountedCalls & { readonly id: number })[]>;
}

export interface CallCountRepository extends CallCountReads {
  /** Assigns ascending ids that are never reused. */
  add(server: string, counted: readonly CountedCalls[]): Promise<void>;
  /** Removes at most `limit` rows that expired at this time or earlier. Returns the number of removed rows. */
  removeExpired(now: UnixSeconds, limit: number): Promise<number>;
  removeAll(): Promise<void>;
}

declare module './feature-types.js' {
  interface RepositoryMap {
    callCounts: [reads: CallCountReads, repository: CallCountRepository];
  }
}

export const CALL_COUNT_FEATURE = {
  notExported: {
    callCounts: 'They limit callers of this server.',
  },
};
