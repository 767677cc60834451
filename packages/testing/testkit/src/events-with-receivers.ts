import type {
  Announcement,
  DomainEventType,
  EventNeeds,
  EventSeq,
  RealmId,
  ReceiverRequest,
  Transaction,
} from '@parley/domain/kernel';
import { aChannel, aRealmWith, aUser, type FixtureStep, type MemoryFixture } from './builders.js';
import { reaches } from './client-model.js';

/** Events since the fixture was built, oldest first, with audience and receivers by name. */
export async function eventsWithReceivers(
  fixture: MemoryFixture,
): Promise<readonly (readonly [DomainEventType, readonly string[]])[]> {
  return fixture.uow.read(fixture.realm.id, async (repositories) => {
    const events: [DomainEventType, string[]][] = [];
    for (const stored of fixture.storage.announced) {
      if (stored.realmId !== fixture.realm.id || stored.audience.kind === 'nobody') continue;
      const names: string[] = [];
      for (const [name, { id, realmId }] of fixture.users) {
        const user = await repositories.users.find(realmId, id);
        if (user?.isActive && (await reaches(repositories, { realmId, userId: id }, stored))) names.push(name);
      }
      events.push([stored.event.type, names]);
    }
    return events;
  });
}

/** Realm in which guests have limited access to users: polonius shares a channel with hamlet, osric with nobody. */
export const withLimitedGuests: readonly FixtureStep[] = [
  aRealmWith({ permissionOverrides: { canAccessAllUsers: 'members' } }),
  aUser({ name: 'iago', role: 'administrator' }),
  aUser({ name: 'hamlet' }),
  aUser({ name: 'polonius', role: 'guest' }),
  aUser({ name: 'osric', role: 'guest' }),
  aChannel({ name: 'court', subscribers: ['hamlet', 'polonius'] }),
];

/** Needs of an event for one user. `seq`: position of the event in the log; null for events that are not logged. */
export function receiverRequest(
  { user }: MemoryFixture,
  name: string,
  needs: EventNeeds,
  seq: number | null = null,
): ReceiverRequest {
  const { id: userId, role } = user(name);
  return { owner: { userId, role, isLimitedGuest: role === 'guest' }, needs, seq: seq as EventSeq | null };
}

/** Appends an event and returns its position. */
export async function appendEvent(tx: Transaction, realmId: RealmId, announcement: Announcement): Promise<EventSeq> {
  await tx.events.append(realmId, announcement);
  return tx.events.lastSeq(realmId);
}
