import type { Actor } from '../access/actor.js';
import type { PermissionHolder } from '../access/group-settings.js';
import { isAtLeast } from '../access/roles.js';
import {
  cutTopic,
  EMPTY_TOPIC_DISPLAY_NAME,
  normalizeTopic,
  parseTopic,
  RESOLVED_PREFIX,
  topicKey,
} from '../channels/channel.js';
import { unknownChannel } from '../channels/channel-access.js';
import { fitsTopicsPolicy } from '../channels/post-permissions.js';
import type { AttachedFile } from '../files/files.js';
import { DomainError, orThrow, refusalOr } from '../kernel/errors.js';
import type { Caller, ChannelId, MessageId, UnixSeconds, UserId } from '../kernel/ids.js';
import { enforce } from '../kernel/permission.js';
import type { Clock } from '../kernel/ports.js';
import { trim } from '../kernel/text.js';
import type { Transaction, UnitOfWork, WriteOptions } from '../kernel/unit-of-work.js';
import { type LocatedMessage, loadReadable } from '../messages/load-access.js';
import { loadSender, type Message } from '../messages/message.js';
import { MAX_HELD_EDITS } from '../messages/message-edit.js';
import type { MovePropagation } from '../messages/message-events.js';
import {
  canChangeChannelOf,
  canChangeTopic,
  canEditContent,
  canMoveInto,
  canMoveWholeTopic,
  canOpenTopicByMoving,
  resolveToggle,
} from '../messages/message-permissions.js';
import { requireSameReaders } from '../messages/shared-messages.js';
import type { Realm } from '../realms/realm.js';
import { editText, parseEditedContent } from './edit-text.js';
import { planLinkPreviews } from './link-previews.js';
import {
  announceUpdate,
  type CheckedMove,
  leaveNotices,
  MoveParts,
  movePolicies,
  partsOfMove,
  storeMove,
  type ValidTarget,
} from './move-parts.js';
import { allInTopic, FIRST_POLICY, MoveNotices, selectMoved, visibleInTopic } from './moves.js';
import { destinationOf, enforceMentions, type MessageHooks, NO_HOOKS } from './post-message.js';
import { authorIn, renderText, type TextAhead, UserTextParser } from './render-message.js';

export interface UpdateMessageInput {
  readonly messageId: MessageId;
  /** Markdown as typed; null if unchanged. */
  readonly content: string | null;
  /** Topic as typed; null if unchanged. */
  readonly topic: string | null;
  /** Null if unchanged. */
  readonly channelId: ChannelId | null;
  readonly propagation: MovePropagation;
  readonly notifiesOldThread: boolean;
  readonly notifiesNewThread: boolean;
  /** Digest of the text that the caller saw, see `ContentDigest`; null if not given. */
  readonly previousDigest: string | null;
}

/** Hexadecimal SHA-256 of a UTF-8 text. */
export type ContentDigest = (text: string) => string;

/** New content, or a content error thrown at its place in the validation order. */
type NewText = TextAhead | DomainError;

/** Edits a message, or moves it with other messages in its topic (messages §9). */
export class UpdateMessage {
  static readonly inject = [
    'unitOfWork',
    UserTextParser,
    'clock',
    'contentDigest',
    MoveNotices,
    'messageHooks',
  ] as const;
  private readonly parts: MoveParts;

  constructor(
    private readonly uow: UnitOfWork,
    private readonly parser: UserTextParser,
    private readonly clock: Clock,
    private readonly digest: ContentDigest,
    private readonly notices: MoveNotices,
    private readonly hooks: MessageHooks = NO_HOOKS,
  ) {
    this.parts = new MoveParts(uow, clock, notices);
  }

