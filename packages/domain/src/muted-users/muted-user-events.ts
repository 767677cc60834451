import { users } from '../events/audience.js';
import type { FeatureParts } from '../events/event.js';
import type { MutedSender } from '../messages/personal-messages.js';
import type { Actor } from '../permissions/actor.js';
import type { Transaction } from '../shared/unit-of-work.js';

export interface MutedUserEventTypes {
  /** To whoever mutes them: all of them. */
  'muted_users.changed': { readonly muted: readonly MutedSender[] };
}

declare module '../events/event.js' {
  interface DomainEventTypes extends MutedUserEventTypes {}
}

export const MUTED_USER_FEATURE = {
  eventFormats: { 'muted_users.changed': 1 },
} satisfies FeatureParts<MutedUserEventTypes>;

export async function publishMutedUsers(tx: Transaction, { realmId, id: userId }: Actor): Promise<void> {
  const muted = await tx.personal.listMutedSenders({ realmId, userId });
  await tx.events.append(realmId, { event: { type: 'muted_users.changed', muted }, audience: users([userId]) });
}
