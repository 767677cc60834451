import type { Event, Message } from '@parley/client';
import type { Clock, Gateway } from '../kernel/ports.js';
import { ChatState } from '../kernel/state.js';
import { Topics } from './topics.js';

const CHANNEL = 5;

interface ListedTopic {
  readonly name: string;
  readonly max_id: number;
}

describe('topics of a channel', () => {
  let state: ChatState;
  let topics: Topics;
  /** Requests for the list without a response. */
  let requests: ((list: readonly ListedTopic[] | Error) => void)[];
  /** Ends the delays that batch changes. */
  let flush: () => void;

  beforeEach(() => {
    requests = [];
    state = new ChatState();
    const get = () =>
      new Promise((resolve, reject) => {
        requests.push((list) => (list instanceof Error ? reject(list) : resolve({ topics: list })));
      });
    const callbacks = new Set<() => void>();
    const clock: Clock = {
      now: () => 0,
      after: (_ms, callback) => {
        callbacks.add(callback);
        return () => callbacks.delete(callback);
      },
    };
    flush = () => {
      for (const callback of [...callbacks]) {
        callbacks.delete(callback);
        callback();
      }
    };
    topics = new Topics(state, { get } as object as Gateway, clock);
  });

  const receive = (event: object) => topics.received(event as Event);
  const receiveMessage = (id: number, subject: string) =>
    receive({ type: 'message', message: { id, stream_id: CHANNEL, subject } });
  const listed = () => [...(state.topics.peek(CHANNEL)?.values() ?? [])].map(({ name, maxId }) => [name, maxId]);

  it('include the topic of a message that arrives before a list without it', async () => {
    const loaded = topics.load(CHANNEL);
    receiveMessage(2, 'new');
    flush();
    requests[0]!([{ name: 'old', max_id: 1 }]);
    await loaded;
    expect(listed()).toEqual([
      ['old', 1],
      ['new', 2],
    ]);
  });

  it('include the topic of a message that arrives while the list is fetched again', async () => {
    const loaded = topics.load(CHANNEL);
    requests[0]!([{ name: 'Old', max_id: 1 }]);
    await loaded;
    const again = topics.load(CHANNEL);
    receiveMessage(2, 'new');
    receiveMessage(3, 'old');
    flush();
    requests[1]!([{ name: 'Old', max_id: 1 }]);
    await again;
    expect(listed()).toEqual([
      ['Old', 3],
      ['new', 2],
    ]);
  });

  it('are fetched again if the latest message of a topic is deleted while they are fetched', async () => {
    const loaded = topics.load(CHANNEL);
    receiveMessage(2, 'new');
    receive({ type: 'delete_message', message_type: 'stream', stream_id: CHANNEL, topic: 'new', message_ids: [2] });
    flush();
    expect(requests).toHaveLength(1);
    requests[0]!([{ name: 'old', max_id: 1 }]);
    await loaded;
    requests[1]!([{ name: 'old', max_id: 1 }]);
    await new Promise(setImmediate);
    expect(listed()).toEqual([['old', 1]]);
  });

  it('include the newest messages of unopened channels, then new messages', async () => {
    receiveMessage(1, 'unseen');
    flush();
    const message = { id: 2, stream_id: CHANNEL, subject: 'recent' };
    await topics.addRecent(Promise.resolve({ messages: [message, { id: 3, subject: '' }] as object[] as Message[] }));
    receiveMessage(4, 'new');
    flush();
    expect(listed()).toEqual([
      ['recent', 2],
      ['new', 4],
    ]);
  });

  it('stay unknown if the list cannot be fetched', async () => {
    const loaded = topics.load(CHANNEL);
    receiveMessage(2, 'new');
    requests[0]!(new Error('offline'));
    await expect(loaded).rejects.toThrow('offline');
    flush();
    expect(state.topics.peek(CHANNEL)).toBeUndefined();
  });
});