  /**
   * Returns the sender's files without remaining references. Moves many messages in several units of work (contract
   * decision 10).
   * @throws DomainError UNKNOWN_MESSAGE, MESSAGE_EDITING_DISABLED, CANNOT_EDIT_MESSAGE, EDIT_TIME_LIMIT_EXCEEDED,
   * NO_MESSAGE_CHANGE, DIRECT_MESSAGE_HAS_NO_PLACE, INVALID_MOVE, CANNOT_RESOLVE_EMPTY_TOPIC, INVALID_TOPIC,
   * WIDGET_NOT_EDITABLE, STALE_VALUE, INVALID_MESSAGE_CONTENT, UNRENDERABLE_CONTENT, UNKNOWN_CHANNEL,
   * EMPTY_TOPIC_REQUIRED, TOPIC_REQUIRED, CANNOT_RESOLVE_TOPICS, TOPIC_EDIT_TIME_LIMIT_EXCEEDED, CANNOT_MOVE_MESSAGE,
   * CANNOT_POST_IN_CHANNEL, CHANNEL_EDIT_TIME_LIMIT_EXCEEDED, MOVE_TIME_LIMIT_EXCEEDED, TOO_MANY_MESSAGES_TO_MOVE,
   * CANNOT_CREATE_TOPIC, CANNOT_MENTION_GROUP, CHANNEL_WILDCARD_NOT_ALLOWED, TOPIC_WILDCARD_NOT_ALLOWED,
   * MESSAGE_REFUSED, TOO_MANY_EDITS, SERVER_BUSY; with a token UNKNOWN_READ_CONTEXT, READ_CONTEXT_FULL, AUDIENCE_GREW
   */
  async execute(caller: Caller, input: UpdateMessageInput): Promise<readonly AttachedFile[]> {
    const { messageId, content } = input;
    const text =
      content === null ? null : await this.parse(caller, await this.hooks.beforeEdit(caller, { messageId, content }));
    const isEdit = input.topic === null && input.channelId === null;
    const options: WriteOptions = isEdit ? { shared: { kind: 'edit', userId: caller.userId } } : {};
    const { detached, jobs } = await this.uow.write(
      caller.realmId,
      async (tx) => {
        const actor = await tx.actors.get(caller);
        const now = this.clock.now();
        const view = await requireSameReaders(tx, caller, now, input.messageId);
        const realm = await tx.realms.get(caller.realmId);
        const loaded = await loadReadable(tx, actor, input.messageId, { modifying: true });
        if (text) enforce(canEditContent(actor, realm, loaded.message, now));
        const request = requestedChange(input, loaded);
        await this.checkText(tx, input, loaded.message, text, request.changesChannel);
        const moveTarget = await this.findMoveTarget(tx, actor, realm, loaded, request);
        if (moveTarget?.isOtherTopic) {
          const { channel, isOtherChannel, topic } = moveTarget;
          const change = {
            message: loaded.message,
            topic,
            source: loaded.channel!,
            target: isOtherChannel ? channel : null,
          };
          enforce(canChangeTopic(actor, realm, change, now));
        }
        const sender = await loadSender(tx, loaded.message);
        // Only the sender may edit the text, so the actor is the author.
        const parsed = text && this.parser.parsedBy(realm, sender, orThrow(text));
        const rendered = parsed && (await renderText(tx, this.parser.renderer, parsed, realm, authorIn(view, actor)));
        const destination = await destinationOf(tx, loaded);
        if (rendered) await enforceMentions(tx, realm, actor, sender, destination, rendered);
        const move =
          moveTarget && (await this.checkMove(tx, { actor, realm, now }, loaded, moveTarget, input.propagation));

        const edit = rendered && { rendered, content: orThrow(text!).content };
        const before = loaded.message;
        await enforceFurtherEdit(tx, before);
        const [first = [], ...others] = move ? partsOfMove(move.ids, before.id) : [];
        const part = move && { ...move, ids: first };
        const affected = part && (await storeMove(tx, actor, part, edit ? before.id : null));
        if (!move) await tx.edits.add(realm.id, sharedEdit(actor, now), [before.id], before.id);
        const detached = edit
          ? await editText(tx, before, { ...edit, editedAt: now, destination, sender, scope: caller.scope })
          : [];
        if (edit) await planLinkPreviews(tx, realm, sender, before.id, edit.rendered.html, now);
        // The policies are moved after the last message.
        const policies =
          move && others.length === 0
            ? await movePolicies(tx, actor, move)
            : { isWholeTopic: false, policies: FIRST_POLICY };
        const announced = part && affected && { ...part, ...affected };
        await announceUpdate(tx, actor, { ...loaded, move: announced, edit, editedAt: now });
        if (!move) return { detached, jobs: [] };
        const { notifiesOldThread, notifiesNewThread } = input;
        const ending = {
          ...{ messageId: before.id, count: move.ids.length, hasText: edit !== null },
          ...{ notifiesOldThread, notifiesNewThread, ...policies },
        };
        if (ending.policies !== null)
          return { detached, jobs: await this.parts.scheduleMove(tx, caller, move, others, ending) };
        await leaveNotices(tx, this.notices, actor, move, ending);
        return { detached, jobs: [] };
      },
      options,
    );
    await this.parts.run(jobs);
    return detached;
  }

