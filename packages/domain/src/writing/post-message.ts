import type { Actor } from '../access/actor.js';
import { type Channel, isPrivate, topicKey } from '../channels/channel.js';
import { subscribersOf } from '../channels/channel-delivery.js';
import { publishProperty } from '../channels/channel-events.js';
import { changeTopicPolicy, type TopicPolicy, type TopicVisibility } from '../channels/topic-policies.js';
import { type Audience, anyOf, users } from '../kernel/event.js';
import { changeHostData, type HostData, type JsonObject, NO_HOST_DATA } from '../kernel/host-data.js';
import type {
  Caller,
  ChannelId,
  FileId,
  MessageId,
  RecipientId,
  TokenScope,
  UnixSeconds,
  UserId,
} from '../kernel/ids.js';
import { enforce } from '../kernel/permission.js';
import type { Transaction } from '../kernel/unit-of-work.js';
import type { TopicLink } from '../markdown/markdown.js';
import {
  type Message,
  type MessageView,
  participantIdsOf,
  type SentFlags,
  type Submessage,
  userSummary,
} from '../messages/message.js';
import type { ReceivedFlags } from '../messages/message-events.js';
import { attachableFiles, attachFiles, awaitThumbnails } from '../messages/message-files.js';
import { canMention } from '../messages/message-permissions.js';
import type { Realm } from '../realms/realm.js';
import type { User } from '../users/user.js';
import { triggerBots } from './bot-triggers.js';
import type { RenderedText } from './render-message.js';
import { type Widget, widgetText } from './widgets.js';

/** Requested destination before validation; null if it cannot be determined. */
export type HookedDestination =
  | { readonly kind: 'channel'; readonly id: ChannelId | null; readonly name: string | null }
  | { readonly kind: 'direct'; readonly userIds: readonly UserId[] };

/** Message about to be sent, before validation. */
export interface HookedMessage {
  readonly destination: HookedDestination;
  /** Topic as typed; null if absent or for direct messages. */
  readonly topic: string | null;
  /** Markdown as typed. */
  readonly content: string;
  readonly data: JsonObject;
}

/**
 * Hooks of the host application that run before a message is sent or edited, outside units of work. A hook rejects with
 * a DomainError, and nothing changes.
 */
export interface MessageHooks {
  /** True if a hook is registered; otherwise, no data is loaded for `beforeSend`. */
  readonly asksBeforeSend: boolean;
  /** Returns the message to send instead. @throws DomainError MESSAGE_REFUSED, SERVER_BUSY if it times out */
  beforeSend(caller: Caller, message: HookedMessage): Promise<Omit<HookedMessage, 'destination'>>;
  /** Returns the content to store instead of an edit. @throws DomainError MESSAGE_REFUSED, SERVER_BUSY */
  beforeEdit(caller: Caller, edit: { readonly messageId: MessageId; readonly content: string }): Promise<string>;
}

/** Hooks that do nothing. */
export const NO_HOOKS: MessageHooks = {
  asksBeforeSend: false,
  beforeSend: async (_caller, message) => message,
  beforeEdit: async (_caller, { content }) => content,
};

/** Destination of a message; `participants` are all users in the conversation, including the sender, ascending. */
export type Destination =
  | {
      readonly kind: 'channel';
      readonly channel: Channel;
      readonly topic: string;
      readonly topicLinks: readonly TopicLink[];
    }
  | { readonly kind: 'direct'; readonly recipientId: RecipientId; readonly participants: readonly User[] };

/** Returns the location of a message, which determines mention permissions. `channel`: null for direct messages. */
export async function destinationOf(
  tx: Transaction,
  { message, channel }: { readonly message: Message; readonly channel: Channel | null },
): Promise<Destination> {
  const { realmId, recipientId, topic, topicLinks } = message;
  if (channel) return { kind: 'channel', channel, topic, topicLinks };
  const participants = await tx.users.list(realmId, (await participantIdsOf(tx, message)) ?? []);
  return { kind: 'direct', recipientId, participants };
}

/** Destination without a recipient, because a direct conversation has none until it is opened. */
export type DestinationNamed =
  | Extract<Destination, { kind: 'channel' }>
  | Omit<Extract<Destination, { kind: 'direct' }>, 'recipientId'>;
/** Fields derived from the rendered text and its attachments. */
export const shownOf = (rendered: RenderedText, files: readonly FileId[]) => ({
  renderedContent: rendered.html,
  isMeMessage: rendered.isMeMessage,
  mentionsChannel: rendered.mentionsChannelWildcard,
  hasLink: rendered.hasLink,
  hasImage: rendered.hasImage,
  hasAttachment: files.length > 0,
});

