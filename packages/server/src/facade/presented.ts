import type { Role } from '@parley/domain/access';
import { type ChannelView, isPrivate, isWebPublic } from '@parley/domain/channels';
import type { UserId } from '@parley/domain/kernel';
import type { HostUser } from '@parley/domain/membership';
import type { MessageView, PersonalFlags, UserSummary } from '@parley/domain/messages';
import type { Realm } from '@parley/domain/realms';

export interface ChatRealm {
  readonly id: number;
  /** What `realm` is in every other call: `''` for the organization at the server's own address. */
  readonly name: string;
  readonly title: string;
  /** Where its clients connect to. */
  readonly url: string;
  readonly isActive: boolean;
}

export interface ChatUser {
  readonly id: number;
  /** Null: your application has given them none. */
  readonly externalId: string | null;
  readonly realm: string;
  readonly name: string;
  readonly email: string;
  readonly role: Role;
  readonly isBot: boolean;
  readonly isActive: boolean;
}

/** A user as messages name them. */
export interface ChatPerson {
  readonly id: number;
  readonly externalId: string | null;
  readonly name: string;
}

export interface ChatMessage {
  readonly id: number;
  readonly realm: string;
  readonly sender: ChatPerson;
  /** Null: a direct message. */
  readonly channel: { readonly id: number; readonly name: string } | null;
  /** `''` for direct messages, and for what is under no topic. */
  readonly topic: string;
  /** Everybody in a direct conversation, the sender among them; empty in channels. */
  readonly people: readonly ChatPerson[];
  /** Markdown. */
  readonly content: string;
  readonly html: string;
  readonly sentAt: Date;
  /** Of the text; null: never. */
  readonly editedAt: Date | null;
  /** What it was sent with. */
  readonly client: string;
}

/** A message as it is to one user. */
export interface OwnChatMessage extends ChatMessage {
  readonly isRead: boolean;
  readonly isStarred: boolean;
  /** By name, by a group they are in, or with everybody. */
  readonly isMentioned: boolean;
}

export interface ChatChannel {
  readonly id: number;
  readonly realm: string;
  readonly name: string;
  /** Markdown. */
  readonly description: string;
  readonly isPrivate: boolean;
  readonly isWebPublic: boolean;
  readonly isArchived: boolean;
  readonly subscribers: number;
}

/** External ids by user. */
export type ExternalIds = ReadonlyMap<UserId, string>;

export const presentRealm = (realm: Realm, url: string): ChatRealm => ({
  id: realm.id,
  name: realm.stringId,
  title: realm.name,
  url,
  isActive: !realm.isDeactivated,
});

export const presentUser = ({ user, externalId }: HostUser, realm: string): ChatUser => ({
  id: user.id,
  externalId,
  realm,
  name: user.fullName,
  email: user.email,
  role: user.role,
  isBot: user.bot !== null,
  isActive: user.isActive,
});

/** Everybody whom messages name and who may have an external id: bots of the system have none. Some more than once. */
export function peopleIn(views: readonly MessageView[]): readonly UserId[] {
  const ids: UserId[] = [];
  const add = ({ id, isSystemBot }: UserSummary) => {
    if (!isSystemBot) ids.push(id);
  };
  for (const { sender, conversation } of views) {
    add(sender);
    if (conversation.kind === 'direct') conversation.participants.forEach(add);
  }
  return ids;
}

/** Presents people, each once. */
export function peopleBy(
  externalIds: ExternalIds,
  hidden: ReadonlySet<UserId> = new Set(),
): (person: { readonly id: UserId; readonly fullName: string }) => ChatPerson {
  const known = new Map<UserId, ChatPerson>();
  return ({ id, fullName }) => {
    let person = known.get(id);
    if (!person) {
      person = hidden.has(id)
        ? { id, externalId: null, name: 'Unknown user' }
        : { id, externalId: externalIds.get(id) ?? null, name: fullName };
      known.set(id, person);
    }
    return person;
  };
}

export const presentMessage = (
  { message, sender, conversation }: MessageView,
  realm: string,
  person: ReturnType<typeof peopleBy>,
): ChatMessage => ({
  id: message.id,
  realm,
  sender: person(sender),
  channel: conversation.kind === 'channel' ? { id: conversation.channelId, name: conversation.name } : null,
  topic: message.topic,
  people: conversation.kind === 'direct' ? conversation.participants.map(person) : [],
  content: message.content,
  html: message.renderedContent,
  sentAt: new Date(message.sentAt * 1000),
  editedAt: message.lastEditedAt === null ? null : new Date(message.lastEditedAt * 1000),
  client: message.clientName,
});

/** The message itself, with what it is to one user. */
export const presentOwnMessage = (
  view: MessageView,
  realm: string,
  person: ReturnType<typeof peopleBy>,
  flags: PersonalFlags,
): OwnChatMessage => {
  const message = presentMessage(view, realm, person) as {
    -readonly [Field in keyof OwnChatMessage]: OwnChatMessage[Field];
  };
  // Field by field: copying an object takes ten times as long.
  message.isRead = flags.read;
  message.isStarred = flags.starred;
  message.isMentioned = flags.mentioned || flags.channelWildcardMentioned || flags.topicWildcardMentioned;
  return message;
};

export const presentChannel = (channel: ChannelView, realm: string): ChatChannel => ({
  id: channel.id,
  realm,
  name: channel.name,
  description: channel.description,
  isPrivate: isPrivate(channel),
  isWebPublic: isWebPublic(channel),
  isArchived: channel.isArchived,
  subscribers: channel.subscriberCount,
});
