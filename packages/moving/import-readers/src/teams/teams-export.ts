import { createHash } from 'node:crypto';
import { getOrThrow } from '@parley/domain/kernel';
import { paragraph, plain, writeMarkdown } from '@parley/domain/markdown';
import type { ImportRecord, PersonRecord } from '@parley/transfer/records';
import type { Archive } from '../archive.js';
import { field, flagOf, present, textOf, timeOf } from '../fields.js';
import { type JsonElement, jsonElements } from '../json-elements.js';
import { messageRecords, placeOf, senderOf, sentAtOf, type TeamsContext, type TeamsPlace } from './teams-messages.js';

interface Team {
  readonly name: string;
  readonly isPublic: boolean;
  readonly members: Set<string>;
}

interface Channel {
  readonly data: unknown;
  readonly team: Team | undefined;
  /** True if all members of the team can read it. */
  readonly isStandard: boolean;
  /** Members of the team, or those who wrote in a private or shared channel. */
  readonly readers: Set<string>;
}

/** Times of the first and last message of a chat that a person can read, in Unix seconds. */
interface Span {
  first: number;
  last: number;
}

/** Part of a chat that the same people can read. */
interface Conversation {
  readonly chat: string;
  readonly readers: readonly string[];
}

/** One reading of an export. */
export class TeamsExport implements TeamsContext {
  source = 'teams';
  private readonly people = new Map<string, string>();
  private readonly others = new Map<string, { readonly name: string; readonly isBot: boolean }>();
  private readonly teams = new Map<string, Team>();
  private readonly archivedTeams = new Set<string>();
  private readonly channels = new Map<string, Channel>();
  private readonly chats = new Map<string, Set<string>>();
  /** People with a file of chats. */
  private readonly owners = new Set<string>();
  /** Spans by chat and owner. */
  private readonly spans = new Map<string, Map<string, Span>>();
  private readonly conversations = new Map<string, Conversation>();
  private readonly readFiles = new Set<string>();
  private readonly damagedFiles = new Set<string>();

  constructor(private readonly archive: Archive) {}

  personName(id: string): string | null {
    return this.people.get(id) ?? null;
  }

  addPerson(id: string, name: string, isBot: boolean): void {
    if (this.people.has(id)) return;
    const known = this.others.get(id);
    if (!known || (known.name === '' && name !== '')) this.others.set(id, { name, isBot });
  }

  addReader({ channel, conversation }: TeamsPlace, person: string): void {
    if (conversation === undefined) {
      const unlisted = { data: null, team: undefined, isStandard: false, readers: new Set<string>() };
      const found = this.channels.get(channel!) ?? unlisted;
      this.channels.set(channel!, found);
      // People who wrote in a channel of a team may have left it since.
      if (!found.isStandard) found.readers.add(person);
      return;
    }
    const readers = this.chats.get(conversation);
    if (readers) readers.add(person);
    else this.chats.set(conversation, new Set([person]));
  }

  conversationOf(chat: string, sentAt: number): string {
    const spans = [...(this.spans.get(chat) ?? [])];
    const pair = CHAT_OF_TWO.exec(chat)?.slice(1);
    for (const person of pair ?? []) this.addPerson(person, '', false);
    const readers =
      pair ?? spans.flatMap(([person, { first, last }]) => (first <= sentAt && sentAt <= last ? person : []));
    const id = `${chat}/${createHash('sha256').update(readers.join(' ')).digest('base64url').slice(0, 22)}`;
    if (!this.conversations.has(id)) this.conversations.set(id, { chat, readers });
    return id;
  }

  async *records(): AsyncGenerator<ImportRecord> {
    const files = (pattern: RegExp) => this.archive.names.filter((name) => pattern.test(name));
    await this.findSource(files(/^teams\/[^/]+\/channels_[^/]+\.json$/));
    yield { source: this.source, kind: 'organization', id: this.source, name: 'Microsoft Teams' };
    yield* this.each('users/usersList.json', (user) => this.personRecords(user));
    yield* this.each('teams/teamsList.json', (team) => this.addTeam(team));
    yield* this.each('teams/teamsSettings.json', (settings) => this.addSettings(settings));
    for (const file of files(/^teams\/[^/]+\/teamMembers_[^/]+\.json$/))
      yield* this.each(file, (member) => this.addMember(file, member));
    for (const file of files(/^teams\/[^/]+\/channels_[^/]+\.json$/))
      yield* this.each(file, (channel) => this.addChannel(file, channel));
    await this.readSpans(files(/^users\/[^/]+\/messages_[^/]+\.json$/));
    for (const file of files(/^(?:teams|users)\/[^/]+\/messages_[^/]+\.json$/))
      yield* this.each(file, (message) => this.message(file, message));
    yield* this.placeRecords();
    yield* this.gaps();
    yield* this.otherFiles();
  }

