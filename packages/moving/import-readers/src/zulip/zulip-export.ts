import { createHash } from 'node:crypto';
import { opendir } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import type { Channel } from '@parley/domain/channels';
import {
  type ChannelId,
  type GroupId,
  getOrThrow,
  type MessageId,
  type PersonCopy,
  type RealmCopy,
  type UserId,
} from '@parley/domain/kernel';
import { isPlaceholder } from '@parley/domain/membership';
import type { OpenExport } from '@parley/export-files';
import type { GroupCopy, MessageCopy, UserCopy } from '@parley/transfer/exports';
import type { ImportRecord, MessageRecord, PersonRecord } from '@parley/transfer/records';
import { present } from '../fields.js';
import { type ZulipNames, zulipContent } from './zulip-text.js';

/** UUID of organizations of old Zulip servers. */
const NO_UUID = '00000000-0000-4000-8000-000000000000';

/** Returns the source of an organization's records, the same in all of its archives. */
export const zulipSource = ({ uuid, stringId }: Pick<RealmCopy['realm'], 'uuid' | 'stringId'>): string =>
  `zulip:${uuid === NO_UUID ? stringId : uuid}`;

/** Maximum number of channels that a channel with protected history becomes. */
const MAX_PARTS_OF_CHANNEL = 100;

/** Parts of an archive with records; all others are reported by name. */
const REALM_PARTS: ReadonlySet<string> = new Set([
  'realm',
  'customEmoji',
  'groups',
  'users',
  'channels',
  'conversations',
  'channelFolders',
]);
const PERSON_PARTS: ReadonlySet<string> = new Set(['userId', 'subscriptions']);
/** Tables of Zulip with data that other files and tables contain as well. */
const COVERED_TABLES: ReadonlySet<string> = new Set(['zerver_huddle', 'zerver_client']);
const DOCUMENT =
  /^(?:realm\.json|parley\.json|parley-people\.jsonl|attachment\.json|messages-\d{6}\.json|uploads\/records\.json|(?:avatars|emoji)\/.*)$/;

/** Place of messages. */
type Place = { readonly channel: string } | { readonly conversation: string };

/** Channel of messages with the same readers. */
interface ChannelPart {
  readonly id: string;
  readonly readers: readonly UserId[];
}

/** Reading state of a person in one place. */
interface ReadState {
  readUntil: number;
  /** Number of unread messages after the last read one. */
  unread: number;
  /** Number of unread messages before the last read one. */
  earlier: number;
}

/** Converts an archive in Zulip's layout. One instance reads it once. */
export class ZulipExport {
  private readonly source: string;
  private readonly realm: RealmCopy;
  private readonly users: ReadonlyMap<UserId, UserCopy>;
  private readonly channels: ReadonlyMap<ChannelId, Channel>;
  private readonly conversationMembers: ReadonlyMap<number, readonly UserId[]>;
  private readonly subscribers = new Map<ChannelId, UserId[]>();
  /** Ids of attached files, by message. */
  private readonly files = new Map<MessageId, string[]>();
  private readonly conversations = new Set<string>();
  private readonly seenBots = new Set<UserId>();
  /** Parts of channels with protected history, oldest first. */
  private readonly parts = new Map<ChannelId, Map<string, ChannelPart>>();
  private readonly readStates = new Map<string, Map<UserId, ReadState>>();
  private readonly names: Omit<ZulipNames, 'hasFile'>;
  /** Current names of custom emoji by code. */
  private readonly emojiNames: ReadonlyMap<string, string>;

  constructor(private readonly opened: OpenExport) {
    this.realm = opened.source.realm;
    const { realm, users, channels, conversations } = this.realm;
    this.source = zulipSource(realm);
    this.users = new Map(users.map((copy) => [copy.user.id, copy]));
    this.channels = new Map(channels.map((channel) => [channel.id, channel]));
    this.conversationMembers = new Map(conversations.map(({ recipientId, userIds }) => [recipientId, userIds]));
    this.names = namesOf(this.realm);
    this.emojiNames = new Map(this.realm.customEmoji.map(({ id, name }) => [String(id), name]));
  }

