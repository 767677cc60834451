import { ParleyError } from '@parley/client';
import type { Gateway } from '../kernel/ports.js';
import { Outbox } from './outbox.js';

const LOST = new ParleyError('Connection lost', 'NO_CONNECTION', 0);

describe('Outbox', () => {
  it('repeats a send with the queue of the first attempt after the queue was replaced', async () => {
    const sent: object[] = [];
    const gateway = {
      post: async (_: string, { queue_id, local_id }: Record<string, unknown>) => {
        sent.push({ queue_id, local_id });
        if (sent.length === 1) throw LOST;
        return { id: 7 };
      },
    } as unknown as Gateway;
    const clock = { now: () => 1_000_000, after: () => () => {} };
    const chat = { selfId: () => 1, hasMessage: () => false, onSent: () => {} };
    const outbox = new Outbox(gateway, clock, null, chat);
    const settled = () => new Promise((resolve) => setImmediate(resolve));
    outbox.online('first');
    const key = outbox.add({ kind: 'channel', channelId: 1, topic: 'news' }, 'hello');
    await settled();
    outbox.online('second');
    await settled();
    outbox.add({ kind: 'channel', channelId: 1, topic: 'news' }, 'new');
    await settled();
    const first = { queue_id: 'first', local_id: key };
    expect(sent).toEqual([first, first, { queue_id: 'second', local_id: expect.not.stringMatching(key) }]);
  });
});
