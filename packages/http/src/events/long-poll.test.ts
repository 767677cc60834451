import { EventHub, LogFollower, PublishingUnitOfWork, RegisterQueue } from '@parley/domain';
import { aUser, given, plainAddresses, SeededRandomness } from '@parley/testkit';
import type { Request } from '../routing/request.js';
import { EVENT_TYPE_NAMES } from './event.presenters.js';
import { LongPoll } from './long-poll.js';
import { queuePresentation } from './queue-presentation.js';
import { RealmPlaces } from './realm-places.js';

/** Only what a poll asks of a request. */
function aRequest() {
  let hangUp = () => {};
  const request = {
    onClose: (listener: () => void) => {
      hangUp = listener;
    },
  } as Request;
  return { request, hangUp: () => hangUp() };
}

async function aWaitingClient() {
  const scene = await given(aUser({ name: 'hamlet' }));
  const uow = new PublishingUnitOfWork(scene.uow, scene.clock, (error) => {
    throw error;
  });
  const follower = new LogFollower(uow);
  const hub = new EventHub(uow, follower, scene.clock, EVENT_TYPE_NAMES);
  uow.subscribe(follower);
  follower.subscribe(hub);
  await follower.start();
  const longPoll = new LongPoll(hub, new RealmPlaces(uow, plainAddresses), new SeededRandomness(3));
  const presentation = queuePresentation({
    applyMarkdown: false,
    clientGravatar: false,
    slimPresence: false,
    capabilities: {},
    client: 'standard',
  });
  const { queue } = await new RegisterQueue(uow, scene.clock, new SeededRandomness(5)).execute(
    scene.caller('hamlet'),
    {
      parts: new Set(),
      includeSubscribers: false,
      filter: { types: ['no_such_type'], allPublicChannels: false, narrow: [] },
      presentation: { ...presentation },
      idleTimeoutSeconds: 600,
    },
    async () => null,
  );
  const poll = async (lastPosition: number, request: Request) => {
    const claim = { queueId: queue.id, lastPosition, dontBlock: false };
    return JSON.parse(String((await longPoll.poll(scene.caller('hamlet'), claim, request)).body));
  };
  return { poll, longPoll };
}

describe('a poll nobody has news for', () => {
  beforeEach(() => jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] }));
  afterEach(() => jest.useRealTimers());

  it('is answered with a heartbeat after 45 to 55 seconds, whatever types it wants, under ids that grow', async () => {
    const { poll, longPoll } = await aWaitingClient();
    let answer: { events: { type: string; id: number }[]; queue_id: string } | null = null;
    const waitFor = async (lastPosition: number) => {
      answer = null;
      void poll(lastPosition, aRequest().request).then((body) => {
        answer = body;
      });
      await new Promise((resolve) => setImmediate(resolve));
      await jest.advanceTimersByTimeAsync(44_000);
      expect(answer).toBeNull();
      await jest.advanceTimersByTimeAsync(12_000);
      await new Promise((resolve) => setImmediate(resolve));
      return answer!.events;
    };
    const [first] = await waitFor(-1);
    const [second] = await waitFor(first!.id);
    expect([first!.type, second!.type]).toEqual(['heartbeat', 'heartbeat']);
    expect(second!.id).toBeGreaterThan(first!.id);
    longPoll.close();
  });

  it('ends when its client goes away', async () => {
    const { poll, longPoll } = await aWaitingClient();
    const { request, hangUp } = aRequest();
    const waiting = poll(-1, request);
    await new Promise((resolve) => setImmediate(resolve));
    hangUp();
    expect((await waiting).events).toEqual([]);
    longPoll.close();
  });
});