  async *records(): AsyncGenerator<ImportRecord> {
    const { realm } = this.realm;
    const { source } = this;
    yield {
      ...{ source, kind: 'organization', id: realm.uuid, name: realm.name, createdAt: realm.createdAt },
      ...present({ description: realm.settings.description }),
    };
    yield this.skipped('organization_settings', 'settings', 'The settings of the organization in Parley apply');
    const pictures = await this.opened.pictures();
    for (const [userId, path] of pictures.avatars) yield this.pictureRecord(`avatar/${userId}`, path);
    for (const copy of this.realm.users) {
      if (copy.systemKind === null) yield this.personRecord(copy, pictures.avatars.has(copy.user.id));
    }
    for await (const person of this.opened.source.people()) yield* this.personParts(person);
    yield* this.groupRecords();
    yield* this.emojiRecords(pictures.emoji);
    yield* this.fileRecords();
    for await (const page of this.opened.allMessages()) for (const copy of page) yield* this.messageRecords(copy);
    for (const channel of this.realm.channels) yield* this.channelRecords(channel);
    yield* this.readPositions();
    yield* this.unusedConversations();
    for (const [name, part] of Object.entries(this.realm))
      if (!REALM_PARTS.has(name)) yield* this.part(name, name, part);
    for (const [table, rows] of this.opened.unreadTables) {
      if (COVERED_TABLES.has(table)) continue;
      for (let row = 0; row < rows; row++) yield this.skipped(table, `${table}/${row}`, 'The table has no counterpart');
    }
    yield* this.unusedFiles();
  }

  private skipped(type: string, id: string, reason: string, original?: unknown): ImportRecord {
    const more = original === undefined ? {} : { original };
    return { source: this.source, kind: 'skipped', id, type: `zulip.${type}`, reason, ...more };
  }

  /** Reports each object of a part without records. */
  private *part(type: string, id: string, part: unknown): Generator<ImportRecord> {
    const objects = Array.isArray(part) ? part : part === null || part === undefined ? [] : [part];
    for (const [index, object] of objects.entries())
      yield this.skipped(type, `${id}/${index}`, 'Imports into an organization do not contain such objects', object);
  }

  private personRecord({ user }: UserCopy, hasAvatar = false): PersonRecord {
    const { id, fullName, email, role, isActive, bot, joinedAt, settings, externalId } = user;
    return {
      ...{ source: this.source, kind: 'person', id: String(id), name: fullName, role, joinedAt },
      ...present({
        email: isPlaceholder(user) ? undefined : email,
        // The address of a deactivated user may belong to somebody else by now.
        isEmailVerified: (isActive && bot === null) || undefined,
        externalId,
        isBot: bot !== null || undefined,
        isDeactivated: !isActive || undefined,
        timeZone: settings.timezone,
        avatar: hasAvatar ? `avatar/${id}` : undefined,
      }),
    };
  }

  private *personParts(person: PersonCopy): Generator<ImportRecord> {
    const { userId } = person;
    for (const { channelId, isActive } of person.subscriptions) {
      if (!isActive) continue;
      const members = this.subscribers.get(channelId);
      if (members) members.push(userId);
      else this.subscribers.set(channelId, [userId]);
    }
    if (this.users.get(userId)?.systemKind !== null) return;
    yield this.skipped('settings', `settings/${userId}`, 'People choose their settings and those of channels again');
    for (const [name, part] of Object.entries(person))
      if (!PERSON_PARTS.has(name)) yield* this.part(name, `${name}/${userId}`, part);
  }

  private *groupRecords(): Generator<ImportRecord> {
    const { source } = this;
    const groups = new Map(this.realm.groups.map((group) => [group.id, group]));
    for (const group of this.realm.groups) {
      if (group.systemName !== null || group.name === null) continue;
      const { id, name, description, isDeactivated, subgroupIds } = group;
      yield {
        ...{ source, kind: 'group', id: String(id), name, members: [...membersOf(group, groups)].map(String) },
        ...present({ description, isDeactivated: isDeactivated || undefined }),
      };
      yield this.skipped('group_settings', `group/${id}`, 'Groups get the default permissions');
      for (const subgroup of subgroupIds)
        yield this.skipped('subgroup', `${id}/${subgroup}`, 'Members of subgroups become members of the group');
    }
  }

