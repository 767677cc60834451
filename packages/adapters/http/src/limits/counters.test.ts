import { RateLimiter, type RateLimiterOptions, rateLimitHeaders } from './counters.js';
import { parseQuotas } from './rules.js';

class TestClock {
  ms = 1_000_000_000;
  now = () => Math.floor(this.ms / 1000);
  nowMs = () => this.ms;
  pass(seconds: number) {
    this.ms += seconds * 1000;
  }
}

function setUp(limit = 3, windowSeconds = 60, bounds: Partial<RateLimiterOptions> = {}) {
  const clock = new TestClock();
  const limiter = new RateLimiter({ clock, rules: { api_by_user: [{ windowSeconds, limit }] }, ...bounds });
  const hit = (key = 'hamlet') => limiter.hit('api_by_user', key);
  return { clock, limiter, hit };
}

it('RateLimiter counts down, rejects calls at zero and returns the retry time', () => {
  const { clock, hit } = setUp();
  expect(hit()).toMatchObject({ isAllowed: true, limit: 3, remaining: 2 });
  clock.pass(10);
  hit();
  expect(hit()).toMatchObject({ isAllowed: true, remaining: 0, resetMs: clock.ms + 60_000 });
  clock.pass(10.5);
  expect(hit()).toMatchObject({ isAllowed: false, remaining: 0, retryAfterSeconds: 39.5 });
});

it('RateLimiter does not count rejected calls', () => {
  const { clock, hit } = setUp();
  for (let call = 0; call < 3; call++) hit();
  for (let call = 0; call < 59; call++) {
    clock.pass(1);
    expect(hit().isAllowed).toBe(false);
  }
  clock.pass(1);
  expect(hit()).toMatchObject({ isAllowed: true, remaining: 2 });
});

it('RateLimiter counts each call for exactly one sliding window', () => {
  const { clock, hit } = setUp(10);
  const times: number[] = [];
  for (let step = 0; step < 2000; step++) {
    clock.pass(((step * 7919) % 13) + 1);
    const inWindow = times.filter((time) => time > clock.ms - 60_000).length;
    const { isAllowed, remaining } = hit();
    expect(isAllowed).toBe(inWindow < 10);
    expect(remaining).toBe(isAllowed ? 9 - inWindow : 0);
    if (isAllowed) times.push(clock.ms);
  }
});

it('RateLimiter counts keys and rules separately', () => {
  const { limiter, hit } = setUp(1);
  expect(hit('a').isAllowed).toBe(true);
  expect(hit('b').isAllowed).toBe(true);
  expect(hit('a').isAllowed).toBe(false);
  expect(limiter.hit('events_by_user', 'a')).toMatchObject({ isAllowed: true, limit: 200, remaining: 199 });
});

it('RateLimiter applies all quotas of a rule', () => {
  const { clock, limiter } = setUp();
  const change = () => limiter.hit('email_change_by_user', 7).isAllowed;
  const responses = [0, 1, 2, 3, 4, 5].map(() => {
    clock.pass(1801);
    return change();
  });
  expect(responses).toEqual([true, true, true, true, true, false]);
  expect(limiter.hit('email_change_by_user', 7).retryAfterSeconds).toBe(86_400 - 5 * 1801 + 0);
});

it("RateLimiter applies a user's own quotas even after earlier calls", () => {
  const { limiter, hit } = setUp(2);
  hit();
  hit();
  expect(hit().isAllowed).toBe(false);
  const own = parseQuotas('60:5,3600:4');
  expect(limiter.hit('api_by_user', 'hamlet', { quotas: own })).toMatchObject({
    isAllowed: true,
    limit: 4,
    remaining: 1,
  });
  expect(limiter.hit('api_by_user', 'hamlet', { quotas: own })).toMatchObject({ isAllowed: true, remaining: 0 });
  expect(limiter.hit('api_by_user', 'hamlet', { quotas: own }).isAllowed).toBe(false);
});

it('RateLimiter allows use cases to count and reset attempts', () => {
  const { limiter } = setUp();
  const attempt = () => limiter.attempt('authenticate_by_username', 'hamlet@x');
  for (let count = 0; count < 5; count++) attempt();
  expect(attempt).toThrow(expect.objectContaining({ code: 'RATE_LIMITED', details: { retryAfter: 1800 } }));
  limiter.forget('authenticate_by_username', 'hamlet@x');
  expect(attempt).not.toThrow();
});

it('RateLimiter keeps every key within the window and drops all keys afterwards', () => {
  const { clock, hit } = setUp(1);
  for (let user = 0; user < 100; user++) {
    clock.pass(0.5);
    expect(hit(`user${user}`).isAllowed).toBe(true);
  }
  for (let user = 0; user < 100; user++) expect(hit(`user${user}`).isAllowed).toBe(false);
  clock.pass(60);
  expect(hit('user99').isAllowed).toBe(true);
});

