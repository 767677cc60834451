import type { Actor, Role } from '@parley/domain/access';
import type { UserId } from '@parley/domain/kernel';
import { RateLimiter } from '@parley/http';
import { FixedClock } from '@parley/testkit';
import { DailyChannelQuota } from './limits.js';

function given({ isOn = true } = {}) {
  const clock = new FixedClock();
  const quota = new DailyChannelQuota(new RateLimiter({ clock, isOn }), clock);
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

describe('channels a day', () => {
  it('are as many as one request may make, for each user', () => {
    const { make, member, other } = given();
    make(member, 1000);
    expect(() => make(member, 1)).toThrow(rateLimited(86_400));
    make(other, 1000);
  });

  it('are enough for an administrator who sets up a large organization', () => {
    const { make, admin } = given();
    for (let request = 0; request < 10; request++) make(admin, 1000);
    expect(() => make(admin, 1)).toThrow(rateLimited(86_400));
  });

  it('are made all or none, and free again one day after they were made', () => {
    const { clock, make, member } = given();
    make(member, 600);
    clock.advance(3600);
    expect(() => make(member, 401)).toThrow(rateLimited(82_800));
    make(member, 400);
    expect(() => make(member, 1)).toThrow(rateLimited(82_800));
    clock.advance(82_800);
    make(member, 600);
  });

  it('are given back when they were not made after all', () => {
    const { make, fail, member } = given();
    make(member, 600);
    make(member, 400);
    fail(member, 400);
    expect(() => make(member, 401)).toThrow(rateLimited(86_400));
    make(member, 400);
    expect(() => make(member, 1)).toThrow(rateLimited(86_400));
  });

  it('are not counted where rate limits are off', () => {
    const { make, member } = given({ isOn: false });
    make(member, 100_000);
    make(member, 100_000);
  });
});
