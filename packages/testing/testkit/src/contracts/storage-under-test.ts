import type { Clock, UnitOfWork } from '@parley/domain/kernel';
import type { MessageCondition, MessageFilter } from '@parley/domain/messages';
import { createFixtureOn, type Fixture, type FixtureStep } from '../builders.js';
import { FixedClock } from '../fixed-clock.js';
import type { Damage } from '../memory-storage.js';

export interface StorageUnderTest {
  readonly uow: UnitOfWork;
  /** True if writes that await anything except repositories are rejected. */
  readonly refusesYielding?: boolean;
  readonly damage: Damage;
  close(): Promise<void>;
}

/** Opens an empty storage that takes timestamps from this clock. */
export type OpenStorage = (clock: Clock) => StorageUnderTest | Promise<StorageUnderTest>;

export type Stage = Fixture & { readonly clock: FixedClock; readonly storage: StorageUnderTest };

/** Called inside `describe`. Returns a function that opens a storage with a fixture and closes it after the test. */
export function stagesOn(open: OpenStorage): (...pieces: readonly FixtureStep[]) => Promise<Stage> {
  const opened: StorageUnderTest[] = [];
  afterEach(async () => {
    for (const storage of opened.splice(0)) await storage.close();
  });
  return async (...pieces) => {
    const clock = new FixedClock();
    const storage = await open(clock);
    opened.push(storage);
    return Object.assign(await createFixtureOn(storage.uow, clock, ...pieces), { clock, storage });
  };
}

export const code = (expected: string) => expect.objectContaining({ code: expected });

export const own = (...conditions: readonly MessageCondition[]): MessageFilter => ({
  conditions,
  scope: 'own',
});
export const shared = (...conditions: readonly MessageCondition[]): MessageFilter => ({
  ...own(...conditions),
  scope: 'shared',
});

export const ascending = <Id extends number>(ids: Iterable<Id>): Id[] => [...ids].sort((a, b) => a - b);

/** 128 bits. */
export const SEED = /^[0-9a-f]{32}$/;

export const idsOf = <Id>(things: readonly { readonly id: Id }[]): Id[] => things.map(({ id }) => id);