it('RateLimiter stores a bounded number of keys', () => {
  const { limiter, hit } = setUp(1, 60, { maxKeys: 10 });
  const size = () =>
    JSON.stringify(limiter, (_, value) => (value instanceof Map ? [value.size, ...value.values()] : value)).length;
  for (let user = 0; user < 2000; user++) hit(`user${user}`);
  const full = size();
  for (let user = 0; user < 2000; user++) hit(`another${user}`);
  expect(size()).toBeLessThan(full * 1.1);
});

describe('flood of keys', () => {
  it('does not drop active keys', () => {
    const { clock, hit } = setUp(2, 60, { maxKeys: 10 });
    for (let call = 0; call < 2; call++) hit('hamlet');
    for (let second = 0; second < 59; second++) {
      clock.pass(1);
      for (let user = 0; user < 100; user++) hit(`user${second}.${user}`);
      expect(hit('hamlet').isAllowed).toBe(false);
    }
    clock.pass(1);
    expect(hit('hamlet').isAllowed).toBe(true);
  });

  it('shares counters among new keys without relaxing limits', () => {
    const { hit } = setUp(2, 60, { maxKeys: 10 });
    for (let user = 0; user < 10; user++) hit(`user${user}`);
    expect([hit('hamlet'), hit('hamlet'), hit('hamlet')].map(({ isAllowed }) => isAllowed)).toEqual([
      true,
      true,
      false,
    ]);
    const allowed = Array.from({ length: 5000 }, (_, user) => hit(`invented${user}`)).filter(
      (state) => state.isAllowed,
    );
    expect(allowed.length).toBeLessThanOrEqual(2 * 256);
  });

  it('gives new keys their own counters once others expire', () => {
    const { clock, hit } = setUp(2, 60, { maxKeys: 10 });
    for (let user = 0; user < 10_000; user++) hit(`user${user}`);
    clock.pass(60);
    for (const name of ['iago', 'hamlet', 'cordelia'])
      expect(hit(name)).toMatchObject({ isAllowed: true, remaining: 1 });
  });

  it('limits only the source of the flood', () => {
    const { limiter } = setUp(2, 60, { maxKeysPerSource: 3 });
    const hit = (key: string, source: string) => limiter.hit('api_by_user', key, { source }).isAllowed;
    const allowed = Array.from({ length: 5000 }, (_, user) => hit(`invented${user}`, 'flood')).filter(Boolean);
    expect(allowed.length).toBeLessThanOrEqual(3 + 2 * 256);
    expect([hit('a', 'home'), hit('b', 'home'), hit('c', 'home')]).toEqual([true, true, true]);
    expect([hit('a', 'home'), hit('a', 'home')]).toEqual([true, false]);
  });

  it('does not allow extra attempts on an account from many sources', () => {
    const { limiter } = setUp(2, 60, { maxKeysPerSource: 1 });
    const hit = (key: string, source: string) => limiter.hit('api_by_user', key, { source }).isAllowed;
    const sources = Array.from({ length: 50 }, (_, index) => `source${index}`);
    for (const source of sources) hit(`first of ${source}`, source);
    expect(sources.filter((source) => hit('hamlet', source)).length).toBe(2);
  });

  it('ignores successful attempts', () => {
    const { limiter } = setUp(2, 60, { maxKeysPerSource: 3 });
    for (let user = 0; user < 100; user++) {
      limiter.attempt('authenticate_by_username', `user${user}`, 'office');
      limiter.forget('authenticate_by_username', `user${user}`, 'office');
    }
    for (const name of ['a', 'b', 'c']) {
      for (let count = 0; count < 5; count++) limiter.attempt('authenticate_by_username', name, 'office');
    }
  });
});

it('RateLimiter withdraws an attempt', () => {
  const { clock, limiter } = setUp();
  const attempt = () => limiter.attempt('authenticate_by_username', 'hamlet@x');
  for (let count = 0; count < 20; count++) {
    attempt();
    limiter.withdraw('authenticate_by_username', 'hamlet@x');
  }
  for (let count = 0; count < 5; count++) attempt();
  limiter.withdraw('authenticate_by_username', 'hamlet@x');
  attempt();
  expect(attempt).toThrow(expect.objectContaining({ code: 'RATE_LIMITED' }));
  clock.pass(1800);
  limiter.withdraw('authenticate_by_username', 'hamlet@x');
  expect(limiter.peek('authenticate_by_username', 'hamlet@x').remaining).toBe(5);
});

it('RateLimiter reads the state of a key without storing it', () => {
  const { limiter, hit } = setUp(1, 60, { maxKeys: 10 });
  for (let user = 0; user < 100; user++) limiter.peek('api_by_user', `user${user}`);
  for (let user = 0; user < 10; user++) expect(hit(`user${user}`).isAllowed).toBe(true);
});

it('rateLimitHeaders writes the limit, the remaining calls and the reset time', () => {
  const { hit } = setUp();
  expect(rateLimitHeaders(hit())).toEqual([
    'X-RateLimit-Limit',
    '3',
    'X-RateLimit-Remaining',
    '2',
    'X-RateLimit-Reset',
    '1000060',
  ]);
});
