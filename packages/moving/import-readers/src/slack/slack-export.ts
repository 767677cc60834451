import { lastOf } from '@parley/domain/kernel';
import { parseMrkdwn, writeMarkdown } from '@parley/domain/markdown';
import type { ChannelRecord, ImportRecord } from '@parley/transfer/records';
import type { Archive } from '../archive.js';
import { DamageIds } from '../damage-ids.js';
import { field, flagOf, isObject, listOf, numberOf, present, textOf, textsOf, timeOf } from '../fields.js';
import { comparableName } from '../folder-names.js';
import { jsonElements } from '../json-elements.js';
import { dumpFiles, dumpMessages, isDirectDump } from './slack-dump.js';
import { localFiles } from './slack-files.js';
import { dayOf, messageRecords, SECONDS_PER_DAY, type SlackContext, type SlackPlace } from './slack-messages.js';
import { type Author, personName, personRecords, UNKNOWN_AUTHOR } from './slack-people.js';
import { messageId, withoutTokens } from './slack-text.js';

/** The last one lists the comments on canvases. */
const LISTS = ['channels.json', 'groups.json', 'mpims.json', 'dms.json', 'file_conversations.json'] as const;
type List = (typeof LISTS)[number];
const PEOPLE = ['users.json', 'org_users.json'];
/** Files without messages, with the reason for leaving them out. */
const OTHER_FILES: Readonly<Record<string, string>> = {
  'integration_logs.json': 'Parley has no log of integrations',
  'content_flags.json': 'Flags of content moderation are not messages',
  'canvases.json': 'Slack exports only the URLs of canvases',
  'lists.json': 'Slack exports only the URLs of lists',
  'huddle_transcripts.json': 'Slack exports only the URLs of transcripts',
  '.slack-manifest.json': 'The manifest has only a checksum',
};
/** Start of the name of a conversation about a canvas, before its title. */
const CANVAS = /^FC:F[A-Z0-9]+:\s*/;
const DAY = /^\d{4}-\d\d-\d\d\.json$/;

/** One reading of an export. */
export class SlackExport implements SlackContext {
  source = 'slack';
  readonly localFiles: ReadonlyMap<string, string>;
  readonly damageIds = new DamageIds();
  private homeTeam = '';
  /** Names of the people in the export's lists by id. */
  private readonly people = new Map<string, string>();
  /** Ids of people by the id of their bot. */
  private readonly bots = new Map<string, string>();
  /** People who occur only in messages, with their names as far as known. */
  private readonly others = new Map<string, Author>();
  /** Names of channels by id, empty for private ones. */
  private readonly channels = new Map<string, string>();
  private readonly places = new Set<string>();
  private readonly seenFiles = new Set<string>();
  private readonly seenThreads = new Set<string>();
  private readonly seenPins = new Set<string>();
  /** Files of days by folder, and folders by comparable name. */
  private readonly days = new Map<string, string[]>();
  private readonly folders = new Map<string, string>();
  /** Files of slackdump's dump folder by channel. */
  private readonly dumps: Map<string, string[]>;
  /** Workspaces of an Enterprise organization are folders; the outermost one is ''. */
  private readonly roots: readonly string[];
  private readonly readFiles = new Set<string>();
  /** True if a message is in the file of another UTC day. */
  private isOtherZone = false;

  constructor(private readonly archive: Archive) {
    this.localFiles = localFiles(archive);
    this.dumps = dumpFiles(archive.names);
    const roots = new Set(['']);
    for (const name of archive.names) {
      const root = /^teams\/[^/]+\//.exec(name)?.[0];
      if (root !== undefined) roots.add(root);
      const slash = name.lastIndexOf('/');
      if (slash < 0 || !DAY.test(name.slice(slash + 1))) continue;
      const folder = name.slice(0, slash);
      const days = this.days.get(folder);
      if (days) days.push(name);
      else this.days.set(folder, [name]);
    }
    this.roots = [...roots];
    for (const folder of this.days.keys()) this.folders.set(comparableName(folder), folder);
  }

  personName(id: string): string | null {
    return this.people.get(id) ?? (this.others.get(id)?.name || null);
  }

  channelName(id: string): string | null {
    return this.channels.get(id) ?? null;
  }

