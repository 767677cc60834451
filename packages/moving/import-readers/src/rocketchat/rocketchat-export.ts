import { getOrThrow } from '@parley/domain/kernel';
import type { ChannelRecord, ImportRecord, PersonRecord } from '@parley/transfer/records';
import type { Archive } from '../archive.js';
import { type BsonDocument, bsonDocuments, hasCollection, plainJson } from '../bson-documents.js';
import { field, flagOf, listOf, present, textOf, textsOf } from '../fields.js';
import { type RocketChatFiles, uploadRecord } from './rocketchat-files.js';
import { dateOf, idOf, messageRecords, type RocketChatContext, type RocketChatPlace } from './rocketchat-messages.js';
import { rocketChatContent } from './rocketchat-text.js';

/** Returns the folder of the database in a dump, with a slash; null if there is none. */
export function databaseFolder(archive: Archive): string | null {
  const name = archive.names.find((each) => /(?:^|\/)rocketchat_message\.bson(?:\.gz)?$/.test(each));
  return name === undefined ? null : name.slice(0, name.lastIndexOf('/') + 1);
}

/** Collections that the reader uses. */
const COLLECTIONS: ReadonlySet<string> = new Set(
  (
    'users,rocketchat_team,rocketchat_team_member,rocketchat_room,rocketchat_subscription,rocketchat_message,rocketchat_settings,' +
    'rocketchat_uploads,rocketchat_uploads.chunks,rocketchat_uploads.files,rocketchat_avatars,rocketchat_avatars.chunks,' +
    'rocketchat_avatars.files,rocketchat_custom_emoji,custom_emoji.chunks,custom_emoji.files'
  ).split(','),
);

/** Room with its members. */
interface Room {
  readonly data: unknown;
  readonly members: Set<string>;
}

/** One reading of a dump. */
export class RocketChatExport implements RocketChatContext {
  source = 'rocketchat';
  private readonly people = new Map<string, string>();
  private readonly idsByUserName = new Map<string, string>();
  private readonly others = new Map<string, { readonly name: string; readonly isExternal: boolean }>();
  private readonly teams = new Map<string, string>();
  private readonly teamsByName = new Map<string, string>();
  private readonly rooms = new Map<string, Room>();
  /** Members by room, from the entries of people. Set if the dump lacks subscriptions. */
  private readonly roomsOfPeople: Map<string, string[]> | null;
  private readonly channelsByName = new Map<string, string>();
  private readonly uploads = new Set<string>();
  private readonly missingFiles = new Set<string>();
  /** Collections with damaged documents. */
  private readonly damagedCollections = new Set<string>();

  constructor(
    private readonly archive: Archive,
    private readonly folder: string,
    private readonly files: RocketChatFiles,
  ) {
    this.roomsOfPeople = this.hasCollection('rocketchat_subscription') ? null : new Map();
  }

  personId(userName: string): string | null {
    return this.idsByUserName.get(userName) ?? null;
  }

  personName(id: string): string | null {
    return this.people.get(id) ?? null;
  }

  teamId(name: string): string | null {
    return this.teamsByName.get(name) ?? null;
  }

  channelId(name: string): string | null {
    return this.channelsByName.get(name) ?? null;
  }

  channelName(id: string): string | null {
    const room = this.rooms.get(id);
    return room ? nameOf(room.data) : null;
  }

  hasFile(id: string): boolean {
    return this.uploads.has(id);
  }

  isNewMissingFile(id: string): boolean {
    const isNew = !this.missingFiles.has(id);
    this.missingFiles.add(id);
    return isNew;
  }

  addPerson(id: string, name: string, isExternal: boolean): void {
    if (this.people.has(id)) return;
    const known = this.others.get(id);
    if (!known || (known.name === '' && name !== '')) this.others.set(id, { name, isExternal });
  }

  placeOf(room: string): RocketChatPlace {
    const data = this.roomAt(room).data;
    if (textOf(data, 't') === 'd') return { conversation: room };
    return this.isThread(data) ? { channel: textOf(data, 'prid'), thread: room } : { channel: room };
  }

  /** Everyone who can read a public channel can read its public discussions. Other discussions have separate members. */
  private isThread(room: unknown): boolean {
    const parent = this.rooms.get(textOf(room, 'prid'))?.data;
    return textOf(room, 't') === 'c' && textOf(parent, 't') === 'c' && textOf(parent, 'prid') === '';
  }

