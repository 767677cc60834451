import { BrowserTabs } from './browser-tabs.js';

const NAME = 'parley of a test';
const events = { onLead: () => {}, onLost: () => {}, onMessage: (_: unknown) => {} };
const message = { kind: 'events', after: 1, position: { queueId: 'a', lastEventId: 2 }, events: [] } as const;

/** Locks of a tab while another one holds the lock. */
const locks = {
  query: async () => ({}),
  request: (_: string, { steal }: LockOptions, onHeld: () => Promise<void>) =>
    steal ? onHeld() : new Promise<void>(() => {}),
};

describe('tabs of a browser', () => {
  let tabs: BrowserTabs;
  let other: BroadcastChannel;

  beforeEach(async () => {
    Object.defineProperty(globalThis, 'navigator', { value: { locks }, configurable: true });
    other = new BroadcastChannel(NAME);
    tabs = (await BrowserTabs.open(NAME))!;
    tabs.open(events);
  });

  afterEach(() => {
    tabs.close();
    other.close();
    Reflect.deleteProperty(globalThis, 'navigator');
  });

  /** Returns the kind of the first message that arrives from the tabs. */
  const firstKind = () =>
    new Promise((resolve) => {
      other.onmessage = (event) => resolve((event as MessageEvent).data.kind);
    });

  it('copies no events until another tab has sent a message', async () => {
    const kind = firstKind();
    tabs.send(message);
    tabs.send({ kind: 'active' });
    expect(await kind).toBe('active');
    const arrived = new Promise((resolve) => {
      events.onMessage = resolve;
    });
    other.postMessage({ kind: 'active' });
    await arrived;
    const next = firstKind();
    tabs.send(message);
    expect(await next).toBe('events');
  });

  it('copies events for a blocked tab that lost the lock', async () => {
    const kind = firstKind();
    tabs.steal();
    tabs.send(message);
    tabs.send({ kind: 'active' });
    expect(await kind).toBe('events');
  });
});
