import { getOrThrow } from '@parley/domain/kernel';
import type { ChannelRecord, Gap, ImportRecord, PersonRecord, SkippedRecord } from '@parley/transfer/records';
import type { Archive } from '../archive.js';
import { field, flagOf, isObject, listOf, numberOf, present, textOf, textsOf, timeOf } from '../fields.js';
import { type JsonElement, jsonLines } from '../json-elements.js';
import { SeenKeys } from '../seen-keys.js';
import { type MattermostContext, type MattermostPlace, postRecords } from './mattermost-posts.js';
import { mattermostContent } from './mattermost-text.js';

interface Channel {
  readonly team: string;
  readonly name: string;
  /** Null for a channel that only posts mention. */
  readonly data: unknown;
  readonly members: Set<string>;
  /** People who wrote in it, who are the only known readers of a channel that only posts mention. */
  readonly authors: Set<string>;
}

const LEFT_OUT: Readonly<Record<string, string>> = {
  role: 'Permissions of roles have no counterpart',
  scheme: 'Permission schemes have no counterpart',
};

/** One reading of an export. The source has no ids; they are made of names and times. */
export class MattermostExport implements MattermostContext {
  /** The export does not name the server. */
  readonly source = 'mattermost';
  private readonly teams = new Map<string, string>();
  /** Active members who are neither guests nor bots, by team. */
  private readonly teamMembers = new Map<string, Set<string>>();
  private readonly activeMembers = new Set<string>();
  private readonly people = new Map<string, string>();
  private readonly others = new Set<string>();
  private readonly channels = new Map<string, Channel>();
  private readonly conversations = new Set<string>();
  private readonly ids = new SeenKeys();
  private readonly seenFiles = new Set<string>();
  /** True if a damaged line may have been an entry of a person or channel. */
  private isListIncomplete = false;
  /** Posts follow all people, so an export without any was probably cut before. */
  private hasPosts = false;

  constructor(
    private readonly archive: Archive,
    private readonly file: string,
  ) {}

  personName(userName: string): string | null {
    return this.people.get(userName) ?? null;
  }

  channelName(id: string): string | null {
    const channel = this.channels.get(id);
    return channel && channel.data !== null ? channel.name : null;
  }

  newId(key: string): string {
    let id = key;
    for (let number = 2; !this.ids.add(id); number++) id = `${key}/${number}`;
    return id;
  }

  addPerson(userName: string): void {
    if (!this.people.has(userName)) this.others.add(userName);
  }

  *fileRecords(paths: readonly string[]): Generator<ImportRecord> {
    for (const path of paths) {
      if (this.seenFiles.has(path)) continue;
      this.seenFiles.add(path);
      yield this.fileRecord(path);
    }
  }

  async *records(): AsyncGenerator<ImportRecord> {
    yield { source: this.source, kind: 'organization', id: this.source, name: 'Mattermost' };
    let isCut = false;
    for await (const element of jsonLines(this.archive.read(this.file), this.file)) {
      yield* this.line(element);
      isCut = 'damage' in element;
      this.hasPosts ||= 'value' in element && /post$/.test(textOf(element.value, 'type'));
    }
    if (isCut) {
      const reason = 'The file ends within a line, so that all later lines are missing';
      const gap = { source: this.source, kind: 'skipped', id: this.file, type: 'mattermost.damaged_file' } as const;
      yield { ...gap, reason, gap: {} };
      this.isListIncomplete = true;
    }
    // The last line can name another member of a channel.
    for (const [id, channel] of this.channels) yield this.channelRecord(id, channel);
    const isDeactivated = this.people.size > 0 && !this.isListIncomplete;
    for (const id of this.others)
      yield {
        source: this.source,
        kind: 'person',
        id,
        name: id,
        userName: id,
        ...(isDeactivated && { isDeactivated }),
      };
    yield* this.unusedFiles();
  }

  private *line(element: JsonElement): Generator<ImportRecord> {
    if ('damage' in element) {
      yield this.damagedLine(element, 'The line is not valid JSON', element.text);
      return;
    }
    const { value } = element;
    const type = textOf(value, 'type');
    const data = field(value, type);
    if (type === 'version') return;
    if (!isObject(data)) yield this.damagedLine(element, 'The line has no object of its type', value);
    else if (type === 'team')
      this.teams.set(textOf(data, 'name'), textOf(data, 'display_name') || textOf(data, 'name'));
    else if (type === 'channel') this.addChannel(data);
    else if (type === 'user') yield* this.userRecords(data);
    else if (type === 'bot') yield* this.botRecords(data);
    else if (type === 'emoji') yield* this.emojiRecords(data, element);
    else if (type === 'post') yield* this.postsIn(this.placeOf(data), data);
    else if (type === 'direct_channel') yield* this.conversationRecords(data);
    else if (type === 'direct_post') {
      const members = membersOf(data, 'channel_members');
      const id = conversationId(members);
      yield* this.conversation(id, members);
      yield* postRecords(data, { id, isConversation: true, team: '' }, this);
    } else {
      const reason = LEFT_OUT[type] ?? 'The reader does not know lines of this type';
      yield this.skipped(element, `mattermost.${/^\w{1,60}$/.test(type) ? type : 'unknown'}`, reason, data);
    }
  }

