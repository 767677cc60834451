import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ImportBatch, ImportedRecord } from '@parley/domain/exports';
import type { ImportBatchId, MessageId, RealmId, UnixSeconds, UserId } from '@parley/domain/kernel';
import { type ExistingOrganization, type ImportPlan, planImport } from '@parley/import-plan';
import { FakeRenderer } from '@parley/testkit';
import type { MessageCopy } from '@parley/transfer/exports';
import type { MembershipState } from '@parley/transfer/imports';
import type { ImportReader } from '@parley/transfer/records';
import { serialize } from 'bson';
import { DISCORD_READER } from '../discord/discord-reader.js';
import { MATTERMOST_READER } from '../mattermost/mattermost-reader.js';
import { ROCKETCHAT_READER } from '../rocketchat/rocketchat-reader.js';
import { SLACK_READER } from '../slack/slack-reader.js';
import { TEAMS_READER } from '../teams/teams-reader.js';
import { writeFolder } from './export-files.js';

/** Files of an export in pieces: a beginning, an element in each further piece, and an end. */
type Pieces = Readonly<Record<string, readonly Buffer[]>>;

const START = 1_700_006_400;
const DAY = 86_400;
/** Time of a message: four messages a day. */
const timeOf = (number: number): number => START + Math.floor(number / 4) * DAY + (number % 4) * 100;
const isoOf = (number: number): string => new Date(timeOf(number) * 1000).toISOString();
const numbers = Array.from({ length: 12 }, (_, number) => number);

const jsonArray = (elements: readonly unknown[]): readonly Buffer[] =>
  ['[\n', ...elements.map((each, at) => `${at === 0 ? '' : ',\n'}${JSON.stringify(each)}`), '\n]'].map((text) =>
    Buffer.from(text),
  );

/** Returns the files of days of a conversation in Slack. */
const slackDays = (folder: string): Pieces =>
  Object.fromEntries(
    [0, 1, 2].map((day) => [
      `${folder}/${isoOf(4 * day).slice(0, 10)}.json`,
      jsonArray(
        numbers.slice(4 * day, 4 * day + 4).map((number) => ({
          type: 'message',
          user: number % 2 === 0 ? 'U1' : 'U2',
          ts: `${timeOf(number)}.000100`,
          text: `text ${folder} ${number}`,
          ...(number === 2 || number === 7 ? { thread_ts: `${timeOf(2)}.000100` } : {}),
        })),
      ),
    ]),
  );

const slackUser = (id: string) => ({ id, team_id: 'T1', name: id, profile: { real_name: `Person ${id}` } });
const slackChannel = (id: string, name: string) => ({ id, name, members: ['U1', 'U2'] });
const SLACK: Pieces = {
  'users.json': jsonArray([slackUser('U1'), slackUser('U2')]),
  'channels.json': jsonArray([slackChannel('C1', 'general'), slackChannel('C2', 'random')]),
  'groups.json': jsonArray([slackChannel('G1', 'secret')]),
  'dms.json': jsonArray([{ id: 'D1', members: ['U1', 'U2'] }]),
  ...slackDays('general'),
  ...slackDays('random'),
  ...slackDays('secret'),
  ...slackDays('D1'),
};

const mattermostUser = (username: string) => ({
  type: 'user',
  user: { username, teams: [{ name: 'acme', channels: [{ name: 'town' }, { name: 'inner' }] }] },
});
const mattermostPost = (channel: string, number: number) => ({
  type: 'post',
  post: {
    ...{ team: 'acme', channel, user: number % 2 === 0 ? 'ann' : 'ben' },
    ...{ message: `text ${channel} ${number}`, create_at: timeOf(number) * 1000 },
    replies: [{ user: 'ann', message: `reply ${channel} ${number}`, create_at: timeOf(number) * 1000 + 7 }],
  },
});
const MATTERMOST: Pieces = {
  'import.jsonl': [
    { type: 'version', version: 1 },
    { type: 'team', team: { name: 'acme', display_name: 'Acme' } },
    { type: 'channel', channel: { team: 'acme', name: 'town', type: 'O' } },
    { type: 'channel', channel: { team: 'acme', name: 'inner', type: 'P' } },
    mattermostUser('ann'),
    mattermostUser('ben'),
    ...numbers.flatMap((number) => [mattermostPost('town', number), mattermostPost('inner', number)]),
    { type: 'direct_channel', direct_channel: { members: ['ann', 'ben'] } },
    ...numbers.map((number) => ({
      type: 'direct_post',
      direct_post: {
        ...{ channel_members: ['ann', 'ben'], user: 'ann' },
        ...{ message: `text direct ${number}`, create_at: timeOf(number) * 1000 },
      },
    })),
  ].map((line) => Buffer.from(`${JSON.stringify(line)}\n`)),
};

