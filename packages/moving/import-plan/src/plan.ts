import { EMPTY_TOPIC_DISPLAY_NAME } from '@parley/domain/channels';
import type { LoadUnicodeEmoji } from '@parley/domain/files';
import { DomainError, invalidImport, type MessageId, type UserId } from '@parley/domain/kernel';
import type { MarkdownRenderer } from '@parley/domain/markdown';
import { MAX_REALM_NAME_LENGTH } from '@parley/domain/realms';
import { SYSTEM_BOTS } from '@parley/domain/users';
import { importLimits, removeAbandoned } from '@parley/export-files';
import type { FileCopy, MergeSource, PictureCopy } from '@parley/transfer/exports';
import type { ExportedRecords, LateMessage } from '@parley/transfer/imports';
import {
  type AccessCopy,
  type AccessDifference,
  cutName,
  type LedgerLine,
  type OpenImport,
  type PersonMapping,
  printable,
} from '@parley/transfer/records';
import { type ExistingOrganization, NEW_ORGANIZATION, noticeSender, systemGroupIds } from './existing-organization.js';
import { lateMessages } from './late-files.js';
import { type CopySources, MessageCopies, type MessageSample } from './message-copies.js';
import { addedReaderError, outsidersOf, readersOfNew, sourceAccess } from './plan-access.js';
import { type KeptMissing, noteDeleted } from './plan-deletions.js';
import { planDetails, planReadPositions, ReactionEmoji } from './plan-details.js';
import { type PlannedFile, PlannedFiles, planFiles } from './plan-files.js';
import { planGroupMembers, planMembers, type ReportedMembers, reportedMembers } from './plan-members.js';
import { earlierImports, newAccessOf, publishedChannels, reserveTopics } from './plan-merge.js';
import { MessagePlanner } from './plan-messages.js';
import { claimsOf, originsOf, recordsOf } from './plan-origins.js';
import { type LateMapping, PlannedPeople } from './plan-people.js';
import { type PlannedChannel, type PlannedEmoji, PlannedPlaces, planEmoji, planGroups } from './plan-places.js';
import { personCopies, realmCopyOf } from './plan-realm.js';
import { Staging } from './staging.js';

export interface PlanOptions {
  /** Subdomain of the new organization. */
  readonly stringId: string;
  /** Public URL of the new organization. */
  readonly realmUrl: string;
  readonly mappings: readonly PersonMapping[];
  /**
   * Identities in the source that claim a placeholder at the first log-in: `email`, or the system of the external ids (a
   * log-in method, `host` or `scim`). Default: none.
   */
  readonly claimBy?: readonly string[];
  /** Text that is equal for an unchanged export with the same options; absent if unknown. */
  readonly fingerprint?: string;
  readonly temporaryFolder: string;
  /** Current time in Unix seconds. */
  readonly now: number;
  readonly renderer: MarkdownRenderer;
  readonly unicodeEmoji: LoadUnicodeEmoji;
  /** Loads the organization to import into; absent for a new organization. */
  readonly loadExisting?: (source: string) => Promise<ExistingOrganization>;
  /** True if people who are not in the source may read its public channels. */
  readonly opensPublicChannels?: boolean;
}

/** Result of planning an import. */
export interface ImportPlan {
  readonly source: MergeSource;
  readonly records: ExportedRecords;
  /** Messages with files that the export contains only as URLs and that are downloaded now. */
  readonly lateMessages: () => AsyncIterable<LateMessage>;
  /** Readers of conversations in the source, by users and recipients of the plan. */
  readonly access: AccessCopy<UserId>;
  readonly summary: PlanSummary;
  /** Number of messages that are shown as plain text, because they cannot be rendered. Complete after the import. */
  readonly unrenderable: () => number;
  /** Messages of public channels for the report. */
  readonly samples: () => AsyncIterable<readonly ReportedMessage[]>;
  /** Removes temporary files. */
  close(): void;
}

export interface ReportedMessage extends MessageSample {
  /** Name of the sender. */
  readonly sender: string;
}

