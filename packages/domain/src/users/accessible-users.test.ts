import type { RealmId, UserId } from '../kernel/ids.js';
import { inaccessibleUserIdsByGuest } from './accessible-users.js';
import type { ConversationPartnerQuestion } from './user.js';

it('inaccessibleUserIdsByGuest returns the users hidden from each of many guests', async () => {
  const reads = {
    users: {
      async areConversationPartners(_: RealmId, questions: readonly ConversationPartnerQuestion[]) {
        return questions.map(({ guestId, userId }) => userId - guestId !== 1001);
      },
      async list(_: RealmId, ids: readonly UserId[]) {
        return ids.map((id) => ({ id, bot: null }));
      },
    },
  };
  const idsFrom = (first: number, count: number) => Array.from({ length: count }, (_, n) => (first + n) as UserId);
  const guestIds = idsFrom(1, 250);
  const hidden = await inaccessibleUserIdsByGuest(reads as never, 1 as RealmId, guestIds, idsFrom(1001, 100));
  expect([...hidden].filter(([, users]) => users.size > 0).map(([guestId, users]) => [guestId, ...users])).toEqual(
    idsFrom(1, 99).map((guestId) => [guestId, guestId + 1001]),
  );
  expect(hidden.size).toBe(250);
});