export interface Post {
  readonly sender: User;
  /** Owner of the attached files; defaults to the sender. */
  readonly attachingUser?: User;
  readonly destination: Destination;
  readonly content: string;
  readonly rendered: RenderedText;
  readonly clientName: string;
  readonly sentAt: UnixSeconds;
  readonly isReadBySender: boolean;
  readonly widget?: Widget | null;
  /** Additional users for whom the message is read, such as the user who caused a notice. */
  readonly readFor?: readonly UserId[];
  /** True if the message arrives as read, except for `unreadFor`. */
  readonly isReadByDefault?: boolean;
  /** Receivers for whom the message is always unread. */
  readonly unreadFor?: readonly UserId[];
  /** Policy changes, published after attached files and before the message. */
  readonly topicPolicies?: readonly TopicPolicy[];
  readonly replacedTopicPolicies?: readonly (readonly [UserId, TopicVisibility])[];
  readonly echo?: { readonly queueId: string; readonly localId: string } | null;
  /** Data of the host application. */
  readonly data?: JsonObject;
  /** Limits the files that the message may attach. */
  readonly scope?: TokenScope | undefined;
}

/** Stores a message, sets flags for receivers and publishes the event (messages §4). Does not check permissions. */
export async function postMessage(tx: Transaction, post: Post): Promise<Message> {
  const { sender, destination, rendered, isReadBySender } = post;
  const { realmId } = sender;
  const exceptions = await flagsOfReceivers(tx, post);
  const files = await attachableFiles(tx, post.attachingUser ?? sender, rendered.uploadPaths, post.scope);
  const { unreadFor } = post;
  const flagged = new Map(exceptions);
  for (const userId of unreadFor ?? []) flagged.set(userId, { ...flagged.get(userId), unread: true });
  const readBy = [...(isReadBySender ? [sender.id] : []), ...(post.readFor ?? [])];
  const appended = tx.messages.append({
    realmId,
    senderId: sender.id,
    recipientId: destination.kind === 'channel' ? destination.channel.recipientId : destination.recipientId,
    channelId: destination.kind === 'channel' ? destination.channel.id : null,
    topic: destination.kind === 'channel' ? destination.topic : '',
    topicLinks: destination.kind === 'channel' ? destination.topicLinks : [],
    content: post.content,
    ...shownOf(rendered, files),
    sentAt: post.sentAt,
    clientName: post.clientName,
    isReadByDefault: post.isReadByDefault ?? false,
    readBy,
    exceptions: flagged,
  });
  // Both statements share one round trip.
  const [added, muters] = await Promise.all([appended, tx.messages.listMuters(realmId, sender.id)]);
  const hostData = changeHostData(NO_HOST_DATA, post.data ?? NO_HOST_DATA.data);
  const message = await withHostData(tx, added, hostData);
  const submessages = post.widget ? [await attach(tx, message, post.widget)] : [];
  const received = new Map<UserId, ReceivedFlags>(flagged);
  for (const userId of [...readBy, ...muters]) received.set(userId, { ...received.get(userId), read: true });

  if (destination.kind === 'channel') await noteActivity(tx, destination.channel, message);
  await attachFiles(tx, message, files);
  for (const policy of post.topicPolicies ?? []) {
    await changeTopicPolicy(tx, policy);
  }
  await awaitThumbnails(tx, message, rendered.pendingThumbnails);
  await tx.events.append(realmId, {
    event: {
      type: 'message.sent',
      view: { ...viewOf(message, submessages, post), ...(message.hasData && { hostData }) },
      isPublic: destination.kind === 'channel' && !isPrivate(destination.channel),
      exceptions: [...received],
      ...(post.replacedTopicPolicies?.length ? { replacedTopicPolicies: post.replacedTopicPolicies } : {}),
      echo: post.echo ?? null,
    },
    audience: receivers(destination, [...exceptions.keys()]),
    quotes: message.id,
  });
  // Older messages notify nobody.
  if (sender.bot === null && !post.isReadByDefault) await queueForBots(tx, message, post);
  return message;
}

/** Queues the message for outgoing webhooks (organization §19). Messages from bots trigger none. */
async function queueForBots(tx: Transaction, message: Message, { destination, rendered }: Post): Promise<void> {
  if (destination.kind === 'direct') {
    await triggerBots(tx, message, destination.participants, 'directMessage');
  } else if (rendered.mentionedUserIds.size > 0) {
    const mentioned = await tx.users.list(message.realmId, [...rendered.mentionedUserIds]);
    await triggerBots(tx, message, mentioned, 'mention');
  }
}

/** Mentioned bots receive the message without a subscription. Other mentions do not change the audience. */
function receivers(destination: Destination, named: readonly UserId[]): Audience {
  if (destination.kind === 'direct') return users(destination.participants.map((person) => person.id));
  const subscribers = subscribersOf(destination.channel.id);
  return named.length === 0 ? subscribers : anyOf(subscribers, users(named));
}

async function withHostData(tx: Transaction, message: Message, hostData: HostData): Promise<Message> {
  if (hostData.version === 0) return message;
  await tx.hostData.put(message.realmId, { kind: 'message', id: message.id }, hostData);
  return { ...message, hasData: true, version: message.version + 1 };
}

const attach = (tx: Transaction, { realmId, id, senderId }: Message, widget: Widget): Promise<Submessage> =>
  tx.messages.addSubmessage(realmId, { messageId: id, senderId, kind: 'widget', content: widgetText(widget) });