  private async parse(caller: Caller, raw: string): Promise<NewText> {
    const content = refusalOr(() => parseEditedContent(raw));
    return content instanceof DomainError ? content : this.parser.parse(caller, content);
  }

  /** Checks messages §9.1 rows 10–13. */
  private async checkText(
    tx: Transaction,
    { previousDigest }: UpdateMessageInput,
    { realmId, id, senderId, content }: Message,
    text: NewText | null,
    changesChannel: boolean,
  ): Promise<void> {
    if (text && changesChannel) {
      throw new DomainError('INVALID_MOVE', 'Cannot change message content while changing channel');
    }
    if (text) {
      const { count } = await tx.messages.summarizeSubmessages(realmId, id, senderId);
      if (count > 0) throw new DomainError('WIDGET_NOT_EDITABLE', 'Widgets cannot be edited.');
    }
    if (previousDigest !== null && previousDigest !== this.digest(content)) {
      throw new DomainError('STALE_VALUE', "'prev_content_sha256' value does not match the expected value.");
    }
    if (text) orThrow(text);
  }

  /** Checks messages §9.1 rows 14 and 15. Returns null if nothing moves. */
  private async findMoveTarget(
    tx: Transaction,
    actor: Actor,
    realm: Realm,
    { message, channel: source }: LocatedMessage,
    { changesChannel, channelId, topic }: RequestedChange,
  ): Promise<ValidTarget | null> {
    if (source === null || (!changesChannel && topic === null)) return null;
    let channel = source;
    if (changesChannel) {
      const found = await tx.channels.find(realm.id, channelId!);
      if (!found) enforce(unknownChannel);
      enforce(canMoveInto(actor, found!, await tx.channels.isSubscribed(realm.id, found!.id, actor.id)));
      channel = found!;
    }
    const newTopic = topic ?? message.topic;
    enforce(fitsTopicsPolicy(realm, channel, newTopic));
    return {
      channel,
      topic: newTopic,
      topicLinks: topic === null ? message.topicLinks : this.parser.renderer.topicLinks(topic, realm.linkifiers),
      isOtherChannel: changesChannel,
      isOtherTopic: topic !== null,
      toggle: topic === null ? null : resolveToggle(message.topic, topic),
    };
  }

