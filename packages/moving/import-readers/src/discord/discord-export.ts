import { DomainError, getOrThrow } from '@parley/domain/kernel';
import { plain, writeMarkdown } from '@parley/domain/markdown';
import type { FileRecord, Gap, ImportRecord } from '@parley/transfer/records';
import type { Archive } from '../archive.js';
import { parseCommonMark } from '../common-markdown.js';
import { DamageIds } from '../damage-ids.js';
import { field, flagOf, isObject, listOf, present, textOf } from '../fields.js';
import { JSON_LIMITS, jsonMember } from '../json-elements.js';
import { sourceError } from '../source-error.js';
import { type DiscordContext, type DiscordPlace, messageRecords, UNKNOWN_PERSON } from './discord-messages.js';

/** File of messages with its description. */
interface Header {
  readonly file: string;
  readonly guild: unknown;
  readonly channel: unknown;
}

interface MessageFile {
  readonly header: Header;
  readonly place: DiscordPlace;
}

/** Descriptions are small; a large value without messages is not a file of the exporter. */
const HEADER_LIMITS = { ...JSON_LIMITS, maxBytes: 1024 ** 2 };

/** Reads the descriptions of the files of messages; other files are left out. */
export async function* headersOf(archive: Archive, maxFiles = Number.POSITIVE_INFINITY): AsyncGenerator<Header> {
  for (const file of filesOf(archive).slice(0, maxFiles)) {
    const header = await headerOf(archive, file);
    const [guild, channel] = [field(header, 'guild'), field(header, 'channel')];
    if (isObject(guild) && isObject(channel) && Array.isArray(field(header, 'messages')))
      yield { file, guild, channel };
  }
}

async function headerOf(archive: Archive, file: string): Promise<unknown> {
  try {
    for await (const element of jsonMember(archive.read(file), 'messages', file, HEADER_LIMITS))
      return 'value' in element ? element.value : null;
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
  }
  return null;
}

const ORDER = new Intl.Collator('en', { numeric: true });

/** Files of JSON; `x [part 2].json` follows `x.json`. */
const filesOf = ({ names }: Archive): readonly string[] =>
  names
    .filter((name) => name.endsWith('.json'))
    .map((name) => name.slice(0, -'.json'.length))
    .sort(ORDER.compare)
    .map((name) => `${name}.json`);

/** The first channels of a kind in files decide over its name. */
interface Channel {
  readonly name: string;
  readonly topic: string;
  readonly folder: string;
  readonly readers: Set<string>;
}

const PRIVATE_THREADS: ReadonlySet<string> = new Set(['GuildPrivateThread', '12']);
const PUBLIC_THREADS: ReadonlySet<string> = new Set(['GuildPublicThread', 'GuildNewsThread', '10', '11']);
const CONVERSATIONS: ReadonlySet<string> = new Set(['DirectTextChat', 'DirectGroupTextChat', '1', '3']);

/** One reading of an export. */
export class DiscordExport implements DiscordContext {
  source = 'discord';
  readonly damageIds = new DamageIds();
  private readonly people = new Map<string, string>();
  private readonly roles = new Map<string, { readonly name: string; readonly members: Set<string> }>();
  private readonly channels = new Map<string, Channel>();
  private readonly conversations = new Map<string, Set<string>>();
  private readonly names = new Map<string, string>();
  private readonly idsByName = new Map<string, string | null>();
  private readonly seenFiles = new Set<string>();
  private readonly seenEmoji = new Set<string>();
  private readonly located = new Set<string>();
  /** File being read; pictures of people are relative to it. */
  private file = '';
  /** Ids of damaged parts since the last message. */
  private damages: string[] = [];
  /** Times of the first and last message by file. */
  private readonly partEnds = new Map<
    string,
    { readonly first: number | undefined; readonly last: number | undefined }
  >();

  constructor(private readonly archive: Archive) {}

  personName(id: string): string | null {
    return this.people.get(id) ?? null;
  }

  roleName(id: string): string | null {
    return this.roles.get(id)?.name ?? null;
  }

  channelName(id: string): string | null {
    return this.names.get(id) ?? null;
  }

  channelId(name: string): string | null {
    return this.idsByName.get(name) ?? null;
  }

  isNewFile(id: string): boolean {
    return isAdded(this.seenFiles, id);
  }

  addReader(place: DiscordPlace, person: string): void {
    const readers =
      place.conversation === undefined
        ? getOrThrow(this.channels, place.channel!).readers
        : getOrThrow(this.conversations, place.conversation);
    readers.add(person);
  }