  /** True for a discussion of a room with a damaged entry: it may be a thread or not. */
  private isWithoutParent(room: unknown): boolean {
    const parent = textOf(room, 'prid');
    return parent !== '' && !this.rooms.get(parent)?.data && this.damagedCollections.has('rocketchat_room');
  }

  private roomAt(id: string): Room {
    const found = this.rooms.get(id) ?? { data: null, members: new Set<string>() };
    this.rooms.set(id, found);
    return found;
  }

  async *records(): AsyncGenerator<ImportRecord> {
    yield await this.organization();
    for (const bucket of ['rocketchat_uploads', 'rocketchat_avatars', 'custom_emoji']) await this.files.index(bucket);
    const avatars = await this.avatars();
    yield* this.each('users', (user) => this.personRecords(user, avatars));
    yield* this.each('rocketchat_team', (team) => this.addTeam(team));
    yield* this.teamRecords();
    yield* this.each('rocketchat_room', (room) => this.addRoom(room));
    yield* this.each('rocketchat_subscription', (subscription) => this.membership(subscription));
    yield* this.each('rocketchat_uploads', (upload) => this.upload(upload));
    yield* this.each('rocketchat_custom_emoji', (emoji) => this.emojiRecords(emoji));
    yield* this.each('rocketchat_message', (message) => this.messagesOf(message));
    for (const [id, room] of this.rooms) yield* this.roomRecords(id, room);
    yield* this.otherCollections();
    const isDeactivated = !this.isIncomplete('users');
    for (const [id, { name, isExternal }] of this.others) {
      yield {
        source: this.source,
        kind: 'person',
        id,
        name: name || id,
        ...(isExternal ? { isExternal } : isDeactivated && { isDeactivated }),
      };
    }
  }

  private *otherCollections(): Generator<ImportRecord> {
    for (const file of this.archive.names) {
      const [, id] = /^([^/]+)\.bson(?:\.gz)?$/.exec(file.slice(this.folder.length)) ?? [];
      if (id === undefined || !file.startsWith(this.folder) || COLLECTIONS.has(id)) continue;
      const reason = 'The collection is not part of the chat history';
      yield { source: this.source, kind: 'skipped', id, type: 'rocketchat.collection', reason };
    }
  }

  /** Converts the documents of a collection; damaged ones are counted. */
  private async *each(
    collection: string,
    convert: (document: unknown) => Iterable<ImportRecord>,
  ): AsyncGenerator<ImportRecord> {
    for await (const document of bsonDocuments(this.archive, this.folder + collection)) {
      if (document.value === null || idOf(document.value) === '') yield this.damaged(collection, document);
      else yield* convert(document.value);
    }
  }

  private damaged(collection: string, { number, value }: BsonDocument): ImportRecord {
    this.damagedCollections.add(collection);
    return {
      source: this.source,
      kind: 'skipped',
      id: `${collection}:${number}`,
      type: `rocketchat.damaged.${collection}`,
      reason: 'A document of the dump is damaged',
      ...(collection === 'rocketchat_message' && { gap: {} }),
      ...present({ original: plainJson(value) }),
    };
  }

  private isIncomplete(...collections: readonly string[]): boolean {
    return collections.some((name) => this.damagedCollections.has(name) || !this.hasCollection(name));
  }

  private hasCollection(name: string): boolean {
    return hasCollection(this.archive, this.folder + name);
  }

  /** Reads three settings; others contain secrets. */
  private async organization(): Promise<ImportRecord> {
    const settings = new Map<string, string>();
    for await (const { value } of bsonDocuments(this.archive, `${this.folder}rocketchat_settings`)) {
      const id = idOf(value);
      if (['uniqueID', 'Site_Name', 'Site_Url'].includes(id)) settings.set(id, textOf(value, 'value'));
    }
    const server = settings.get('uniqueID') ?? '';
    if (server !== '') this.source = `rocketchat:${server}`;
    const url = (settings.get('Site_Url') ?? '').replace(/\/$/, '');
    return {
      source: this.source,
      kind: 'organization',
      id: this.source,
      name: settings.get('Site_Name') || 'Rocket.Chat',
      ...(url === '' ? {} : { urls: [url] }),
    };
  }

