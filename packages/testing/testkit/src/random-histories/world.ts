import type { MessageId, RecipientId } from '@parley/domain/kernel';
import { aChannel, aUser, createFixtureOn, type Fixture } from '../builders.js';
import type { StorageUnderTest } from '../contracts/storage-under-test.js';
import type { FixedClock } from '../fixed-clock.js';
import { BOT, type ChannelName, PEOPLE, type Which } from './history.js';

/** State of a history on one storage. */
export interface World {
  readonly fixture: Fixture;
  /** All messages ever sent by step number, ascending. */
  readonly sent: Map<number, readonly MessageId[]>;
  /** Log of the history in plain words. */
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

/** Returns the id of the message with this number among all ever sent; 0 if there is none. */
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