  private isMembersDamaged(team: string): boolean {
    return [...this.damagedFiles].some((file) => file.startsWith(`teams/${team}/teamMembers_`));
  }

  /** Reports damaged files of messages: of the channels of a team, or of the chats of a person. */
  private *gaps(): Generator<ImportRecord> {
    const [type, reason] = ['teams.damaged_file', 'The file is damaged'];
    for (const file of [...this.damagedFiles].filter((name) => /\/messages_[^/]+$/.test(name))) {
      if (ownerOf(file) !== undefined) yield { source: this.source, kind: 'skipped', id: file, type, reason, gap: {} };
      else
        for (const [channel, { data }] of this.channels)
          if (data === null || textOf(data, 'team') === teamOf(file))
            yield { source: this.source, kind: 'skipped', id: `${file}/${channel}`, type, reason, gap: { channel } };
    }
  }

  private async findSource(files: readonly string[]): Promise<void> {
    for (const file of files) {
      for await (const element of jsonElements(this.archive.read(file), file)) {
        const tenant = 'value' in element ? textOf(element.value, 'TenantId') : '';
        if (tenant === '') continue;
        this.source = `teams:${tenant}`;
        return;
      }
    }
  }

  /** Finds which messages of chats each person can read: those who joined later, or left, have only a part. */
  private async readSpans(files: readonly string[]): Promise<void> {
    for (const file of files) this.owners.add(ownerOf(file)!);
    const damaged = new Set<string>();
    for (const file of files) {
      for await (const element of jsonElements(this.archive.read(file), file)) {
        if ('damage' in element) damaged.add(ownerOf(file)!);
        const message = 'value' in element ? element.value : null;
        const chat = placeOf(message, ownerOf(file))?.conversation;
        if (chat === undefined) continue;
        const spans = this.spans.get(chat) ?? new Map<string, Span>();
        this.spans.set(chat, spans);
        const sentAt = sentAtOf(message);
        for (const person of [ownerOf(file)!, senderOf(message).id]) {
          if (!this.owners.has(person)) continue;
          const { first, last } = spans.get(person) ?? { first: sentAt, last: sentAt };
          spans.set(person, { first: Math.min(first, sentAt), last: Math.max(last, sentAt) });
        }
      }
    }
    // A damaged file does not tell what its owner could read, like a missing one.
    for (const owner of damaged) {
      this.owners.delete(owner);
      for (const spans of this.spans.values()) spans.delete(owner);
    }
  }

  private async *each(
    file: string,
    convert: (value: unknown) => Iterable<ImportRecord> | null,
  ): AsyncGenerator<ImportRecord> {
    if (!this.archive.has(file)) return;
    this.readFiles.add(file);
    for await (const element of jsonElements(this.archive.read(file), file)) {
      const records = 'value' in element ? convert(element.value) : null;
      if (records === null) {
        this.damagedFiles.add(file);
        yield this.skipped(file, element, 'teams.damaged', 'An entry of the export is damaged');
      } else yield* records;
    }
  }

  private skipped(file: string, element: JsonElement, type: string, reason: string): ImportRecord {
    const original = 'value' in element ? element.value : element.text;
    return { source: this.source, kind: 'skipped', id: `${file}:${element.line}`, type, reason, original };
  }

  private personRecords(user: unknown): readonly ImportRecord[] | null {
    const id = textOf(user, 'Id');
    if (id === '') return null;
    const login = textOf(user, 'UserPrincipalName');
    this.people.set(id, textOf(user, 'DisplayName') || login || id);
    const person: PersonRecord = {
      source: this.source,
      kind: 'person',
      id,
      name: getOrThrow(this.people, id),
      // Id at Microsoft Entra.
      externalId: id,
      role: login.includes('#EXT#') ? 'guest' : 'member',
      ...present({ userName: login, email: textOf(user, 'Mail') }),
    };
    return [person];
  }