  private *emojiRecords(paths: ReadonlyMap<number, string>): Generator<ImportRecord> {
    const { source } = this;
    for (const { id, name, isDeactivated } of this.realm.customEmoji) {
      if (isDeactivated) {
        yield this.skipped('deactivated_emoji', `emoji/${id}`, 'Deactivated custom emoji are not imported');
        continue;
      }
      const file = `emoji/${id}`;
      const path = paths.get(id);
      if (path === undefined) yield { source, kind: 'file', id: file, name, missing: 'missing in the archive' };
      else yield this.pictureRecord(file, path);
      yield { source, kind: 'emoji', id: String(id), name, file };
    }
  }

  private pictureRecord(id: string, path: string): ImportRecord {
    const name = path.slice(path.lastIndexOf('/') + 1).replace(/\.original$/, '');
    return { source: this.source, kind: 'file', id, name, path };
  }

  private async *fileRecords(): AsyncGenerator<ImportRecord> {
    for await (const { file, messageIds, content } of this.opened.source.files()) {
      const { pathId: id, name, contentType, size, createdAt, ownerId } = file;
      yield {
        ...{ source: this.source, kind: 'file', id, name, contentType, size, createdAt, owner: String(ownerId) },
        ...(content ? { path: `uploads/${id}` } : { missing: 'missing in the archive' }),
      };
      for (const message of messageIds) {
        const ids = this.files.get(message);
        if (ids) ids.push(id);
        else this.files.set(message, [id]);
      }
    }
  }

  private *messageRecords(copy: MessageCopy): Generator<ImportRecord> {
    const { source } = this;
    const { message, edits, reactions, holders } = copy;
    const { senderId } = message;
    const sender = this.users.get(senderId);
    const place = yield* this.placeOf(copy);
    if (place === null) return;
    if (sender && sender.systemKind !== null && !this.seenBots.has(senderId)) {
      this.seenBots.add(senderId);
      yield this.personRecord(sender);
    }
    const id = String(message.id);
    yield this.messageRecord(copy, place, sender);
    for (const [index, { userId, editedAt, previousContent, topic, channel }] of [...edits].reverse().entries()) {
      const edit = `${id}/${index}`;
      if (previousContent) {
        const previous = zulipContent(previousContent.content, this.namesIn(message.id));
        yield { source, kind: 'edit', id: edit, message: id, person: String(userId), at: editedAt, previous };
      }
      if (topic || channel)
        yield this.skipped('move', `move/${edit}`, 'Messages keep no history of their topics and channels');
    }
    for (const { userId, type, code, name } of reactions) {
      const emoji = type === 'unicode' ? charactersOf(code) : (this.emojiNames.get(code) ?? name);
      const person = String(userId);
      yield { source, kind: 'reaction', id: `${id}/${type}/${code}/${person}`, message: id, person, emoji };
    }
    for (const { userId, flags } of holders) {
      const person = String(userId);
      if (flags.starred) yield { source, kind: 'pin', id: `${id}/${person}`, message: id, person };
      if (flags.collapsed)
        yield this.skipped('collapsed', `collapsed/${id}/${person}`, 'Collapsed messages are shown in full');
      if (!flags.historical) this.noteRead(place, userId, flags.read, message.sentAt);
    }
  }

  private messageRecord(
    { message, submessages }: MessageCopy,
    place: Place,
    sender: UserCopy | undefined,
  ): MessageRecord {
    const linked = new Set<string>();
    const names = this.namesIn(message.id, linked);
    const content = zulipContent(message.content, names);
    const files = (this.files.get(message.id) ?? []).filter((file) => !linked.has(file));
    return {
      ...{ source: this.source, kind: 'message', id: String(message.id), ...place },
      ...('channel' in place && { topic: message.topic }),
      ...{ sender: String(message.senderId), sentAt: message.sentAt, content },
      ...present({
        editedAt: message.lastEditedAt ?? undefined,
        files: files.length === 0 ? undefined : files,
        isAutomatic: sender?.user.bot ? true : undefined,
        isNotice: sender && sender.systemKind !== null ? true : undefined,
        unsupported: submessages.length === 0 ? undefined : [{ type: 'zulip.submessages', original: submessages }],
      }),
    };
  }

