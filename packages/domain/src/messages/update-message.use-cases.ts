import type { Actor } from '../access/actor.js';
import type { PermissionHolder } from '../access/group-settings.js';
import { isAtLeast } from '../access/roles.js';
import {
  type Channel,
  cutTopic,
  EMPTY_TOPIC_DISPLAY_NAME,
  hasSharedHistory,
  normalizeTopic,
  parseTopic,
  RESOLVED_PREFIX,
  topicKey,
} from '../channels/channel.js';
import { unknownChannel } from '../channels/channel-access.js';
import { fitsTopicsPolicy } from '../channels/post-permissions.js';
import type { AttachedFile } from '../files/files.js';
import { DomainError, orThrow, refusalOr } from '../kernel/errors.js';
import type { Audience } from '../kernel/event.js';
import type { Caller, ChannelId, MessageId, UnixSeconds, UserId } from '../kernel/ids.js';
import { enforce } from '../kernel/permission.js';
import type { Clock } from '../kernel/ports.js';
import { trim } from '../kernel/text.js';
import type { Transaction, UnitOfWork } from '../kernel/unit-of-work.js';
import type { MarkdownRenderer, TopicLink } from '../markdown/markdown.js';
import type { Realm } from '../realms/realm.js';
import { type LocatedMessage, loadReadable } from './load-access.js';
import { loadSender, type Message, participantIdsOf } from './message.js';
import { receiversAfterMove, receiversLostByMove, updateParts, watchersOfUpdate } from './message-delivery.js';
import { editText, parseEditedContent } from './message-edit.js';
import { MAX_MESSAGES_OF_DELETION, type MessageEventTypes, type MovePropagation } from './message-events.js';
import {
  canChangeChannelOf,
  canChangeTopic,
  canEditContent,
  canMoveInto,
  canMoveWholeTopic,
  canOpenTopicByMoving,
  resolveToggle,
  topicMark,
} from './message-permissions.js';
import {
  allInTopic,
  type Move,
  MoveNotices,
  moveMessages,
  moveTopicPolicies,
  selectMoved,
  visibleInTopic,
} from './moves.js';
import { type Destination, enforceMentions, type MessageHooks, NO_HOOKS, noteActivity } from './post-message.js';
import { OwnTextParser, type RenderedText, renderText, type TextAhead } from './render-message.js';

export interface UpdateMessageInput {
  readonly messageId: MessageId;
  /** Markdown as typed; null to keep. */
  readonly content: string | null;
  /** Topic as typed; null to keep. */
  readonly topic: string | null;
  /** Null to keep. */
  readonly channelId: ChannelId | null;
  readonly propagation: MovePropagation;
  readonly notifiesOldThread: boolean;
  readonly notifiesNewThread: boolean;
  /** Digest of the text the caller saw, see `ContentDigest`; null if not given. */
  readonly previousDigest: string | null;
}

/** Hexadecimal SHA-256 of a UTF-8 text. */
export type ContentDigest = (text: string) => string;

/** New content, or a content error thrown in its place in the validation order. */
type NewText = TextAhead | DomainError;

/** Target of a move; null fields keep the location. */
interface MoveTarget {
  readonly channel: Channel;
  readonly topic: string;
  readonly topicLinks: readonly TopicLink[];
  readonly isOtherChannel: boolean;
  readonly isOtherTopic: boolean;
  readonly toggle: 'resolve' | 'unresolve' | null;
}

/** Maximum number of unsubscribed holders that an event lists. */
const MAX_OUTSIDE_HOLDERS = 1000;