  addPerson(author: Author): void {
    if (this.people.has(author.id)) return;
    const known = this.others.get(author.id);
    if (!known || (known.name === '' && author.name !== '')) this.others.set(author.id, author);
  }

  personOfBot(bot: string): string | null {
    return this.bots.get(bot) ?? null;
  }

  isNewFile(id: string): boolean {
    return isAdded(this.seenFiles, id);
  }

  isNewThread(id: string): boolean {
    return isAdded(this.seenThreads, id);
  }

  isNewPin(id: string): boolean {
    return isAdded(this.seenPins, id);
  }

  async *records(): AsyncGenerator<ImportRecord> {
    await this.findSource();
    const isByDay = this.days.size > 0;
    yield {
      ...{ source: this.source, kind: 'organization', id: this.source, name: this.organizationName() },
      ...(isByDay && { messageFiles: 'days' }),
    };
    for (const root of this.roots) for (const file of PEOPLE) yield* this.peopleIn(root + file);
    await this.nameChannels();
    for (const root of this.roots) for (const list of LISTS) yield* this.channelsIn(root, list);
    // Folders of conversations that no list contains, so that their ids are unknown.
    for (const folder of [...this.days.keys()]) {
      const id = `folder:${folder}`;
      const authors = new Set<string>();
      yield* withAuthors(this.messagesIn(folder, { id, isConversation: false }), authors);
      yield { ...this.unlistedChannel(id, lastOf(folder.split('/')), authors), isUnlisted: true };
    }
    if (this.isOtherZone) {
      const reason = 'The files of days have another time zone than UTC, so that missing ones cannot be found';
      yield { source: this.source, kind: 'skipped', id: 'days', type: 'slack.days', reason, gap: {} };
    }
    for (const id of [...this.dumps.keys()]) yield* this.unlistedDump(id);
    yield* this.otherFiles();
    for (const { id, name, isBot } of this.others.values()) {
      yield {
        source: this.source,
        kind: 'person',
        id,
        name: name || id,
        ...(isBot ? { isBot } : { isExternal: true }),
      };
    }
  }

