import { ipGroup, parseQuotas, RateLimiter, rateLimitHeaders } from './rate-limit.js';

class TestClock {
  ms = 1_000_000_000;
  now = () => Math.floor(this.ms / 1000);
  nowMs = () => this.ms;
  pass(seconds: number) {
    this.ms += seconds * 1000;
  }
}

function given(limit = 3, windowSeconds = 60, maxKeys?: number) {
  const clock = new TestClock();
  const limiter = new RateLimiter({ clock, rules: { api_by_user: [{ windowSeconds, limit }] }, maxKeys });
  const hit = (key = 'hamlet') => limiter.hit('api_by_user', key);
  return { clock, limiter, hit };
}

it('counts down, refuses, and says when to come again', () => {
  const { clock, hit } = given();
  expect(hit()).toMatchObject({ isAllowed: true, limit: 3, remaining: 2 });
  clock.pass(10);
  hit();
  expect(hit()).toMatchObject({ isAllowed: true, remaining: 0, resetMs: clock.ms + 60_000 });
  clock.pass(10.5);
  expect(hit()).toMatchObject({ isAllowed: false, remaining: 0, retryAfterSeconds: 39.5 });
});

it('does not count refused calls', () => {
  const { clock, hit } = given();
  for (let call = 0; call < 3; call++) hit();
  for (let call = 0; call < 59; call++) {
    clock.pass(1);
    expect(hit().isAllowed).toBe(false);
  }
  clock.pass(1);
  expect(hit()).toMatchObject({ isAllowed: true, remaining: 2 });
});

it('slides: each call counts for exactly one window', () => {
  const { clock, hit } = given(10);
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

it('keeps keys and rules apart', () => {
  const { limiter, hit } = given(1);
  expect(hit('a').isAllowed).toBe(true);
  expect(hit('b').isAllowed).toBe(true);
  expect(hit('a').isAllowed).toBe(false);
  expect(limiter.hit('events_by_user', 'a')).toMatchObject({ isAllowed: true, limit: 200, remaining: 199 });
});

it('applies all quotas of a rule', () => {
  const { clock, limiter } = given();
  const change = () => limiter.hit('email_change_by_user', 7).isAllowed;
  const answers = [0, 1, 2, 3, 4, 5].map(() => {
    clock.pass(1801);
    return change();
  });
  expect(answers).toEqual([true, true, true, true, true, false]);
  expect(limiter.hit('email_change_by_user', 7).retryAfterSeconds).toBe(86_400 - 5 * 1801 + 0);
});

it("takes a user's own quotas, also in the middle", () => {
  const { limiter, hit } = given(2);
  hit();
  hit();
  expect(hit().isAllowed).toBe(false);
  const own = parseQuotas('60:5,3600:4');
  expect(limiter.hit('api_by_user', 'hamlet', own)).toMatchObject({ isAllowed: true, limit: 4, remaining: 1 });
  expect(limiter.hit('api_by_user', 'hamlet', own)).toMatchObject({ isAllowed: true, remaining: 0 });
  expect(limiter.hit('api_by_user', 'hamlet', own).isAllowed).toBe(false);
});

it.each([undefined, '', 'x', '60', '60:0', '60:5,'])('has no quotas in %p', (text) => {
  expect(parseQuotas(text)).toBeUndefined();
});

it('lets a use case count attempts and forget them', () => {
  const { limiter } = given();
  const attempt = () => limiter.attempt('authenticate_by_username', 'hamlet@x');
  for (let count = 0; count < 5; count++) attempt();
  expect(attempt).toThrow(expect.objectContaining({ code: 'RATE_LIMITED', details: { retryAfter: 1800 } }));
  limiter.forget('authenticate_by_username', 'hamlet@x');
  expect(attempt).not.toThrow();
});

it('forgets nobody within the window, and everybody after it', () => {
  const { clock, hit } = given(1);
  for (let user = 0; user < 100; user++) {
    clock.pass(0.5);
    expect(hit(`user${user}`).isAllowed).toBe(true);
  }
  for (let user = 0; user < 100; user++) expect(hit(`user${user}`).isAllowed).toBe(false);
  clock.pass(60);
  expect(hit('user99').isAllowed).toBe(true);
});

it('remembers a bounded number of keys', () => {
  const { limiter, hit } = given(1, 60, 10);
  for (let user = 0; user < 1000; user++) hit(`user${user}`);
  const sizes = JSON.stringify(limiter, (_, value) => (value instanceof Map ? [value.size, ...value.values()] : value));
  expect(sizes.length).toBeLessThan(10_000);
  expect(hit('user999').isAllowed).toBe(false);
});

it('writes its headers', () => {
  const { hit } = given();
  expect(rateLimitHeaders(hit())).toEqual([
    'X-RateLimit-Limit',
    '3',
    'X-RateLimit-Remaining',
    '2',
    'X-RateLimit-Reset',
    '1000060',
  ]);
});

it.each([
  ['10.1.2.3', '10.1.2.3'],
  ['::ffff:10.1.2.3', '10.1.2.3'],
  ['2001:db8:0:1:2:3:4:5', '2001:db8:0:1::/64'],
  ['2001:DB8::1', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
])('groups %s as %s', (ip, group) => {
  expect(ipGroup(ip)).toBe(group);
});
