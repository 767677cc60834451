import type { Actor } from '../access/actor.js';
import { loadTopicMutes } from '../channels/topic-mutes.js';
import { users } from '../kernel/audience.js';
import { DomainError } from '../kernel/errors.js';
import type { ChannelId, MessageId } from '../kernel/ids.js';
import { enforce } from '../kernel/permission.js';
import { slicesOf } from '../kernel/slices.js';
import type { Transaction } from '../kernel/unit-of-work.js';
import { type LoadedMessage, loadMessages } from './load-access.js';
import type { MessageLocation } from './message-events.js';
import { canReadMessage } from './message-permissions.js';

/** How many messages are worked on before others get their turn. */
const IDS_AT_A_TIME = 2000;

export interface FlagChange {
  readonly op: 'add' | 'remove';
  readonly flag: 'read' | 'starred' | 'collapsed';
}

/** As somebody asked for it: there are flags that nobody can change, and words that mean nothing. */
export interface FlagChangeInput {
  readonly op: string;
  readonly flag: FlagChange['flag'] | { readonly name: string; readonly isFixed: boolean };
}

/** In the order of messages §13.1. @throws DomainError UNKNOWN_FLAG, FLAG_NOT_EDITABLE, INVALID_FLAG_OPERATION */
export function parseFlagChange({ op, flag }: FlagChangeInput): FlagChange {
  if (typeof flag !== 'string') {
    throw flag.isFixed
      ? new DomainError('FLAG_NOT_EDITABLE', `Flag not editable: '${flag.name}'`)
      : new DomainError('UNKNOWN_FLAG', `Invalid flag: '${flag.name}'`);
  }
  if (op !== 'add' && op !== 'remove')
    throw new DomainError('INVALID_FLAG_OPERATION', `Invalid message flag operation: '${op}'`);
  return { op, flag };
}

export interface FlagChangeOutcome {
  /** Ascending. */
  readonly changedIds: readonly MessageId[];
  /** Channels whose messages stay read because the caller does not follow them; ascending. */
  readonly ignoredChannelIds: readonly ChannelId[];
}

/**
 * Changes a flag on messages, whether or not they are the caller's own yet (messages §13.1), and tells their other clients,
 * even when nothing changed. @throws DomainError UNKNOWN_MESSAGE; then nothing is changed.
 */
export async function changeFlags(
  tx: Transaction,
  actor: Actor,
  ids: readonly MessageId[],
  wanted: FlagChangeInput,
): Promise<FlagChangeOutcome> {
  const change = parseFlagChange(wanted);
  const { op, flag } = change;
  // What was never received counts as read and bare, so only the opposite of that has to look at each message.
  const needsNoLookup = flag === 'read' ? op === 'add' : op === 'remove';
  const eligible = needsNoLookup ? null : await selectEligible(tx, actor, ids, change);
  const changedIds = await store(tx, actor, eligible ? eligible.loaded.map((one) => one.message.id) : ids, change);
  await tx.events.append(actor.realmId, {
    event: {
      type: 'message.flag_changed',
      op,
      flag,
      messageIds: changedIds,
      all: false,
      details: eligible && flag === 'read' ? await placesOf(tx, actor, eligible.loaded, changedIds) : [],
    },
    audience: users([actor.id]),
  });
  return { changedIds, ignoredChannelIds: eligible?.ignoredChannelIds ?? [] };
}

/** The messages that can be changed, which are the caller's own from now on. */
async function selectEligible(
  tx: Transaction,
  actor: Actor,
  ids: readonly MessageId[],
  { flag }: FlagChange,
): Promise<{ readonly loaded: readonly LoadedMessage[]; readonly ignoredChannelIds: readonly ChannelId[] }> {
  const wanted = [...new Set(ids)].sort(ascending);
  const loaded: LoadedMessage[] = [];
  for (const some of slicesOf(wanted, IDS_AT_A_TIME)) {
    loaded.push(...(await loadMessages(tx, actor, some)));
    await tx.yield();
  }
  if (loaded.length < wanted.length) throw new DomainError('UNKNOWN_MESSAGE', 'Invalid message(s)');
  // Of all that were named: else what is passed over would give away in which hidden channel it is.
  for (const one of loaded) if (!one.isOwn) enforce(canReadMessage(actor, one));
  const ignored = new Set<ChannelId>();
  const eligible = loaded.filter(({ message, isSubscribed }) => {
    // Only what one follows can be unread.
    if (flag !== 'read' || message.channelId === null || isSubscribed) return true;
    ignored.add(message.channelId);
    return false;
  });
  const foreign = eligible.filter((one) => !one.isOwn).map((one) => one.message.id);
  for (const some of slicesOf(foreign, IDS_AT_A_TIME)) {
    await tx.personal.addHistorical({ realmId: actor.realmId, userId: actor.id }, some);
    await tx.yield();
  }
  return { loaded: eligible, ignoredChannelIds: [...ignored].sort((a, b) => a - b) };
}

/** Answers those that changed, ascending. */
async function store(
  tx: Transaction,
  { realmId, id: userId }: Actor,
  ids: readonly MessageId[],
  { op, flag }: FlagChange,
): Promise<readonly MessageId[]> {
  const viewer = { realmId, userId };
  const on = op === 'add';
  const changed: MessageId[] = [];
  for (const some of slicesOf(ids, IDS_AT_A_TIME)) {
    changed.push(
      ...(flag === 'read'
        ? await tx.personal.setRead(viewer, some, on)
        : await tx.personal.setFlag(viewer, some, flag, on)),
    );
    await tx.yield();
  }
  return changed.sort(ascending);
}

const ascending = (a: number, b: number): number => a - b;

async function placesOf(
  tx: Transaction,
  actor: Actor,
  loaded: readonly LoadedMessage[],
  changedIds: readonly MessageId[],
): Promise<readonly (readonly [MessageId, MessageLocation])[]> {
  const changed = new Set(changedIds);
  const messages = loaded.filter((one) => changed.has(one.message.id));
  const recipients = await tx.recipients.list(actor.realmId, [
    ...new Set(messages.map((one) => one.message.recipientId)),
  ]);
  const topics = await loadTopicMutes(tx, actor.realmId, actor.id);
  return messages.map(({ message, flags }) => {
    const isMentioned = (flags?.mentioned || flags?.channelWildcardMentioned || flags?.topicWildcardMentioned) ?? false;
    if (message.channelId !== null) {
      const isUnmuted = topics.isUnmuted(message.channelId, message.topic);
      return [
        message.id,
        { kind: 'channel', channelId: message.channelId, topic: message.topic, isUnmuted, isMentioned },
      ];
    }
    const recipient = recipients.get(message.recipientId);
    const userIds = recipient?.kind === 'direct' ? recipient.userIds.filter((id) => id !== actor.id) : [];
    return [message.id, { kind: 'direct', userIds, isMentioned }];
  });
}
