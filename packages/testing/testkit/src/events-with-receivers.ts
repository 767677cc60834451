import type { Announcement, DomainEventType, EventSeq, RealmId, Transaction } from '@parley/domain/kernel';
import type { MemoryFixture } from './builders.js';
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

/** Appends an event and returns its position. */
export async function appendEvent(tx: Transaction, realmId: RealmId, announcement: Announcement): Promise<EventSeq> {
  await tx.events.append(realmId, announcement);
  return tx.events.lastSeq(realmId);
}
