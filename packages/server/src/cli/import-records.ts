import { createHash } from 'node:crypto';
import { createWriteStream, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { lstat, readdir, realpath } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { findIdentical, type IdenticalImport } from '@parley/domain/exports';
import { MIB, requireRoomForFile } from '@parley/domain/files';
import type { UserId } from '@parley/domain/kernel';
import { checkNewRealm } from '@parley/domain/log-in';
import type { Realm } from '@parley/domain/realms';
import { isEmailAddress } from '@parley/domain/users';
import {
  downloadFiles,
  type ImportPlan,
  JSONL_READER,
  loadExisting,
  type PlanOptions,
  planImport,
  reportHtml,
  reportLines,
  verifyImport,
} from '@parley/import-plan';
import { IMPORT_READERS, refuseZip, zulipReader, zulipSource } from '@parley/import-readers';
import { unicodeEmoji, ZulipMarkdownRenderer } from '@parley/markdown';
import { OutgoingProxy, PublicWebClient } from '@parley/node-adapters';
import { RealmReader } from '@parley/transfer/exports';
import { type AppliedChanges, ImportRealm, MergeImport } from '@parley/transfer/imports';
import type { ImportReader, OpenImport, PersonMapping } from '@parley/transfer/records';
import type { ComposedParley } from '../composition/parley.js';
import { COLUMN_NAMES } from '../exports/column-names.js';
import { counted } from '../kernel/counted.js';
import { StartupError, systemReasonOf, UsageError } from '../kernel/startup-error.js';
import { parleyVersion } from '../version.js';
import type { CommandContext, CommandResult } from './command.js';
import { nameOf } from './command-subjects.js';
import { readCsvFile } from './csv-file.js';
import { keptLines } from './listed-lines.js';

/** Readers in the order in which they are tried. The last one takes every `.jsonl` file. */
const READERS: readonly ImportReader[] = [...IMPORT_READERS, JSONL_READER];

/**
 * Returns the reader that recognizes the file or folder; null if none does.
 * @throws DomainError INVALID_IMPORT for other ZIPs, which include damaged ones
 */
export async function findReader(path: string): Promise<ImportReader | null> {
  // The files beside records are by people, and may look like another system's export.
  if (!path.endsWith('.jsonl') && (await JSONL_READER.recognizes(path))) return JSONL_READER;
  for (const reader of READERS) if (await reader.recognizes(path)) return reader;
  await refuseZip(path);
  return null;
}

/** Reads archives of Parley and Zulip as records, for organizations that exist. */
export const archiveReader = (context: CommandContext): ImportReader =>
  zulipReader({ names: COLUMN_NAMES, temporaryFolder: temporaryFolderOf(context) });

/** Returns true if the organization exists. Creates no database. */
export async function hasRealm(context: CommandContext, stringId: string): Promise<boolean> {
  const { database } = context.invocation.configuration;
  if (database.kind === 'sqlite' && !existsSync(database.path)) return false;
  return context.withParley(async ({ ports }) => {
    const realms = await ports.unitOfWork.readAcross((reads) => reads.realms.list());
    return realms.some((realm) => realm.stringId === stringId);
  });
}

/** Imports the export of another system, as a new organization or into one that exists. */
export async function importRecords(
  context: CommandContext,
  reader: ImportReader,
  onProgress: (messages: number) => void,
): Promise<CommandResult> {
  const stringId = context.flag('realm') ?? context.flag('as');
  if (stringId === undefined) throw new UsageError('--realm must be the string id of the organization.');
  checkNewRealm({ stringId, name: stringId || 'Organization' });
  const mappings = await readMappings(context.flag('people'));
  const claimBy = context.flag('claim-by')?.split(',') ?? [];
  if (!claimBy.every((by) => /^[\w-]+$/.test(by)))
    throw new UsageError('--claim-by must be a list such as email,keycloak.');
  const token = readToken(context, reader);
  const path = context.word(0);
  const opensPublicChannels = context.isOn('share-public');
  const requesterId = requesterOf(context);
  const chosen = { mappings, claimBy, opensPublicChannels, requesterId };
  const fingerprint = await fingerprintOf(path, { ...chosen, downloads: context.flag('download') !== undefined });
  // The server sets a temporary folder of the run, which it removes even if this process is killed.
  const temporaryFolder = requesterId === null ? temporaryFolderOf(context) : tmpdir();
  const options = { ...chosen, stringId, temporaryFolder, fingerprint };
  const withOpened: WithOpened = async (use, maxUnpackedBytes) => {
    const exported = await reader.open(path, maxUnpackedBytes);
    let opened = exported;
    try {
      opened = await withDownloads(context, reader, exported, token);
      return await use(opened);
    } finally {
      await opened.close();
    }
  };
  return context.isOn('dry-run')
    ? dryRun(context, withOpened, options)
    : writeImport(context, withOpened, options, onProgress);
}

/** Opens the export and closes it afterwards. */
type WithOpened = (
  use: (opened: OpenImport) => Promise<CommandResult>,
  maxUnpackedBytes?: number,
) => Promise<CommandResult>;

/**
 * Returns a text that changes with every write to the files of an export, with the options, and with the release. Reads
 * no contents, because exports may contain terabytes. Readers ignore links inside of exports.
 */
async function fingerprintOf(path: string, options: object): Promise<string> {
  const root = await realpath(path);
  const isFolder = (await lstat(root)).isDirectory();
  const names = isFolder ? (await readdir(root, { recursive: true })).sort() : [''];
  const hash = createHash('sha256').update(JSON.stringify([parleyVersion(), options]));
  for (const name of names) {
    const { size, mtimeNs, ctimeNs } = await lstat(join(root, name), { bigint: true });
    hash.update(JSON.stringify([name, ...[size, mtimeNs, ctimeNs].map(String)]));
  }
  return hash.digest('base64url');
}

/** @throws UsageError, StartupError */
export function readToken(context: CommandContext, { name, tokenHosts = [] }: ImportReader): string | null {
  const path = context.flag('token-file');
  if (path === undefined) return null;
  if (context.flag('download') === undefined) throw new UsageError('--token-file requires --download.');
  if (tokenHosts.length === 0) throw new UsageError(`Files of the source ${name} need no token.`);
  try {
    return readFileSync(path, 'utf8').trim();
  } catch (error) {
    throw new StartupError(`${path} cannot be read: ${systemReasonOf(error)}`);
  }
}

/** Downloads the files of the export if the operator wants that. */
export async function withDownloads(
  context: CommandContext,
  { tokenHosts = [] }: ImportReader,
  exported: OpenImport,
  token: string | null,
): Promise<OpenImport> {
  const folder = context.flag('download');
  if (folder === undefined) return exported;
  const { webhookNetworks: allowedNetworks, outgoingProxy } = context.invocation.configuration;
  const client = new PublicWebClient({ allowedNetworks, proxy: new OutgoingProxy(outgoingProxy), userAgent: 'Parley' });
  const { opened, counts } = await downloadFiles(exported, { folder, client, token, tokenHosts });
  const failed = Object.entries(counts.failed).map(([reason, count]) => `; ${count} failed: ${reason}`);
  context.terminal.err(
    `Downloaded ${counted(counts.downloaded, 'file')}, ${counts.existing} were in ${folder}${failed.join('')}`,
  );
  return opened;
}

type CommandOptions = Pick<
  PlanOptions,
  'stringId' | 'mappings' | 'claimBy' | 'temporaryFolder' | 'opensPublicChannels' | 'fingerprint'
> & {
  /** Owner who uploaded the export; null for the operator. */
  readonly requesterId: UserId | null;
};

/** @throws UsageError */
function requesterOf(context: CommandContext): UserId | null {
  const given = context.flag('on-behalf-of');
  if (given === undefined) return null;
  const id = Number(given);
  if (!Number.isSafeInteger(id)) throw new UsageError('--on-behalf-of must be the number of a user.');
  return id as UserId;
}

/** Works without a database. */
async function dryRun(
  context: CommandContext,
  withOpened: WithOpened,
  options: CommandOptions,
): Promise<CommandResult> {
  const { database } = context.invocation.configuration;
  if (database.kind !== 'sqlite' || existsSync(database.path)) {
    return context.withParley(async (parley) => {
      const existing = await findExisting(parley, options);
      if (existing) context.terminal.comeAfterServer();
      return withOpened(
        async (opened) => {
          const plan = await planIn(parley, opened, { ...options, ...existing?.options });
          if (existing) await requireRoom(parley, existing.realm, plan, options);
          return dryRunResult(context, plan);
        },
        await maxUnpackedBytesOf(parley, existing, options),
      );
    });
  }
  const now = Math.floor(Date.now() / 1000);
  const renderer = new ZulipMarkdownRenderer();
  return withOpened(async (opened) =>
    dryRunResult(context, await planImport(opened, { ...options, now, renderer, unicodeEmoji, realmUrl: '' })),
  );
}

async function dryRunResult(context: CommandContext, plan: ImportPlan): Promise<CommandResult> {
  try {
    const lines = await reported(context, plan);
    return { lines: [...lines, 'Nothing was changed.'], data: plan.summary };
  } finally {
    plan.close();
  }
}

function planIn(
  { ports }: ComposedParley,
  opened: OpenImport,
  options: CommandOptions & Pick<PlanOptions, 'loadExisting'>,
): Promise<ImportPlan> {
  const { markdownRenderer: renderer, realmUrls, clock } = ports;
  const realmUrl = realmUrls.urlOf({ stringId: options.stringId, isAtServerAddress: false });
  return planImport(opened, { ...options, now: clock.now(), renderer, unicodeEmoji, realmUrl });
}

/** Returns null if the import creates the organization. @throws StartupError */
async function findExisting(
  parley: ComposedParley,
  { stringId, requesterId }: Pick<CommandOptions, 'stringId' | 'requesterId'>,
) {
  const { unitOfWork } = parley.ports;
  const realms = await unitOfWork.readAcross((reads) => reads.realms.list());
  const realm = realms.find((it) => it.stringId === stringId);
  if (!realm && requesterId !== null) throw new UsageError('--on-behalf-of requires an organization that exists.');
  if (!realm) return null;
  if (realm.isDeactivated) throw new StartupError(`${nameOf(realm)} is deactivated.`);
  const loadExistingRealm = (source: string) => {
    if (source === zulipSource(realm)) {
      throw new StartupError(`The archive is of ${nameOf(realm)} itself, so all messages would arrive twice.`);
    }
    return loadExisting(realm.id, source, unitOfWork, parley.useCase(RealmReader), requesterId);
  };
  return { realm, options: { loadExisting: loadExistingRealm } };
}

function writeImport(
  context: CommandContext,
  withOpened: WithOpened,
  options: CommandOptions,
  onProgress: (messages: number) => void,
): Promise<CommandResult> {
  return context.withParley(async (parley) => {
    const existing = await findExisting(parley, options);
    const identical =
      existing && context.flag('report') === undefined && (await identicalTo(parley, existing, options));
    if (identical) return identicalResult(existing.realm, identical);
    return withOpened(
      async (opened) => {
        const plan = await planIn(parley, opened, { ...options, ...existing?.options });
        try {
          return existing
            ? await mergeInto(context, parley, existing.realm, plan, options, onProgress)
            : await createFrom(context, parley, options.stringId, plan, onProgress);
        } finally {
          plan.close();
        }
      },
      await maxUnpackedBytesOf(parley, existing, options),
    );
  });
}

/** Returns what the organization's quota leaves to temporary files of an owner's import; undefined for no limit. */
async function maxUnpackedBytesOf(
  { ports }: ComposedParley,
  existing: { readonly realm: Realm } | null,
  { requesterId }: Pick<CommandOptions, 'requesterId'>,
): Promise<number | undefined> {
  const { quotaMib } = ports.fileLimits;
  if (!existing || requesterId === null || quotaMib === null) return undefined;
  const { id } = existing.realm;
  return quotaMib * MIB - (await ports.unitOfWork.read(id, ({ files }) => files.usedBytes(id)));
}

/**
 * Requires room for all files of an owner's import, before the first of them. The import checks each again.
 * @throws DomainError UPLOAD_QUOTA_EXCEEDED, OWN_UPLOAD_QUOTA_EXCEEDED, TOO_MANY_FILES
 */
async function requireRoom(
  { ports }: ComposedParley,
  { id: realmId }: Realm,
  { summary: { fileBytes } }: ImportPlan,
  { requesterId }: Pick<CommandOptions, 'requesterId'>,
): Promise<void> {
  if (requesterId === null) return;
  await ports.unitOfWork.read(realmId, async ({ files }) => {
    const used = await files.usedBytes(realmId);
    requireRoomForFile(ports.fileLimits, fileBytes, used, await files.spaceOf(realmId, requesterId));
  });
}

const identicalTo = (
  { ports }: ComposedParley,
  { realm }: { readonly realm: Realm },
  { fingerprint }: CommandOptions,
): Promise<IdenticalImport | null> =>
  ports.unitOfWork.read(realm.id, (reads) => findIdentical(reads, realm.id, fingerprint!));

const identicalResult = (realm: Realm, { batch, records }: IdenticalImport): CommandResult => ({
  lines: [
    `The export is unchanged since import ${batch.id}, which has all of its ${records} records.`,
    `${nameOf(realm)} has everything already.`,
  ],
  data: {
    ...{ id: realm.id, stringId: realm.stringId, import: null, users: 0, channels: 0, messages: 0 },
    unchangedSince: { import: batch.id, records },
  },
});

async function createFrom(
  context: CommandContext,
  parley: ComposedParley,
  stringId: string,
  plan: ImportPlan,
  onProgress: (messages: number) => void,
): Promise<CommandResult> {
  const reader = parley.useCase(RealmReader);
  const { realm, ...counts } = await parley.useCase(ImportRealm).execute({
    source: plan.source,
    stringId,
    onProgress,
    verify: (imported) => verifyImport(plan, imported, reader),
  });
  // The samples of the report are rendered again.
  const unrenderable = plan.unrenderable();
  const lines = await reported(context, plan);
  const url = parley.ports.realmUrls.urlOf(realm);
  return {
    lines: [
      ...lines,
      `Imported ${nameOf(realm)}: ${counted(counts.users, 'user')}, ${counted(counts.channels, 'channel')}, ${counted(counts.messages, 'message')}, ` +
        `${counted(counts.files, 'file')}; at ${url}`,
      ...unrenderableLines(unrenderable),
      ...(plan.summary.hasOwner ? [] : ['Nobody who can log in is an owner; see parley user create --help.']),
    ],
    data: { id: realm.id, stringId, url, ...counts, unrenderable, report: plan.summary },
  };
}

async function mergeInto(
  context: CommandContext,
  parley: ComposedParley,
  realm: Realm,
  plan: ImportPlan,
  options: CommandOptions,
  onProgress: (messages: number) => void,
): Promise<CommandResult> {
  await requireRoom(parley, realm, plan, options);
  const { requesterId } = options;
  const { batch, changes, ...counts } = await parley
    .useCase(MergeImport)
    .execute({ realmId: realm.id, source: plan.source, requesterId, onProgress });
  const unrenderable = plan.unrenderable();
  const lines = await reported(context, plan);
  return {
    lines: [
      ...lines,
      batch
        ? `Imported into ${nameOf(realm)} as import ${batch.id}: ${counted(counts.users, 'user')}, ${counted(counts.channels, 'channel')}, ` +
          `${counted(counts.messages, 'message')}`
        : `${nameOf(realm)} has everything already.`,
      ...changeLines(changes),
      ...unrenderableLines(unrenderable),
    ],
    data: {
      id: realm.id,
      stringId: realm.stringId,
      import: batch?.id ?? null,
      ...counts,
      changes,
      unrenderable,
      report: plan.summary,
    },
  };
}

function changeLines(changes: AppliedChanges): readonly string[] {
  const { changed, deleted, kept } = changes;
  return [
    ...(changed + deleted > 0 ? [`Changed ${changed} earlier messages, deleted ${deleted}`] : []),
    ...(kept > 0 ? [`Messages that stay as they are, because people changed them in Parley: ${kept}`] : []),
    ...keptLines(changes),
  ];
}

const unrenderableLines = (count: number): readonly string[] =>
  count > 0 ? [`Messages shown without formatting: ${count}`] : [];

async function reported(context: CommandContext, plan: ImportPlan): Promise<readonly string[]> {
  const { summary } = plan;
  const lines = reportLines(summary);
  const folder = context.flag('report');
  if (folder === undefined) return lines;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const write = (name: string, content: Iterable<string> | AsyncIterable<string>) => {
    const path = join(folder, name);
    // Existing files would keep their mode.
    rmSync(path, { force: true });
    // The report names people and private channels, so other users of the machine cannot read it.
    return pipeline(content, createWriteStream(path, { mode: 0o600 }));
  };
  await write('report.txt', [`${lines.join('\n')}\n`]);
  await write('report.json', [`${JSON.stringify(summary, null, 2)}\n`]);
  await write('report.html', reportHtml(plan));
  return [`Wrote the report to ${folder}`];
}

export function temporaryFolderOf({ invocation }: CommandContext): string {
  const { database } = invocation.configuration;
  return database.kind === 'sqlite' ? dirname(resolve(database.path)) : tmpdir();
}

/** @throws StartupError */
async function readMappings(path: string | undefined): Promise<readonly PersonMapping[]> {
  if (path === undefined) return [];
  const rows = await readCsvFile(path, ['person', 'email', 'name'], ['person', 'email']);
  return rows.map(({ line, person = '', email = '', name = '' }) => {
    if (person === '') throw new StartupError(`line ${line}: the person is missing.`);
    if (!isEmailAddress(email)) throw new StartupError(`line ${line}: ${JSON.stringify(email)} is not an email.`);
    return { person, email, name: name || null };
  });
}
