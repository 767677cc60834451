import type { Actor } from '../access/actor.js';
import { type Channel, hasSharedHistory, topicKey } from '../channels/channel.js';
import { type Audience, allOf, users } from '../kernel/event.js';
import type { Caller, ChannelId, JobId, MessageId, UnixSeconds, UserId } from '../kernel/ids.js';
import { type JobPartOutcome, jobPartKind, RequestParts } from '../kernel/job-parts.js';
import type { Job, JobWork, StoredJob } from '../kernel/jobs.js';
import type { Clock } from '../kernel/ports.js';
import type { Transaction, UnitOfWork } from '../kernel/unit-of-work.js';
import { slicesOf } from '../kernel/work.js';
import type { TopicLink } from '../markdown/markdown.js';
import type { Message } from '../messages/message.js';
import {
  receiversAfterMove,
  receiversLostByMove,
  updateParts,
  watchersOfUpdate,
} from '../messages/message-delivery.js';
import { MAX_MESSAGES_OF_DELETION, type MessageEventTypes, type MovePropagation } from '../messages/message-events.js';
import { topicMark } from '../messages/message-permissions.js';
import {
  FIRST_POLICY,
  type Move,
  MoveNotices,
  moveMessages,
  moveSomePolicies,
  type PolicyCursor,
  visibleInTopic,
} from './moves.js';
import { noteActivity } from './post-message.js';
import type { RenderedText } from './render-message.js';

/** Validated destination of a move. */
export interface ValidTarget {
  readonly channel: Channel;
  readonly topic: string;
  readonly topicLinks: readonly TopicLink[];
  readonly isOtherChannel: boolean;
  readonly isOtherTopic: boolean;
  readonly toggle: 'resolve' | 'unresolve' | null;
}

/** Validated move of some or all messages of a topic. */
export interface CheckedMove extends ValidTarget {
  readonly source: Channel;
  readonly previousTopic: string;
  /** Ascending. */
  readonly ids: readonly MessageId[];
  readonly propagation: MovePropagation;
  readonly movedAt: UnixSeconds;
  readonly targetHadMessages: boolean;
}

/** Work to do after the last message was moved: policies and notices. */
export interface MoveEnding {
  /** Message that the move was requested from. */
  readonly messageId: MessageId;
  readonly count: number;
  readonly hasText: boolean;
  readonly notifiesOldThread: boolean;
  readonly notifiesNewThread: boolean;
  readonly isWholeTopic: boolean;
  /** Policies to continue with; null if none are left. */
  readonly policies: PolicyCursor | null;
}

/** Maximum number of messages that one unit of work moves. */
const MAX_MOVED_AT_ONCE = 250;
/** Maximum number of users without a subscription who are listed in an event because they have the message. */
const MAX_OUTSIDE_HOLDERS = 1000;
/** Maximum number of subscribers of a channel with protected history who receive the deletion of moved messages. */
const MAX_HOLDERS = 1000;
/** Number of users per look-up. */
const HOLDERS_AT_ONCE = 100;

/** Users who have the same ones of some messages. */
interface Holders {
  readonly userIds: readonly UserId[];
  /** Ascending, not empty. */
  readonly messageIds: readonly MessageId[];
}

/** Users who have moved messages, as of before the move. */
export interface Affected {
  /** Users without a subscription to the source. */
  readonly outside: readonly UserId[];
  /** Null if everybody who could read one of the messages could read all of them. */
  readonly holders: readonly Holders[] | null;
}

const NOBODY_AFFECTED: Affected = { outside: [], holders: null };

/** Groups users by the messages that they have. Users without any are absent. */
async function groupHolders(
  tx: Transaction,
  { realmId }: Actor,
  ids: readonly MessageId[],
  userIds: readonly UserId[],
): Promise<readonly Holders[]> {
  const groups = new Map<string, { readonly userIds: UserId[]; readonly messageIds: readonly MessageId[] }>();
  for (const slice of slicesOf(userIds, HOLDERS_AT_ONCE)) {
    const held = new Map<UserId, MessageId[]>();
    for (const [id, holders] of await tx.personal.filterHolders(realmId, ids, slice)) {
      for (const userId of holders) {
        const own = held.get(userId);
        if (own) own.push(id);
        else held.set(userId, [id]);
      }
    }
    for (const [userId, messageIds] of held) {
      const existing = groups.get(messageIds.join());
      if (existing) existing.userIds.push(userId);
      else groups.set(messageIds.join(), { userIds: [userId], messageIds });
    }
  }
  return [...groups.values()];
}

