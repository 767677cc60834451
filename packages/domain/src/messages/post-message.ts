import type { Actor } from '../access/actor.js';
import { type Channel, isPrivate, topicKey } from '../channels/channel.js';
import { metadataUsers, subscribersOf } from '../channels/channel-delivery.js';
import { changeTopicPolicy, type TopicPolicy } from '../channels/topic-policies.js';
import { type Audience, anyOf, users } from '../kernel/event.js';
import type { Caller, ChannelId, FileId, MessageId, RecipientId, UnixSeconds, UserId } from '../kernel/ids.js';
import { enforce } from '../kernel/permission.js';
import type { Transaction } from '../kernel/unit-of-work.js';
import type { TopicLink } from '../markdown/markdown.js';
import type { Realm } from '../realms/realm.js';
import type { User } from '../users/user.js';
import { type Message, type MessageView, type SentFlags, type Submessage, userSummary } from './message.js';
import type { ReceivedFlags } from './message-events.js';
import { attachableFiles, attachFiles, awaitThumbnails } from './message-files.js';
import { canMention } from './message-permissions.js';
import type { RenderedText } from './render-message.js';
import { type Widget, widgetText } from './widgets.js';

/** Where a message is to go, as far as that is known before anything is checked; null: it cannot be known. */
export type HookedDestination =
  | { readonly kind: 'channel'; readonly id: ChannelId | null; readonly name: string | null }
  | { readonly kind: 'direct'; readonly userIds: readonly UserId[] };

/** What somebody is about to send: nothing of it is checked yet. */
export interface HookedMessage {
  readonly destination: HookedDestination;
  /** As typed; null: not given, or a direct message. */
  readonly topic: string | null;
  /** Markdown, as typed. */
  readonly content: string;
}

/**
 * What the host application has to say to messages before they are sent or edited. Called outside of units; a refusal is a
 * DomainError, after which nothing is changed.
 */
export interface MessageHooks {
  /** Whether anybody wants to be asked; nothing is looked up for `beforeSend` otherwise. */
  readonly asksBeforeSend: boolean;
  /** Answers what is sent instead. @throws DomainError MESSAGE_REFUSED, SERVER_BUSY when it takes too long */
  beforeSend(caller: Caller, message: HookedMessage): Promise<Pick<HookedMessage, 'topic' | 'content'>>;
  /** The same of a text that takes the place of another one. @throws DomainError MESSAGE_REFUSED, SERVER_BUSY */
  beforeEdit(caller: Caller, edit: { readonly messageId: MessageId; readonly content: string }): Promise<string>;
}

/** Nobody wants to be asked. */
export const NO_HOOKS: MessageHooks = {
  asksBeforeSend: false,
  beforeSend: async (_caller, message) => message,
  beforeEdit: async (_caller, { content }) => content,
};

/** Where a message goes; the people of a direct conversation are all of them, the sender included, ascending. */
export type Destination =
  | {
      readonly kind: 'channel';
      readonly channel: Channel;
      readonly topic: string;
      readonly topicLinks: readonly TopicLink[];
    }
  | { readonly kind: 'direct'; readonly recipientId: RecipientId; readonly participants: readonly User[] };

/** The same without its recipient, which a conversation that was never opened does not have. */
export type DestinationNamed =
  | Extract<Destination, { kind: 'channel' }>
  | Omit<Extract<Destination, { kind: 'direct' }>, 'recipientId'>;
/** What rendering found in a text that is stored beside it, and what the text attaches. */
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
  readonly destination: Destination;
  readonly content: string;
  readonly rendered: RenderedText;
  readonly clientName: string;
  readonly sentAt: UnixSeconds;
  readonly isReadBySender: boolean;
  readonly widget?: Widget | null;
  /** Others who need not read it: whoever caused a notice. */
  readonly readFor?: readonly UserId[];
  /** Nobody needs to read it who is not named in it. */
  readonly isReadByDefault?: boolean;
  /** Receivers who get it unread all the same. */
  readonly unreadFor?: readonly UserId[];
  /** Announced after the files that it attaches, before itself. */
  readonly topicPolicies?: readonly TopicPolicy[];
  readonly echo?: { readonly queueId: string; readonly localId: string } | null;
}