export interface PlanSummary {
  /** Name of the source in its records. */
  readonly source: string;
  readonly records: number;
  readonly ledger: readonly LedgerLine[];
  readonly organization: string;
  readonly accounts: number;
  readonly placeholders: number;
  /** Placeholders whom the first log-in with their identity turns into an account. */
  readonly claimable: number;
  /** True if somebody who can log in is an owner. */
  readonly hasOwner: boolean;
  /** People without a record. */
  readonly strangers: number;
  /** Members of the organization who could not read the new public channels in the source. */
  readonly outsiders: number;
  /** True if new public channels become private because of them. */
  readonly isPublicRestricted: boolean;
  /** Names of people who can read new messages of earlier channels and conversations although they left the source or are guests there. */
  readonly readers: readonly string[];
  /** Channels of earlier imports with other members in the source now. */
  readonly members: readonly ReportedMembers[];
  /** Groups of earlier imports with other members in the source now. */
  readonly groupMembers: readonly ReportedMembers[];
  /** Messages of earlier imports that are missing in damaged and missing parts of the export. */
  readonly keptMissing: readonly KeptMissing[];
  /** Number of messages of earlier imports that the source deleted. */
  readonly deleted: number;
  readonly channels: number;
  readonly conversations: number;
  readonly messages: number;
  readonly files: number;
  readonly fileBytes: number;
  /** Counts of what becomes of parts of messages. */
  readonly notes: Readonly<Record<string, number>>;
  readonly renamedChannels: readonly { readonly from: string; readonly to: string }[];
  /** Rows of the mapping file that match nobody, or several people. */
  readonly unusedMappings: readonly PersonMapping[];
  readonly lateMappings: readonly LateMapping[];
  readonly people: readonly {
    readonly id: string;
    readonly name: string;
    readonly email: string;
    readonly match: string;
  }[];
}

/**
 * Reads all records and decides what becomes of each. Changes nothing but temporary files.
 * @throws DomainError SERVER_BUSY if records fill half of the free disk space; INVALID_IMPORT also if a record is unaccounted for or somebody would gain access
 */
export async function planImport(opened: OpenImport, options: PlanOptions): Promise<ImportPlan> {
  await removeAbandoned(options.temporaryFolder);
  // The other half is for what the import stores.
  const staging = new Staging(options.temporaryFolder, (await importLimits(options.temporaryFolder)).minFreeBytes);
  try {
    await staging.addAll(opened.records());
    return await planStaged(staging, opened, options);
  } catch (error) {
    staging.close();
    if ((error as { code?: unknown }).code !== 'SQLITE_FULL') throw error;
    throw new DomainError('SERVER_BUSY', `Not enough space in ${options.temporaryFolder}.`, { retryAfter: 60 });
  }
}

const MARKDOWN_OPTIONS = {
  linkifiers: [],
  defaultCodeLanguage: '',
  mediaPreviews: true,
  translateEmoticons: false,
  emptyTopicName: EMPTY_TOPIC_DISPLAY_NAME,
};

async function planStaged(staging: Staging, opened: OpenImport, options: PlanOptions): Promise<ImportPlan> {
  const { renderer, now, stringId, realmUrl, claimBy = [], fingerprint } = options;
  if (staging.ledger.records === 0) throw invalidImport('It has no records.');
  const existing = (await options.loadExisting?.(staging.source!)) ?? NEW_ORGANIZATION;
  await staging.addKnown(existing);
  const people = new PlannedPeople(staging, options.mappings, now, existing);
  const places = new PlannedPlaces(staging, people, existing);
  const groups = planGroups(staging, people, existing);
  const { custom: emoji, aliases } = planEmoji(staging, existing);
  await reserveTopics(staging, existing);
  const messages = new MessagePlanner(staging, people, places);
  messages.plan();
  const keptMissing = await noteDeleted(staging, places, existing);
  const memberChanges = await planMembers(staging, people, places, existing);
  const groupChanges = await planGroupMembers(staging, groups, existing);
  const reactions = new ReactionEmoji(emoji, aliases, options.unicodeEmoji());
  planDetails(staging, people, reactions);
  const readPositions = planReadPositions(staging, people, places);
  noteKnownPictures(staging, people, emoji);
  await planFiles(staging, people, opened, picturesOf(people, emoji));
  accountForThreads(staging);
  const organization = organizationOf(staging, options);
  if (staging.ledger.unaccounted > 0) {
    throw invalidImport(`${staging.ledger.unaccounted} records are unaccounted for.`);
  }

  const files = new PlannedFiles(staging);
  const access = sourceAccess(staging, people, places);
  const outsiders = outsidersOf(existing, access);
  const sharing = {
    systemGroups: systemGroupIds(existing),
    isMerge: existing !== NEW_ORGANIZATION,
    isPublicRestricted: outsiders.length > 0 && !options.opensPublicChannels,
  };
  const parts = { people, places, groups, emoji };
  const hasFile = (id: string) => isInExport(staging, id);
  const realm = realmCopyOf({ ...organization, ...sharing, ...parts, stringId, now, hasFile });
  const published = publishedChannels(places, sharing);
  const granted = sharing.isPublicRestricted ? [] : outsiders;
  requireNoNewAccess(newAccessOf({ existing, realm, published }, { people, places }, access, granted), parts);
  const sources: CopySources = {
    ...{ staging, people, places, groups, files, emoji, reactions, readPositions, renderer },
    options: { ...MARKDOWN_OPTIONS, realmUrl },
    noticeSender: noticeSender(existing),
  };
  const copies = new MessageCopies(sources);
  const first = staging.lastKnown + 1;
  const last = (staging.lastKnown + messages.messages) as MessageId;
  const origins = originsOf({ staging, ...parts, claimBy, fingerprint, existing });
  const source: MergeSource = {
    realm,
    people: async function* () {
      yield* personCopies({ people, places });
    },
    messages: () => copies.read(),
    messageRange: async () => (last < first ? null : { first: first as MessageId, last }),
    messageIds: () => idsBetween(first, last),
    ...filesOf(staging, files, opened, parts),
    origins,
    ...earlierImports(existing, staging),
    changed: () => copies.readChanged(),
    published,
    ...{ memberChanges, groupChanges },
  };
  return {
    source,
    records: recordsOf(origins, { staging, people }),
    lateMessages: () => lateMessages(staging, opened),
    access,
    summary: {
      ...summaryOf(staging, people, places, messages, organization.name, claimsOf(people, claimBy, existing)),
      readers: readersOfNew(existing, access, { staging, people, places }),
      outsiders: places.channels.some(isNewAndPublic) ? outsiders.length : 0,
      ...{ keptMissing, isPublicRestricted: sharing.isPublicRestricted },
      ...reportedMembers({ members: memberChanges, groups: groupChanges }, existing, people),
    },
    unrenderable: () => copies.counts.unrenderable,
    samples: () => withSenders(copies.samples(first, last), people),
    close: () => staging.close(),
  };
}

