import { subscribersOf } from '@parley/domain/channels';
import { type DomainEvent, type MessageId, users, wholeRealm } from '@parley/domain/kernel';
import {
  aChannel,
  aMessage,
  aRealmWith,
  aUser,
  createFixture,
  fakeRealmUrls,
  flagChange,
  LiveEvents,
  type LiveEventsOptions,
  type MemoryFixture,
  SeededRandomness,
  TroubledBus,
} from '@parley/testkit';
import { EVENT_CATALOGUE, EVENT_WRITER } from '../event-catalogue.js';
import type { Request } from '../wire/request.js';
import { queuePresentation } from './event-presenter.js';
import { LongPoll } from './long-poll.js';
import { PublicRealms } from './public-realm.js';

interface SentResponse {
  // biome-ignore lint/suspicious/noExplicitAny: tests say what they expect by their assertions.
  readonly events: readonly any[];
  readonly queue_id?: string;
}

/** Fake request with the members used by a poll. */
class ARequest {
  isGone = false;
  readonly raw = { socket: {} };
  /** @param isCarriedAway true to send each response immediately */
  constructor(private readonly isCarriedAway = false) {}
  private readonly onCloses: (() => void)[] = [];
  private readonly onEnds: (() => void)[] = [];
  onClose = (listener: () => void) => this.onCloses.push(listener);
  onEnd = (listener: () => void) => {
    if (this.isCarriedAway) listener();
    else this.onEnds.push(listener);
  };
  hangUp() {
    this.isGone = true;
    for (const listener of [...this.onCloses, ...this.onEnds]) listener();
  }
  carryAway() {
    for (const listener of this.onEnds) listener();
  }
}

const turn = () => new Promise((resolve) => setImmediate(resolve));
const NOT_FOUND = { code: 'UNKNOWN_EVENT_QUEUE' };

async function aServer(fixture: MemoryFixture, buses?: LiveEventsOptions['buses']) {
  const events = await LiveEvents.start(fixture, { catalogue: EVENT_CATALOGUE, ...(buses && { buses }) });
  const longPoll = new LongPoll(
    EVENT_WRITER,
    events.hub,
    new PublicRealms(events.uow, fakeRealmUrls),
    new SeededRandomness(3),
  );
  const presentation = queuePresentation({
    eventTypes: null,
    applyMarkdown: false,
    clientGravatar: false,
    slimPresence: false,
    capabilities: {},
    client: 'standard',
  });
  const register = (who: string, more: Partial<typeof presentation> = {}) =>
    events.register(who, {}, { presentation: { ...presentation, ...more } });
  const poll = async (
    who: string,
    queueId: string,
    lastPosition = -1,
    { dontBlock = true, request = new ARequest(true), endsInMs = null as number | null } = {},
  ): Promise<SentResponse> => {
    const claim = { queueId, lastPosition, dontBlock, endsInMs };
    const reply = await longPoll.poll(fixture.caller(who), claim, request as unknown as Request);
    return JSON.parse((reply.body as readonly string[]).join(''));
  };
  const wait = (who: string, queueId: string, lastPosition = -1, request = new ARequest(true)) =>
    poll(who, queueId, lastPosition, { dontBlock: false, request });
  return { events, longPoll, register, poll, wait };
}

const cast = () =>
  createFixture(
    aUser({ name: 'hamlet' }),
    aUser({ name: 'iago' }),
    aUser({ name: 'polonius', role: 'guest' }),
    aChannel({ name: 'Denmark', subscribers: ['hamlet', 'polonius'] }),
  );

/** Event published by sending a message. */
async function aSentMessage(fixture: MemoryFixture, content = 'hello', from = 'iago'): Promise<DomainEvent> {
  await fixture.add(aMessage({ from, to: 'Denmark', content }));
  const { id } = fixture.messages.at(-1)!;
  const [view] = await fixture.uow.read(fixture.realm.id, (r) => r.pages.listViews(fixture.realm.id, [id]));
  return { type: 'message.sent', view: view!, isPublic: true, exceptions: [], echo: null };
}