/** Returns a file of Discord with every third message from one of them. */
function discordFile(channel: object, name: string, first: number): readonly Buffer[] {
  const header = JSON.stringify({ guild: { id: '9', name: 'Acme' }, channel }).slice(0, -1);
  const messages = numbers
    .filter((number) => number % 3 === first)
    .map((number, at) => {
      const author = { id: '1', name: 'ann' };
      const id = `${name.length}${first}${100 + number}`;
      const message = { id, type: 'Default', timestamp: isoOf(number), content: `text ${name} ${number}`, author };
      return `${at === 0 ? '' : ',\n'}${JSON.stringify(message)}`;
    });
  return [`${header},"messages":[\n`, ...messages, '\n],"messageCount":4}'].map((text) => Buffer.from(text));
}

/** Returns a file of Discord with the messages of one of three partitions. */
function discordPart(part: number): readonly Buffer[] {
  const channel = { id: '5', type: 'GuildTextChat', category: 'Work', name: 'general' };
  const header = JSON.stringify({ guild: { id: '9', name: 'Acme' }, channel }).slice(0, -1);
  const messages = numbers.slice(4 * part, 4 * part + 4).map((number, at) => {
    const author = { id: '2', name: 'ben' };
    const message = { id: `5${100 + number}`, timestamp: isoOf(number), content: `text general ${number}`, author };
    return `${at === 0 ? '' : ',\n'}${JSON.stringify(message)}`;
  });
  return [`${header},"messages":[\n`, ...messages, '\n],"messageCount":4}'].map((text) => Buffer.from(text));
}

const discordThread = (id: string, name: string) => ({
  ...{ id, type: 'GuildPublicThread', categoryId: '5', category: 'general', name },
});
const DISCORD: Pieces = {
  'general.json': discordPart(0),
  'general [part 2].json': discordPart(1),
  'general [part 3].json': discordPart(2),
  'plans.json': discordFile(discordThread('6', 'plans'), 'plans', 0),
  'news.json': discordFile(discordThread('7', 'news'), 'news', 1),
  'direct.json': discordFile({ id: '8', type: 'DirectTextChat', name: 'ann' }, 'direct', 2),
};

const bson = (documents: readonly object[]): readonly Buffer[] => documents.map((each) => Buffer.from(serialize(each)));
const rocketChatUser = (id: string) => ({ _id: id, username: `name-${id}`, name: `Person ${id}`, active: true });
const subscription = (rid: string, id: string) => ({ _id: `${rid}${id}`, rid, u: { _id: id, username: `name-${id}` } });
const ROCKETCHAT: Pieces = {
  'users.bson': bson(['u1', 'u2'].map(rocketChatUser)),
  'rocketchat_settings.bson': bson([{ _id: 'uniqueID', value: 'S1' }]),
  'rocketchat_team.bson': bson([{ _id: 't1', name: 'sales' }]),
  'rocketchat_team_member.bson': bson(['u1', 'u2'].map((userId) => ({ _id: userId, teamId: 't1', userId }))),
  'rocketchat_room.bson': bson([
    { _id: 'r1', t: 'c', name: 'general' },
    { _id: 'r2', t: 'p', name: 'secret' },
    { _id: 'r3', t: 'c', prid: 'r1', fname: 'plans' },
    { _id: 'r4', t: 'd', uids: ['u1', 'u2'] },
  ]),
  'rocketchat_subscription.bson': bson(
    ['r1', 'r2', 'r4'].flatMap((rid) => ['u1', 'u2'].map((id) => subscription(rid, id))),
  ),
  'rocketchat_message.bson': bson(
    numbers.flatMap((number) =>
      ['r1', 'r2', 'r3', 'r4'].map((rid) => ({
        ...{ _id: `${rid}-${number}`, rid, msg: `text ${rid} ${number}`, ts: new Date(timeOf(number) * 1000) },
        u: { _id: 'u1', username: 'name-u1' },
        ...(number === 3 ? { reactions: { ':+1:': { usernames: ['name-u2'] } } } : {}),
      })),
    ),
  ),
};

