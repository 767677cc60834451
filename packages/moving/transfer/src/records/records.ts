/**
 * Records of a chat history in a source-independent form. A reader converts a source into a stream of records; the
 * planner decides what each of them becomes in Parley.
 *
 * - Every record has a reference: `source`, `kind` and `id`. Ids are unique per source and kind. A source without ids of
 *   its own gets derived ones that stay equal in later exports, such as `${messageId}/${emoji}/${personId}`.
 * - One stream has one `source`, which names the system and the instance, such as `slack:T0123` or `mattermost:chat.acme`.
 * - Other fields refer to records by id alone; the field determines the kind.
 * - Records may come in any order, and may refer to later or missing records.
 * - Times are Unix seconds. Fractions order messages within a second; equal times keep the order of the stream.
 * - Optional fields may be absent but not null.
 */
export type ImportRecord =
  | OrganizationRecord
  | PersonRecord
  | GroupRecord
  | ChannelRecord
  | ConversationRecord
  | ThreadRecord
  | MessageRecord
  | ReactionRecord
  | EditRecord
  | DeletionRecord
  | FileRecord
  | EmojiRecord
  | PinRecord
  | ReadPositionRecord
  | SkippedRecord;

export type ImportRecordKind = ImportRecord['kind'];

/** Reference to a record. */
export interface ImportReference<Kind extends string = string> {
  readonly source: string;
  readonly kind: Kind;
  readonly id: string;
}

/** Organization of the source; at most one record per stream. */
export interface OrganizationRecord extends ImportReference<'organization'> {
  readonly name: string;
  readonly description?: string;
  readonly createdAt?: number;
  /** URLs of the source that links in texts begin with, such as `https://acme.slack.com`. */
  readonly urls?: readonly string[];
  /**
   * Set if the messages of a conversation are in several files, any of which may be missing unnoticed: one per UTC day, or
   * one per thread. A day or thread without messages then does not count as deleted.
   */
  readonly messageFiles?: 'days' | 'threads';
}

/** User, bot, integration, or an unknown sender. */
export interface PersonRecord extends ImportReference<'person'> {
  /** Full name as displayed. */
  readonly name: string;
  /** Name used for mentions and log-in, such as `ann.smith`. */
  readonly userName?: string;
  readonly email?: string;
  /** True only if the source confirmed that the email belongs to the person. */
  readonly isEmailVerified?: boolean;
  /** Id of the person at an identity provider or directory, if the source has it. */
  readonly externalId?: string;
  /** Default: `member`. */
  readonly role?: 'owner' | 'administrator' | 'moderator' | 'member' | 'guest';
  readonly isBot?: boolean;
  readonly isDeactivated?: boolean;
  /** True for people of another organization, such as strangers in shared channels. */
  readonly isExternal?: boolean;
  readonly joinedAt?: number;
  /** IANA name. */
  readonly timeZone?: string;
  /** File with the picture. */
  readonly avatar?: string;
}

export interface GroupRecord extends ImportReference<'group'> {
  readonly name: string;
  readonly description?: string;
  readonly members: readonly string[];
  /** True if the source lists only some of the members. */
  readonly hasMoreMembers?: boolean;
  readonly isDeactivated?: boolean;
}

export interface ChannelRecord extends ImportReference<'channel'> {
  readonly name: string;
  /** Markdown, including the topic or header of the channel in the source. */
  readonly description?: string;
  /** `public`: every member of the organization, but no guest, could read it without being a member of the channel. */
  readonly privacy: 'public' | 'private';
  /** Members at the time of the export. */
  readonly members: readonly string[];
  /** True if the source lists only some members, so people missing in a newer export did not leave. */
  readonly hasMoreMembers?: boolean;
  /**
   * True if the source has messages but no description of the channel, so its name, privacy and other members are unknown.
   * A channel of an earlier import stays unchanged, and only a new organization gets a new channel.
   */
  readonly isUnlisted?: boolean;
  readonly isArchived?: boolean;
  /** True if only administrators could post. */
  readonly isReadOnly?: boolean;
  readonly createdAt?: number;
  readonly creator?: string;
  /** Name of the folder: team, category or section. */
  readonly folder?: string;
}

/** Direct conversation of two people, of a group, or of one person. */
export interface ConversationRecord extends ImportReference<'conversation'> {
  /** Everyone who could read it. */
  readonly members: readonly string[];
}

/**
 * Thread, discussion or forum post in a channel. Needed only for threads with a name or without a root message;
 * otherwise `MessageRecord.thread` suffices. Its id is the id of the root message if there is one.
 */
export interface ThreadRecord extends ImportReference<'thread'> {
  readonly channel: string;
  readonly name?: string;
}