  /** The line may have been a post with replies, or an entry of a person or channel. */
  private damagedLine(element: JsonElement, reason: string, original: unknown): ImportRecord {
    const gap = 'damage' in element ? placeOfCutLine(element.text) : null;
    if (gap === null) this.isListIncomplete = true;
    return { ...this.skipped(element, 'mattermost.damaged_line', reason, original), gap: gap ?? {} };
  }

  private skipped({ line }: JsonElement, type: string, reason: string, original: unknown): SkippedRecord {
    return { source: this.source, kind: 'skipped', id: `${this.file}:${line}`, type, reason, original };
  }

  private addChannel(data: unknown): void {
    const channel = this.channelAt(textOf(data, 'team'), textOf(data, 'name'));
    const name = textOf(data, 'display_name') || channel.name;
    this.channels.set(channelId(channel.team, textOf(data, 'name')), { ...channel, name, data });
  }

  /** Channels also exist through their members and posts. */
  private channelAt(team: string, name: string): Channel {
    const id = channelId(team, name);
    const found = this.channels.get(id) ?? {
      team,
      name,
      data: null,
      members: new Set<string>(),
      authors: new Set<string>(),
    };
    this.channels.set(id, found);
    return found;
  }

  private placeOf(post: unknown): MattermostPlace {
    const team = textOf(post, 'team');
    const name = textOf(post, 'channel');
    this.channelAt(team, name);
    return { id: channelId(team, name), isConversation: false, team };
  }

  private *postsIn(place: MattermostPlace, post: unknown): Generator<ImportRecord> {
    const { authors } = getOrThrow(this.channels, place.id);
    for (const record of postRecords(post, place, this)) {
      if (record.kind === 'message') authors.add(record.sender);
      yield record;
    }
  }

  private *userRecords(user: unknown): Generator<ImportRecord> {
    const id = textOf(user, 'username').toLowerCase();
    const roles = textOf(user, 'roles').split(' ');
    const isGuest = roles.includes('system_guest');
    const isDeactivated = (numberOf(user, 'delete_at') ?? 0) > 0;
    const name = [textOf(user, 'first_name'), textOf(user, 'last_name')].filter((part) => part !== '').join(' ');
    const avatar = textOf(user, 'profile_image');
    this.people.set(id, name || textOf(user, 'nickname') || id);
    if (!isGuest && !isDeactivated) this.activeMembers.add(id);
    if (avatar !== '') yield* this.fileRecords([avatar]);
    const person: PersonRecord = {
      source: this.source,
      kind: 'person',
      id,
      name: getOrThrow(this.people, id),
      userName: textOf(user, 'username'),
      role: roles.includes('system_admin') ? 'administrator' : isGuest ? 'guest' : 'member',
      ...present({
        email: textOf(user, 'email'),
        // Passwords have no id, and `auth_data` of other services is the id there.
        externalId: textOf(user, 'auth_service') === '' ? undefined : textOf(user, 'auth_data'),
        isDeactivated: isDeactivated || undefined,
        avatar,
      }),
    };
    yield person;
    for (const team of listOf(user, 'teams')) yield* this.memberships(id, team, !isGuest && !isDeactivated);
  }

  private *memberships(person: string, team: unknown, isActiveMember: boolean): Generator<ImportRecord> {
    const teamName = textOf(team, 'name');
    const members = this.teamMembers.get(teamName) ?? new Set();
    this.teamMembers.set(teamName, members);
    if (isActiveMember) members.add(person);
    for (const membership of listOf(team, 'channels')) {
      const name = textOf(membership, 'name');
      this.channelAt(teamName, name).members.add(person);
      yield* this.readPosition(person, membership, { channel: channelId(teamName, name) });
    }
  }

  private *readPosition(
    person: string,
    membership: unknown,
    place: { readonly channel: string } | { readonly conversation: string },
  ): Generator<ImportRecord> {
    const readUntil = timeOf((numberOf(membership, 'last_viewed_at') ?? 0) / 1000);
    if (readUntil === null) return;
    const id = `${person}/${'channel' in place ? place.channel : place.conversation}`;
    yield { source: this.source, kind: 'readPosition', id, person, ...place, readUntil };
  }

  private *botRecords(bot: unknown): Generator<ImportRecord> {
    const id = textOf(bot, 'username').toLowerCase();
    const avatar = textOf(bot, 'profile_image');
    this.people.set(id, textOf(bot, 'display_name') || id);
    if (avatar !== '') yield* this.fileRecords([avatar]);
    yield {
      source: this.source,
      kind: 'person',
      id,
      name: getOrThrow(this.people, id),
      userName: textOf(bot, 'username'),
      isBot: true,
      ...present({ isDeactivated: (numberOf(bot, 'delete_at') ?? 0) > 0 || undefined, avatar }),
    };
  }