const teamsMessage = (place: object, id: string, number: number) => ({
  ...{ Id: `${timeOf(number)}${id}`, CreatedDateTime: isoOf(number), From: { User: { Id: id, DisplayName: id } } },
  ...{ Body: { ContentType: 'text', Content: `text ${JSON.stringify(place)} ${number}` }, ...place },
});
const inChannel = (ChannelId: string) => ({ ChannelIdentity: { ChannelId } });
const teamsChats = () => jsonArray(numbers.map((number) => teamsMessage({ ChatId: 'chat' }, 'u1', number)));
const teamsChannel = (Id: string) => ({ Id, DisplayName: Id, TenantId: 'x', MembershipType: 'standard' });
const TEAMS: Pieces = {
  'users/usersList.json': jsonArray(['u1', 'u2'].map((Id) => ({ Id, DisplayName: Id, UserPrincipalName: Id }))),
  'teams/teamsList.json': jsonArray([{ Name: 'Acme', Privacy: 'Public', GroupsId: 't1' }]),
  'teams/t1/teamMembers_t1.json': jsonArray(['u1', 'u2'].map((UserId) => ({ UserId, Name: UserId }))),
  'teams/t1/channels_t1.json': jsonArray([teamsChannel('c1'), teamsChannel('c2')]),
  'teams/t1/messages_t1.json': jsonArray(
    numbers.flatMap((number) => ['c1', 'c2'].map((id) => teamsMessage(inChannel(id), 'u2', number))),
  ),
  'users/u1/messages_u1.json': teamsChats(),
  'users/u2/messages_u2.json': teamsChats(),
};

/** Complete exports of all readers that read damaged files, each with a file of messages. */
export const SOURCES: readonly (readonly [string, ImportReader, Pieces, string])[] = [
  ['Slack', SLACK_READER, SLACK, 'secret/2023-11-16.json'],
  ['Mattermost', MATTERMOST_READER, MATTERMOST, 'import.jsonl'],
  ['Rocket.Chat', ROCKETCHAT_READER, ROCKETCHAT, 'rocketchat_message.bson'],
  ['Discord', DISCORD_READER, DISCORD, 'news.json'],
  ['Microsoft Teams', TEAMS_READER, TEAMS, 'teams/t1/messages_t1.json'],
];

/** Damaged copy of an export. */
export interface Cut {
  readonly name: string;
  readonly files: Readonly<Record<string, Buffer>>;
}

/** Cuts each file before and within each of its elements, damages each element, and removes each file. */
export function cutsOf(pieces: Pieces): readonly Cut[] {
  const whole = filesOf(pieces);
  const cuts: Cut[] = [];
  for (const [file, parts] of Object.entries(pieces)) {
    const { [file]: _, ...others } = whole;
    cuts.push({ name: `without ${file}`, files: others });
    for (const [index, part] of parts.entries()) {
      const before = Buffer.concat(parts.slice(0, index));
      const after = Buffer.concat(parts.slice(index + 1));
      const start = part.subarray(0, Math.floor(part.length / 2));
      const lineEnd = part.at(-1) === 10 ? '\n' : '';
      const variants = {
        // A collection has no end marker.
        ...(!file.endsWith('.bson') && { before }),
        within: Buffer.concat([before, start]),
        'another value in': Buffer.concat([before, otherValue(part), after]),
        'hole in': Buffer.concat([before, start, Buffer.from(lineEnd), after]),
      };
      for (const [how, bytes] of Object.entries(variants))
        cuts.push({ name: `${how} ${file} ${index}`, files: { ...others, [file]: bytes } });
    }
  }
  return cuts;
}

/** Returns a piece with a value of another type in place of the element, of the same length in a collection. */
function otherValue(part: Buffer): Buffer {
  const text = part.toString();
  if (text.startsWith(',\n')) return Buffer.from(',\n7');
  if (text.endsWith('}\n')) return Buffer.from('7\n');
  const copy = Buffer.from(part);
  // Type of the first member of a document.
  if (part.length > 4 && part.readInt32LE(0) === part.length) copy[4] = 0x7f;
  return copy;
}

export const filesOf = (pieces: Pieces): Readonly<Record<string, Buffer>> =>
  Object.fromEntries(Object.entries(pieces).map(([file, parts]) => [file, Buffer.concat(parts)]));

/** Effects of a newer export on an organization. */
export interface Effects {
  readonly deleted: readonly string[];
  /** Texts of earlier messages that would change. */
  readonly changed: readonly string[];
  /** Texts of new messages that repeat earlier ones. */
  readonly repeated: readonly string[];
  readonly newChannels: readonly string[];
  readonly left: number;
  readonly becomePrivate: number;
}

/** Plans imports of newer exports into an organization that a complete export created. */
export class NewerExports {
  private readonly texts = new Map<MessageId, string>();

  private constructor(
    private readonly reader: ImportReader,
    private readonly folder: string,
    private readonly first: ImportPlan,
    messages: readonly MessageCopy[],
    private readonly existing: ExistingOrganization,
  ) {
    for (const { message } of messages) this.texts.set(message.id, message.content);
  }