  /** Returns the ids of pictures by id or user name of the person. */
  private async avatars(): Promise<ReadonlyMap<string, string>> {
    const avatars = new Map<string, string>();
    for await (const { value } of bsonDocuments(this.archive, `${this.folder}rocketchat_avatars`)) {
      for (const owner of [textOf(value, 'userId'), textOf(value, 'name')])
        if (owner !== '') avatars.set(owner, idOf(value));
    }
    return avatars;
  }

  private *personRecords(user: unknown, avatars: ReadonlyMap<string, string>): Generator<ImportRecord> {
    const id = idOf(user);
    const userName = textOf(user, 'username');
    const roles = textsOf(user, 'roles');
    const email = listOf(user, 'emails')[0];
    const picture = avatars.get(id) ?? avatars.get(userName);
    const avatar = picture === undefined ? undefined : `avatar/${id}`;
    this.people.set(id, textOf(user, 'name') || userName || id);
    this.addUserName(id, userName);
    for (const room of this.roomsOfPeople ? textsOf(user, '__rooms') : []) this.addRoomOf(id, room);
    if (avatar !== undefined) {
      yield {
        source: this.source,
        kind: 'file',
        id: avatar,
        name: `${id}.png`,
        ...this.files.locate('rocketchat_avatars', picture!, ''),
      };
    }
    const services = field(user, 'services');
    const person: PersonRecord = {
      source: this.source,
      kind: 'person',
      id,
      name: getOrThrow(this.people, id),
      role: roles.includes('admin')
        ? 'administrator'
        : roles.includes('guest') || roles.includes('anonymous')
          ? 'guest'
          : 'member',
      ...present({
        userName,
        email: textOf(email, 'address'),
        isEmailVerified: (textOf(email, 'address') !== '' && flagOf(email, 'verified')) || undefined,
        externalId: textOf(field(services, 'ldap'), 'id') || textOf(field(services, 'saml'), 'nameID'),
        isBot: ['bot', 'app'].includes(textOf(user, 'type')) || roles.includes('bot') || undefined,
        isDeactivated: field(user, 'active') === false || undefined,
        isExternal: flagOf(user, 'federated') || undefined,
        joinedAt: dateOf(user, 'createdAt'),
        avatar,
      }),
    };
    yield person;
  }

  /** Subscriptions name people without an entry, too. */
  private addUserName(id: string, userName: string): void {
    if (userName !== '' && !this.idsByUserName.has(userName)) this.idsByUserName.set(userName, id);
  }

  private addRoomOf(person: string, room: string): void {
    const members = this.roomsOfPeople!.get(room);
    if (members) members.push(person);
    else this.roomsOfPeople!.set(room, [person]);
  }

  private addTeam(team: unknown): readonly ImportRecord[] {
    const name = textOf(team, 'name') || idOf(team);
    this.teams.set(idOf(team), name);
    this.teamsByName.set(name, idOf(team));
    return [];
  }

  private async *teamRecords(): AsyncGenerator<ImportRecord> {
    const members = new Map([...this.teams.keys()].map((id) => [id, new Set<string>()]));
    yield* this.each('rocketchat_team_member', (member) => {
      members.get(textOf(member, 'teamId'))?.add(textOf(member, 'userId'));
      return [];
    });
    const more = this.isIncomplete('rocketchat_team_member') && { hasMoreMembers: true };
    for (const [id, name] of this.teams)
      yield { source: this.source, kind: 'group', id, name, members: [...getOrThrow(members, id)], ...more };
  }

  private addRoom(room: unknown): readonly ImportRecord[] {
    const id = idOf(room);
    // Direct rooms list their members.
    const members = [...textsOf(room, 'uids'), ...(this.roomsOfPeople?.get(id) ?? [])];
    this.rooms.set(id, { data: room, members: new Set(members) });
    const name = textOf(room, 'name');
    if (name !== '' && textOf(room, 't') !== 'd') this.channelsByName.set(name, id);
    return [];
  }

  private *membership(subscription: unknown): Generator<ImportRecord> {
    const person = idOf(field(subscription, 'u'));
    const room = textOf(subscription, 'rid');
    this.addUserName(person, textOf(field(subscription, 'u'), 'username'));
    if (person === '' || !this.rooms.has(room)) {
      const reason = 'The room or person of a subscription is missing';
      yield { source: this.source, kind: 'skipped', id: idOf(subscription), type: 'rocketchat.subscription', reason };
      return;
    }
    this.roomAt(room).members.add(person);
    const readUntil = dateOf(subscription, 'ls');
    const { channel, conversation, thread } = this.placeOf(room);
    // Threads have no separate position.
    if (readUntil === null || thread !== undefined) return;
    const place = channel === undefined ? { conversation: conversation! } : { channel };
    yield { source: this.source, kind: 'readPosition', id: `${person}/${room}`, person, ...place, readUntil };
  }

