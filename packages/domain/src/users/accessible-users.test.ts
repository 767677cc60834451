import type { RealmId, UserId } from '../kernel/ids.js';
import { inaccessibleUserIdsByGuest } from './accessible-users.js';
import type { ConversationPartnerQuestion } from './user.js';

it('inaccessibleUserIdsByGuest yields to other work while many guests are checked for many users', async () => {
  const steps: (number | 'yield')[] = [];
  const reads = {
    users: {
      async areConversationPartners(_: RealmId, questions: readonly ConversationPartnerQuestion[]) {
        steps.push(questions.length);
        return questions.map(({ guestId, userId }) => userId - guestId !== 1001);
      },
      async list(_: RealmId, ids: readonly UserId[]) {
        return ids.map((id) => ({ id, bot: null }));
      },
    },
    async yield() {
      steps.push('yield');
    },
  };
  const idsFrom = (first: number, count: number) => Array.from({ length: count }, (_, n) => (first + n) as UserId);
  const guestIds = idsFrom(1, 250);
  const hidden = await inaccessibleUserIdsByGuest(reads as never, 1 as RealmId, guestIds, idsFrom(1001, 100));
  expect(steps).toEqual([10_000, 'yield', 10_000, 'yield', 5000]);
  expect([...hidden].filter(([, users]) => users.size > 0).map(([guestId, users]) => [guestId, ...users])).toEqual(
    idsFrom(1, 99).map((guestId) => [guestId, guestId + 1001]),
  );
  expect(hidden.size).toBe(250);
});
