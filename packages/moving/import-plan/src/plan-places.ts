import { SYSTEM_GROUPS } from '@parley/domain/access';
import { type Channel, MAX_CHANNEL_FOLDER_NAME_LENGTH } from '@parley/domain/channels';
import { MAX_CUSTOM_EMOJI } from '@parley/domain/files';
import { MAX_GROUP_NAME_LENGTH } from '@parley/domain/groups';
import {
  type ChannelId,
  type CustomEmojiId,
  foldCase,
  type GroupId,
  getOrThrow,
  invalidImport,
  type RecipientId,
  type UserId,
} from '@parley/domain/kernel';
import type { EmojiCopy } from '@parley/transfer/exports';
import {
  type ChannelRecord,
  cutName,
  type EmojiRecord,
  type GroupRecord,
  nameOr,
  printable,
  UniqueNames,
  uniqueChannelNames,
} from '@parley/transfer/records';
import { type ExistingOrganization, nextIdAfter } from './existing-organization.js';
import { BEFORE, type PlannedPeople } from './plan-people.js';
import type { Staging } from './staging.js';

export interface PlannedChannel {
  readonly kind: 'channel';
  readonly id: ChannelId;
  /** True if the organization has the channel already. */
  readonly isExisting: boolean;
  /** True if the import makes the channel visible once it is complete. */
  readonly isPublished: boolean;
  readonly recipientId: RecipientId;
  readonly name: string;
  readonly members: ReadonlySet<UserId>;
  readonly folderId: number | null;
  /** Record, omitting its possibly many members. */
  readonly record: ChannelRecord;
}

export interface PlannedConversation {
  readonly kind: 'conversation';
  readonly isExisting: boolean;
  readonly recipientId: RecipientId;
  /** Ascending. */
  readonly userIds: readonly UserId[];
}

export type PlannedPlace = PlannedChannel | PlannedConversation;

/** True if people read the place in Parley already, so imported messages arrive read and are visible at once. */
export const isLiving = (place: PlannedPlace): boolean =>
  place.isExisting && !(place.kind === 'channel' && place.isPublished);

export interface PlannedGroup {
  readonly id: GroupId;
  readonly isExisting: boolean;
  readonly name: string;
  readonly members: ReadonlySet<UserId>;
  /** Record, omitting its members. */
  readonly record: GroupRecord;
}

export interface PlannedEmoji {
  readonly id: CustomEmojiId;
  readonly isExisting: boolean;
  readonly format: EmojiCopy['format'];
  readonly name: string;
  /** File with the picture. */
  readonly file: string | null;
}

/** Limit on channels and conversations, since all are kept in memory. */
const MAX_PLACES = 1_000_000;

/** Start of the keys of channels. */
export const CHANNEL_KEY_START = 'c:';

/** Key of a channel or conversation, without lone surrogates, which SQLite replaces. */
export const placeKey = (at: { readonly channel?: string; readonly conversation?: string }): string =>
  (at.channel === undefined ? `d:${at.conversation}` : `${CHANNEL_KEY_START}${at.channel}`).toWellFormed();

/** Channels and conversations by key. */
export class PlannedPlaces {
  readonly channels: PlannedChannel[] = [];
  readonly conversations: PlannedConversation[] = [];
  readonly folders: { readonly id: number; readonly name: string; readonly isExisting: boolean }[];
  /** Renamed channels: names in the source and in Parley. */
  readonly renamed: { readonly from: string; readonly to: string }[] = [];
  private readonly byKey = new Map<string, PlannedPlace>();
  private readonly byMembers = new Map<string, PlannedConversation>();
  private readonly names;
  private readonly storedConversations: ReadonlyMap<string, RecipientId>;
  private nextChannel: number;
  private nextRecipient: number;
  private nextFolder: number;

