import type { Actor } from '../access/actor.js';
import { users } from '../kernel/audience.js';
import type { FeatureParts } from '../kernel/event.js';
import type { Transaction } from '../kernel/unit-of-work.js';
import type { MutedSender } from './personal-messages.js';

export interface MutedUserEventTypes {
  /** To whoever mutes them: all of them. */
  'muted_users.changed': { readonly muted: readonly MutedSender[] };
}

declare module '../kernel/event.js' {
  interface DomainEventTypes extends MutedUserEventTypes {}
}

export const MUTED_USER_FEATURE = {
  eventFormats: { 'muted_users.changed': 1 },
} satisfies FeatureParts<MutedUserEventTypes>;

export async function publishMutedUsers(tx: Transaction, { realmId, id: userId }: Actor): Promise<void> {
  const muted = await tx.personal.listMutedSenders({ realmId, userId });
  await tx.events.append(realmId, { event: { type: 'muted_users.changed', muted }, audience: users([userId]) });
}