  /** Checks messages §9.1 rows 18–20. */
  private async checkMove(
    tx: Transaction,
    { actor, realm, now }: { readonly actor: Actor; readonly realm: Realm; readonly now: UnixSeconds },
    { message, channel, isSubscribed }: LocatedMessage,
    moveTarget: ValidTarget,
    propagation: MovePropagation,
  ): Promise<CheckedMove> {
    const source = channel!;
    const botOwner = actor.botOwnerId === null ? null : await ownerOf(tx, actor, actor.botOwnerId);
    if (moveTarget.isOtherChannel) {
      enforce(canChangeChannelOf(actor, botOwner, realm, { message, source, target: moveTarget.channel }, now));
    }
    const visible = visibleInTopic(actor, source, isSubscribed, message.topic);
    if (propagation === 'all' && moveTarget.toggle === null && !isAtLeast(actor.role, 'moderator')) {
      const { isOtherTopic, isOtherChannel } = moveTarget;
      const messages = await tx.messages.listTimes(realm.id, await selectMoved(tx, actor, message, visible, 'all'));
      enforce(canMoveWholeTopic(actor, realm, { messages, isOtherTopic, isOtherChannel }, now));
    }
    const key = topicKey(moveTarget.topic);
    const isSameThread = !moveTarget.isOtherChannel && key === topicKey(message.topic);
    const exists = isSameThread || (await tx.topics.hasMessages(realm.id, moveTarget.channel.recipientId, key));
    if (moveTarget.toggle === null && !exists) enforce(canOpenTopicByMoving(actor, botOwner, moveTarget.channel));
    // A move to another channel covers only messages visible to the mover.
    const filter = moveTarget.isOtherChannel ? visible : allInTopic(source, message.topic);
    const ids = await selectMoved(tx, actor, message, filter, propagation);
    const isTargetSubscribed = await tx.channels.isSubscribed(realm.id, moveTarget.channel.id, actor.id);
    const inTarget = visibleInTopic(actor, moveTarget.channel, isTargetSubscribed, moveTarget.topic);
    const viewer = { realmId: realm.id, userId: actor.id };
    const targetHadMessages = !isSameThread && (await tx.pages.listEntriesUpTo(viewer, inTarget, null, 1)).length > 0;
    return {
      ...moveTarget,
      ...{ ids, source, previousTopic: message.topic, propagation, movedAt: now },
      targetHadMessages,
    };
  }
}

interface RequestedChange {
  readonly changesChannel: boolean;
  readonly channelId: ChannelId | null;
  /** Topic as stored; null if unchanged. */
  readonly topic: string | null;
}

/** Checks messages §9.1 rows 5–9. Requested values that equal the current ones count as absent. */
function requestedChange(input: UpdateMessageInput, { message }: LocatedMessage): RequestedChange {
  const { content, channelId, propagation } = input;
  const isDirect = message.channelId === null;
  const typed = input.topic;
  const isOtherTopic =
    typed !== null && (isDirect ? normalizeTopic(typed) !== '' : cutTopic(normalizeTopic(typed)) !== message.topic);
  const changesChannel = channelId !== null && channelId !== message.channelId;
  if (content === null && !isOtherTopic && !changesChannel) {
    throw new DomainError('NO_MESSAGE_CHANGE', 'Nothing to change');
  }
  if (isDirect && changesChannel) {
    throw new DomainError('DIRECT_MESSAGE_HAS_NO_PLACE', 'Direct messages cannot be moved to channels.');
  }
  if (isDirect && isOtherTopic) {
    throw new DomainError('DIRECT_MESSAGE_HAS_NO_PLACE', 'Direct messages cannot have topics.');
  }
  if (propagation !== 'one' && !isOtherTopic && !changesChannel) {
    throw new DomainError('INVALID_MOVE', 'Invalid propagate_mode without topic edit');
  }
  if (!isOtherTopic) return { changesChannel, channelId, topic: null };
  if ([RESOLVED_PREFIX.trim(), RESOLVED_PREFIX + EMPTY_TOPIC_DISPLAY_NAME].includes(trim(typed))) {
    throw new DomainError('CANNOT_RESOLVE_EMPTY_TOPIC', 'General chat cannot be marked as resolved');
  }
  return { changesChannel, channelId, topic: parseTopic(typed) };
}

const sharedEdit = (actor: Actor, editedAt: UnixSeconds) => ({
  userId: actor.id,
  editedAt,
  topic: null,
  channelId: null,
});

async function ownerOf(tx: Transaction, { realmId }: Actor, ownerId: UserId): Promise<PermissionHolder | null> {
  return (await tx.actors.list(realmId, [ownerId])).get(ownerId) ?? null;
}

/** Messages that are not held lose their oldest edits. @throws DomainError TOO_MANY_EDITS */
async function enforceFurtherEdit(tx: Transaction, { realmId, id, isEdited }: Message): Promise<void> {
  if (!isEdited || (await tx.edits.count(realmId, id)) < MAX_HELD_EDITS) return;
  if ((await tx.heldMessages.filter(realmId, [id])).length > 0) {
    throw new DomainError('TOO_MANY_EDITS', 'This message has been edited too often.');
  }
}