  private *emojiRecords(emoji: unknown, element: JsonElement): Generator<ImportRecord> {
    const name = textOf(emoji, 'name');
    const file = textOf(emoji, 'image');
    if (name === '' || file === '') {
      yield this.skipped(element, 'mattermost.emoji', 'A custom emoji without a name or picture is damaged', emoji);
      return;
    }
    yield* this.fileRecords([file]);
    yield { source: this.source, kind: 'emoji', id: name, name, file };
  }

  private *conversationRecords(data: unknown): Generator<ImportRecord> {
    const participants = listOf(data, 'participants');
    const members =
      participants.length > 0
        ? sortedNames(participants.map((each) => textOf(each, 'username')))
        : membersOf(data, 'members');
    const id = conversationId(members);
    yield* this.conversation(id, members);
    for (const each of participants)
      yield* this.readPosition(textOf(each, 'username').toLowerCase(), each, { conversation: id });
  }

  private *conversation(id: string, members: readonly string[]): Generator<ImportRecord> {
    if (this.conversations.has(id)) return;
    this.conversations.add(id);
    for (const member of members) this.addPerson(member);
    yield { source: this.source, kind: 'conversation', id, members };
  }

  private channelRecord(id: string, { team, name, data, authors, ...channel }: Channel): ChannelRecord {
    const members = data === null ? new Set([...channel.members, ...authors]) : channel.members;
    for (const member of members) this.addPerson(member);
    const description = [textOf(data, 'purpose'), textOf(data, 'header')].filter((text) => text !== '').join('\n\n');
    return {
      source: this.source,
      kind: 'channel',
      id,
      name,
      privacy: textOf(data, 'type') === 'O' && this.isEverybodyIn(team) ? 'public' : 'private',
      members: [...members],
      ...present({
        hasMoreMembers: this.isListIncomplete || !this.hasPosts || this.people.size === 0 || undefined,
        isUnlisted: data === null || undefined,
        description: this.plainMarkdown(description, team),
        isArchived: (numberOf(data, 'deleted_at') ?? 0) > 0 || flagOf(data, 'is_archived') || undefined,
        folder: this.teams.get(team) ?? team,
      }),
    };
  }

  /** Public channels of a team are open to its members only. */
  private isEverybodyIn(team: string): boolean {
    return !this.isListIncomplete && this.teamMembers.get(team)?.size === this.activeMembers.size;
  }

  /** Descriptions have no references. */
  private plainMarkdown(text: string, team: string): string {
    const content = mattermostContent(text, [], team, { personName: () => null, channelName: () => null });
    return typeof content === 'string'
      ? content
      : content.map((part) => (typeof part === 'string' ? part : '@everyone')).join('');
  }

  private fileRecord(path: string): ImportRecord {
    const found = this.locate(path);
    return {
      source: this.source,
      kind: 'file',
      id: path,
      name: path.split('/').at(-1) || 'file',
      ...(found === null ? { missing: 'missing in the export' } : { path: found, size: this.archive.sizeOf(found) }),
    };
  }

  private locate(path: string): string | null {
    const relative = path.replaceAll('\\', '/').replace(/^(?:\.?\/)+/, '');
    return [`data/${relative}`, relative].find((name) => this.archive.has(name)) ?? null;
  }

  private *unusedFiles(): Generator<ImportRecord> {
    const used = new Set([this.file, ...[...this.seenFiles].map((path) => this.locate(path))]);
    for (const name of this.archive.names) {
      if (used.has(name)) continue;
      const reason = 'No line of the export mentions the file';
      yield { source: this.source, kind: 'skipped', id: name, type: 'mattermost.file', reason };
    }
  }
}

const channelId = (team: string, name: string): string => `${team}/${name}`;

const conversationId = (members: readonly string[]): string => members.join(',');

const CUT_POST = /^\{"type":\s*"post",\s*"post":\s*\{"team":\s*"([^"\\]+)",\s*"channel":\s*"([^"\\]+)",/;
const CUT_DIRECT_POST =
  /^\{"type":\s*"direct_post",\s*"direct_post":\s*\{"channel_members":\s*\[("[^"\\]+"(?:,\s*"[^"\\]+")*)\],/;

/** Returns the place of a post that lacks its end; null for other lines, which may be parts of several posts. */
function placeOfCutLine(text: string): Gap | null {
  if (text.trimEnd().endsWith('}')) return null;
  const [, team, channel] = CUT_POST.exec(text) ?? [];
  if (channel !== undefined) return { channel: channelId(team!, channel) };
  const [, names] = CUT_DIRECT_POST.exec(text) ?? [];
  return names === undefined ? null : { conversation: conversationId(sortedNames(JSON.parse(`[${names}]`))) };
}

const sortedNames = (names: readonly string[]): readonly string[] => {
  const sorted = [...new Set(names.map((name) => name.toLowerCase()).filter((name) => name !== ''))].sort();
  return sorted.length > 0 ? sorted : ['unknown'];
};

const membersOf = (data: unknown, name: string): readonly string[] => sortedNames(textsOf(data, name));
