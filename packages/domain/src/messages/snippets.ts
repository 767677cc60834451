import { DomainError, declareErrors } from '../kernel/errors.js';
import { type EventOf, type FeatureParts, users } from '../kernel/event.js';
import type { PersonPart } from '../kernel/export-parts.js';
import type { RealmId, SnippetId, UnixSeconds, UserId } from '../kernel/ids.js';
import type { Snapshot } from '../kernel/register-queue.js';
import type { RowRules, UserRowReads, UserRows } from '../kernel/rows.js';
import * as shape from '../kernel/shape.js';
import { keepsTooMuchText, MAX_KEPT_TEXT_BYTES } from '../kernel/text.js';
import type { Transaction } from '../kernel/unit-of-work.js';

/** Text that a user saved for reuse. */
export interface Snippet {
  readonly id: SnippetId;
  readonly realmId: RealmId;
  readonly userId: UserId;
  readonly title: string;
  /** Markdown. */
  readonly content: string;
  readonly createdAt: UnixSeconds;
}

/** Per user. */
export const MAX_SNIPPETS = 1000;

/** @throws DomainError TOO_MANY_SNIPPETS */
export function requireRoomForSnippet(count: number): void {
  if (count < MAX_SNIPPETS) return;
  throw new DomainError('TOO_MANY_SNIPPETS', `Too many saved snippets (limit: ${MAX_SNIPPETS}).`);
}

/** Checks the total text size, see `keepsTooMuchText`. @throws DomainError TOO_MANY_SNIPPETS */
export function requireRoomForSnippetText(
  present: number,
  added: readonly string[],
  removed: readonly string[] = [],
): void {
  if (!keepsTooMuchText(present, added, removed)) return;
  throw new DomainError('TOO_MANY_SNIPPETS', `Too much text in saved snippets (limit: ${MAX_KEPT_TEXT_BYTES} bytes).`);
}

/** @throws DomainError UNKNOWN_SNIPPET */
export function requireSnippet(snippet: Snippet | null): Snippet {
  if (snippet) return snippet;
  throw new DomainError('UNKNOWN_SNIPPET', 'Saved snippet does not exist.');
}

export const SNIPPET_ROWS: RowRules<keyof Snippet> = {
  kind: 'snippet',
  owner: 'user',
  order: ['id'],
  texts: ['content'],
};

export const SNIPPET_ERRORS = declareErrors({
  /** The caller has no such saved snippet. */
  UNKNOWN_SNIPPET: 'unknown',
  /** The user has too many saved snippets, or too much text in them. */
  TOO_MANY_SNIPPETS: 'conflict',
});

type SnippetErrors = typeof SNIPPET_ERRORS;

/** Sent to the owner of the snippets (users §18). */
export interface SnippetEventTypes {
  'snippet.added': { readonly snippet: Snippet };
  'snippet.changed': { readonly snippet: Snippet };
  'snippet.removed': { readonly id: SnippetId };
}

declare module '../kernel/feature-types.js' {
  interface RepositoryMap {
    snippets: [reads: UserRowReads<Snippet>, repository: UserRows<Snippet>];
  }
  interface ErrorCodes extends SnippetErrors {}
  interface DomainEventTypes extends SnippetEventTypes {}
  interface PersonCopyParts {
    readonly snippets: readonly Snippet[];
  }
  interface IdKindParts {
    snippet: SnippetId;
  }
}

const personPart: PersonPart<'snippets'> = {
  none: { snippets: [] },
  idKinds: ['snippet'],
  shapes: {
    snippets: shape.list(
      shape.object({ id: shape.anyId, title: shape.name, content: shape.content, createdAt: shape.time }),
      100_000,
    ),
  },
  read: async (reads, { realmId, userId }) => ({
    snippets: await reads.snippets.list(realmId, userId, MAX_SNIPPETS),
  }),
  idsOf: ({ snippets }) => ({ snippet: snippets.map(({ id }) => id) }),
  async add(tx, owner, { snippets }, ids) {
    await ids.addAll(tx, 'snippet', 'saved snippet', snippets, ({ id: _, ...snippet }, reserved: SnippetId | null) =>
      tx.snippets.add({ ...snippet, ...owner, content: ids.rewriter.markdown(snippet.content) }, reserved),
    );
  },
};

export const SNIPPET_FEATURE = {
  eventFormats: {
    'snippet.added': 1,
    'snippet.changed': 1,
    'snippet.removed': 1,
  },
  personPart: personPart,
  rows: { snippets: SNIPPET_ROWS },
} satisfies FeatureParts<SnippetEventTypes>;

export async function publishSnippet(
  tx: Transaction,
  { realmId, userId }: { readonly realmId: RealmId; readonly userId: UserId },
  event: EventOf<keyof SnippetEventTypes>,
): Promise<void> {
  await tx.events.append(realmId, { event, audience: users([userId]) });
}

/** Loads the viewer's snippets, oldest first. */
export const loadSnippets = ({ caller, repositories }: Snapshot): Promise<readonly Snippet[]> =>
  repositories.snippets.list(caller.realmId, caller.userId, MAX_SNIPPETS);