/** Splits the messages of a move. The first part contains the message that the move was requested from. */
export function partsOfMove(ids: readonly MessageId[], messageId: MessageId): readonly (readonly MessageId[])[] {
  if (ids.length <= MAX_MOVED_AT_ONCE) return [ids];
  const others = ids.filter((id) => id !== messageId);
  const first = [messageId, ...others.slice(0, MAX_MOVED_AT_ONCE - 1)].sort((a, b) => a - b);
  return [first, ...slicesOf(others.slice(MAX_MOVED_AT_ONCE - 1), MAX_MOVED_AT_ONCE)];
}

/** Text change published together with a move. */
export interface TextEdit {
  readonly rendered: RenderedText;
  readonly content: string;
}

/** Finds who has the messages, then stores the move. */
export async function storeMove(
  tx: Transaction,
  actor: Actor,
  move: CheckedMove,
  edited: MessageId | null,
): Promise<Affected> {
  const { topic: name, topicLinks: links, channel, source, isOtherTopic, isOtherChannel, toggle, ids, movedAt } = move;
  const affected = isOtherChannel ? await findAffected(tx, actor, source, ids) : NOBODY_AFFECTED;
  await moveMessages(tx, {
    actor,
    ids,
    channel,
    topic: isOtherTopic ? { name, links } : null,
    changesChannel: isOtherChannel,
    isToggle: toggle !== null && !isOtherChannel,
    movedAt,
    edited,
  });
  if (isOtherChannel) await noteActivity(tx, channel, null);
  return affected;
}

async function findAffected(
  tx: Transaction,
  actor: Actor,
  source: Channel,
  ids: readonly MessageId[],
): Promise<Affected> {
  const { realmId } = actor;
  const outside = await tx.personal.listOutsideHolders(realmId, source.recipientId, ids, MAX_OUTSIDE_HOLDERS);
  if (hasSharedHistory(source)) return { outside, holders: null };
  const subscribers = (await tx.channels.listSubscribers(realmId, [source.id])).get(source.id) ?? [];
  return { outside, holders: await groupHolders(tx, actor, ids, [...subscribers.slice(0, MAX_HOLDERS), ...outside]) };
}

export interface UpdateAnnouncement {
  readonly message: Message;
  readonly channel: Channel | null;
  readonly move: (CheckedMove & Affected) | null;
  readonly edit: TextEdit | null;
  readonly editedAt: UnixSeconds;
}

