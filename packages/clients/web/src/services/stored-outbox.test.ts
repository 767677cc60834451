import { StoredOutbox } from './stored-outbox.js';
import { simulateStorage } from './testing/windows.js';

const WHOLE = {
  key: '1.1',
  queueId: null,
  destination: { kind: 'channel', channelId: 1, topic: 'x' },
  content: 'whole',
  createdAt: 1,
  delivery: 'waiting',
  failure: null,
  id: null,
};

/** Returns the texts of the messages that a tab takes over from a previous one. */
async function takenFrom(text: string): Promise<readonly string[]> {
  const values = simulateStorage({ 'outbox:former': text });
  Object.assign(globalThis, { addEventListener: () => {} });
  const locks = { request: async (_: string, task: () => unknown) => task() };
  Object.defineProperty(globalThis, 'navigator', { value: { locks }, configurable: true });
  const taken: string[] = [];
  const outbox = new StoredOutbox('outbox:');
  outbox.takeOver((messages) => taken.push(...messages.map(({ content }) => content)));
  outbox.release();
  expect(values).toEqual({});
  return taken;
}

describe('StoredOutbox', () => {
  it.each(['', '{', 'null', '7', '{}', '[null, 7, {}]'])('is empty if the storage contains %j', async (damaged) => {
    expect(await takenFrom(damaged)).toEqual([]);
  });

  it.each([
    { destination: { kind: 'direct' } },
    { destination: 'somewhere' },
    { key: 7 },
    { createdAt: 'yesterday' },
    { content: null },
  ])('drops a message with %j and keeps the others', async (damage) => {
    expect(await takenFrom(JSON.stringify([{ ...WHOLE, ...damage }, WHOLE]))).toEqual(['whole']);
  });
});