describe('poll without events', () => {
  beforeEach(() => jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] }));
  afterEach(() => jest.useRealTimers());

  it('returns heartbeats with ascending ids after 45 to 55 seconds for any event types', async () => {
    const { register, wait, longPoll } = await aServer(await cast());
    const queue = await register('hamlet', { eventTypes: ['no_such_type'] });
    let response: SentResponse | null = null;
    const waitFor = async (lastPosition: number) => {
      response = null;
      void wait('hamlet', queue, lastPosition).then((body) => {
        response = body;
      });
      for (let n = 0; n < 3; n++) await turn();
      await jest.advanceTimersByTimeAsync(44_000);
      expect(response).toBeNull();
      await jest.advanceTimersByTimeAsync(12_000);
      await turn();
      return response!.events;
    };
    const [first] = await waitFor(-1);
    const [second] = await waitFor(first!.id);
    expect([first!.type, second!.type]).toEqual(['heartbeat', 'heartbeat']);
    expect(second!.id).toBeGreaterThan(first!.id);
    longPoll.close();
  });

  it('ends when the client disconnects', async () => {
    const { register, wait, longPoll } = await aServer(await cast());
    const request = new ARequest();
    const waiting = wait('hamlet', await register('hamlet'), -1, request);
    for (let n = 0; n < 3; n++) await turn();
    request.hangUp();
    expect((await waiting).events).toEqual([]);
    longPoll.close();
  });

  it('returns when the credentials of the caller expire', async () => {
    const { register, poll, longPoll } = await aServer(await cast());
    let isOver = false;
    const waiting = poll('hamlet', await register('hamlet'), -1, { dontBlock: false, endsInMs: 3000 }).finally(() => {
      isOver = true;
    });
    for (let n = 0; n < 3; n++) await turn();
    await jest.advanceTimersByTimeAsync(2999);
    expect(isOver).toBe(false);
    await jest.advanceTimersByTimeAsync(1);
    expect((await waiting).events).toMatchObject([{ type: 'heartbeat' }]);
    longPoll.close();
  });

  it('fails without stopping the process if no heartbeat can be created', async () => {
    const { events, register, wait, longPoll } = await aServer(await cast());
    const queue = await register('hamlet', { eventTypes: ['no_such_type'] });
    const waiting = expect(wait('hamlet', queue)).rejects.toThrow('disk full');
    for (let n = 0; n < 3; n++) await turn();
    jest.spyOn(events.hub, 'takeUnloggedPosition').mockRejectedValue(new Error('disk full'));
    await jest.advanceTimersByTimeAsync(56_000);
    await waiting;
    longPoll.close();
  });
});

