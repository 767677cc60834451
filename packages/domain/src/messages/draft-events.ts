import type { Actor } from '../access/actor.js';
import { users } from '../kernel/audience.js';
import type { EventOf, FeatureParts } from '../kernel/event.js';
import type { DraftId } from '../kernel/ids.js';
import type { Transaction } from '../kernel/unit-of-work.js';
import type { Draft } from './draft.js';

/** To those whose drafts they are (users §17). */
export interface DraftEventTypes {
  /** In the order in which they were given; perhaps none. */
  'draft.added': { readonly drafts: readonly Draft[] };
  'draft.changed': { readonly draft: Draft };
  'draft.removed': { readonly id: DraftId };
}

declare module '../kernel/event.js' {
  interface DomainEventTypes extends DraftEventTypes {}
}

export const DRAFT_FEATURE = {
  eventFormats: {
    'draft.added': 1,
    'draft.changed': 1,
    'draft.removed': 1,
  },
} satisfies FeatureParts<DraftEventTypes>;

export async function publishDrafts(
  tx: Transaction,
  { realmId, id }: Actor,
  event: EventOf<keyof DraftEventTypes>,
): Promise<void> {
  await tx.events.append(realmId, { event, audience: users([id]) });
}
