import type { Caller } from '../../kernel/caller.js';
import type { EventLoop } from '../../kernel/event-loop.js';
import type { MessageId, UnixSeconds, UserId } from '../../kernel/ids.js';
import { enforce } from '../../kernel/permission.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import type { RenderedMessages } from '../../markdown/markdown.js';
import { loadMessages } from '../load-access.js';
import type { Message } from '../message.js';
import { type MessageEdit, visibleEdits } from '../message-edit.js';
import { canReadEditHistory } from '../message-permissions.js';

/** A message as it was after a change, or, without one, as it was sent. */
export interface MessageSnapshot {
  readonly topic: string;
  /** Markdown. */
  readonly content: string;
  /** HTML. */
  readonly rendered: string;
  readonly userId: UserId;
  readonly timestamp: UnixSeconds;
  readonly isDirect: boolean;
  /** Null: as it was sent. */
  readonly edit: MessageEdit | null;
  /** What the change did to the text, as HTML; null: nothing. */
  readonly diff: string | null;
}

/** How a message came to be what it is (messages §10). */
export class GetEditHistory {
  static readonly inject = ['unitOfWork', 'renderedMessages', 'eventLoop'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly renderedMessages: RenderedMessages,
    private readonly eventLoop: EventLoop,
  ) {}

  /** Oldest first. @throws DomainError EDIT_HISTORY_DISABLED, UNKNOWN_MESSAGE */
  async execute(caller: Caller, { messageId }: { readonly messageId: MessageId }): Promise<readonly MessageSnapshot[]> {
    const { message, edits } = await this.uow.read(async (repositories) => {
      const actor = await repositories.actors.get(caller);
      const realm = await repositories.realms.get(caller.realmId);
      const [loaded] = await loadMessages(repositories, actor, [messageId]);
      enforce(canReadEditHistory(actor, realm, loaded ?? null));
      const all = await repositories.edits.list(realm.id, messageId);
      return { message: loaded!.message, edits: visibleEdits(all, realm.settings.messageEditHistoryVisibilityPolicy) };
    });
    const snapshots = snapshotsOf(message, edits);
    const compared: MessageSnapshot[] = [];
    // Each comparison takes a while.
    for (const snapshot of snapshots) {
      const previous = snapshot.edit?.previousContent;
      if (!previous) compared.push({ ...snapshot, diff: null });
      else {
        compared.push({ ...snapshot, diff: this.renderedMessages.diff(previous.rendered, snapshot.rendered) });
        await this.eventLoop.nextTurn();
      }
    }
    return compared;
  }
}

/** Oldest first; worked out backwards from the message as it is. `edits`: newest first. */
export function snapshotsOf(message: Message, edits: readonly MessageEdit[]): readonly Omit<MessageSnapshot, 'diff'>[] {
  const isDirect = message.channelId === null;
  let { topic, content, renderedContent: rendered } = message;
  const newestFirst: Omit<MessageSnapshot, 'diff'>[] = [];
  for (const edit of edits) {
    const { userId, editedAt, previousContent } = edit;
    newestFirst.push({ topic, content, rendered, userId, timestamp: editedAt, isDirect, edit });
    topic = edit.topic?.from ?? topic;
    content = previousContent?.content ?? content;
    rendered = previousContent?.rendered ?? rendered;
  }
  const { senderId: userId, sentAt: timestamp } = message;
  newestFirst.push({ topic, content, rendered, userId, timestamp, isDirect, edit: null });
  return newestFirst.reverse();
}
