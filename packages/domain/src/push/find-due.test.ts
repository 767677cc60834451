import { aUser, createFixture } from '@parley/testkit';
import type { ServedQueues } from '../kernel/event-queue.js';
import { FindDue } from './find-due.js';
import { type NotificationChannel, NotificationMeter, type NotificationTargets } from './notifications.js';

const channel: NotificationChannel = { schedule: async () => {}, withdraw: async () => {} };
const presence = { find: async () => null };

describe('FindDue', () => {
  it.each<[boolean, string, NotificationTargets]>([
    [false, 'without a channel or host', { channels: [], hasHost: false }],
    [true, 'with a channel', { channels: [channel], hasHost: false }],
    [true, 'with a host', { channels: [], hasHost: true }],
  ])('returns %s from isWanted for an expired queue %s', async (isWanted, _, targets) => {
    const { uow, clock, viewer } = await createFixture(aUser({ name: 'hamlet' }));
    const findDue = new FindDue(uow, clock, {} as ServedQueues, presence, targets, new NotificationMeter());
    const { userId } = viewer('hamlet');
    expect(findDue.isWanted({ event: { type: 'queue.last_expired', userId, since: clock.now() } })).toBe(isWanted);
  });
});