describe('waiting poll', () => {
  it('returns all events of a commit together', async () => {
    const fixture = await cast();
    const { events, register, wait } = await aServer(fixture);
    const queue = await register('hamlet');
    const waiting = wait('hamlet', queue);
    for (let n = 0; n < 3; n++) await turn();
    await events.uow.write(fixture.realm.id, async (tx) => {
      for (let n = 0; n < 3; n++) await tx.events.append(fixture.realm.id, { event: flagChange, audience: wholeRealm });
    });
    expect(await waiting).toMatchObject({ events: [{}, {}, {}], queue_id: queue });
  });

  it('returns events published while the request was in transit', async () => {
    const fixture = await cast();
    const { events, register, wait } = await aServer(fixture);
    const waiting = wait('hamlet', await register('hamlet'));
    await events.announce(wholeRealm);
    expect((await waiting).events).toHaveLength(1);
  });

  it('fails one queue if an event cannot be presented and leaves other queues intact', async () => {
    const fixture = await cast();
    const { events, register, wait, poll } = await aServer(fixture);
    const [hamlet, iago] = [await register('hamlet', { eventTypes: ['message'] }), await register('iago')];
    const [failing, other] = [wait('hamlet', hamlet), wait('iago', iago)];
    for (let n = 0; n < 3; n++) await turn();
    // Invalid on purpose: known type with a malformed payload.
    await events.announce(wholeRealm, { type: 'channel.created' } as DomainEvent);
    await events.announce(users([fixture.user('hamlet').id]), {
      type: 'message.sent',
      view: { submessages: [{}] },
    } as never);
    await expect(failing).rejects.toMatchObject(NOT_FOUND);
    await expect(other).rejects.toMatchObject(NOT_FOUND);
    await expect(poll('hamlet', hamlet)).rejects.toMatchObject(NOT_FOUND);
    const again = await register('hamlet');
    const seq = await events.announce(wholeRealm);
    expect((await poll('hamlet', again)).events[0].id).toBe(seq * 1024);
    expect(events.problems.map(([, { eventType, queueId }]) => [eventType, queueId])).toEqual([
      ['channel.created', iago],
      ['message.sent', hamlet],
    ]);
  });

  it('returns the remaining events of a removed queue and rejects on failure', async () => {
    const fixture = await cast();
    const { events, register, wait } = await aServer(fixture);
    const queue = await register('hamlet');
    const removed = wait('hamlet', queue);
    for (let n = 0; n < 3; n++) await turn();
    await events.hub.remove(fixture.realm.id, fixture.user('hamlet').id, queue);
    expect(await removed).toEqual({ result: 'success', msg: '', events: [], queue_id: queue });
  });

  it('rejects the waiting poll of a deactivated account with the reason', async () => {
    const fixture = await cast();
    const { events, register, wait } = await aServer(fixture);
    const waiting = expect(wait('hamlet', await register('hamlet'))).rejects.toMatchObject({
      code: 'USER_DEACTIVATED',
    });
    await turn();
    const { id: userId } = fixture.user('hamlet');
    await events.announce(wholeRealm, { type: 'user.activation_changed', userId, isActive: false });
    await waiting;
  });

  it('reads events evicted from memory from the log', async () => {
    const fixture = await cast();
    const { events, register, wait } = await aServer(fixture);
    const queue = await register('hamlet');
    const waiting = wait('hamlet', queue);
    for (let n = 0; n < 3; n++) await turn();
    await events.uow.write(fixture.realm.id, async (tx) => {
      for (let n = 0; n < 300; n++)
        await tx.events.append(fixture.realm.id, { event: flagChange, audience: wholeRealm });
    });
    expect((await waiting).events).toHaveLength(300);
  });

  it('returns ephemeral events once, after logged events', async () => {
    const fixture = await cast();
    const { events, register, wait, poll } = await aServer(fixture);
    const queue = await register('hamlet', { capabilities: ['stream_typing_notifications'] });
    const waiting = wait('hamlet', queue);
    for (let n = 0; n < 3; n++) await turn();
    await fixture.add(aMessage({ from: 'iago', to: 'Denmark' }));
    const [view] = await fixture.uow.read(fixture.realm.id, (r) =>
      r.pages.listViews(fixture.realm.id, [fixture.messages[0]!.id]),
    );
    const channelId = fixture.channel('Denmark').id;
    events.announceEphemeral({
      event: {
        type: 'typing.changed',
        op: 'start',
        sender: view!.sender,
        to: { kind: 'channel', channelId, topic: '' },
      },
      audience: subscribersOf(channelId),
    });
    const seq = await events.announce(wholeRealm);
    const { events: got } = await waiting;
    expect(got.map(({ type }) => type)).toEqual(['update_message_flags', 'typing']);
    expect(got[1]).toEqual({
      type: 'typing',
      op: 'start',
      message_type: 'stream',
      sender: { user_id: fixture.user('iago').id, email: 'iago@example.com' },
      stream_id: channelId,
      topic: 'general chat',
      id: seq * 1024 + 1,
    });
    expect((await poll('hamlet', queue)).events.map(({ type }) => type)).toEqual(['update_message_flags']);
    expect((await poll('hamlet', queue, seq * 1024 + 1)).events).toEqual([]);
  });
});