  /** Reads the id of the workspace, which most of its members have; guests may belong to another one. */
  private async findSource(): Promise<void> {
    const counts = new Map<string, number>();
    for (const file of this.roots.flatMap((root) => PEOPLE.map((name) => root + name))) {
      for await (const element of this.elementsOf(file)) {
        const user = 'value' in element ? element.value : null;
        const team = textOf(field(user, 'enterprise_user'), 'enterprise_id') || textOf(user, 'team_id');
        if (team !== '') counts.set(team, (counts.get(team) ?? 0) + 1);
      }
    }
    const [[team] = ['']] = [...counts].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1));
    this.homeTeam = team;
    this.source = team === '' ? 'slack' : `slack:${team}`;
  }

  /** Slack names the ZIP `Acme Slack export Jan 1 2024 - Feb 1 2024.zip`. */
  private organizationName(): string {
    return /^(.+?) Slack export\b/i.exec(this.archive.name)?.[1] ?? 'Slack';
  }

  private async *elementsOf(file: string) {
    if (this.archive.has(file)) yield* jsonElements(this.archive.read(file), file);
  }

  private async *peopleIn(file: string): AsyncGenerator<ImportRecord> {
    this.readFiles.add(file);
    for await (const element of this.elementsOf(file)) {
      const id = 'value' in element ? textOf(element.value, 'id') : '';
      if ('damage' in element || id === '')
        yield this.skipped(file, element.line, 'slack.user', 'An entry of the list of people is damaged', element);
      // Each workspace of an Enterprise organization lists its members.
      else if (!this.people.has(id)) {
        this.people.set(id, personName(element.value) || id);
        const bot = textOf(field(element.value, 'profile'), 'bot_id');
        if (bot !== '') this.bots.set(bot, id);
        yield* personRecords(this.source, element.value, this.homeTeam);
      }
    }
  }

  /** Runs before messages are read, which refer to channels of any list. */
  private async nameChannels(): Promise<void> {
    for (const [file, list] of this.roots.flatMap((root) => LISTS.map((each) => [root + each, each] as const))) {
      for await (const element of this.elementsOf(file)) {
        if ('damage' in element) continue;
        const id = textOf(element.value, 'id');
        const kind = kindOf(element.value, list);
        if (id === '' || kind === 'conversation' || this.channels.has(id)) continue;
        this.channels.set(id, kind === 'private' ? '' : nameOf(element.value, id));
      }
    }
  }

  private async *channelsIn(root: string, list: List): AsyncGenerator<ImportRecord> {
    const file = root + list;
    this.readFiles.add(file);
    for await (const element of this.elementsOf(file)) {
      const id = 'value' in element ? textOf(element.value, 'id') : '';
      if ('damage' in element || id === '') {
        yield this.skipped(file, element.line, 'slack.channel', 'An entry of the list of channels is damaged', element);
        continue;
      }
      const channel = element.value;
      const kind = kindOf(channel, list);
      const folderName = textOf(channel, 'name') || id;
      const name = nameOf(channel, id);
      if (this.places.has(id)) continue;
      this.places.add(id);
      for (const person of membersOf(channel)) this.addPerson({ id: person, name: '', isBot: false });
      if (kind === 'conversation') yield this.conversation(channel, id);
      else yield this.channel(channel, { id, name, privacy: kind, root });
      const place: SlackPlace = { id, isConversation: kind === 'conversation' };
      yield* this.pinsOf(channel, place);
      const folder = this.folderOf(root, folderName) ?? this.folderOf(root, id);
      if (folder !== undefined) yield* this.messagesIn(folder, place);
      yield* this.messagesOfDump(place);
    }
  }

  /** Messages of a dump without a list of channels. */
  private async *unlistedDump(id: string): AsyncGenerator<ImportRecord> {
    const authors = new Set<string>();
    let name = '';
    const isConversation = isDirectDump(id);
    const onName = (given: string) => {
      name ||= given;
    };
    yield* withAuthors(this.messagesOfDump({ id, isConversation }, onName), authors);
    if (isConversation) yield this.conversation({ members: [...authors] }, id);
    else yield this.unlistedChannel(id, name || id, authors);
  }

  private async *messagesOfDump(
    place: SlackPlace,
    onName: (name: string) => void = () => {},
  ): AsyncGenerator<ImportRecord> {
    const files = this.dumps.get(place.id) ?? [];
    this.dumps.delete(place.id);
    for (const file of files) {
      this.readFiles.add(file);
      for await (const element of dumpMessages(this.archive.read(file), file, onName))
        yield* messageRecords(element, place, { file, line: element.line }, this);
    }
    this.seenThreads.clear();
  }

  /** Conversations of slackdump can lack their members. */
  private conversation(channel: unknown, id: string): ImportRecord {
    const members = membersOf(channel);
    if (members.length === 0) this.addPerson(UNKNOWN_AUTHOR);
    return {
      source: this.source,
      kind: 'conversation',
      id,
      members: members.length > 0 ? members : [UNKNOWN_AUTHOR.id],
    };
  }

  /** Authors in the folder, the only people known to have had access. */
  private unlistedChannel(id: string, name: string, authors: ReadonlySet<string>): ChannelRecord {
    const { source } = this;
    return { source, kind: 'channel', id, name, privacy: 'private', members: [...authors], hasMoreMembers: true };
  }

  private channel(
    channel: unknown,
    { id, name, privacy, root }: Pick<ChannelRecord, 'id' | 'name' | 'privacy'> & { readonly root: string },
  ): ChannelRecord {
    const texts = ['purpose', 'topic']
      .map((name) => textOf(field(channel, name), 'value'))
      .filter((each) => each !== '');
    const creator = textOf(channel, 'creator');
    if (creator !== '') this.addPerson({ id: creator, name: '', isBot: false });
    return {
      source: this.source,
      kind: 'channel',
      id,
      name,
      privacy,
      members: membersOf(channel),
      ...present({
        // Lists may lack the members of archived channels.
        hasMoreMembers: membersOf(channel).length === 0 || undefined,
        description: [...new Set(texts)].map((text) => this.markdownOf(text)).join('\n\n'),
        isArchived: flagOf(channel, 'is_archived') || undefined,
        isReadOnly: flagOf(channel, 'is_read_only') || undefined,
        createdAt: timeOf(numberOf(channel, 'created')),
        creator,
        folder: /^teams\/([^/]+)\//.exec(root)?.[1],
      }),
    };
  }

  private markdownOf(mrkdwn: string): string {
    return writeMarkdown(parseMrkdwn(mrkdwn), ({ of, id, name }) => {
      const known = of === 'user' ? this.personName(id) : null;
      return known === null || name !== id ? null : `@${known}`;
    });
  }

  private *pinsOf(channel: unknown, place: SlackPlace): Generator<ImportRecord> {
    for (const [index, pin] of listOf(channel, 'pins').entries()) {
      const ts = textOf(pin, 'id');
      const id = messageId(place.id, ts);
      if (textOf(pin, 'type') === 'C' && ts !== '') {
        const at = timeOf(numberOf(pin, 'created'));
        if (this.isNewPin(id)) yield { source: this.source, kind: 'pin', id, message: id, ...present({ at }) };
      } else {
        const reason = 'Parley pins messages, not files';
        yield { source: this.source, kind: 'skipped', id: `${place.id}/pin/${index}`, type: 'slack.pin', reason };
      }
    }
  }

  private folderOf(root: string, name: string): string | undefined {
    const folder = this.folders.get(comparableName(root + name)) ?? this.folders.get(comparableName(name));
    return folder !== undefined && this.days.has(folder) ? folder : undefined;
  }

  private async *messagesIn(folder: string, place: SlackPlace): AsyncGenerator<ImportRecord> {
    const days = this.days.get(folder) ?? [];
    this.days.delete(folder);
    for (const file of days) {
      this.readFiles.add(file);
      const day = dayOf(file);
      for await (const element of jsonElements(this.archive.read(file), file)) {
        for (const record of messageRecords(element, place, { file, line: element.line }, this)) {
          if (record.kind === 'message' && day !== Math.floor(record.sentAt / SECONDS_PER_DAY) * SECONDS_PER_DAY)
            this.isOtherZone = true;
          yield record;
        }
      }
    }
    // Threads are looked up only within their channel.
    this.seenThreads.clear();
  }

  private async *otherFiles(): AsyncGenerator<ImportRecord> {
    const local = new Set(this.localFiles.values());
    for (const file of this.archive.names) {
      if (this.readFiles.has(file) || local.has(file)) continue;
      const name = lastOf(file.split('/'));
      const reason = OTHER_FILES[name];
      if (reason === undefined) {
        yield this.skipped(file, 1, 'slack.file', 'Slack exports no file of this name', null);
        continue;
      }
      const type = `slack.${name.replace(/^\.|\.json$/g, '')}`;
      for await (const element of this.elementsOf(file)) yield this.skipped(file, element.line, type, reason, element);
    }
  }

  private skipped(file: string, line: number, type: string, reason: string, original: unknown): ImportRecord {
    const value = isObject(original) ? (original.value ?? original.text) : undefined;
    return {
      source: this.source,
      kind: 'skipped',
      id: `${file}:${line}`,
      type,
      reason,
      ...(value === undefined ? {} : { original: withoutTokens(value) }),
    };
  }
}

/** Adds the senders of messages to a set. */
async function* withAuthors(records: AsyncIterable<ImportRecord>, authors: Set<string>): AsyncGenerator<ImportRecord> {
  for await (const record of records) {
    if (record.kind === 'message') authors.add(record.sender);
    yield record;
  }
}

function isAdded(set: Set<string>, id: string): boolean {
  if (set.has(id)) return false;
  set.add(id);
  return true;
}

const membersOf = (channel: unknown): readonly string[] => {
  const members = textsOf(channel, 'members');
  const partner = textOf(channel, 'user');
  return members.length > 0 || partner === '' ? members : [partner];
};

function nameOf(channel: unknown, id: string): string {
  const name = textOf(channel, 'name') || id;
  return name.replace(CANVAS, '') || name;
}

/** slackdump lists channels of all kinds in one file. In doubt, a channel is private. */
function kindOf(channel: unknown, list: List): 'public' | 'private' | 'conversation' {
  if (flagOf(channel, 'is_im') || flagOf(channel, 'is_mpim') || list === 'dms.json' || list === 'mpims.json')
    return 'conversation';
  return list !== 'channels.json' || flagOf(channel, 'is_private') || flagOf(channel, 'is_group')
    ? 'private'
    : 'public';
}