function viewOf(message: Message, submessages: readonly Submessage[], { sender, destination }: Post): MessageView {
  return {
    message,
    submessages,
    sender: userSummary(sender),
    conversation:
      destination.kind === 'channel'
        ? { kind: 'channel', channelId: destination.channel.id, name: destination.channel.name }
        : { kind: 'direct', participants: destination.participants.map(userSummary) },
  };
}

/** `message` is null for moved messages, which do not affect the channel's first message. */
export async function noteActivity(tx: Transaction, channel: Channel, message: Message | null): Promise<void> {
  const firstMessageId = channel.firstMessageId ?? message?.id ?? null;
  if (channel.isRecentlyActive && channel.firstMessageId === firstMessageId) return;
  await tx.channels.update({ ...channel, isRecentlyActive: true, firstMessageId });
  if (channel.isRecentlyActive) return;
  await publishProperty(tx, channel, { property: 'isRecentlyActive', value: true });
}

/** Returns the users mentioned in a text, whether or not they receive it, with the kind of mention. */
export async function flagsOfMentioned(
  tx: Transaction,
  post: Pick<Post, 'rendered' | 'destination' | 'sender'>,
): Promise<Map<UserId, Omit<SentFlags, 'unread'>>> {
  const { rendered } = post;
  const { realmId } = post.sender;
  const flags = new Map<UserId, SentFlags>();
  const give = (ids: Iterable<UserId>, more: SentFlags) => {
    for (const id of ids) flags.set(id, { ...flags.get(id), ...more });
  };
  give(rendered.mentionedUserIds, { mentioned: true });
  if (rendered.mentionedGroupIds.size > 0) {
    give(await tx.groups.listMembersRecursively(realmId, [...rendered.mentionedGroupIds]), { mentioned: true });
  }
  give(rendered.alertWordUserIds, { hasAlertWord: true });
  if (rendered.mentionsTopicWildcard) give(await topicParticipants(tx, post), { topicWildcardMentioned: true });
  return flags;
}

async function flagsOfReceivers(tx: Transaction, post: Post): Promise<Map<UserId, SentFlags>> {
  const { rendered, destination, sender } = post;
  const { realmId } = sender;
  const flags = await flagsOfMentioned(tx, post);
  if (flags.size === 0) return flags;

  const reached = await reachedBy(tx, destination, realmId, [...flags.keys()], rendered.mentionedUserIds);
  return new Map([...flags].filter(([id]) => reached.has(id)));
}

/** Returns the senders in a topic, including the current one, or all participants of a direct conversation. */
export async function topicParticipants(
  tx: Transaction,
  { destination, sender }: { readonly destination: DestinationNamed; readonly sender: User },
): Promise<readonly UserId[]> {
  if (destination.kind === 'direct') return destination.participants.map((person) => person.id);
  const { recipientId } = destination.channel;
  const senders = await tx.topics.listTopicSenders(sender.realmId, recipientId, topicKey(destination.topic));
  return senders.includes(sender.id) ? senders : [...senders, sender.id];
}

async function reachedBy(
  tx: Transaction,
  destination: Destination,
  realmId: User['realmId'],
  ids: readonly UserId[],
  named: ReadonlySet<UserId>,
): Promise<ReadonlySet<UserId>> {
  if (destination.kind === 'direct') return new Set(destination.participants.map((person) => person.id));
  const subscribers = await tx.channels.filterSubscribed(realmId, destination.channel.id, ids);
  const reached = new Set(subscribers);
  const mentionedNonSubscribers = [...named].filter((id) => !reached.has(id));
  if (mentionedNonSubscribers.length > 0) {
    for (const user of await tx.users.list(realmId, mentionedNonSubscribers)) {
      if (user.bot?.kind === 'generic' && !user.bot.isSystem && user.isActive) reached.add(user.id);
    }
  }
  return reached;
}

/**
 * Checks mention permissions, which depend on the rendered text, for sending and editing. `sender`: the message's
 * sender; `actor`: the same user with permissions (messages §9.1 row 17). Runs count queries only for wildcards.
 * @throws DomainError CHANNEL_WILDCARD_NOT_ALLOWED, TOPIC_WILDCARD_NOT_ALLOWED, CANNOT_MENTION_GROUP
 */
export async function enforceMentions(
  tx: Transaction,
  realm: Realm,
  actor: Actor,
  sender: User,
  destination: DestinationNamed,
  rendered: RenderedText,
): Promise<void> {
  const { kind } = destination;
  enforce(
    canMention(actor, realm, {
      channelSubscribers:
        kind === 'channel' && rendered.mentionsChannelWildcard
          ? await tx.channels.countSubscribers(realm.id, destination.channel.id)
          : 0,
      topicParticipants:
        kind === 'channel' && rendered.mentionsTopicWildcard
          ? (await topicParticipants(tx, { destination, sender })).length
          : 0,
      groups: rendered.mentionedGroups,
    }),
  );
}