  *personRecords(person: unknown): Generator<ImportRecord> {
    const id = textOf(person, 'id');
    if (id === '') return;
    for (const role of listOf(person, 'roles')) this.addRole(role, id);
    if (this.people.has(id)) return;
    const name = textOf(person, 'nickname') || textOf(person, 'name') || id;
    this.people.set(id, name);
    const picture = textOf(person, 'avatarUrl');
    const avatar = picture === '' ? undefined : `avatar/${id}`;
    if (avatar !== undefined) {
      yield { source: this.source, kind: 'file', id: avatar, name: `${id}.png`, ...this.locate(picture, this.file) };
    }
    yield {
      source: this.source,
      kind: 'person',
      id,
      name,
      ...present({ userName: textOf(person, 'name'), isBot: flagOf(person, 'isBot') || undefined, avatar }),
    };
  }

  private addRole(role: unknown, person: string): void {
    const id = textOf(role, 'id');
    if (id === '') return;
    const found = this.roles.get(id) ?? { name: textOf(role, 'name') || id, members: new Set<string>() };
    this.roles.set(id, found);
    found.members.add(person);
  }

  async *records(): AsyncGenerator<ImportRecord> {
    const files: MessageFile[] = [];
    let guild: unknown;
    for await (const header of headersOf(this.archive)) {
      const isServer = !CONVERSATIONS.has(textOf(header.channel, 'type'));
      if (isServer && guild !== undefined && textOf(guild, 'id') !== textOf(header.guild, 'id'))
        throw sourceError(header.file, 1, 'belongs to another server; import the servers one by one');
      if (isServer) guild = header.guild;
      files.push({ header, place: this.placeOf(header) });
    }
    this.source = `discord:${textOf(guild, 'id') || 'direct'}`;
    const name = textOf(guild, 'name') || 'Discord';
    yield { source: this.source, kind: 'organization', id: this.source, name, messageFiles: 'threads' };
    for (const { header, place } of files) yield* this.fileRecords(header, place);
    yield* this.placeRecords();
    yield* this.unusedFiles(new Set(files.map(({ header }) => header.file)));
    yield* this.missingParts(files);
  }

  private placeOf({ channel }: Header): DiscordPlace {
    const id = textOf(channel, 'id');
    const type = textOf(channel, 'type');
    const name = textOf(channel, 'name') || id;
    const [category, parent] = [textOf(channel, 'category'), textOf(channel, 'categoryId')];
    if (CONVERSATIONS.has(type)) {
      if (!this.conversations.has(id)) this.conversations.set(id, new Set());
      return { conversation: id };
    }
    this.addName(id, name);
    if (PUBLIC_THREADS.has(type) && parent !== '') {
      this.addChannel(parent, category, '', '');
      return { channel: parent, thread: id };
    }
    // Fewer people than the members of its channel could read a private thread.
    const isPrivateThread = PRIVATE_THREADS.has(type);
    this.addChannel(
      id,
      isPrivateThread ? `${category}: ${name}` : name,
      textOf(channel, 'topic'),
      isPrivateThread ? '' : category,
    );
    return { channel: id };
  }

  private addName(id: string, name: string): void {
    if (this.names.has(id)) return;
    this.names.set(id, name);
    this.idsByName.set(name, this.idsByName.has(name) ? null : id);
  }

  /** A thread knows only the name of its channel. */
  private addChannel(id: string, name: string, topic: string, folder: string): void {
    const known = this.channels.get(id);
    const readers = known?.readers ?? new Set<string>();
    if (known === undefined || known.folder === '') {
      this.channels.set(id, {
        name: name || id,
        topic: topic || known?.topic || '',
        folder: folder || known?.folder || '',
        readers,
      });
    }
    this.addName(id, name || id);
  }

  private async *fileRecords({ file, channel }: Header, place: DiscordPlace): AsyncGenerator<ImportRecord> {
    if (place.thread !== undefined) {
      const name = textOf(channel, 'name');
      yield { source: this.source, kind: 'thread', id: place.thread, channel: place.channel!, ...present({ name }) };
    }
    this.file = file;
    let isHeader = true;
    let first: number | undefined;
    /** Times of the last two messages. */
    let times: readonly number[] = [];
    for await (const element of jsonMember(this.archive.read(file), 'messages', file)) {
      if (!isHeader) {
        if ('value' in element) yield* this.emojiRecords(element.value, file);
        const position = { file, line: element.line, previousAt: times.at(-1) ?? 1 };
        const damages = this.damages.length;
        for (const record of messageRecords(element, place, position, this)) {
          if (record.kind === 'message' && this.damages.length === damages) {
            times = [...times.slice(-1), record.sentAt];
            first ??= record.sentAt;
          }
          yield record;
        }
        if (this.damages.length === damages) yield* this.gaps(place, times);
      }
      isHeader = false;
    }
    yield* this.gaps(place, []);
    this.partEnds.set(file, { first, last: times.at(-1) });
  }

  addDamage(id: string): void {
    this.damages.push(id);
  }