  private namesIn(message: MessageId, linked?: Set<string>): ZulipNames {
    const attached = this.files.get(message) ?? [];
    return {
      ...this.names,
      hasFile: (pathId) => {
        const isAttached = attached.includes(pathId);
        if (isAttached) linked?.add(pathId);
        return isAttached;
      },
    };
  }

  /** Yields the record of a new conversation. Returns null for a message without a place. */
  private *placeOf({ message, conversation, holders }: MessageCopy): Generator<ImportRecord, Place | null> {
    if (!this.users.has(message.senderId)) {
      yield this.skipped('message', `message/${message.id}`, 'Its sender is not in the archive');
      return null;
    }
    const channel = message.channelId === null ? undefined : this.channels.get(message.channelId);
    if (channel?.privacy === 'privateProtectedHistory') {
      const readers = holders.filter(({ flags }) => !flags.historical).map(({ userId }) => userId);
      const part = this.partOf(channel.id, readers);
      if (part) return { channel: part };
      const reason = `The channel has protected history with more than ${MAX_PARTS_OF_CHANNEL} groups of readers`;
      yield this.skipped('protected_history', `message/${message.id}`, reason);
      return null;
    }
    if (channel) return { channel: String(channel.id) };
    const members = conversation ?? this.conversationMembers.get(message.recipientId);
    if (message.channelId !== null || members === undefined) {
      yield this.skipped('message', `message/${message.id}`, 'Its conversation is not in the archive');
      return null;
    }
    const id = keyOf(members);
    if (!this.conversations.has(id)) {
      this.conversations.add(id);
      yield { source: this.source, kind: 'conversation', id, members: [...members].map(String) };
    }
    return { conversation: id };
  }

  /**
   * Returns the channel for messages of a channel with protected history that these people can read. Everybody in an
   * imported channel can read all of it.
   */
  private partOf(channelId: ChannelId, readers: readonly UserId[]): string | null {
    const parts = this.parts.get(channelId) ?? new Map<string, ChannelPart>();
    this.parts.set(channelId, parts);
    const key = keyOf(readers);
    const found = parts.get(key);
    if (found) return found.id;
    if (parts.size >= MAX_PARTS_OF_CHANNEL) return null;
    const id = `${channelId}/${createHash('sha256').update(key).digest('base64url').slice(0, 16)}`;
    parts.set(key, { id, readers });
    return id;
  }

  private *channelRecords(channel: Channel): Generator<ImportRecord> {
    const members = this.subscribers.get(channel.id) ?? [];
    yield this.skipped(
      'channel_settings',
      `channel/${channel.id}`,
      'Channels get the default permissions, policies and retention',
    );
    if (channel.privacy === 'webPublic')
      yield this.skipped('web_public', `web/${channel.id}`, 'Web-public channels become public channels');
    if (channel.privacy !== 'privateProtectedHistory') {
      yield this.channelRecord(channel, String(channel.id), members);
      return;
    }
    if (!this.parts.has(channel.id)) this.partOf(channel.id, members);
    const parts = [...getOrThrow(this.parts, channel.id).values()];
    if (parts.length > 1)
      yield this.skipped(
        'protected_history',
        `history/${channel.id}`,
        'Messages that different people could read are in channels of their own',
      );
    // The newest one gets the name.
    for (const { id, readers } of parts.reverse()) {
      const readable = new Set(readers);
      yield this.channelRecord(
        channel,
        id,
        members.filter((member) => readable.has(member)),
      );
    }
  }

  private channelRecord(channel: Channel, id: string, members: readonly UserId[]): ImportRecord {
    const { name, description, privacy, isArchived, createdAt, creatorId, folderId } = channel;
    return {
      ...{ source: this.source, kind: 'channel', id, name, createdAt, members: members.map(String) },
      privacy: privacy === 'public' || privacy === 'webPublic' ? 'public' : 'private',
      ...present({
        description,
        isArchived: isArchived || undefined,
        isReadOnly: this.isReadOnly(channel) || undefined,
        creator: creatorId === null ? undefined : String(creatorId),
        folder: this.realm.channelFolders.find((folder) => folder.id === folderId)?.name,
      }),
    };
  }

  /** True if only administrators can post. */
  private isReadOnly({ permissions }: Channel): boolean {
    const group = this.realm.groups.find(({ id }) => id === permissions.canSendMessage);
    return group?.systemName === 'administrators' || group?.systemName === 'owners' || group?.systemName === 'nobody';
  }