  constructor(staging: Staging, people: PlannedPeople, existing: ExistingOrganization) {
    const { channels, conversations, channelFolders } = existing.realm;
    const stored = new Map(channels.map((channel) => [channel.id, channel]));
    this.names = uniqueChannelNames(channels.map(({ name }) => name));
    this.storedConversations = new Map(
      conversations.map(({ recipientId, userIds }) => [keyOfMembers(userIds), recipientId]),
    );
    this.folders = channelFolders.map(({ id, name }) => ({ id, name, isExisting: true }));
    this.nextChannel = nextIdAfter(channels);
    this.nextRecipient = nextIdAfter([...channels, ...conversations].map(({ recipientId }) => ({ id: recipientId })));
    this.nextFolder = nextIdAfter(this.folders);
    for (const { number, record } of staging.list('channel')) {
      this.requireRoom();
      const members = people.channelMembers(record.members);
      const before = stored.get(existing.target('channel', record.id) as ChannelId);
      if (record.isUnlisted && !before && existing.batches.length > 0) {
        staging.ledger.account(
          number,
          record,
          'dropped',
          'the export does not describe it, and no earlier import has it',
        );
        continue;
      }
      const channel = before
        ? this.addExisting(
            record,
            before,
            members,
            existing.hiddenChannels.has(before.id) && existing.isOwn('channel', before.id),
          )
        : this.addChannel(record, members);
      this.byKey.set(placeKey({ channel: record.id }), channel);
      if (before) staging.ledger.account(number, record, 'merged', BEFORE);
      else staging.ledger.account(number, record, 'imported', channel.name === record.name ? '' : 'under another name');
    }
    for (const { number, record } of staging.list('conversation')) {
      this.requireRoom();
      const userIds = [...people.membersOf(record.members)].sort((a, b) => a - b);
      const key = keyOfMembers(userIds);
      const same = this.byMembers.get(key);
      const conversation = same ?? this.addConversation(key, userIds);
      this.byKey.set(placeKey({ conversation: record.id }), conversation);
      const reason = same
        ? 'another conversation has the same members'
        : existing.target('conversation', record.id) !== undefined
          ? BEFORE
          : conversation.isExisting
            ? 'conversation of the same people'
            : '';
      staging.ledger.account(number, record, reason === '' ? 'imported' : 'merged', reason);
    }
  }

  find(key: string): PlannedPlace | null {
    return this.byKey.get(key) ?? null;
  }

  findChannel(id: string): PlannedChannel | null {
    const place = this.find(placeKey({ channel: id }));
    return place?.kind === 'channel' ? place : null;
  }

  private addChannel(record: ChannelRecord, members: ReadonlySet<UserId>): PlannedChannel {
    const name = this.names.take(nameOr(record.name, 'channel'));
    if (name !== record.name) this.renamed.push({ from: record.name, to: name });
    const channel: PlannedChannel = {
      kind: 'channel',
      isExisting: false,
      isPublished: true,
      id: this.nextChannel++ as ChannelId,
      recipientId: this.nextRecipient++ as RecipientId,
      name,
      members,
      folderId: this.folderOf(record.folder),
      record: { ...record, members: [] },
    };
    this.channels.push(channel);
    return channel;
  }

  private addExisting(
    record: ChannelRecord,
    { id, recipientId, name }: Channel,
    members: ReadonlySet<UserId>,
    isPublished: boolean,
  ): PlannedChannel {
    const channel: PlannedChannel = {
      ...{ kind: 'channel', isExisting: true, isPublished, id, recipientId, name, members, folderId: null },
      record: { ...record, members: [] },
    };
    this.channels.push(channel);
    return channel;
  }

  private addConversation(key: string, userIds: readonly UserId[]): PlannedConversation {
    const stored = this.storedConversations.get(key);
    const recipientId = stored ?? (this.nextRecipient++ as RecipientId);
    const conversation = { kind: 'conversation', isExisting: stored !== undefined, recipientId, userIds } as const;
    this.conversations.push(conversation);
    this.byMembers.set(key, conversation);
    return conversation;
  }

  private requireRoom(): void {
    if (this.byKey.size >= MAX_PLACES) throw invalidImport(`It has more than ${MAX_PLACES} conversations.`);
  }