  private addTeam(team: unknown): readonly ImportRecord[] | null {
    const id = textOf(team, 'GroupsId');
    if (id === '') return null;
    this.teams.set(id, {
      name: textOf(team, 'Name') || id,
      isPublic: textOf(team, 'Privacy') === 'Public',
      members: new Set(),
    });
    return [];
  }

  private addSettings(settings: unknown): readonly ImportRecord[] {
    if (flagOf(settings, 'IsArchived')) this.archivedTeams.add(textOf(settings, 'Id'));
    return [];
  }

  private addMember(file: string, member: unknown): readonly ImportRecord[] | null {
    const id = textOf(member, 'UserId');
    if (id === '') return null;
    this.addPerson(id, textOf(member, 'Name'), false);
    this.teams.get(teamOf(file))?.members.add(id);
    return [];
  }

  private addChannel(file: string, channel: unknown): readonly ImportRecord[] | null {
    const id = textOf(channel, 'Id');
    if (id === '') return null;
    const team = this.teams.get(teamOf(file));
    const isStandard = team !== undefined && textOf(channel, 'MembershipType') === 'standard';
    // The export has no members of private and shared channels.
    this.channels.set(id, {
      data: { channel, team: teamOf(file) },
      team,
      isStandard,
      readers: new Set(isStandard ? team?.members : []),
    });
    return [];
  }

  private message(file: string, message: unknown): Iterable<ImportRecord> | null {
    const owner = ownerOf(file);
    const place = placeOf(message, owner);
    if (place === null || textOf(message, 'Id') === '') return null;
    // A person's file contains the chats that the person could read.
    if (place.conversation !== undefined && owner !== undefined) {
      this.addPerson(owner, '', false);
      this.addReader(place, owner);
    }
    return messageRecords(message, place, this);
  }

  private *placeRecords(): Generator<ImportRecord> {
    const { source } = this;
    for (const [id, { data, team, isStandard, readers }] of this.channels) {
      const channel = field(data, 'channel');
      const name = textOf(channel, 'DisplayName') || id;
      const isPublic = team?.isPublic === true && isStandard;
      const hasMembers = team !== undefined && team.members.size > 0 && !this.isMembersDamaged(textOf(data, 'team'));
      const isArchived = flagOf(channel, 'IsArchived') || this.archivedTeams.has(textOf(data, 'team'));
      yield {
        source,
        kind: 'channel',
        id,
        name: name === 'General' && team ? team.name : name,
        privacy: isPublic ? 'public' : 'private',
        members: [...readers],
        ...present({
          description: writeMarkdown([paragraph([plain(textOf(channel, 'Description'))])]),
          createdAt: timeOf(Date.parse(textOf(channel, 'CreatedDateTime')) / 1000 || null),
          // Exports may lack some or all members of a team.
          hasMoreMembers: !isStandard || !hasMembers || undefined,
          isUnlisted: data === null || undefined,
          isArchived: isArchived || undefined,
          folder: team?.name,
        }),
      };
    }
    for (const [id, { chat, readers }] of this.conversations) {
      const withoutFile = [...getOrThrow(this.chats, chat)].filter((person) => !this.owners.has(person));
      yield { source, kind: 'conversation', id, members: [...new Set([...readers, ...withoutFile])] };
    }
    for (const [id, { name, isBot }] of this.others)
      yield { source, kind: 'person', id, name: name || id, ...(isBot ? { isBot } : { isExternal: true }) };
  }

  private async *otherFiles(): AsyncGenerator<ImportRecord> {
    for (const file of this.archive.names) {
      if (this.readFiles.has(file)) continue;
      const type = /(?:^|\/)(meetings|teamInstalledApps)_[^/]*\.json$/.exec(file)?.[1];
      const reason = 'Meetings, apps and other files are not part of the chat history';
      if (type === undefined) yield { source: this.source, kind: 'skipped', id: file, type: 'teams.file', reason };
      else
        for await (const element of jsonElements(this.archive.read(file), file))
          yield this.skipped(file, element, `teams.${type}`, reason);
    }
  }
}

/** Ids of the people are part of the id of their chat. */
const CHAT_OF_TWO = /^19:([\da-f-]{36})_([\da-f-]{36})@unq\.gbl\.spaces$/;

const ownerOf = (file: string): string | undefined => /^users\/([^/]+)\//.exec(file)?.[1];

const teamOf = (file: string): string => file.split('/')[1]!;
