import type { Caller } from '../../kernel/caller.js';
import { DomainError } from '../../kernel/errors.js';
import type { MessageId } from '../../kernel/ids.js';
import { slicesOf } from '../../kernel/slices.js';
import { takeSnapshot } from '../../kernel/snapshot.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import { loadUnread } from '../message-loaders.js';
import type { MessageView } from '../message-view.js';

/** Of one answer. */
export const MAX_UNREAD_CONVERSATIONS = 1000;
/** Read at once; the event loop may turn before the next ones. */
const VIEWS_AT_A_TIME = 200;

export interface UnreadConversationView {
  /** The newest message that is unread: whose conversation and topic it is. */
  readonly newest: MessageView;
  readonly firstId: MessageId;
  readonly count: number;
  /** Of these, those that name the caller, or a group, channel or topic that matters to them. */
  readonly mentionCount: number;
  readonly isMuted: boolean;
}

export interface Unread {
  /** Without what is in muted channels and topics. */
  readonly count: number;
  /** Wherever it is. */
  readonly mentionCount: number;
  /** False: what is older than the newest 50,000 is not counted. */
  readonly isComplete: boolean;
  /** The one with the newest unread message first. */
  readonly conversations: readonly UnreadConversationView[];
}

/**
 * How much the caller has not read, and where: the same as clients show (events §4.4). Archived channels count for nothing. Costs what
 * is unread costs, and not what was read.
 */
export class GetUnread {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** `limit`: of the conversations that are listed, up to 1000. @throws DomainError INVALID_MESSAGE_RANGE */
  execute(caller: Caller, { limit }: { readonly limit: number }): Promise<Unread> {
    if (!Number.isInteger(limit) || limit < 0 || limit > MAX_UNREAD_CONVERSATIONS) {
      throw new DomainError(
        'INVALID_MESSAGE_RANGE',
        `The number of conversations is a whole number, at most ${MAX_UNREAD_CONVERSATIONS}.`,
      );
    }
    return this.uow.read(async (repositories) => {
      const { realmId } = await repositories.actors.get(caller);
      const { conversations: all, oldOnesAreMissing } = await loadUnread(takeSnapshot(repositories, caller));
      const conversations = all.filter(({ isArchived }) => !isArchived);
      const listed = conversations
        .map((conversation) => ({ ...conversation, newestId: conversation.ids.at(-1)! }))
        .sort((one, other) => other.newestId - one.newestId)
        .slice(0, limit);
      const views = new Map<MessageId, MessageView>();
      for (const slice of slicesOf(listed, VIEWS_AT_A_TIME)) {
        const ids = slice.map(({ newestId }) => newestId);
        for (const view of await repositories.pages.listViews(realmId, ids)) views.set(view.message.id, view);
        await repositories.yield();
      }
      return {
        count: conversations.reduce((sum, { ids, isMuted }) => sum + (isMuted ? 0 : ids.length), 0),
        mentionCount: conversations.reduce((sum, { mentionIds }) => sum + mentionIds.length, 0),
        isComplete: !oldOnesAreMissing,
        conversations: listed.map(({ newestId, ids, mentionIds, isMuted }) => ({
          newest: views.get(newestId)!,
          firstId: ids[0]!,
          count: ids.length,
          mentionCount: mentionIds.length,
          isMuted,
        })),
      };
    });
  }
}