describe('poll response', () => {
  it('returns at most a thousand events, and the next poll returns the rest', async () => {
    const fixture = await cast();
    const { events, register, poll } = await aServer(fixture);
    const queue = await register('hamlet');
    await events.uow.write(fixture.realm.id, async (tx) => {
      for (let n = 0; n < 1500; n++)
        await tx.events.append(fixture.realm.id, { event: flagChange, audience: wholeRealm });
    });
    const first = await poll('hamlet', queue);
    expect(first.events).toHaveLength(1000);
    const second = await poll('hamlet', queue, first.events.at(-1).id);
    expect(second.events).toHaveLength(500);
    expect(second.events[0].id).toBe(first.events.at(-1).id + 1024);
  });

  it('holds at most four million bytes but at least one event', async () => {
    const fixture = await cast();
    const { events, register, poll } = await aServer(fixture);
    const queue = await register('hamlet', { eventTypes: ['user_topic'] });
    const ofLength = (length: number): DomainEvent => ({
      type: 'topic.policy_changed',
      channelId: fixture.channel('Denmark').id,
      topic: 'x'.repeat(length),
      visibility: 'muted',
      changedAt: 7,
      muted: [],
    });
    for (const length of [2_000_000, 1_999_000, 1_000, 5_000_000]) await events.announce(wholeRealm, ofLength(length));
    const sizes: number[][] = [];
    let last = -1;
    for (let n = 0; n < 4; n++) {
      const { events: got } = await poll('hamlet', queue, last);
      sizes.push(got.map(({ topic_name }) => topic_name.length));
      last = got.at(-1)?.id ?? last;
    }
    expect(sizes).toEqual([[2_000_000, 1_999_000], [1_000], [5_000_000], []]);
  });

  it('measures its limit in bytes instead of characters', async () => {
    const fixture = await cast();
    const { events, register, poll } = await aServer(fixture);
    const queue = await register('hamlet');
    const wide = await aSentMessage(fixture, '語'.repeat(700_000));
    for (let n = 0; n < 2; n++) await events.announce(wholeRealm, wide);
    expect((await poll('hamlet', queue)).events).toHaveLength(1);
  });

  it('shares the text of an event between clients with the same form', async () => {
    const fixture = await cast();
    const { events, register, poll } = await aServer(fixture);
    const ids = [];
    for (let n = 0; n < 5; n++) ids.push(await register('hamlet'));
    ids.push(await register('hamlet', { applyMarkdown: true }));
    const stringify = jest.spyOn(JSON, 'stringify');
    await events.announce(wholeRealm, await aSentMessage(fixture, 'told to many'));
    stringify.mockClear();
    for (const id of ids) expect((await poll('hamlet', id)).events).toHaveLength(1);
    const presented = stringify.mock.results.filter(({ value }) => String(value).includes('told to many'));
    stringify.mockRestore();
    expect(presented).toHaveLength(2);
  });

  it('hides an inaccessible sender from a guest', async () => {
    const fixture = await cast();
    await fixture.add(aRealmWith({ permissionOverrides: { canAccessAllUsers: 'members' } }));
    const { events, register, wait } = await aServer(fixture);
    const [guest, member] = [wait('polonius', await register('polonius')), wait('hamlet', await register('hamlet'))];
    for (let n = 0; n < 3; n++) await turn();
    const denmark = subscribersOf(fixture.channel('Denmark').id);
    await events.announce(denmark, await aSentMessage(fixture));
    await events.announce(denmark, await aSentMessage(fixture, 'hi', 'hamlet'));
    const senders = (await guest).events.map(({ message }) => [message.sender_full_name, message.sender_email]);
    const { id } = fixture.user('iago');
    expect(senders).toEqual([
      ['Unknown user', `user${id}@chat.example`],
      ['hamlet', 'hamlet@example.com'],
    ]);
    expect((await member).events[0].message.sender_full_name).toBe('iago');
  });

  it.each([
    ['cannot be read', '{"client":"unknown"}'],
    [
      'is from an earlier version without event types',
      '{"applyMarkdown":true,"clientGravatar":true,"slimPresence":true,"capabilities":[],"client":"standard"}',
    ],
  ])('fails for a queue whose presentation %s', async (_, presentation) => {
    const fixture = await cast();
    const { events, register, poll } = await aServer(fixture);
    const queue = await register('hamlet');
    await fixture.storage.damage.queue(queue, { presentation });
    await expect(poll('hamlet', queue)).rejects.toMatchObject(NOT_FOUND);
    await expect(poll('hamlet', queue)).rejects.toMatchObject(NOT_FOUND);
    expect(events.problems).toMatchObject([['an event queue was closed', { queueId: queue }]]);
  });
});