  static async after(reader: ImportReader, pieces: Pieces): Promise<NewerExports> {
    const folder = await mkdtemp(join(tmpdir(), 'cut-exports-'));
    const plan = await planOf(reader, filesOf(pieces), folder);
    const messages = await allOf(plan.source.messages());
    return new NewerExports(reader, folder, plan, messages, await existingAfter(plan, messages));
  }

  async effectsOf(files: Readonly<Record<string, Buffer>>): Promise<Effects> {
    const plan = await planOf(this.reader, files, this.folder, this.existing);
    try {
      const { source } = plan;
      const known = new Set(this.texts.values());
      const { memberChanges, groupChanges, realm } = source;
      const changed = await allOf(source.changed());
      return {
        deleted: await allOf(source.deleted()),
        changed: changed.flatMap(({ message: { id, content } }) => (this.texts.get(id) === content ? [] : content)),
        repeated: (await allOf(source.messages())).flatMap(({ message }) =>
          known.has(message.content) ? message.content : [],
        ),
        newChannels: realm.channels.map(({ name }) => name),
        left: [...memberChanges, ...groupChanges].reduce((sum, { left, kept }) => sum + left.length + kept.length, 0),
        becomePrivate: memberChanges.filter(({ becomesPrivate }) => becomesPrivate).length,
      };
    } finally {
      plan.close();
    }
  }

  async close(): Promise<void> {
    this.first.close();
    await rm(this.folder, { recursive: true });
  }
}

async function planOf(
  reader: ImportReader,
  files: Readonly<Record<string, Buffer>>,
  temporaryFolder: string,
  existing?: ExistingOrganization,
): Promise<ImportPlan> {
  const folder = await writeFolder(files);
  const opened = await reader.open(folder);
  try {
    return await planImport(opened, {
      ...{ stringId: 'acme', realmUrl: 'https://acme.example', mappings: [], temporaryFolder, now: 2_000_000_000 },
      renderer: new FakeRenderer(),
      unicodeEmoji: () => ({ namesByCode: new Map(), codesByName: new Map() }),
      ...(existing && { loadExisting: async () => existing }),
    });
  } finally {
    await opened.close();
    await rm(folder, { recursive: true });
  }
}

async function allOf<T>(pages: AsyncIterable<readonly T[]>): Promise<T[]> {
  const all: T[] = [];
  for await (const page of pages) all.push(...page);
  return all;
}

const BATCH_ID = 1 as ImportBatchId;

/** Returns the organization as a first import leaves it. */
async function existingAfter({ source }: ImportPlan, messages: readonly MessageCopy[]): Promise<ExistingOrganization> {
  const origins = [...source.origins.list()];
  const batch: ImportBatch = {
    ...{ id: BATCH_ID, realmId: 1 as RealmId, source: source.origins.source, startedAt: 1 as UnixSeconds },
    ...{ status: 'complete', createdRealm: true, messages: messages.length, lastMessageId: messages.length },
    ...{ version: 1, requesterId: null },
  };
  const records = messages.flatMap(({ message, origin }): ImportedRecord[] =>
    origin ? [{ ...origin, batchId: BATCH_ID, targetId: message.id, editedAt: null, reactions: 0 }] : [],
  );
  const byId = new Map(messages.map(({ message }) => [message.id, message]));
  const subscribers = new Map<number, Map<UserId, MembershipState>>();
  for await (const { userId, subscriptions } of source.people()) {
    for (const { channelId } of subscriptions)
      subscribers.set(channelId, (subscribers.get(channelId) ?? new Map()).set(userId, 'joined'));
  }
  const groups = new Map(source.realm.groups.map(({ id, memberIds }) => [id as number, memberIds]));
  return {
    realm: source.realm,
    batches: [batch],
    target: (kind, id) => origins.find(({ origin }) => origin.kind === kind && origin.recordId === id)?.targetId,
    isOwn: () => true,
    isOwnBatch: () => true,
    membersHash: (kind, id) =>
      origins.find(({ origin }) => origin.kind === kind && origin.recordId === id)?.origin.hash,
    memberships: async ({ kind, targetId }) =>
      kind === 'membership'
        ? (subscribers.get(targetId) ?? new Map())
        : new Map((groups.get(targetId) ?? []).map((id) => [id, 'joined'])),
    hiddenChannels: new Set(),
    async *messages() {
      yield records;
    },
    current: async (ids) =>
      new Map(
        ids.flatMap((id) => {
          const message = byId.get(id);
          return message ? [[id, { ...message, sentRecipientId: message.recipientId }]] : [];
        }),
      ) as never,
  };
}