  /** Reports the damaged parts since the message before the last one, or anywhere without two times. */
  private *gaps(place: DiscordPlace, [from, until]: readonly number[]): Generator<ImportRecord> {
    const type = 'discord.damaged_file';
    const reason = 'A part of the file is damaged';
    for (const id of this.damages)
      yield { source: this.source, kind: 'skipped', id, type, reason, gap: gapBetween(place, from, until) };
    this.damages = [];
  }

  /** Custom emoji in texts and reactions, with their pictures. */
  private *emojiRecords(message: unknown, file: string): Generator<ImportRecord> {
    const emoji = [
      ...listOf(message, 'inlineEmojis'),
      ...listOf(message, 'reactions').map((each) => field(each, 'emoji')),
    ];
    for (const each of emoji) {
      const [id, name, url] = [textOf(each, 'id'), textOf(each, 'name'), textOf(each, 'imageUrl')];
      if (id === '' || name === '' || url === '' || !isAdded(this.seenEmoji, id)) continue;
      const picture = `emoji/${id}`;
      const extension = flagOf(each, 'isAnimated') ? 'gif' : 'png';
      yield { source: this.source, kind: 'file', id: picture, name: `${name}.${extension}`, ...this.locate(url, file) };
      yield { source: this.source, kind: 'emoji', id, name, file: picture };
    }
  }

  private *placeRecords(): Generator<ImportRecord> {
    const { source } = this;
    for (const [id, { name, topic, folder, readers }] of this.channels) {
      // The export has no permissions: only those who wrote or reacted certainly had access.
      const members = [...readers];
      const description = writeMarkdown(parseCommonMark(topic, (text) => [plain(text)], 'discord'));
      yield {
        ...{ source, kind: 'channel', id, name, privacy: 'private', members, hasMoreMembers: true },
        ...present({ description, folder }),
      };
    }
    for (const [id, members] of this.conversations) {
      if (members.size === 0) yield* this.personRecords(UNKNOWN_PERSON);
      yield { source, kind: 'conversation', id, members: members.size > 0 ? [...members] : [UNKNOWN_PERSON.id] };
    }
    for (const [id, { name, members }] of this.roles) {
      // Exports name only the roles of authors.
      yield { source, kind: 'group', id, name, members: [...members], hasMoreMembers: true };
    }
  }

  /** Media paths are relative to the message file and may have Windows separators. Names may be URL-encoded. */
  locate(url: string, file: string): Pick<FileRecord, 'path' | 'url' | 'missing'> {
    if (/^https?:\/\//.test(url)) return { url };
    const relative = url.replaceAll('\\', '/').replace(/^(?:\.\/)+/, '');
    const folder = file.slice(0, file.lastIndexOf('/') + 1);
    for (const name of [folder + relative, relative, folder + decoded(relative), decoded(relative)]) {
      if (relative === '' || !this.archive.has(name)) continue;
      this.located.add(name);
      return { path: name };
    }
    return { missing: 'missing in the export' };
  }

  /** Partitions of a channel are `x.json`, `x [part 2].json` and so on. The last ones may be missing unnoticed. */
  private *missingParts(files: readonly MessageFile[]): Generator<ImportRecord> {
    const found = new Map<string, { readonly number: number; readonly last: number | undefined }>();
    for (const { header, place } of files) {
      const [, start = '', part = '1'] = /^(.*?)(?: \[part (\d{1,9})\])?\.json$/s.exec(header.file)!;
      const { number, last } = found.get(start) ?? { number: 0, last: undefined };
      const ends = getOrThrow(this.partEnds, header.file);
      found.set(start, { number: Math.max(Number(part), number), last: ends.last ?? last });
      if (number + 1 >= Number(part)) continue;
      const id = `${start}${number === 0 ? '' : ` [part ${number + 1}]`}.json`;
      const type = 'discord.damaged_partition';
      const reason = 'One or more partitions of the export are missing, with their messages';
      yield { source: this.source, kind: 'skipped', id, type, reason, gap: gapBetween(place, last, ends.first) };
    }
  }

  private *unusedFiles(used: ReadonlySet<string>): Generator<ImportRecord> {
    for (const id of this.archive.names) {
      if (used.has(id) || this.located.has(id)) continue;
      const reason = 'No message of the export mentions the file';
      yield { source: this.source, kind: 'skipped', id, type: 'discord.file', reason };
    }
  }
}

/** Messages between two times in any order; undefined for an unknown time. */
function gapBetween({ channel, conversation }: DiscordPlace, from: number | undefined, until: number | undefined): Gap {
  const span =
    from === undefined || until === undefined ? {} : { from: Math.min(from, until), until: Math.max(from, until) };
  return { ...present({ channel, conversation }), ...span };
}

function decoded(url: string): string {
  try {
    return decodeURIComponent(url);
  } catch {
    return url;
  }
}

function isAdded(set: Set<string>, id: string): boolean {
  if (set.has(id)) return false;
  set.add(id);
  return true;
}