/** Stores a message, gives each receiver their flags and tells everybody (messages §4). Asks for no permission. */
export async function postMessage(tx: Transaction, post: Post): Promise<Message> {
  const { sender, destination, rendered, isReadBySender } = post;
  const { realmId } = sender;
  const exceptions = await flagsOfReceivers(tx, post);
  const files = await attachableFiles(tx, sender, rendered.uploadPaths);
  const { unreadFor } = post;
  const flagged = new Map(exceptions);
  for (const userId of unreadFor ?? []) flagged.set(userId, { ...flagged.get(userId), unread: true });
  const readBy = [...(isReadBySender ? [sender.id] : []), ...(post.readFor ?? [])];
  const shown = shownOf(rendered, files);
  const message = await tx.messages.append({
    realmId,
    senderId: sender.id,
    recipientId: destination.kind === 'channel' ? destination.channel.recipientId : destination.recipientId,
    channelId: destination.kind === 'channel' ? destination.channel.id : null,
    topic: destination.kind === 'channel' ? destination.topic : '',
    topicLinks: destination.kind === 'channel' ? destination.topicLinks : [],
    content: post.content,
    renderedContent: shown.renderedContent,
    isMeMessage: shown.isMeMessage,
    mentionsChannel: shown.mentionsChannel,
    hasLink: shown.hasLink,
    hasImage: shown.hasImage,
    hasAttachment: shown.hasAttachment,
    sentAt: post.sentAt,
    clientName: post.clientName,
    isReadByDefault: post.isReadByDefault ?? false,
    readBy,
    exceptions: flagged,
  });
  const submessages = post.widget ? [await attach(tx, message, post.widget)] : [];
  const received = new Map<UserId, ReceivedFlags>(flagged);
  for (const userId of readBy) received.set(userId, { ...received.get(userId), read: true });

  if (destination.kind === 'channel') await noteActivity(tx, destination.channel, message);
  await attachFiles(tx, message, files);
  for (const policy of post.topicPolicies ?? []) {
    await changeTopicPolicy(tx, policy);
    await tx.yield();
  }
  await awaitThumbnails(tx, message, rendered.pendingThumbnails);
  await tx.events.append(realmId, {
    event: {
      type: 'message.sent',
      view: viewOf(message, submessages, post),
      isPublic: destination.kind === 'channel' && !isPrivate(destination.channel),
      exceptions: [...received],
      echo: post.echo ?? null,
    },
    audience: receivers(destination, [...exceptions.keys()]),
    quotes: message.id,
  });
  return message;
}

/** Bots that are named receive the message without subscribing to the channel; for subscribers the names change nothing. */
function receivers(destination: Destination, named: readonly UserId[]): Audience {
  if (destination.kind === 'direct') return users(destination.participants.map((person) => person.id));
  const subscribers = subscribersOf(destination.channel.id);
  return named.length === 0 ? subscribers : anyOf(subscribers, users(named));
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

/** `message`: one that was sent; null: others came by a move, which is no matter to where the channel begins. */
export async function noteActivity(tx: Transaction, channel: Channel, message: Message | null): Promise<void> {
  const firstMessageId = channel.firstMessageId ?? message?.id ?? null;
  if (channel.isRecentlyActive && channel.firstMessageId === firstMessageId) return;
  await tx.channels.update({ ...channel, isRecentlyActive: true, firstMessageId });
  if (channel.isRecentlyActive) return;
  await tx.events.append(channel.realmId, {
    event: {
      type: 'channel.property_changed',
      channelId: channel.id,
      name: channel.name,
      property: 'isRecentlyActive',
      value: true,
    },
    audience: metadataUsers(channel),
  });
}

/** Those whom a text names, be they receivers or not, and by what. */
export async function namedIn(
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
  const flags = await namedIn(tx, post);
  if (flags.size === 0) return flags;

  const reached = await reachedBy(tx, destination, realmId, [...flags.keys()], rendered.mentionedUserIds);
  return new Map([...flags].filter(([id]) => reached.has(id)));
}

/** Who wrote in the topic, and the sender; in a direct conversation everybody. */
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
 * Asks for the rights that only what was rendered can tell, when a message is sent and when its text is changed.
 * `sender` is the message's, and `actor` the sender's rights (messages §9.1 row 17). Counts only whom a wildcard names.
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
