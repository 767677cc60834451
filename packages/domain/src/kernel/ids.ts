declare const brand: unique symbol;

/** Branded number for one kind of entity. Ids are positive, unique on the server and never reused. */
export type Id<Kind extends string> = number & { readonly [brand]: Kind };

export type RealmId = Id<'realm'>;
export type UserId = Id<'user'>;
export type GroupId = Id<'group'>;
export type ChannelId = Id<'channel'>;
export type ChannelFolderId = Id<'channelFolder'>;
export type DefaultChannelGroupId = Id<'defaultChannelGroup'>;
/** Channel or direct conversation as a message recipient. */
export type RecipientId = Id<'recipient'>;
export type MessageId = Id<'message'>;
export type JobId = Id<'job'>;
export type ProfileFieldId = Id<'profileField'>;
/** App on a phone or tablet that registers for push notifications. */
export type DeviceId = Id<'device'>;
/** Never equal to a reminder id. */
export type ScheduledMessageId = Id<'scheduled message'>;
export type DraftId = Id<'draft'>;
export type SnippetId = Id<'snippet'>;
export type FileId = Id<'file'>;
export type CustomEmojiId = Id<'custom emoji'>;
export type ExportId = Id<'export'>;
export type PlaceholderKeyId = Id<'placeholderKey'>;
export type ErasureId = Id<'erasure'>;
export type HoldId = Id<'hold'>;
export type ImportBatchId = Id<'import batch'>;
/** Browser session of a logged-in user. */
export type SessionId = Id<'session'>;
export type ReminderId = Id<'reminder'>;
/** Token for some conversations of a user. */
export type AccessTokenId = Id<'accessToken'>;

/** Position of an event in its realm's log: 1, 2, 3 …, in commit order. */
export type EventSeq = Id<'seq'>;

/** Position of a message in its recipient's sequence: 1, 2, 3 …; never reused. */
export type Ordinal = number;

/** Seconds since 1970-01-01T00:00:00Z; whole unless stated otherwise. */
export type UnixSeconds = number;

/** True if a stored value is a valid id. */
export const isId = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) > 0;

/** `read` includes marking messages as read; `write` is sending, editing, deleting, reacting and typing. */
export type TokenAction = 'read' | 'write' | 'upload';

export type TokenConversation =
  /** A null topic means all topics of the channel. */
  | { readonly kind: 'channel'; readonly channelId: ChannelId; readonly topic: string | null }
  /** All participants, including the token's user, ascending. */
  | { readonly kind: 'direct'; readonly userIds: readonly UserId[] };

/** Conversations and actions to which a token limits the rights of its user. */
export interface TokenScope {
  readonly tokenId: AccessTokenId;
  readonly actions: readonly TokenAction[];
  readonly conversations: readonly TokenConversation[];
  /** The token reads what every reader of its only conversation can read; absent for rights of its user. */
  readonly readers?: 'all';
  /** Context in which a token with `readers` reads and writes. */
  readonly context?: string;
}

/** Result of authentication. The use case loads the permissions in its own unit of work. */
export interface Caller {
  readonly realmId: RealmId;
  readonly userId: UserId;
  /** Client name shown with messages, such as `website` or `ZulipMobile`; at most 30 characters. */
  readonly clientName: string;
  /** Present only for callers logged in by a browser session. */
  readonly sessionId?: SessionId;
  /** Present only for callers with a token for some of their conversations. */
  readonly scope?: TokenScope;
}

/** Caller with a permission for an administrative operation, or the operator. */
export interface Requester extends Pick<Caller, 'realmId' | 'sessionId'> {
  /** Null for the operator and the host application. */
  readonly userId: UserId | null;
}

/** Unauthenticated caller, on the host of a realm or on no realm's host. */
export interface AnonymousCaller {
  readonly realmId: RealmId | null;
  /** IP address for rate limits; absent for in-process calls. */
  readonly ip?: string | undefined;
  /** Name of the client application; absent for in-process calls. */
  readonly clientName?: string | undefined;
}
