import type { Actor, Role } from '@parley/domain/access';
import type { RealmId, UserId } from '@parley/domain/kernel';
import { RateLimiter } from '@parley/http';
import { FixedClock } from '@parley/testkit';
import { DailyChannelQuota, VisitorLimits } from './quotas.js';

function setUp({ isOn = true } = {}) {
  const clock = new FixedClock();
  const quota = new DailyChannelQuota(new RateLimiter({ clock, isOn }), { run: async () => {} }, clock);
  const actor = (id: number, role: Role) => ({ id: id as UserId, role }) as Actor;
  const make = (who: Actor, count: number) => quota.spend(who, count);
  const fail = (who: Actor, count: number) => quota.refund(who, count);
  return {
    clock,
    make,
    fail,
    member: actor(7, 'member'),
    other: actor(8, 'moderator'),
    admin: actor(9, 'administrator'),
  };
}

const rateLimited = (retryAfter: number) =>
  expect.objectContaining({ code: 'RATE_LIMITED', details: { retryAfter } }) as Error;

describe('DailyChannelQuota', () => {
  it('allows each user to create as many channels per day as fit in one request', () => {
    const { make, member, other } = setUp();
    make(member, 1000);
    expect(() => make(member, 1)).toThrow(rateLimited(86_400));
    make(other, 1000);
  });

  it('allows an administrator enough channels to set up a large organization', () => {
    const { make, admin } = setUp();
    for (let request = 0; request < 10; request++) make(admin, 1000);
    expect(() => make(admin, 1)).toThrow(rateLimited(86_400));
  });

  it('reserves all requested channels or none and frees them after one day', () => {
    const { clock, make, member } = setUp();
    make(member, 600);
    clock.advance(3600);
    expect(() => make(member, 401)).toThrow(rateLimited(82_800));
    make(member, 400);
    expect(() => make(member, 1)).toThrow(rateLimited(82_800));
    clock.advance(82_800);
    make(member, 600);
  });

  it('releases the reserved channels if creation fails', () => {
    const { make, fail, member } = setUp();
    make(member, 600);
    make(member, 400);
    fail(member, 400);
    expect(() => make(member, 401)).toThrow(rateLimited(86_400));
    make(member, 400);
    expect(() => make(member, 1)).toThrow(rateLimited(86_400));
  });

  it('applies no quota while rate limits are disabled', () => {
    const { make, member } = setUp({ isOn: false });
    make(member, 100_000);
    make(member, 100_000);
  });
});

describe('VisitorLimits', () => {
  const [realm, another] = [1, 2] as [RealmId, RealmId];

  it('limits the visitors of an organization also without addresses', () => {
    const limits = new VisitorLimits(new RateLimiter({ clock: new FixedClock() }));
    for (let visitor = 0; visitor < 1000; visitor++) limits.take(realm, null);
    expect(() => limits.take(realm, null)).toThrow(rateLimited(3600));
    limits.take(another, null);
  });

  it('counts a visitor refused by address neither for the organization nor for other addresses', () => {
    const limits = new VisitorLimits(new RateLimiter({ clock: new FixedClock() }));
    for (let visitor = 0; visitor < 10; visitor++) limits.take(realm, '192.0.2.1');
    for (let visitor = 0; visitor < 1000; visitor++) expect(() => limits.take(realm, '192.0.2.1')).toThrow();
    limits.take(realm, '192.0.2.2');
  });
});
