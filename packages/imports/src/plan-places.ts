import { MAX_CHANNEL_FOLDER_NAME_LENGTH } from '@parley/domain/channels';
import { MAX_CUSTOM_EMOJI } from '@parley/domain/files';
import { MAX_GROUP_NAME_LENGTH } from '@parley/domain/groups';
import {
  type ChannelRecord,
  cutName,
  type EmojiRecord,
  type GroupRecord,
  nameOr,
  printable,
  UniqueNames,
  uniqueChannelNames,
} from '@parley/domain/imports';
import {
  type ChannelId,
  type CustomEmojiId,
  foldCase,
  type GroupId,
  invalidImport,
  type RecipientId,
  type UserId,
} from '@parley/domain/kernel';
import { type PlannedPeople, SYSTEM_GROUP_IDS } from './plan-people.js';
import type { Staging } from './staging.js';

export interface PlannedChannel {
  readonly kind: 'channel';
  readonly id: ChannelId;
  readonly recipientId: RecipientId;
  readonly name: string;
  readonly members: ReadonlySet<UserId>;
  readonly folderId: number | null;
  /** Record, omitting its possibly many members. */
  readonly record: ChannelRecord;
}

export interface PlannedConversation {
  readonly kind: 'conversation';
  readonly recipientId: RecipientId;
  /** Ascending. */
  readonly userIds: readonly UserId[];
}

export type PlannedPlace = PlannedChannel | PlannedConversation;

export interface PlannedGroup {
  readonly id: GroupId;
  readonly name: string;
  readonly members: ReadonlySet<UserId>;
  /** Record, omitting its members. */
  readonly record: GroupRecord;
}

export interface PlannedEmoji {
  readonly id: CustomEmojiId;
  readonly name: string;
  /** File with the picture. */
  readonly file: string | null;
}

/** Limit on channels and conversations, since all are kept in memory. */
const MAX_PLACES = 1_000_000;

/** Start of the keys of channels. */
export const CHANNEL_KEY_START = 'c:';

/** Key of a channel or conversation. */
export const placeKey = (at: { readonly channel?: string; readonly conversation?: string }): string =>
  at.channel === undefined ? `d:${at.conversation}` : `${CHANNEL_KEY_START}${at.channel}`;

/** Channels and conversations by key. */
export class PlannedPlaces {
  readonly channels: PlannedChannel[] = [];
  readonly conversations: PlannedConversation[] = [];
  /** Names of folders; the id is the position plus one. */
  readonly folders: string[] = [];
  /** Renamed channels: names in the source and in Parley. */
  readonly renamed: { readonly from: string; readonly to: string }[] = [];
  private readonly byKey = new Map<string, PlannedPlace>();
  private readonly byMembers = new Map<string, PlannedConversation>();
  private readonly names = uniqueChannelNames();

  constructor(staging: Staging, people: PlannedPeople) {
    for (const { number, record } of staging.list('channel')) {
      this.requireRoom();
      const channel = this.addChannel(record, people.membersOf(record.members));
      this.byKey.set(placeKey({ channel: record.id }), channel);
      staging.ledger.account(number, record, 'imported', channel.name === record.name ? '' : 'under another name');
    }
    for (const { number, record } of staging.list('conversation')) {
      this.requireRoom();
      const userIds = [...people.membersOf(record.members)].sort((a, b) => a - b);
      const key = userIds.join(',');
      const existing = this.byMembers.get(key);
      const conversation = existing ?? this.addConversation(key, userIds);
      this.byKey.set(placeKey({ conversation: record.id }), conversation);
      staging.ledger.account(
        number,
        record,
        existing ? 'merged' : 'imported',
        existing ? 'another conversation has the same members' : '',
      );
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
      id: (this.channels.length + 1) as ChannelId,
      recipientId: this.nextRecipient(),
      name,
      members,
      folderId: this.folderOf(record.folder),
      record: { ...record, members: [] },
    };
    this.channels.push(channel);
    return channel;
  }

  private addConversation(key: string, userIds: readonly UserId[]): PlannedConversation {
    const conversation = { kind: 'conversation', recipientId: this.nextRecipient(), userIds } as const;
    this.conversations.push(conversation);
    this.byMembers.set(key, conversation);
    return conversation;
  }

  private nextRecipient(): RecipientId {
    return (this.channels.length + this.conversations.length + 1) as RecipientId;
  }

  private requireRoom(): void {
    if (this.byKey.size >= MAX_PLACES) throw invalidImport(`It has more than ${MAX_PLACES} conversations.`);
  }

  private folderOf(name: string | undefined): number | null {
    const folder = cutName(printable(name ?? ''), MAX_CHANNEL_FOLDER_NAME_LENGTH);
    if (folder === '') return null;
    const index = this.folders.findIndex((other) => foldCase(other) === foldCase(folder));
    return index < 0 ? this.folders.push(folder) : index + 1;
  }
}

/** Characters that end a mention of a group, and prefixes with a meaning. */
const groupName = (name: string): string =>
  nameOr(name.replaceAll('*', '＊').replace(/^(?:@|(?:role|user|stream|channel):)+/, ''), 'group');

export function planGroups(staging: Staging, people: PlannedPeople): ReadonlyMap<string, PlannedGroup> {
  const groups = new Map<string, PlannedGroup>();
  const names = new UniqueNames(MAX_GROUP_NAME_LENGTH);
  const first = Object.keys(SYSTEM_GROUP_IDS).length + 1;
  for (const { number, record } of staging.list('group')) {
    const members = people.membersOf(record.members);
    const id = (first + groups.size) as GroupId;
    groups.set(record.id, {
      id,
      name: names.take(groupName(record.name)),
      members,
      record: { ...record, members: [] },
    });
    staging.ledger.account(number, record, 'imported');
  }
  return groups;
}

const emojiName = (name: string): string =>
  name
    .toLowerCase()
    .replace(/[^0-9a-z_-]+/g, '_')
    .replace(/[_-]+$/, '');

/** Returns custom emoji by name in the source, and names of other emoji by alias. */
export function planEmoji(staging: Staging): {
  readonly custom: ReadonlyMap<string, PlannedEmoji>;
  readonly aliases: ReadonlyMap<string, string>;
} {
  const custom = new Map<string, PlannedEmoji>();
  const aliases = new Map<string, string>();
  const taken = new Set<string>();
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
    else if (custom.size >= MAX_CUSTOM_EMOJI) account(number, record, 'dropped', `more than ${MAX_CUSTOM_EMOJI} emoji`);
    else {
      taken.add(name);
      custom.set(record.name, { id: (custom.size + 1) as CustomEmojiId, name, file: record.file ?? null });
      account(number, record, 'imported', name === record.name ? '' : 'under another name');
    }
  }
  return { custom, aliases };
}