describe('two servers with the same polls', () => {
  it.each([107, 170, 220, 262, 333, 351])(
    'returns each event once even if polls are abandoned (seed %d)',
    async (seed) => {
      const fixture = await cast();
      const random = new SeededRandomness(seed);
      const below = (limit: number) => Math.floor(random.fraction() * limit);
      const turns = async (count: number) => {
        for (let n = 0; n < count; n++) await turn();
      };
      const read = fixture.uow.read.bind(fixture.uow);
      fixture.uow.read = async (realmId, work) => {
        await turns(below(4) === 0 ? below(40) : 0);
        return read(realmId, work);
      };
      const buses = new TroubledBus(seed);
      const servers = [await aServer(fixture, buses), await aServer(fixture, buses)];
      const anyServer = () => servers[below(servers.length)]!;
      const queue = await servers[0]!.register('hamlet');
      const [announced, got]: [number[], number[]] = [[], []];
      const announcing = (async () => {
        for (let n = 0; n < 60; n++) {
          announced.push((await anyServer().events.announce(wholeRealm)) * 1024);
          await turns(below(8));
        }
      })();
      while (got.length < 60) {
        const request = new ARequest(true);
        const response = await Promise.race([
          anyServer()
            .wait('hamlet', queue, got.at(-1), request)
            .catch(() => null),
          turns(5 + below(20)).then(() => null),
        ]);
        // A frozen server notices the disconnection late.
        if (below(2) === 0) request.hangUp();
        for (const { id } of response?.events ?? []) {
          if (id <= (got.at(-1) ?? -1)) throw new Error(`event ${id} after ${got.at(-1)}`);
          got.push(id);
        }
      }
      await announcing;
      expect(got).toEqual(announced);
      for (const { longPoll, events } of servers) {
        longPoll.close();
        events.hub.close();
      }
    },
  );
});

describe('long poll catch-up', () => {
  const flood = async (events: LiveEvents, count: number) =>
    events.uow.write(events.fixture.realm.id, async (tx) => {
      const { realm } = events.fixture;
      const messageIds = Array.from({ length: 3000 }, (_, n) => (1_000_000 + n) as MessageId);
      const large = { ...flagChange, messageIds };
      for (let n = 0; n < count; n++) await tx.events.append(realm.id, { event: large, audience: wholeRealm });
    });

  it('reads only as fast as responses are sent', async () => {
    const names = Array.from({ length: 10 }, (_, n) => `user ${n}`);
    const fixture = await createFixture(...names.map((name) => aUser({ name })));
    const { events, register, poll } = await aServer(fixture);
    const queues: (readonly [string, string])[] = [];
    for (const name of names) queues.push([name, await register(name)]);
    await flood(events, 180);
    const requests: ARequest[] = [];
    let answered = 0;
    const polls = queues.map(([name, id]) => {
      const request = new ARequest();
      requests.push(request);
      return poll(name, id, -1, { request }).then(() => answered++);
    });
    for (let n = 0; n < 200; n++) await turn();
    // Each response has the maximum size, so two unsent responses reach the memory limit.
    expect(answered).toBe(2);
    for (const request of requests) request.carryAway();
    await Promise.all(polls);
    expect(answered).toBe(10);
  });

  it('skips disconnected and slow clients', async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
    const fixture = await cast();
    const { events, register, poll } = await aServer(fixture);
    const ids = [];
    for (let n = 0; n < 4; n++) ids.push(await register('hamlet'));
    await flood(events, 3);
    const requests = ids.map(() => new ARequest());
    const responses: (SentResponse | null)[] = [null, null, null, null];
    ids.forEach((id, n) => {
      void poll('hamlet', id, -1, { dontBlock: true, request: requests[n]! }).then((response) => {
        responses[n] = response;
      });
    });
    for (let n = 0; n < 20; n++) await turn();
    const lengths = () => responses.map((response) => response?.events.length ?? null);
    expect(lengths()).toEqual([3, 3, null, null]);
    requests[2]!.hangUp();
    await jest.advanceTimersByTimeAsync(1000);
    for (let n = 0; n < 20; n++) await turn();
    expect(lengths()).toEqual([3, 3, 0, 3]);
    jest.useRealTimers();
  });

  it('releases waiting polls when the server shuts down', async () => {
    const fixture = await cast();
    const { events, register, poll, longPoll } = await aServer(fixture);
    const ids = [];
    for (let n = 0; n < 3; n++) ids.push(await register('hamlet'));
    await flood(events, 3);
    const polls = ids.map((id) => poll('hamlet', id, -1, { request: new ARequest() }));
    for (let n = 0; n < 20; n++) await turn();
    longPoll.close();
    events.hub.close();
    expect((await Promise.all(polls)).map(({ events: got }) => got.length)).toEqual([3, 3, 0]);
  });
});