/** Message in a channel or in a conversation: exactly one of `channel` and `conversation` is present. */
export interface MessageRecord extends ImportReference<'message'> {
  readonly channel?: string;
  readonly conversation?: string;
  /** Thread, equal to the id of its root message if there is one. The root message may omit it. */
  readonly thread?: string;
  /** Topic in sources that have topics; takes precedence over `thread`. */
  readonly topic?: string;
  readonly sender: string;
  /** Name shown with this message if it differs from the sender's, as for webhooks. */
  readonly senderName?: string;
  readonly sentAt: number;
  /** Time of the last edit. */
  readonly editedAt?: number;
  readonly content: ImportedContent;
  /** Attached files without a place in `content`, in order. */
  readonly files?: readonly string[];
  /** Message that this one answers or quotes. */
  readonly replyTo?: string;
  /** True for a reply in a thread that the channel showed too. */
  readonly isBroadcast?: boolean;
  /** True for a message written by a webhook, app or bot. */
  readonly isAutomatic?: boolean;
  /** True for a notice of the source's system, such as a call or a renamed channel. */
  readonly isNotice?: boolean;
  /** Parts that the reader could only describe in `content`. They are counted by type and kept as JSON. */
  readonly unsupported?: readonly UnsupportedPart[];
}

export interface UnsupportedPart {
  /** Type in the words of the source, such as `slack.block.call`. */
  readonly type: string;
  /** JSON value of the source. */
  readonly original: unknown;
}

/**
 * Text of a message: Markdown of Parley, as one string or as parts. Strings are parsed after all parts were joined, so a
 * part may begin inside emphasis, a list or a link. Strings contain no mentions of people and groups that should resolve;
 * a reader escapes text that only looks like Markdown. Inside code a reader writes references as plain text.
 */
export type ImportedContent = string | readonly ContentPart[];

export type ContentPart = string | PersonMention | GroupMention | EveryoneMention | ReferenceLink;

/** `name` is shown if the record is missing. */
export interface PersonMention {
  readonly mention: 'person';
  readonly id: string;
  readonly name?: string;
}

export interface GroupMention {
  readonly mention: 'group';
  readonly id: string;
  readonly name?: string;
}

/** Mention of all members of a channel or conversation, such as `@here`. */
export interface EveryoneMention {
  readonly mention: 'everyone';
}

/** Link to another record. `url` is used, or else `label`, if the record is missing. Files may be shown in place. */
export interface ReferenceLink {
  readonly link: 'channel' | 'message' | 'file';
  readonly id: string;
  /** Plain text. Default: a name of the target. */
  readonly label?: string;
  readonly url?: string;
}

export interface ReactionRecord extends ImportReference<'reaction'> {
  readonly message: string;
  readonly person: string;
  /** Unicode emoji, with skin tone if known; or a name without colons, of a custom emoji or a standard one. */
  readonly emoji: string;
  readonly at?: number;
}

/** Earlier text of a message, for sources with an edit history. */
export interface EditRecord extends ImportReference<'edit'> {
  readonly message: string;
  /** Editor. Default: the sender. */
  readonly person?: string;
  readonly at: number;
  /** Text before this edit. */
  readonly previous: ImportedContent;
}

/** Deletion of a message that an earlier export contained. */
export interface DeletionRecord extends ImportReference<'deletion'> {
  readonly message: string;
  readonly at?: number;
}

/** File, including pictures of people and custom emoji. At most one of `path`, `url` and `missing` is present. */
export interface FileRecord extends ImportReference<'file'> {
  readonly name: string;
  readonly contentType?: string;
  /** Size in bytes according to the source. */
  readonly size?: number;
  readonly createdAt?: number;
  readonly owner?: string;
  /** Location in the export, for `OpenImport.openFile`. */
  readonly path?: string;
  /** URL to download from. May contain a secret, which is neither stored nor logged. */
  readonly url?: string;
  /** Reason for missing bytes, such as `deleted in Slack`. */
  readonly missing?: string;
}

export interface EmojiRecord extends ImportReference<'emoji'> {
  /** Name, with no colons around it. */
  readonly name: string;
  /** File with the picture; absent for an alias. */
  readonly file?: string;
  /** Name of the emoji that this one is another name for. */
  readonly aliasOf?: string;
}

/** Message pinned for everyone, or saved by one person. */
export interface PinRecord extends ImportReference<'pin'> {
  readonly message: string;
  /** Set for a saved message that only this person sees as saved. */
  readonly person?: string;
  readonly at?: number;
}

/** Exactly one of `channel` and `conversation` is present. */
export interface ReadPositionRecord extends ImportReference<'readPosition'> {
  readonly person: string;
  readonly channel?: string;
  readonly conversation?: string;
  /** The person read all messages up to this time. */
  readonly readUntil: number;
}

/** Object of the source that becomes no other record. Readers report it here, so that the ledger counts it. */
export interface SkippedRecord extends ImportReference<'skipped'> {
  /** Type in the words of the source, such as `slack.channel_join`. */
  readonly type: string;
  /** Reason in English, the same for all objects of the type. */
  readonly reason: string;
  /** JSON value of the source, shown as an example. */
  readonly original?: unknown;
  /** Set for a damaged or missing part of the source. Messages that it may have contained do not count as deleted. */
  readonly gap?: Gap;
}

/** Messages that a part of the source may have contained: of one channel or conversation, or else of all. */
export interface Gap {
  readonly channel?: string;
  readonly conversation?: string;
  /** Default: any time. */
  readonly from?: number;
  /** Default: any time. */
  readonly until?: number;
}