/** Edits a message, or moves it with other messages of its topic (messages §9). */
export class UpdateMessage {
  static readonly inject = [
    'unitOfWork',
    'markdownRenderer',
    OwnTextParser,
    'clock',
    'contentDigest',
    MoveNotices,
    'messageHooks',
  ] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly renderer: MarkdownRenderer,
    private readonly parser: OwnTextParser,
    private readonly clock: Clock,
    private readonly digest: ContentDigest,
    private readonly notices: MoveNotices,
    private readonly hooks: MessageHooks = NO_HOOKS,
  ) {}

  /**
   * Returns the sender's files without remaining references.
   * @throws DomainError UNKNOWN_MESSAGE, MESSAGE_EDITING_DISABLED, CANNOT_EDIT_MESSAGE, EDIT_TIME_LIMIT_EXCEEDED,
   * NO_MESSAGE_CHANGE, DIRECT_MESSAGE_HAS_NO_PLACE, INVALID_MOVE, CANNOT_RESOLVE_EMPTY_TOPIC, INVALID_TOPIC,
   * WIDGET_NOT_EDITABLE, STALE_VALUE, INVALID_MESSAGE_CONTENT, UNRENDERABLE_CONTENT, UNKNOWN_CHANNEL,
   * EMPTY_TOPIC_REQUIRED, TOPIC_REQUIRED, CANNOT_RESOLVE_TOPICS, TOPIC_EDIT_TIME_LIMIT_EXCEEDED, CANNOT_MOVE_MESSAGE,
   * CANNOT_POST_IN_CHANNEL, CHANNEL_EDIT_TIME_LIMIT_EXCEEDED, MOVE_TIME_LIMIT_EXCEEDED, TOO_MANY_MESSAGES_TO_MOVE,
   * CANNOT_CREATE_TOPIC, CANNOT_MENTION_GROUP, CHANNEL_WILDCARD_NOT_ALLOWED, TOPIC_WILDCARD_NOT_ALLOWED,
   * MESSAGE_REFUSED, SERVER_BUSY
   */
  async execute(caller: Caller, input: UpdateMessageInput): Promise<readonly AttachedFile[]> {
    const { messageId, content } = input;
    const text =
      content === null ? null : await this.parse(caller, await this.hooks.beforeEdit(caller, { messageId, content }));
    return this.uow.write(async (tx) => {
      const actor = await tx.actors.get(caller);
      const realm = await tx.realms.get(caller.realmId);
      const loaded = await loadReadable(tx, actor, input.messageId, { modifying: true });
      const now = this.clock.now();
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
      const rendered = parsed && (await renderText(tx, this.renderer, parsed, realm, { actor }));
      const destination = await destinationOf(tx, loaded);
      if (rendered) await enforceMentions(tx, realm, actor, sender, destination, rendered);
      const move = moveTarget && (await this.checkMove(tx, actor, realm, loaded, moveTarget, input.propagation, now));

      const edit = rendered && { rendered, content: orThrow(text!).content };
      const before = loaded.message;
      if (move) await this.move(tx, actor, move, edit ? before.id : null, now);
      else await tx.edits.add(realm.id, sharedEdit(actor, now), [before.id], before.id);
      const detached = edit ? await editText(tx, before, { ...edit, editedAt: now, destination, sender }) : [];
      const isWholeTopic = move !== null && (await this.leavesNothing(tx, actor, move, input.propagation));
      if (move && isWholeTopic) {
        const source = { channel: move.source, topic: before.topic };
        const target = { channel: move.channel, topic: move.topic, hadMessages: move.targetHadMessages };
        await moveTopicPolicies(tx, source, target, now);
      }
      await this.announce(tx, actor, loaded, move, edit, input.propagation, now);
      if (move) await this.leaveNotices(tx, actor, realm, loaded, { ...move, isWholeTopic }, edit !== null, input);
      return detached;
    });
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

  /** Checks messages §9.1 rows 14 and 15. Returns null if nothing is moved. */
  private async findMoveTarget(
    tx: Transaction,
    actor: Actor,
    realm: Realm,
    { message, channel: source }: LocatedMessage,
    { changesChannel, channelId, topic }: RequestedChange,
  ): Promise<MoveTarget | null> {
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
      topicLinks: topic === null ? message.topicLinks : this.renderer.topicLinks(topic, realm.linkifiers),
      isOtherChannel: changesChannel,
      isOtherTopic: topic !== null,
      toggle: topic === null ? null : resolveToggle(message.topic, topic),
    };
  }

  /** Checks messages §9.1 rows 18–20. */
  private async checkMove(
    tx: Transaction,
    actor: Actor,
    realm: Realm,
    { message, channel, isSubscribed }: LocatedMessage,
    moveTarget: MoveTarget,
    propagation: MovePropagation,
    now: UnixSeconds,
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
    const outside = moveTarget.isOtherChannel
      ? await tx.personal.listOutsideHolders(realm.id, source.recipientId, ids, MAX_OUTSIDE_HOLDERS)
      : [];
    return { ...moveTarget, ids, source, visible, isSameThread, targetHadMessages, outside };
  }

  private async move(
    tx: Transaction,
    actor: Actor,
    move: CheckedMove,
    edited: MessageId | null,
    now: UnixSeconds,
  ): Promise<void> {
    const { topic: name, topicLinks: links, channel, isOtherTopic, isOtherChannel, toggle, ids } = move;
    await moveMessages(tx, {
      actor,
      ids,
      channel,
      topic: isOtherTopic ? { name, links } : null,
      changesChannel: isOtherChannel,
      isToggle: toggle !== null && !isOtherChannel,
      movedAt: now,
      edited,
    });
    if (isOtherChannel) await noteActivity(tx, channel, null);
  }

  private async announce(
    tx: Transaction,
    actor: Actor,
    { message, channel }: LocatedMessage,
    move: CheckedMove | null,
    edit: { readonly rendered: RenderedText; readonly content: string } | null,
    propagation: MovePropagation,
    now: UnixSeconds,
  ): Promise<void> {
    const { realmId } = actor;
    const target = move?.channel ?? channel;
    const isProtected = target !== null && !hasSharedHistory(target);
    const event: MessageEventTypes['message.updated'] = {
      userId: actor.id,
      messageId: message.id,
      messageIds: move?.ids ?? [message.id],
      editedAt: now,
      channel: channel && { id: channel.id, name: channel.name },
      move: move && {
        propagation,
        previousTopic: message.topic,
        topic: move.isOtherTopic ? { name: move.topic, links: move.topicLinks } : null,
        channelId: move.isOtherChannel ? move.channel.id : null,
      },
      text: edit && {
        previous: { content: message.content, rendered: message.renderedContent },
        present: { content: edit.content, rendered: edit.rendered.html },
        isMeMessage: edit.rendered.isMeMessage,
      },
      onlyToHolders: isProtected,
    };
    const audience: Audience = move?.isOtherChannel
      ? receiversAfterMove(move.source, move.channel, move.outside)
      : watchersOfUpdate(message, channel);
    for (const { part, to } of updateParts(event, audience, move?.isOtherChannel ? channel : null)) {
      await tx.events.append(realmId, {
        event: { type: 'message.updated', ...part },
        audience: to,
        ...(part.text && { quotes: message.id }),
      });
    }
    if (!move?.isOtherChannel) return;
    for (let start = 0; start < move.ids.length; start += MAX_MESSAGES_OF_DELETION) {
      await tx.events.append(realmId, {
        event: {
          type: 'message.deleted',
          messageIds: move.ids.slice(start, start + MAX_MESSAGES_OF_DELETION),
          channelId: move.source.id,
          topic: message.topic,
          onlyToHolders: false,
        },
        audience: receiversLostByMove(move.source, move.channel, move.outside),
      });
    }
  }

  /** True if the mover can see no remaining message of the topic. */
  private async leavesNothing(
    tx: Transaction,
    { realmId, id: userId }: Actor,
    { visible, isSameThread }: CheckedMove,
    propagation: MovePropagation,
  ): Promise<boolean> {
    if (propagation === 'all' || isSameThread) return true;
    return (await tx.pages.listEntriesUpTo({ realmId, userId }, visible, null, 1)).length === 0;
  }

  /** Posts the notices of messages §9.5 and §9.6. */
  private async leaveNotices(
    tx: Transaction,
    actor: Actor,
    realm: Realm,
    { message }: LocatedMessage,
    move: CheckedMove & Pick<Move, 'isWholeTopic'>,
    hasText: boolean,
    { notifiesOldThread, notifiesNewThread }: UpdateMessageInput,
  ): Promise<void> {
    const notice: Move = {
      realm,
      mover: (await tx.users.find(realm.id, actor.id))!,
      actor,
      messageId: message.id,
      count: move.ids.length,
      source: { channel: move.source, topic: message.topic },
      target: { channel: move.channel, topic: move.topic },
      isWholeTopic: move.isWholeTopic,
      targetHadMessages: move.targetHadMessages,
    };
    const mark = move.isOtherTopic && !move.isOtherChannel && !hasText ? topicMark(message.topic, move.topic) : null;
    if (mark) await this.notices.mark(tx, notice, mark);
    const isPureToggle = move.toggle !== null && !move.isOtherChannel;
    if (notifiesNewThread && !isPureToggle) await this.notices.arrive(tx, notice);
    if (notifiesOldThread) await this.notices.leave(tx, notice);
  }
}

