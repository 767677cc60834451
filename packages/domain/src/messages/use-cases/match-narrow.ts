import type { Caller } from '../../kernel/caller.js';
import type { MessageId } from '../../kernel/ids.js';
import type { RealmUrls } from '../../kernel/realm-urls.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import type { SearchTexts } from '../../markdown/markdown.js';
import { ownership } from '../load-access.js';
import { checkPage } from '../message-page.js';
import type { MessageText } from '../message-view.js';
import { resolveNarrow } from '../narrow.js';
import type { NarrowTerm } from '../narrow-operators.js';
import { type Highlight, highlighting } from '../search.js';

export interface MatchNarrowInput {
  readonly ids: readonly MessageId[];
  readonly narrow: readonly NarrowTerm[];
}

export interface NarrowMatches {
  /** Ascending. */
  readonly ids: readonly MessageId[];
  readonly highlight: Highlight;
}

/** Called inside the read's snapshot. */
export type PresentMatches<T> = (
  matches: NarrowMatches,
  listTexts: (ids: readonly MessageId[]) => Promise<readonly MessageText[]>,
) => Promise<T>;

/** Which of these messages are of a narrow: of those that the caller has received, whatever history it opens (messages §8). */
export class MatchNarrow {
  static readonly inject = ['unitOfWork', 'realmUrls', 'renderedMessages'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly realmUrls: RealmUrls,
    private readonly texts: SearchTexts,
  ) {}

  /** @throws DomainError TOO_MANY_MESSAGES, INVALID_NARROW */
  execute<T>(caller: Caller, { ids, narrow }: MatchNarrowInput, present: PresentMatches<T>): Promise<T> {
    return this.uow.read(async (reads) => {
      const actor = await reads.actors.get(caller);
      checkPage({ ids });
      const context = { reads, actor, realmUrls: this.realmUrls, words: this.texts };
      const { filter, search } = await resolveNarrow(context, narrow, 'received');
      const viewer = { realmId: actor.realmId, userId: actor.id };
      const entries = await reads.pages.listEntries(viewer, ids, filter.conditions);
      const isOwn = await ownership(reads, viewer, entries);
      const matching = entries.filter(isOwn).map(({ id }) => id);
      return present({ ids: matching, highlight: highlighting(this.texts, search) }, (some) =>
        reads.pages.listTexts(actor.realmId, some),
      );
    });
  }
}
