import { aChannel, aMessage, aUser, given } from '@parley/testkit';
import type { EventSeq, MessageId, RealmId, UserId } from '../shared/ids.js';
import type { Role } from '../users/role.js';
import { type Audience, allOf, atLeast, except, subscribersOf, users, wholeRealm } from './audience.js';
import type { DomainEvent } from './event.js';
import type { EventQueue, QueueFilter } from './event-queue.js';
import { LiveQueue } from './live-queue.js';
import { LiveRealm, type Owner } from './live-realm.js';

const realmId = 1 as RealmId;
const id = (number: number) => number as UserId;
const blank: DomainEvent = { type: 'blank' };

/** A realm in which users have a queue each, named `q` and their number. */
function aLiveRealm(holders: Readonly<Record<number, readonly number[]>> = {}) {
  let seq = 0;
  const realm = new LiveRealm(
    realmId,
    [],
    () => true,
    async (message) => new Set((holders[message] ?? []).map(id)),
  );
  return {
    realm,
    join(number: number, role: Role, filter: Partial<QueueFilter> = {}): LiveQueue {
      const owner: Owner = {
        userId: id(number),
        role,
        isActive: true,
        channels: new Set(),
        directGroups: new Set(),
        queues: new Set(),
      };
      realm.add(owner);
      const live = new LiveQueue(aQueue(number, filter), 0);
      realm.addQueue(owner, live);
      return live;
    },
    tell(audience: Audience, event: DomainEvent = blank): void {
      realm.take({ realmId, seq: ++seq as EventSeq, event, audience, at: 0 });
    },
  };
}

const aQueue = (number: number, filter: Partial<QueueFilter>): EventQueue => ({
  id: `q${number}`,
  realmId,
  ownerId: id(number),
  filter: { types: null, allPublicChannels: false, narrow: [], ...filter },
  presentation: {},
  startSeq: 0 as EventSeq,
  acked: -1,
  floorSeq: 0 as EventSeq,
  lastPolledAt: 0,
  idleTimeoutSeconds: 600,
});
const heard = (live: LiveQueue) =>
  live.deliveries.map(({ stored, isBystander }) => `${stored.seq}${isBystander ? ' aside' : ''}`);

/** A message nobody here received. */
const publicMessage = async (): Promise<DomainEvent> => {
  const scene = await given(
    aUser({ name: 'iago' }),
    aChannel({ name: 'Denmark' }),
    aMessage({ from: 'iago', to: 'Denmark' }),
  );
  const [view] = await scene.uow.read((r) => r.pages.listViews(scene.realm.id, [scene.messages[0]!.id]));
  return { type: 'message.sent', view: view!, isPublic: true, exceptions: [], echo: null };
};

describe('live queues of a realm', () => {
  it('hear what is said to their owners, and what is said to one of them alone', () => {
    const { join, tell } = aLiveRealm();
    const [owner, member] = [join(1, 'owner'), join(2, 'member')];
    tell(wholeRealm);
    tell(allOf(atLeast('administrator'), users([id(1), id(2)])));
    tell(except(wholeRealm, users([id(1)])));
    tell({ kind: 'queue', id: 'q2' });
    tell({ kind: 'nobody' });
    expect([heard(owner), heard(member)]).toEqual([
      ['1', '2'],
      ['1', '3', '4'],
    ]);
  });

  it('keep their order while it is looked up who has a message', async () => {
    const { join, tell, realm } = aLiveRealm({ 7: [1] });
    const [one, two] = [join(1, 'member'), join(2, 'member')];
    tell({ kind: 'holders', messageId: 7 as MessageId });
    tell(wholeRealm);
    expect(realm.isIdle).toBe(false);
    expect(heard(two)).toEqual([]);
    await realm.settled();
    expect([heard(one), heard(two)]).toEqual([['1', '2'], ['2']]);
    expect(realm.isIdle).toBe(true);
  });

  it('of guests hear of no public channel but their own, those of others of all', async () => {
    const message = await publicMessage();
    const { join, tell } = aLiveRealm();
    const wide = { allPublicChannels: true };
    const [plain, member, guest] = [join(1, 'owner'), join(2, 'member', wide), join(3, 'guest', wide)];
    const narrowed = join(4, 'member', { narrow: [{ operator: 'channel', operand: 'Denmark' }] });
    tell(users([id(1)]), message);
    expect([plain, member, guest, narrowed].map(heard)).toEqual([['1'], ['1 aside'], [], ['1 aside']]);
  });

  it('hear of public channels by the role their owner has by then', async () => {
    const message = await publicMessage();
    const { join, tell } = aLiveRealm();
    const wide = { allPublicChannels: true };
    const [demoted, promoted] = [join(1, 'member', wide), join(2, 'guest', wide)];
    tell(users([]), { type: 'user.role_changed', userId: id(1), role: 'guest' });
    tell(users([]), { type: 'user.role_changed', userId: id(2), role: 'member' });
    tell(users([]), message);
    expect([demoted, promoted].map(heard)).toEqual([[], ['3 aside']]);
  });

  it('of whoever is deactivated are closed once they have heard of it', () => {
    const { join, tell } = aLiveRealm();
    const live = join(1, 'member');
    tell(wholeRealm, { type: 'user.activation_changed', userId: id(1), isActive: false });
    expect([heard(live), live.isClosed]).toEqual([['1'], true]);
  });

  it('leave nothing behind when they go', () => {
    const { join, tell, realm } = aLiveRealm();
    const live = join(1, 'member');
    realm.removeQueue(live);
    tell(wholeRealm);
    tell(subscribersOf(9 as never));
    expect([heard(live), realm.owners.size]).toEqual([[], 0]);
  });
});

it('sends everybody back to the log when nobody can say whom an event was for, and goes on', async () => {
  const realm = new LiveRealm(
    realmId,
    [],
    () => true,
    () => Promise.reject(new Error('disk')),
  );
  const owner: Owner = {
    userId: id(1),
    role: 'member',
    isActive: true,
    channels: new Set(),
    directGroups: new Set(),
    queues: new Set(),
  };
  realm.add(owner);
  const before = new LiveQueue(aQueue(1, {}), 0);
  realm.addQueue(owner, before);
  const at = 0;
  realm.take({
    realmId,
    seq: 1 as EventSeq,
    event: blank,
    audience: { kind: 'holders', messageId: 5 as MessageId },
    at,
  });
  await realm.settled();
  expect(before.isBehind).toBe(true);

  const after = new LiveQueue(aQueue(1, {}), 0);
  realm.addQueue(owner, after);
  realm.take({ realmId, seq: 2 as EventSeq, event: blank, audience: wholeRealm, at });
  expect(heard(after)).toEqual(['2']);
});
