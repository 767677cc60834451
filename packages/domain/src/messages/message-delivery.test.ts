import { aChannel, aMessage, aUser, createFixture, makeChannel, receiverRequest } from '@parley/testkit';
import { metadataUsers } from '../channels/channel-delivery.js';
import type { ReceiverRequest } from '../kernel/delivery.js';
import { allOf, type DomainEvent, except, users } from '../kernel/event.js';
import type { QueueFilter } from '../kernel/event-queue.js';
import type { EventNeeds } from '../kernel/feature-types.js';
import type { MessageId, UserId } from '../kernel/ids.js';
import {
  asksForMessages,
  findHolders,
  loadMessageReceivers,
  MESSAGE_SELECTION,
  messageHolder,
  needsMessages,
  receivedFlags,
  updateParts,
} from './message-delivery.js';
import type { MessageEventTypes, ReceivedFlags } from './message-events.js';

const id = (number: number) => number as MessageId;

describe('receivedFlags', () => {
  const none = {
    read: false,
    starred: false,
    collapsed: false,
    mentioned: false,
    channelWildcardMentioned: false,
    topicWildcardMentioned: false,
    hasAlertWord: false,
    historical: false,
  };
  const flagsOf = (message: object, exceptions: readonly (readonly [number, ReceivedFlags])[], userId: number) => {
    const view = { message: { mentionsChannel: false, isReadByDefault: false, ...message } };
    return receivedFlags({ type: 'message.sent', view, exceptions } as never, userId as UserId);
  };

  it.each<[boolean, ReceivedFlags, boolean]>([
    [true, {}, true],
    [true, { unread: true }, false],
    [false, {}, false],
    [false, { read: true }, true],
  ])(
    'with messages read by default: %s, and the exception %j, a message is read: %s',
    (isReadByDefault, flags, read) => {
      expect(flagsOf({ isReadByDefault }, [[1, flags]], 1)).toEqual({ ...none, read });
      expect(flagsOf({ isReadByDefault }, [[1, flags]], 2)).toEqual({ ...none, read: isReadByDefault });
    },
  );

  it.each(['mentioned', 'topicWildcardMentioned', 'hasAlertWord'] as const)(
    'marks a message as %s only for the users of the exception',
    (flag) => {
      const exceptions = [[1, { [flag]: true }]] as const;
      expect(flagsOf({}, exceptions, 1)).toEqual({ ...none, [flag]: true });
      expect(flagsOf({}, exceptions, 2)).toEqual(none);
    },
  );

  it('marks a mention of the channel for all receivers', () => {
    expect(flagsOf({ mentionsChannel: true }, [], 1)).toEqual({ ...none, channelWildcardMentioned: true });
  });
});

describe('messageHolder', () => {
  it('holds only the messages that the look-up found for the user', () => {
    const holders = new Map([[id(7), new Set([1 as UserId])]]);
    const holds = (userId: number, messageId: number) =>
      messageHolder({ user: { userId }, results: { holders } } as never).holds(id(messageId));
    expect([holds(1, 7), holds(2, 7), holds(1, 8)]).toEqual([true, false, false]);
  });
});

describe('MESSAGE_SELECTION', () => {
  it.each<[Partial<QueueFilter>, boolean]>([
    [{}, false],
    [{ allPublicChannels: true }, true],
    [{ narrow: [{ operator: 'is', operand: 'dm' }] }, true],
  ])('opens a queue with the filter %j to public messages: %s', (filter, expected) => {
    expect(MESSAGE_SELECTION.isOpen({ allPublicChannels: false, narrow: [], ...filter })).toBe(expected);
  });

  it.each<[string, unknown, boolean]>([
    ['a message of a public channel', { type: 'message.sent', isPublic: true }, true],
    ['another message', { type: 'message.sent', isPublic: false }, false],
    ['another event', { type: 'channel.created', isPublic: true }, false],
  ])('decides if %s is public', (_title, event, expected) => {
    expect(MESSAGE_SELECTION.isPublic(event as DomainEvent)).toBe(expected);
  });

  it('applies a narrow only to messages', () => {
    const queue = { ownerId: 1, filter: { narrow: [{ operator: 'channel', operand: 'court' }] } } as never;
    const message = (name: string) => ({
      type: 'message.sent',
      exceptions: [],
      view: { message: {}, conversation: { kind: 'channel', name }, sender: {} },
    });
    const events = [message('court'), message('crypt'), { type: 'blank' }];
    expect(events.map((event) => MESSAGE_SELECTION.isInNarrow(queue, event as never))).toEqual([true, false, true]);
  });

  it('lets everyone except guests read public messages', () => {
    expect((['guest', 'member'] as const).map((role) => MESSAGE_SELECTION.mayReadPublic({ role } as never))).toEqual([
      false,
      true,
    ]);
  });
});