const isNewAndPublic = ({ isPublished, record }: PlannedChannel): boolean => isPublished && record.privacy === 'public';

/** Returns the readers of files and pictures. */
function filesOf(
  staging: Staging,
  files: PlannedFiles,
  opened: OpenImport,
  { people, emoji }: { readonly people: PlannedPeople; readonly emoji: ReadonlyMap<string, PlannedEmoji> },
): Pick<MergeSource, 'files' | 'filesOf' | 'emojiPictures' | 'avatars' | 'realmImages'> {
  const pictureOf = async <Of>(of: Of, file: string | null): Promise<PictureCopy<Of>> => {
    const path = file === null ? undefined : staging.find('file', file)?.record.path;
    const size = path === undefined ? null : await opened.sizeOf(path);
    return { of, size: size ?? 0, content: size === null ? null : await opened.openFile(path!) };
  };
  return {
    files: async function* () {
      for (const file of files.list()) yield await fileCopy(file, files, opened);
    },
    emojiPictures: async function* () {
      for (const { id, file, isExisting } of emoji.values()) if (!isExisting) yield await pictureOf(id, file);
    },
    avatars: async function* () {
      for (const { id, avatar } of people.users) {
        if (avatar !== null && isInExport(staging, avatar)) yield await pictureOf(id, avatar);
      }
    },
    realmImages: async function* () {},
    filesOf: async function* (ids) {
      for (const { file, messageIds } of files.filesOf(ids))
        yield { ...(await fileCopy(file, files, opened)), messageIds };
    },
  };
}

const isInExport = (staging: Staging, id: string): boolean => staging.find('file', id)?.record.path !== undefined;

/** Returns the files with pictures of people and emoji. */
const picturesOf = ({ users }: PlannedPeople, emoji: ReadonlyMap<string, PlannedEmoji>): ReadonlySet<string> =>
  new Set(
    [...users.map(({ avatar }) => avatar), ...[...emoji.values()].map(({ file }) => file)].flatMap((id) => id ?? []),
  );

/** Marks the pictures of existing people and emoji, which are not imported again. */
function noteKnownPictures(staging: Staging, people: PlannedPeople, emoji: ReadonlyMap<string, PlannedEmoji>): void {
  const note = (file: string | undefined, isKnown = false) => {
    if (file !== undefined && isKnown) staging.run('INSERT OR IGNORE INTO known_files VALUES (?)', file);
  };
  for (const { record } of staging.list('person')) note(record.avatar, people.find(record.id)?.isExisting);
  for (const { record } of staging.list('emoji')) note(record.file, emoji.get(record.name)?.isExisting);
}