export async function announceUpdate(
  tx: Transaction,
  actor: Pick<Actor, 'id' | 'realmId'>,
  { message, channel, move, edit, editedAt }: UpdateAnnouncement,
): Promise<void> {
  const { realmId } = actor;
  const target = move?.channel ?? channel;
  const isProtected = target !== null && !hasSharedHistory(target);
  const event: MessageEventTypes['message.updated'] = {
    userId: actor.id,
    messageId: message.id,
    messageIds: move?.ids ?? [message.id],
    editedAt,
    channel: channel && { id: channel.id, name: channel.name },
    move: move && {
      propagation: move.propagation,
      previousTopic: move.previousTopic,
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
  const losing = receiversLostByMove(move.source, move.channel, move.outside);
  const parts = move.holders?.map(({ messageIds, userIds }) => ({
    messageIds,
    audience: allOf(losing, users(userIds)),
  }));
  for (const { messageIds: all, audience: receivers } of parts ?? [{ messageIds: move.ids, audience: losing }]) {
    for (const messageIds of slicesOf(all, MAX_MESSAGES_OF_DELETION)) {
      await tx.events.append(realmId, {
        event: {
          type: 'message.deleted',
          messageIds,
          channelId: move.source.id,
          topic: move.previousTopic,
          onlyToHolders: false,
        },
        audience: receivers,
      });
    }
  }
}

/** Moves the first policies if no message visible to the mover is left. */
export async function movePolicies(
  tx: Transaction,
  actor: Actor,
  move: CheckedMove,
  from: PolicyCursor = FIRST_POLICY,
): Promise<Pick<MoveEnding, 'isWholeTopic' | 'policies'>> {
  if (!(await leavesNothing(tx, actor, move))) return { isWholeTopic: false, policies: null };
  const source = { channel: move.source, topic: move.previousTopic };
  const target = { channel: move.channel, topic: move.topic, hadMessages: move.targetHadMessages };
  return { isWholeTopic: true, policies: await moveSomePolicies(tx, source, target, move.movedAt, from) };
}

/** True if the mover can see no remaining messages of the topic. */
async function leavesNothing(
  tx: Transaction,
  actor: Actor,
  { source, previousTopic, propagation }: CheckedMove,
): Promise<boolean> {
  if (propagation === 'all') return true;
  const isSubscribed = await tx.channels.isSubscribed(actor.realmId, source.id, actor.id);
  const visible = visibleInTopic(actor, source, isSubscribed, previousTopic);
  const viewer = { realmId: actor.realmId, userId: actor.id };
  return (await tx.pages.listEntriesUpTo(viewer, visible, null, 1)).length === 0;
}

/** Posts the notices of messages §9.5 and §9.6. */
export async function leaveNotices(
  tx: Transaction,
  notices: MoveNotices,
  actor: Actor,
  move: CheckedMove,
  { messageId, count, hasText, notifiesOldThread, notifiesNewThread, isWholeTopic }: MoveEnding,
): Promise<void> {
  const notice: Move = {
    realm: await tx.realms.get(actor.realmId),
    mover: await tx.users.get(actor.realmId, actor.id),
    actor,
    messageId,
    count,
    source: { channel: move.source, topic: move.previousTopic },
    target: { channel: move.channel, topic: move.topic },
    isWholeTopic,
    targetHadMessages: move.targetHadMessages,
  };
  const mark = move.isOtherTopic && !move.isOtherChannel && !hasText ? topicMark(move.previousTopic, move.topic) : null;
  if (mark) await notices.mark(tx, notice, mark);
  const isPureToggle = move.toggle !== null && !move.isOtherChannel;
  if (notifiesNewThread && !isPureToggle) await notices.arrive(tx, notice);
  if (notifiesOldThread) await notices.leave(tx, notice);
}

/** Part of a move of many messages. */
export type MovePart = Omit<CheckedMove, 'channel' | 'source' | 'ids'> & {
  readonly caller: Caller;
  readonly channelId: ChannelId;
  readonly sourceId: ChannelId;
} & (
    | { readonly ids: readonly MessageId[] }
    /** Jobs in `after` move the messages; absent if these have ended. */
    | { readonly ending: MoveEnding; readonly after?: readonly JobId[] }
  );

export const MOVE_PART_JOB = jobPartKind<MovePart>('messages.move');

/** Performs the parts of a move of many messages, followed by its policies and notices (contract decision 10). */
export class MoveParts extends RequestParts<MovePart> {
  static readonly inject = ['unitOfWork', 'clock', MoveNotices] as const;

  readonly kind = MOVE_PART_JOB;

  constructor(
    uow: UnitOfWork,
    clock: Clock,
    private readonly notices: MoveNotices,
  ) {
    super(uow, clock);
  }

  async scheduleMove(
    tx: Transaction,
    caller: Caller,
    { channel, source, ids: _, ...move }: CheckedMove,
    parts: readonly (readonly MessageId[])[],
    ending: MoveEnding,
    previous: Job<MovePart> | null = null,
  ): Promise<readonly StoredJob[]> {
    const common = { ...move, caller, channelId: channel.id, sourceId: source.id };
    const { realmId } = caller;
    const messages = await this.schedule(
      tx,
      realmId,
      parts.map((ids) => ({ ...common, ids })),
      previous,
    );
    const after = messages.map(({ id }) => id);
    return [...messages, ...(await this.schedule(tx, realmId, [{ ...common, ending, after }], previous))];
  }

  async prepare(job: Job<MovePart>): Promise<JobWork<JobPartOutcome<void>>> {
    return async (tx) => {
      const { payload } = job;
      if ('ending' in payload && (await this.waitFor(tx, payload.after ?? [], job))) return { result: undefined };
      const actor = await tx.actors.getAuthor(payload.caller);
      const channel = await tx.channels.get(actor.realmId, payload.channelId);
      const source = await tx.channels.get(actor.realmId, payload.sourceId);
      const move = { ...payload, channel, source };
      if ('ending' in payload)
        return { result: undefined, next: await this.end(tx, actor, { ...move, ids: [] }, payload.ending, job) };
      await this.move(tx, actor, { ...move, ids: payload.ids });
      return { result: undefined };
    };
  }

  private async move(tx: Transaction, actor: Actor, move: CheckedMove): Promise<void> {
    // Other users may have moved or deleted some of the messages since the request was checked.
    const messages = (await tx.messages.list(actor.realmId, move.ids)).filter(
      ({ channelId, topic }) => channelId === move.source.id && topicKey(topic) === topicKey(move.previousTopic),
    );
    const [message] = messages;
    if (!message) return;
    const ids = messages.map(({ id }) => id).sort((a, b) => a - b);
    const part = { ...move, ids };
    const affected = await storeMove(tx, actor, part, null);
    await announceUpdate(tx, actor, {
      message,
      channel: move.source,
      move: { ...part, ...affected },
      edit: null,
      editedAt: move.movedAt,
    });
  }

  /** Returns the job for the next policies, if any are left. */
  private async end(
    tx: Transaction,
    actor: Actor,
    move: CheckedMove,
    ending: MoveEnding,
    job: Job<MovePart>,
  ): Promise<readonly StoredJob[]> {
    const rest =
      ending.policies === null ? ending : { ...ending, ...(await movePolicies(tx, actor, move, ending.policies)) };
    if (rest.policies !== null) return this.scheduleMove(tx, job.payload.caller, move, [], rest, job);
    await leaveNotices(tx, this.notices, actor, move, rest);
    return [];
  }
}
