import type { MessageId, RecipientId } from '@parley/domain/kernel';
import { aChannel, aUser, createFixtureOn, type Fixture } from '../builders.js';
import type { StorageUnderTest } from '../contracts/storage-under-test.js';
import type { FixedClock } from '../fixed-clock.js';
import { BOT, type ChannelName, PEOPLE, type Which } from './history.js';

/** A history as it is played on one storage. */
export interface World {
  readonly fixture: Fixture;
  /** Every message that was ever sent, by the number of its step; ascending. */
  readonly sent: Map<number, readonly MessageId[]>;
  /** What happened, in words. */
  readonly story: string[];
}

export async function openWorld({ uow }: Pick<StorageUnderTest, 'uow'>, clock: FixedClock): Promise<World> {
  const fixture = await createFixtureOn(
    uow,
    clock,
    ...PEOPLE.map((name) => aUser({ name })),
    aUser({ name: BOT, botOf: PEOPLE[0] }),
    aChannel({ name: 'open', subscribers: ['ann', 'bob'] }),
    aChannel({ name: 'other', subscribers: ['ann', 'cyd'] }),
    aChannel({ name: 'vault', privacy: 'privateProtectedHistory', subscribers: ['bob', 'cyd'] }),
  );
  return { fixture, sent: new Map(), story: [] };
}

export const sentIds = (world: World): MessageId[] => [...world.sent.values()].flat();

/** The number of a message among those ever sent, in whatever storage; 0 when there is none. */
export function pickId(world: World, number: number): MessageId {
  const ids = sentIds(world);
  return ids[number % ids.length] ?? (0 as MessageId);
}

export function idsOfWhich(world: World, which: Which): MessageId[] {
  const numbers =
    which.kind === 'some'
      ? which.picks
      : Array.from({ length: which.count }, (_, index) => which.from + index * which.stride);
  return [...new Set(numbers.map((number) => pickId(world, number)))];
}

export const recipientOf = ({ fixture }: World, channel: ChannelName): RecipientId =>
  fixture.channel(channel).recipientId;
