import { availableParallelism } from 'node:os';
import type { HashRequest, PasswordHasher } from '@parley/domain/access';
import { HashQueue, type HashQueueOptions } from './passwords.js';

/** Hasher that finishes only on demand. */
class ManualHasher implements PasswordHasher {
  readonly running: { readonly finish: (isRight: boolean) => void }[] = [];
  readonly started: string[] = [];

  hash(password: string): Promise<string> {
    return this.begin(password).then(() => `hash of ${password}`);
  }

  verify(password: string): Promise<boolean> {
    return this.begin(password);
  }

  private begin(password: string): Promise<boolean> {
    this.started.push(password);
    return new Promise((resolve) => this.running.push({ finish: resolve }));
  }

  /** Finishes the oldest hash and waits for its effects. */
  async finishOne(isRight = true): Promise<void> {
    this.running.shift()!.finish(isRight);
    await settled();
  }
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

function setUp(options: HashQueueOptions = {}) {
  const hasher = new ManualHasher();
  const queue = new HashQueue(hasher, { atOnce: 1, maxWaiting: 6, maxWaitingPerClient: 4, ...options });
  const outcomes = new Map<string, unknown>();
  const ask = (password: string, client?: string, more: HashRequest = {}) => {
    const asked = queue.verify(password, null, { client, ...more });
    asked.then(
      (isRight) => outcomes.set(password, isRight),
      (error) => outcomes.set(password, error.code),
    );
  };
  const drain = async () => {
    while (hasher.running.length > 0) await hasher.finishOne();
  };
  return { hasher, queue, ask, drain, outcomes };
}

describe('HashQueue', () => {
  it('limits concurrent hashes', async () => {
    const { hasher, ask, drain, outcomes } = setUp({ atOnce: 2 });
    for (const password of ['a', 'b', 'c', 'd']) ask(password, '10.0.0.1');
    expect(hasher.started).toEqual(['a', 'b']);
    await hasher.finishOne();
    expect(hasher.started).toEqual(['a', 'b', 'c']);
    await drain();
    expect([...outcomes]).toEqual([...'abcd'].map((password) => [password, true]));
    ask('e');
    ask('f');
    ask('g');
    expect(hasher.started.slice(4)).toEqual(['e', 'f']);
  });

  it('continues after the only waiting job of a client is cancelled', async () => {
    const { hasher, ask, drain, outcomes } = setUp();
    const left = new AbortController();
    ask('a', '10.0.0.1');
    ask('b', '10.0.0.2', { cancellation: left.signal });
    left.abort();
    await hasher.finishOne();
    ask('c', '10.0.0.2');
    expect(hasher.started).toEqual(['a', 'c']);
    await drain();
    expect([...outcomes]).toEqual([
      ['b', 'SERVER_BUSY'],
      ['a', true],
      ['c', true],
    ]);
  });

  it('serves the first attempt of each client before second ones', async () => {
    const { hasher, ask, drain } = setUp();
    for (const password of ['a1', 'a2', 'a3', 'a4']) ask(password, '10.0.0.1');
    ask('b1', '10.0.0.2');
    ask('b2', '10.0.0.2');
    await drain();
    expect(hasher.started).toEqual(['a1', 'b1', 'a2', 'b2', 'a3', 'a4']);
  });

  it('serves a known network before strangers', async () => {
    const { hasher, ask, drain } = setUp();
    for (const password of ['a1', 'a2', 'a3']) ask(password, '10.0.0.1');
    ask('b1', '10.0.0.2');
    ask('known', '10.0.0.3', { isKnown: true });
    await drain();
    expect(hasher.started).toEqual(['a1', 'known', 'b1', 'a2', 'a3']);
  });

  it('serves another network first during 96 attempts from 16 addresses', async () => {
    const { hasher, ask, drain } = setUp({ maxWaiting: 256 });
    for (let n = 0; n < 96; n++) ask(`guess ${n}`, `10.0.0.${n % 16}`);
    ask('right', '192.0.2.1');
    await drain();
    expect(hasher.started.indexOf('right')).toBe(1);
  });

  it.each([
    ['one network', (n: number) => `10.0.${n % 250}.${n}`],
    ['a thousand networks', (n: number) => `${1 + (n % 220)}.${n % 256}.${(7 * n) % 256}.9`],
    ['IPv6 networks', (n: number) => `2001:db8:${n}:1::/64`],
  ])(
    'serves an address without failures first while 1,000 addresses of %s keep guessing',
    async (_networks, addressOf) => {
      const hasher = new ManualHasher();
      const queue = new HashQueue(hasher, { atOnce: 2 });
      const guess = async (n: number): Promise<void> => {
        await queue.verify(`guess ${n}`, null, { client: addressOf(n) }).catch(() => {});
      };
      for (let n = 0; n < 1000; n++) void guess(n);
      for (let n = 0; n < 100; n++) {
        await hasher.finishOne(false);
        void guess(n);
      }
      const before = hasher.started.length;
      const right = queue.verify('right', null, { client: '192.0.2.1' });
      for (let n = 0; n < 3; n++) {
        await hasher.finishOne(false);
        void guess(n);
      }
      expect(hasher.started.indexOf('right') - before).toBeLessThan(2);
      while (hasher.running.length > 0) await hasher.finishOne(false);
      await right;
    },
  );

  it('serves an address with failed attempts after one without, and forgets its failures after ten minutes', async () => {
    const { hasher, ask, drain } = setUp();
    ask('wrong', '10.0.0.1');
    await hasher.finishOne(false);
    const askBoth = () => {
      ask('running', '10.9.0.9');
      ask('clean', '10.0.0.2');
      ask('failed', '10.0.0.1');
    };
    askBoth();
    await drain();
    expect(hasher.started.slice(-2)).toEqual(['clean', 'failed']);
    jest.spyOn(performance, 'now').mockReturnValue(performance.now() + 11 * 60_000);
    askBoth();
    await drain();
    jest.restoreAllMocks();
    expect(hasher.started.slice(-2)).toEqual(['clean', 'failed']);
  });

  it('does not count a mismatch as failed if a directory may accept the password', async () => {
    const { hasher, ask, drain } = setUp();
    ask('of the directory', '10.0.0.1', { isFinal: false });
    await hasher.finishOne(false);
    ask('running', '10.9.0.9');
    ask('other', '10.1.0.2');
    ask('second', '10.0.0.1');
    await drain();
    expect(hasher.started.slice(-2)).toEqual(['second', 'other']);
  });

  it('uses every core by default, as far as threads are available', async () => {
    const hasher = new ManualHasher();
    const queue = new HashQueue(hasher);
    const hashes = Array.from({ length: 9 }, (_, n) => queue.hash(`${n}`));
    expect(hasher.running).toHaveLength(Math.min(availableParallelism(), 3));
    while (hasher.running.length > 0) await hasher.finishOne();
    expect(await Promise.all(hashes)).toHaveLength(9);
  });

  it('verifies the passwords of 60 people behind one address while 16 strangers guess six each', async () => {
    const hasher = new ManualHasher();
    const queue = new HashQueue(hasher, { atOnce: 1 });
    const asked = [
      ...Array.from({ length: 96 }, (_, n) => queue.verify('a guess', null, { client: `10.0.0.${n % 16}` })),
      ...Array.from({ length: 60 }, () => queue.verify('a password', null, { client: '192.0.2.1' })),
    ];
    while (hasher.running.length > 0) await hasher.finishOne();
    expect(await Promise.all(asked)).toEqual(Array(156).fill(true));
  });

  it('counts a group of addresses as one client', async () => {
    const { hasher, ask, drain } = setUp({ groupOf: (client) => client.split('::')[0]! });
    for (const password of ['a1', 'a2', 'a3']) ask(password, `2001:db8::${password}`);
    ask('b1', '10.0.0.2');
    await drain();
    expect(hasher.started).toEqual(['a1', 'b1', 'a2', 'a3']);
  });

  it("immediately rejects jobs beyond a client's limit", async () => {
    const { hasher, ask, drain, outcomes } = setUp();
    for (const password of ['a0', 'a1', 'a2', 'a3', 'a4', 'a5', 'a6']) ask(password, '10.0.0.1');
    await settled();
    expect([...outcomes]).toEqual([
      ['a5', 'SERVER_BUSY'],
      ['a6', 'SERVER_BUSY'],
    ]);
    ask('b1', '10.0.0.2');
    await drain();
    expect(hasher.started).toEqual(['a0', 'b1', 'a1', 'a2', 'a3', 'a4']);
  });

  it('evicts further attempts before first ones, and then first ones of the busiest network', async () => {
    const { ask, drain, outcomes } = setUp();
    ask('running', '10.0.0.9');
    for (const password of ['a1', 'a2', 'a3', 'a4']) ask(password, '10.0.0.1');
    for (const client of [2, 3, 4, 5, 6]) ask(`n${client}`, `10.0.0.${client}`);
    await settled();
    expect([...outcomes.keys()]).toEqual(['a4', 'a3', 'a2']);
    ask('n7', '10.0.0.7');
    await settled();
    expect([...outcomes.keys()].slice(3)).toEqual(['n6']);
    await drain();
    expect(outcomes.get('a1')).toBe(true);
  });

  it('never rejects the operator', async () => {
    const { queue, drain } = setUp();
    const hashes = Promise.all(Array.from({ length: 50 }, (_, n) => queue.hash(`${n}`)));
    await drain();
    expect((await hashes).at(-1)).toBe('hash of 49');
  });

  it('drops jobs of clients that disconnected', async () => {
    const { hasher, ask, drain, outcomes } = setUp();
    const controller = new AbortController();
    ask('a1', '10.0.0.1');
    ask('gone', '10.0.0.1', { cancellation: controller.signal });
    ask('a2', '10.0.0.1');
    controller.abort();
    ask('too late', '10.0.0.1', { cancellation: controller.signal });
    await drain();
    expect(hasher.started).toEqual(['a1', 'a2']);
    expect(outcomes.get('gone')).toBe('SERVER_BUSY');
    expect(outcomes.get('too late')).toBe('SERVER_BUSY');
  });

  it('finishes a running hash even if its caller disconnected', async () => {
    const { hasher, ask, drain, outcomes } = setUp();
    const controller = new AbortController();
    ask('a1', '10.0.0.1', { cancellation: controller.signal });
    controller.abort();
    ask('a2', '10.0.0.1');
    await drain();
    expect(hasher.started).toEqual(['a1', 'a2']);
    expect([...outcomes.values()]).toEqual([true, true]);
  });

  it('continues after a failed hash', async () => {
    const failing: PasswordHasher = {
      hash: () => Promise.reject(new Error('out of memory')),
      verify: () => Promise.reject(new Error('out of memory')),
    };
    const queue = new HashQueue(failing, { atOnce: 1 });
    const asked = [queue.verify('a', null), queue.hash('b')];
    for (const one of asked) await expect(one).rejects.toThrow('out of memory');
  });
});
