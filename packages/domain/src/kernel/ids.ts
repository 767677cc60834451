declare const brand: unique symbol;

/** A number that stands for one kind of thing only. All ids are unique on the whole server, never reused, and > 0. */
type Id<Kind extends string> = number & { readonly [brand]: Kind };

export type RealmId = Id<'realm'>;
export type UserId = Id<'user'>;
export type GroupId = Id<'group'>;
export type ChannelId = Id<'channel'>;
export type ChannelFolderId = Id<'channelFolder'>;
export type DefaultChannelGroupId = Id<'defaultChannelGroup'>;
/** A channel or a direct-message group, as the addressee of messages. */
export type RecipientId = Id<'recipient'>;
export type MessageId = Id<'message'>;
export type JobId = Id<'job'>;
export type ProfileFieldId = Id<'profileField'>;
/** A phone or tablet, as one app on it registers for push notifications. */
export type DeviceId = Id<'device'>;
/** No reminder has the id of a scheduled message. */
export type ScheduledMessageId = Id<'scheduled message'>;
export type DraftId = Id<'draft'>;
export type SnippetId = Id<'snippet'>;
export type FileId = Id<'file'>;
export type CustomEmojiId = Id<'custom emoji'>;
export type ExportId = Id<'export'>;
/** Of a browser that somebody is logged in with. */
export type SessionId = Id<'session'>;
export type ReminderId = Id<'reminder'>;

/** Position of an event in its realm's log: 1, 2, 3 …, in commit order. */
export type EventSeq = Id<'seq'>;

/** Position of a message among those sent to one recipient: 1, 2, 3 …; never reused. */
export type Ordinal = number;

/** Seconds since 1970-01-01T00:00:00Z; whole unless said otherwise. */
export type UnixSeconds = number;

/** Whether something that was stored can be an id. */
export const isId = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) > 0;

/** What authentication knows of whoever calls a use case. Rights are looked up by the use case, in its own unit. */
export interface Caller {
  readonly realmId: RealmId;
  readonly userId: UserId;
  /** As messages show it: `website`, `ZulipMobile`; at most 30 characters. */
  readonly clientName: string;
  /** Absent: not logged in by a browser session. */
  readonly sessionId?: SessionId;
}

/** Somebody who has proved nothing yet, on the host of a realm or of none. */
export interface AnonymousCaller {
  readonly realmId: RealmId | null;
  /** Network address, which limits are counted by; absent in process. */
  readonly ip?: string | undefined;
  /** As the program calls itself; absent in process. */
  readonly clientName?: string | undefined;
}