  private *messagesOf(message: unknown): Generator<ImportRecord> {
    for (const record of messageRecords(message, this)) {
      const room = record.kind === 'message' && record.channel ? this.rooms.get(record.channel) : undefined;
      // The authors in a room without an entry are the only people known to have had access.
      if (record.kind === 'message' && room?.data === null) room.members.add(record.sender);
      yield record;
    }
  }

  private *upload(upload: unknown): Generator<ImportRecord> {
    this.uploads.add(idOf(upload));
    yield uploadRecord(this.source, upload, this.files);
  }

  private *emojiRecords(emoji: unknown): Generator<ImportRecord> {
    const name = textOf(emoji, 'name');
    const picture = `emoji/${name}`;
    const fileName = `${name}.${textOf(emoji, 'extension') || 'png'}`;
    yield {
      source: this.source,
      kind: 'file',
      id: picture,
      name: fileName,
      ...this.files.locate('custom_emoji', fileName, ''),
    };
    yield { source: this.source, kind: 'emoji', id: idOf(emoji), name: name || 'unknown', file: picture };
    for (const alias of textsOf(emoji, 'aliases'))
      yield { source: this.source, kind: 'emoji', id: `${idOf(emoji)}/${alias}`, name: alias, aliasOf: name };
  }

  private *roomRecords(id: string, { data, members }: Room): Generator<ImportRecord> {
    for (const member of members) this.addPerson(member, '', false);
    const { source } = this;
    if (textOf(data, 't') === 'd') {
      if (members.size === 0) this.addPerson('unknown', 'Unknown sender', false);
      yield { source, kind: 'conversation', id, members: members.size > 0 ? [...members] : ['unknown'] };
    } else if (this.isThread(data)) {
      yield { source, kind: 'thread', id, channel: textOf(data, 'prid'), ...present({ name: nameOf(data) }) };
    } else yield this.channelRecord(id, data, members);
  }

  private channelRecord(id: string, room: unknown, members: ReadonlySet<string>): ChannelRecord {
    const isLivechat = textOf(room, 't') === 'l' || textOf(room, 't') === 'v';
    const texts = ['topic', 'description', 'announcement']
      .map((name) => textOf(room, name))
      .filter((text) => text !== '');
    return {
      source: this.source,
      kind: 'channel',
      id,
      name: nameOf(room) || id,
      privacy: this.isPublic(room) ? 'public' : 'private',
      members: [...members],
      ...present({
        hasMoreMembers:
          (this.roomsOfPeople !== null && members.size === 0) ||
          this.damagedCollections.has('rocketchat_subscription') ||
          room === null ||
          undefined,
        isUnlisted: room === null || this.isWithoutParent(room) || undefined,
        description: this.plainMarkdown([...new Set(texts)].join('\n\n')),
        isArchived: flagOf(room, 'archived') || isLivechat || undefined,
        isReadOnly: flagOf(room, 'ro') || undefined,
        createdAt: dateOf(room, 'ts'),
        creator: idOf(field(room, 'u')),
        folder: isLivechat ? 'Livechat' : this.teams.get(textOf(room, 'teamId')),
      }),
    };
  }

  /** Channels of teams, discussions and channels with a join code can have a narrower audience. */
  private isPublic(room: unknown): boolean {
    const isRestricted =
      textOf(room, 'teamId') !== '' || textOf(room, 'prid') !== '' || flagOf(room, 'joinCodeRequired');
    return textOf(room, 't') === 'c' && !isRestricted;
  }

  /** Descriptions have no references. */
  private plainMarkdown(text: string): string {
    const none = () => null;
    const names = { personId: none, personName: none, teamId: none, channelId: none, channelName: none };
    const content = rocketChatContent(null, text, names);
    return typeof content === 'string'
      ? content
      : content.map((part) => (typeof part === 'string' ? part : '@all')).join('');
  }
}

const nameOf = (room: unknown): string => textOf(room, 'fname') || textOf(room, 'name');
