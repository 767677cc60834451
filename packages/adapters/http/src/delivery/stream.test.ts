import { type DomainEvent, wholeRealm } from '@parley/domain/kernel';
import {
  aRealmWith,
  aUser,
  createFixture,
  fakeRealmUrls,
  flagChange,
  LiveEvents,
  type MemoryFixture,
  SeededRandomness,
} from '@parley/testkit';
import { EVENT_CATALOGUE, EVENT_WRITER } from '../event-catalogue.js';
import type { BodyChunk, OpenBody } from '../wire/reply.js';
import type { Request } from '../wire/request.js';
import { queuePresentation } from './event-presenter.js';
import { LongPoll } from './long-poll.js';
import { PublicRealms } from './public-realm.js';
import { EventStreams } from './stream.js';

/** Connection of a client that reads immediately unless it is set to be slow. */
class AConnection {
  readonly writes: (readonly BodyChunk[])[] = [];
  isEnded = false;
  failure: unknown;
  isSlow = false;
  private readAll: () => void = () => {};
  private onEnds: (() => void)[] = [];

  readonly request = {
    isGone: false,
    raw: { socket: {} },
    onEnd: (listener: () => void) => this.onEnds.push(listener),
  } as unknown as Request;

  readonly output = {
    write: (chunks: readonly BodyChunk[]) => {
      this.writes.push(chunks);
      return this.isSlow ? new Promise<void>((resolve) => (this.readAll = resolve)) : null;
    },
    end: () => {
      this.isEnded = true;
    },
    fail: (error: unknown) => {
      this.failure = error;
    },
  };

  read(): void {
    this.isSlow = false;
    this.readAll();
  }

  hangUp(): void {
    for (const listener of this.onEnds) listener();
  }

  /** Received frames without heartbeats. */
  get ids(): readonly number[] {
    return [...this.text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id));
  }

  get text(): string {
    return this.writes.flatMap((chunks) => chunks.map(String)).join('');
  }
}

const turn = () => new Promise((resolve) => setImmediate(resolve));
const turns = async () => {
  for (let n = 0; n < 5; n++) await turn();
};

async function aServer(fixture: MemoryFixture) {
  const events = await LiveEvents.start(fixture, { catalogue: EVENT_CATALOGUE });
  const publicRealms = new PublicRealms(events.uow, fakeRealmUrls);
  const longPoll = new LongPoll(EVENT_WRITER, events.hub, publicRealms, new SeededRandomness(3));
  const streams = new EventStreams(longPoll);
  const presentation = queuePresentation({
    eventTypes: null,
    applyMarkdown: false,
    clientGravatar: false,
    slimPresence: false,
    capabilities: {},
    client: 'standard',
  });
  const register = (who: string) => events.register(who, {}, { presentation: { ...presentation } });
  const open = async (who: string, queueId: string, { lastPosition = -1, endsInMs = null as number | null } = {}) => {
    const connection = new AConnection();
    const claim = { queueId, lastPosition, endsInMs };
    const { body } = await streams.begin(fixture.caller(who), claim, connection.request);
    (body as OpenBody).open(connection.output);
    await turns();
    return connection;
  };
  return { events, longPoll, register, open };
}

const cast = () => createFixture(aRealmWith({}), aUser({ name: 'hamlet' }), aUser({ name: 'iago' }));

describe('event stream', () => {
  beforeEach(() => jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] }));
  afterEach(() => jest.useRealTimers());

  it('begins with a heartbeat and repeats it at most every 45 seconds', async () => {
    const { register, open } = await aServer(await cast());
    const connection = await open('hamlet', await register('hamlet'));
    expect(connection.text).toBe('event: heartbeat\ndata: {"type":"heartbeat"}\n\n');
    jest.advanceTimersByTime(39_000);
    expect(connection.writes).toHaveLength(1);
    jest.advanceTimersByTime(6000);
    expect(connection.writes).toHaveLength(2);
    jest.advanceTimersByTime(45_000);
    expect(connection.writes).toHaveLength(3);
    connection.hangUp();
    jest.advanceTimersByTime(100_000);
    expect(connection.writes).toHaveLength(3);
  });

  it('shares the bytes of an event with other streams and writes once per commit', async () => {
    const fixture = await cast();
    const { events, register, open } = await aServer(fixture);
    const [one, other] = [await open('hamlet', await register('hamlet')), await open('iago', await register('iago'))];
    await events.announce(wholeRealm);
    await turns();
    expect(one.writes.at(-1)![0]).toBe(other.writes.at(-1)![0]);
    await events.uow.write(fixture.realm.id, async (tx) => {
      for (let n = 0; n < 3; n++) await tx.events.append(fixture.realm.id, { event: flagChange, audience: wholeRealm });
    });
    await turns();
    expect([one.writes.length, one.ids.length]).toEqual([3, 4]);
  });

  it('writes nothing while a client does not read, and then continues from the log', async () => {
    const { events, register, open } = await aServer(await cast());
    const connection = await open('hamlet', await register('hamlet'));
    connection.isSlow = true;
    const seqs: number[] = [];
    for (let n = 0; n < 300; n++) seqs.push(await events.announce(wholeRealm));
    await turns();
    expect(connection.writes).toHaveLength(2);
    jest.advanceTimersByTime(46_000);
    expect(connection.writes).toHaveLength(2);
    expect(events.hub.liveQueues[0]!.dueEvents).toHaveLength(0);
    connection.read();
    for (let n = 0; n < 10; n++) await turns();
    expect(connection.ids).toEqual(seqs.map((seq) => seq * 1024));
  });

  it('ends when the credentials end', async () => {
    const { events, register, open } = await aServer(await cast());
    const connection = await open('hamlet', await register('hamlet'), { endsInMs: 5000 });
    jest.advanceTimersByTime(4999);
    expect(connection.isEnded).toBe(false);
    jest.advanceTimersByTime(1);
    expect([connection.isEnded, events.hub.liveQueues[0]!.isWaitedFor]).toEqual([true, false]);
  });

  it('ends without its process if an event cannot be presented', async () => {
    const { events, register, open } = await aServer(await cast());
    const connection = await open('hamlet', await register('hamlet'));
    await events.announce(wholeRealm, { type: 'channel.created' } as DomainEvent);
    await turns();
    expect([connection.isEnded, connection.failure]).toEqual([true, undefined]);
    expect(events.problems).toHaveLength(1);
  });

  it('reports an unexpected error', async () => {
    const { events, register, open } = await aServer(await cast());
    const connection = await open('hamlet', await register('hamlet'));
    const error = new Error('disk full');
    jest.spyOn(events.hub, 'readNow').mockImplementation(() => {
      throw error;
    });
    await events.announce(wholeRealm);
    await turns();
    expect(connection.failure).toBe(error);
  });
});