async function* withSenders(
  samples: AsyncIterable<readonly MessageSample[]>,
  { users }: PlannedPeople,
): AsyncGenerator<readonly ReportedMessage[]> {
  const names = new Map(users.map(({ id, fullName }) => [id, fullName]));
  for await (const sample of samples) {
    yield sample.map((message) => ({ ...message, sender: names.get(message.senderId) ?? SYSTEM_BOTS[0].fullName }));
  }
}

function accountForThreads(staging: Staging): void {
  for (const { number, record } of staging.list('thread')) {
    const topic = staging.get('SELECT 1 FROM topics WHERE place = ? AND thread = ?', `c:${record.channel}`, record.id);
    if (topic) staging.ledger.account(number, record, 'represented', 'topic');
    else staging.ledger.account(number, record, 'dropped', 'thread without messages');
  }
}

function organizationOf(staging: Staging, { stringId, now, loadExisting }: PlanOptions) {
  const [first, ...others] = staging.list('organization');
  for (const { number, record } of others) staging.ledger.account(number, record, 'dropped', 'second organization');
  if (first && loadExisting) staging.ledger.account(first.number, first.record, 'merged', 'the organization exists');
  else if (first) staging.ledger.account(first.number, first.record, 'imported');
  return {
    name: cutName(printable(first?.record.name ?? '') || stringId || 'Organization', MAX_REALM_NAME_LENGTH),
    description: cutName(printable(first?.record.description ?? ''), 1000),
    createdAt: Math.floor(first?.record.createdAt ?? now),
  };
}

function requireNoNewAccess(
  [added]: readonly AccessDifference<UserId>[],
  { people, places }: { readonly people: PlannedPeople; readonly places: PlannedPlaces },
): void {
  if (!added) return;
  throw addedReaderError(
    people.users.find(({ id }) => id === added.person),
    places.channels.find(({ recipientId }) => String(recipientId) === added.conversation),
  );
}

const IDS_AT_A_TIME = 10_000;

async function* idsBetween(first: number, last: number): AsyncGenerator<readonly MessageId[]> {
  for (let next = first; next <= last; next += IDS_AT_A_TIME) {
    const length = Math.min(IDS_AT_A_TIME, last - next + 1);
    yield Array.from({ length }, (_, index) => (next + index) as MessageId);
  }
}

async function fileCopy(file: PlannedFile, files: PlannedFiles, opened: OpenImport): Promise<FileCopy> {
  const { id, name, owner: ownerId, pathId, size, contentType, createdAt, path, text } = file;
  const content = text === undefined ? await opened.openFile(path!) : textBytes(text);
  return {
    file: { id, ownerId, name, pathId: pathId!, size, contentType, createdAt, image: null },
    messageIds: files.messagesOf(file) as readonly MessageId[],
    content,
  };
}

async function* textBytes(text: string): AsyncGenerator<Uint8Array> {
  yield new TextEncoder().encode(text);
}

function summaryOf(
  staging: Staging,
  people: PlannedPeople,
  places: PlannedPlaces,
  messages: MessagePlanner,
  organization: string,
  claims: ReturnType<typeof claimsOf>,
): Omit<PlanSummary, 'keptMissing' | 'readers' | 'outsiders' | 'isPublicRestricted' | 'members' | 'groupMembers'> {
  const { users, unlisted, unusedMappings, lateMappings } = people;
  const active = users.filter(({ isActive }) => isActive);
  const files = staging.get<{ readonly count: number; readonly bytes: number | null }>(
    `SELECT count(*) count, sum(json_extract(json, '$.size')) bytes FROM files
     WHERE json <> '' AND same IS NULL AND json_extract(json, '$.pathId') IS NOT NULL`,
  )!;
  return {
    source: staging.source ?? '',
    records: staging.ledger.records,
    ledger: staging.ledger.report(),
    organization,
    accounts: active.length,
    placeholders: users.length - active.length,
    claimable: new Set(claims.map(({ userId }) => userId)).size,
    hasOwner: active.some(({ role }) => role === 'owner'),
    strangers: unlisted.size,
    channels: places.channels.length,
    conversations: places.conversations.length,
    messages: messages.messages,
    deleted: staging.get<{ readonly count: number }>('SELECT count(*) AS count FROM deleted')!.count,
    files: files.count,
    fileBytes: files.bytes ?? 0,
    notes: Object.fromEntries(messages.notes),
    renamedChannels: places.renamed,
    unusedMappings,
    lateMappings,
    people: users.map(({ fullName, email, match, person }) => ({ id: person?.id ?? '', name: fullName, email, match })),
  };
}