  private noteRead(place: Place, userId: UserId, isRead: boolean, at: number): void {
    const key = 'channel' in place ? `c${place.channel}` : `d${place.conversation}`;
    const states = this.readStates.get(key) ?? new Map<UserId, ReadState>();
    this.readStates.set(key, states);
    const state = states.get(userId) ?? { readUntil: 0, unread: 0, earlier: 0 };
    states.set(userId, state);
    if (!isRead) state.unread++;
    else {
      state.earlier += state.unread;
      state.unread = 0;
      state.readUntil = at;
    }
  }

  /** Everything after the last read message is unread. People without a position have read everything. */
  private *readPositions(): Generator<ImportRecord> {
    const { source } = this;
    for (const [key, states] of this.readStates) {
      const place = key.startsWith('c') ? { channel: key.slice(1) } : { conversation: key.slice(1) };
      for (const [userId, { readUntil, unread, earlier }] of states) {
        const person = String(userId);
        const id = `${person}/${key}`;
        if (unread > 0) yield { source, kind: 'readPosition', id, person, ...place, readUntil };
        const reason = 'Unread messages before the last message that the person read become read';
        if (earlier > 0) yield this.skipped('unread', `unread/${id}`, reason, { messages: earlier });
      }
    }
  }

  private *unusedConversations(): Generator<ImportRecord> {
    for (const { recipientId, userIds } of this.realm.conversations) {
      if (!this.conversations.has(keyOf(userIds)))
        yield this.skipped('conversation', `conversation/${recipientId}`, 'The conversation has no messages');
    }
  }

  private async *unusedFiles(): AsyncGenerator<ImportRecord> {
    const { root } = this.opened;
    const uploads = new Set<string>();
    for await (const { file } of this.opened.source.files()) uploads.add(`uploads/${file.pathId}`);
    for await (const entry of await opendir(root, { recursive: true })) {
      const name = relative(root, join(entry.parentPath, entry.name)).split(sep).join('/');
      if (entry.isDirectory() || DOCUMENT.test(name) || uploads.has(name)) continue;
      yield this.skipped('file', `file/${name}`, 'The import takes no such files');
    }
  }
}

/** Key of a set of people. */
const keyOf = (userIds: readonly UserId[]): string => [...new Set(userIds)].sort((a, b) => a - b).join(',');

/** Returns the members of a group and its subgroups. */
function membersOf(group: GroupCopy, groups: ReadonlyMap<GroupId, GroupCopy>): ReadonlySet<UserId> {
  const members = new Set<UserId>();
  const seen = new Set([group]);
  for (const each of seen) {
    for (const userId of each.memberIds) members.add(userId);
    for (const subgroup of each.subgroupIds) {
      const found = groups.get(subgroup);
      if (found) seen.add(found);
    }
  }
  return members;
}

/** `1f44d-1f3fd` → 👍🏽 */
function charactersOf(code: string): string {
  const points = code.split('-').map((point) => Number.parseInt(point, 16));
  return points.every((point) => point <= 0x10ffff) ? String.fromCodePoint(...points) : code;
}

function namesOf({ users, groups, channels }: RealmCopy): Omit<ZulipNames, 'hasFile'> {
  const people = new Map(users.map(({ user }) => [String(user.id), user.fullName]));
  const byName = new Map<string, string | null>();
  for (const [id, name] of people) byName.set(name, byName.has(name) ? null : id);
  const groupIds = new Map(
    groups.flatMap(({ id, name, systemName }) =>
      systemName === null && name !== null ? [[name, String(id)]] : [],
    ) as [string, string][],
  );
  const channelIds = new Map(channels.map(({ id, name }) => [name, String(id)]));
  const channelNames = new Map(channels.map(({ id, name }) => [String(id), name]));
  return {
    personNamed: (name) => byName.get(name) ?? null,
    nameOfPerson: (id) => people.get(id) ?? null,
    groupNamed: (name) => groupIds.get(name) ?? null,
    channelNamed: (name) => channelIds.get(name) ?? null,
    nameOfChannel: (id) => channelNames.get(id) ?? null,
  };
}
