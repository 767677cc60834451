import type { MessageId } from '@parley/domain/kernel';
import {
  HISTORICAL,
  type Message,
  type MessageCondition,
  type MessageFilter,
  type PersonalFlags,
} from '@parley/domain/messages';
import { aChannel, aMessage, aUser, type Fixture, type MessageSpec } from '../builders.js';
import { ascending, idsOf, own } from './storage-under-test.js';

export const NONE: PersonalFlags = { ...HISTORICAL, read: false, historical: false };
export const READ: PersonalFlags = { ...NONE, read: true };

/** `a` and `b` subscribe to `general`, `a` to `random`, `b` and `c` to `secret`. */
export const scene = [
  aUser({ name: 'a' }),
  aUser({ name: 'b' }),
  aUser({ name: 'c' }),
  aChannel({ name: 'general', subscribers: ['a', 'b'] }),
  aChannel({ name: 'random', subscribers: ['a'] }),
  aChannel({ name: 'secret', privacy: 'privateProtectedHistory', subscribers: ['b', 'c'] }),
];

export async function send(fixture: Fixture, message: MessageSpec): Promise<Message> {
  await fixture.add(aMessage(message));
  return fixture.messages.at(-1)!;
}

export const flagsOf = async (fixture: Fixture, name: string, { id }: Message): Promise<PersonalFlags | null> =>
  fixture.uow.read(
    fixture.realm.id,
    async (r) => (await r.personal.listFlags(fixture.viewer(name), [id])).get(id) ?? null,
  );

export const unreadOf = (fixture: Fixture, name: string, filter = own()): Promise<MessageId[]> =>
  fixture.uow.read(fixture.realm.id, async ({ personal }) => {
    const viewer = fixture.viewer(name);
    if (filter.conditions.length === 0) {
      const { conversations } = await personal.overviewUnread(viewer, 100);
      expect(ascending(conversations.flatMap(({ ids }) => ids))).toEqual(idsOf(await personal.listUnread(viewer, 100)));
    }
    return idsOf(await personal.listUnread(viewer, 100, filter));
  });

export const historyOf = (fixture: Fixture, name: string): Promise<MessageId[]> =>
  fixture.uow.read(fixture.realm.id, async (r) =>
    idsOf(await r.pages.listEntriesUpTo(fixture.viewer(name), own(), null, 100)),
  );

export const subscribe = (fixture: Fixture, channel: string, ...names: readonly string[]): Promise<void> =>
  fixture.uow.write(fixture.realm.id, (tx) =>
    tx.personal.openSpans(
      fixture.realm.id,
      [fixture.channel(channel).recipientId],
      names.map((name) => fixture.user(name).id),
    ),
  );

export const unsubscribe = (fixture: Fixture, channel: string, ...names: readonly string[]): Promise<void> =>
  fixture.uow.write(fixture.realm.id, (tx) =>
    tx.personal.closeSpans(
      fixture.realm.id,
      [fixture.channel(channel).recipientId],
      names.map((name) => fixture.user(name).id),
    ),
  );

export const move = (
  fixture: Fixture,
  messages: readonly Message[],
  to: string,
  topic: string | null = null,
): Promise<void> =>
  fixture.uow.write(fixture.realm.id, (tx) => {
    const { id, recipientId, privacy } = fixture.channel(to);
    return tx.moves.move(fixture.realm.id, idsOf(messages), {
      channelId: id,
      recipientId,
      topic,
      isHistoryProtected: privacy === 'privateProtectedHistory',
    });
  });

export const mark = (
  fixture: Fixture,
  name: string,
  messages: readonly Message[],
  read: boolean,
): Promise<readonly MessageId[]> =>
  fixture.uow.write(fixture.realm.id, (tx) => tx.personal.setRead(fixture.viewer(name), idsOf(messages), read));

/** Marks everything in a filter as read, or a part with `limit`. */
export const markIn = (
  fixture: Fixture,
  name: string,
  filter: MessageFilter,
  limit?: number,
): Promise<readonly MessageId[]> =>
  fixture.uow.write(fixture.realm.id, (tx) => tx.personal.markRead(fixture.viewer(name), filter, limit));

export const conditionIn = (fixture: Fixture, channel: string): MessageCondition => ({
  kind: 'recipient',
  recipientIds: [fixture.channel(channel).recipientId],
});

export const star = (
  fixture: Fixture,
  name: string,
  messages: readonly Message[],
  on = true,
): Promise<readonly MessageId[]> =>
  fixture.uow.write(fixture.realm.id, (tx) =>
    tx.personal.setFlag(fixture.viewer(name), idsOf(messages), 'starred', on),
  );