describe('messages to look up', () => {
  it.each<[EventNeeds, boolean]>([
    [{}, false],
    [{ messageIds: [id(1)] }, true],
    [{ heldMessageIds: [id(1)] }, true],
  ])('are needed for an event that needs %j: %s', (needs, expected) => {
    expect(needsMessages(needs)).toBe(expected);
  });

  it('are needed for audiences of holders', () => {
    expect([asksForMessages({ messageIds: [id(1)] }), asksForMessages({ messageIds: [] })]).toEqual([true, false]);
  });
});

describe('loadMessageReceivers', () => {
  it('returns the flags and the messages held by the receivers who need them', async () => {
    const fixture = await createFixture(
      aUser({ name: 'hamlet' }),
      aUser({ name: 'iago' }),
      aUser({ name: 'osric' }),
      aChannel({ name: 'court', subscribers: ['hamlet', 'iago'] }),
      aMessage({ from: 'hamlet', to: 'court' }),
      aMessage({ from: 'hamlet', to: 'court' }),
    );
    const [first, second] = fixture.messages.map((message) => message.id) as [MessageId, MessageId];
    const request = (name: string, needs: EventNeeds) => receiverRequest(fixture, name, needs);
    const load = async (...requests: readonly ReceiverRequest[]) => {
      const receivers = await uow.read(realm.id, (r) => loadMessageReceivers(r, realm.id, requests));
      return receivers.map(({ flags, held }) => [[...flags.keys()], [...held]]);
    };
    const { uow, realm, user } = fixture;
    const ids = [user('iago').id, user('osric').id];
    const findIn = (messageIds: readonly MessageId[]) =>
      uow.read(realm.id, (r) => findHolders(r, realm.id, { messageIds }, { ids, guestIds: [] }));
    expect(await findIn([first])).toEqual({ holders: new Map([[first, new Set([user('iago').id])]]) });
    expect(await findIn([])).toEqual({ holders: new Map() });
    const flagged: EventNeeds = { messageIds: [first] };
    const holding: EventNeeds = { heldMessageIds: [first, second] };
    expect(await load(request('iago', flagged), request('hamlet', {}))).toEqual([
      [[first], []],
      [[], []],
    ]);
    expect(await load(request('iago', holding), request('osric', holding), request('hamlet', {}))).toEqual([
      [[], [first, second]],
      [[], []],
      [[], []],
    ]);
    expect(await load(request('iago', flagged), request('hamlet', holding))).toEqual([
      [[first], []],
      [[], [first, second]],
    ]);
    expect(await load(request('iago', {}))).toEqual([[[], []]]);
  });
});

describe('updateParts (messages §18.2)', () => {
  const text = { isMeMessage: false } as NonNullable<MessageEventTypes['message.updated']['text']>;
  const messageIds = Array.from({ length: 502 }, (_, n) => id(n + 1));
  const event: MessageEventTypes['message.updated'] = {
    userId: 1 as never,
    messageId: id(502),
    messageIds,
    editedAt: 0,
    channel: { id: 5 as never, name: 'court' },
    move: null,
    text,
    onlyToHolders: false,
  };
  const watchers = users([7 as UserId]);

  it('splits an update sent only to holders and keeps the text with its message', () => {
    expect(updateParts(event, watchers, null)).toEqual([{ part: event, to: watchers }]);
    const held = { ...event, onlyToHolders: true };
    expect(updateParts(held, watchers, null)).toEqual([
      { part: { ...held, messageIds: messageIds.slice(0, 500), messageId: id(1), text: null }, to: watchers },
      { part: { ...held, messageIds: messageIds.slice(500) }, to: watchers },
    ]);
  });

  it('names the previous channel only for those who see it', () => {
    const source = makeChannel({ privacy: 'privateSharedHistory' });
    const informed = metadataUsers(source);
    expect(updateParts(event, watchers, source)).toEqual([
      { part: event, to: allOf(watchers, informed) },
      { part: { ...event, channel: { id: source.id, name: null } }, to: except(watchers, informed) },
    ]);
  });
});
