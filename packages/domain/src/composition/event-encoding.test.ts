import type { DomainEvent } from '../kernel/event.js';
import type { EventSeq, MessageId, RealmId, UnixSeconds, UserId } from '../kernel/ids.js';
import { decodeEvent, encodeEvent, sizeOfEvent } from './features.js';

describe('encoding of an event that names a thousand messages', () => {
  const messageIds = Array.from({ length: 1000 }, (_, n) => (1_000_000 + 20 * n) as MessageId);
  const audience = { kind: 'users', ids: [7 as UserId] } as const;
  const marked = {
    type: 'message.flag_changed',
    op: 'add',
    flag: 'read',
    messageIds,
    all: false,
    details: [],
  } as const;
  const deleted = { type: 'message.deleted', messageIds, channelId: null, topic: '', onlyToHolders: false } as const;

  it.each<[string, DomainEvent]>([
    ['marks them', marked],
    ['deletes them', deleted],
  ])('stores an event that %s in a few hundred bytes', (_, event) => {
    const encoded = encodeEvent({ event, audience });
    expect(encoded.payload.length).toBeLessThan(200);
    const row = { ...encoded, realmId: 1 as RealmId, seq: 1 as EventSeq, at: 0 as UnixSeconds, quotes: null };
    const logged = decodeEvent(row);
    expect(logged).toMatchObject({ event });
    expect(sizeOfEvent(row, logged)).toBeGreaterThan(8000);
  });
});