/** Validated move. */
interface CheckedMove extends MoveTarget {
  readonly source: Channel;
  /** Ascending. */
  readonly ids: readonly MessageId[];
  /** Messages of the topic visible to the mover. */
  readonly visible: ReturnType<typeof visibleInTopic>;
  /** True if only the spelling of the topic changes. */
  readonly isSameThread: boolean;
  readonly targetHadMessages: boolean;
  /** Holders of moved messages without a subscription. */
  readonly outside: readonly UserId[];
}

interface RequestedChange {
  readonly changesChannel: boolean;
  readonly channelId: ChannelId | null;
  /** Topic as stored; null to keep. */
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

/** Returns the message's location, which determines mention permissions. */
async function destinationOf(tx: Transaction, { message, channel }: LocatedMessage): Promise<Destination> {
  const { realmId, recipientId, topic, topicLinks } = message;
  if (channel) return { kind: 'channel', channel, topic, topicLinks };
  const participants = await tx.users.list(realmId, (await participantIdsOf(tx, message)) ?? []);
  return { kind: 'direct', recipientId, participants };
}

async function ownerOf(tx: Transaction, { realmId }: Actor, ownerId: UserId): Promise<PermissionHolder | null> {
  return (await tx.actors.list(realmId, [ownerId])).get(ownerId) ?? null;
}
