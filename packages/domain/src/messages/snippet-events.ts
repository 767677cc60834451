import { users } from '../kernel/audience.js';
import type { EventOf, FeatureParts } from '../kernel/event.js';
import type { RealmId, SnippetId, UserId } from '../kernel/ids.js';
import type { Transaction } from '../kernel/unit-of-work.js';
import type { Snippet } from './snippet.js';

/** To those whose snippets they are (users §18). */
export interface SnippetEventTypes {
  'snippet.added': { readonly snippet: Snippet };
  'snippet.changed': { readonly snippet: Snippet };
  'snippet.removed': { readonly id: SnippetId };
}

declare module '../kernel/event.js' {
  interface DomainEventTypes extends SnippetEventTypes {}
}

export const SNIPPET_FEATURE = {
  eventFormats: {
    'snippet.added': 1,
    'snippet.changed': 1,
    'snippet.removed': 1,
  },
} satisfies FeatureParts<SnippetEventTypes>;

export async function publishSnippet(
  tx: Transaction,
  { realmId, userId }: { readonly realmId: RealmId; readonly userId: UserId },
  event: EventOf<keyof SnippetEventTypes>,
): Promise<void> {
  await tx.events.append(realmId, { event, audience: users([userId]) });
}