  private folderOf(name: string | undefined): number | null {
    const folder = cutName(printable(name ?? ''), MAX_CHANNEL_FOLDER_NAME_LENGTH);
    if (folder === '') return null;
    const same = this.folders.find(({ name: other }) => foldCase(other) === foldCase(folder));
    if (same) return same.id;
    const id = this.nextFolder++;
    this.folders.push({ id, name: folder, isExisting: false });
    return id;
  }
}

const keyOfMembers = (userIds: readonly UserId[]): string => [...userIds].sort((a, b) => a - b).join(',');

/** Characters that end a mention of a group, and prefixes with a meaning. */
const groupName = (name: string): string =>
  nameOr(name.replaceAll('*', '＊').replace(/^(?:[\s\p{C}@]|(?:role|user|stream|channel):)+/u, ''), 'group');

export function planGroups(
  staging: Staging,
  people: PlannedPeople,
  existing: ExistingOrganization,
): ReadonlyMap<string, PlannedGroup> {
  const groups = new Map<string, PlannedGroup>();
  const stored = new Map(existing.realm.groups.map((group) => [group.id, group]));
  const names = new UniqueNames(
    MAX_GROUP_NAME_LENGTH,
    existing.realm.groups.flatMap(({ name }) => name ?? []),
  );
  let nextId = nextIdAfter(existing.realm.groups, SYSTEM_GROUPS.length);
  for (const { number, record } of staging.list('group')) {
    const members = people.membersOf(record.members);
    const before = stored.get(existing.target('group', record.id) as GroupId);
    const id = before?.id ?? (nextId++ as GroupId);
    const name = before?.name ?? names.take(groupName(record.name));
    groups.set(record.id, { id, isExisting: before !== undefined, name, members, record: { ...record, members: [] } });
    staging.ledger.account(number, record, before ? 'merged' : 'imported', before ? BEFORE : '');
  }
  return groups;
}

const emojiName = (name: string): string =>
  name
    .toLowerCase()
    .replace(/[^0-9a-z_-]+/g, '_')
    .replace(/[_-]+$/, '');

/** Returns custom emoji by name in the source, and names of other emoji by alias. */
export function planEmoji(
  staging: Staging,
  { realm }: ExistingOrganization,
): {
  readonly custom: ReadonlyMap<string, PlannedEmoji>;
  readonly aliases: ReadonlyMap<string, string>;
} {
  const custom = new Map<string, PlannedEmoji>();
  const aliases = new Map<string, string>();
  const taken = new Set<string>();
  const active = realm.customEmoji.filter(({ isDeactivated }) => !isDeactivated);
  const stored = new Map(active.map((emoji) => [emoji.name, emoji]));
  const firstId = nextIdAfter(realm.customEmoji);
  let nextId = firstId;
  const account = (
    number: number,
    record: EmojiRecord,
    ...[outcome, reason]: readonly ['imported' | 'merged' | 'dropped', string]
  ) => staging.ledger.account(number, record, outcome, reason);
  for (const { number, record } of staging.list('emoji')) {
    const name = emojiName(record.name);
    if (record.aliasOf !== undefined) {
      aliases.set(record.name, record.aliasOf);
      account(number, record, 'merged', 'another name of an emoji');
    } else if (name === '' || taken.has(name)) account(number, record, 'dropped', 'no unique name in Parley');
    else if (stored.has(name)) {
      taken.add(name);
      const { id, format } = getOrThrow(stored, name);
      custom.set(record.name, { id, isExisting: true, format, name, file: null });
      account(number, record, 'merged', 'the organization has an emoji of this name');
    } else if (nextId - firstId + realm.customEmoji.length >= MAX_CUSTOM_EMOJI)
      account(number, record, 'dropped', `more than ${MAX_CUSTOM_EMOJI} emoji`);
    else {
      taken.add(name);
      const id = nextId++ as CustomEmojiId;
      custom.set(record.name, { id, isExisting: false, format: 'png', name, file: record.file ?? null });
      account(number, record, 'imported', name === record.name ? '' : 'under another name');
    }
  }
  return { custom, aliases };
}
