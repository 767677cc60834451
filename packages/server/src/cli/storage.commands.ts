import { createReadStream, existsSync, statfsSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import type { ErasureRecord } from '@parley/domain/kernel';
import { SignOutEverybody } from '@parley/domain/log-in';
import { silentLogger } from '@parley/http';
import { administerDatabase } from '@parley/sqlite';
import { Checksums } from '../backup/checksums.js';
import { ledgerPathFor, readLedger } from '../backup/erasure-ledger.js';
import { recordBackup } from '../backup/last-backup.js';
import type { ComposedParley } from '../composition/parley.js';
import { WHILE_QUIET } from '../composition/quiet.js';
import { type Configuration, sqliteOf } from '../configuration/configuration.js';
import { examine } from '../doctor/doctor.js';
import { addressesOf } from '../http/http-server.js';
import { counted } from '../kernel/counted.js';
import { StartupError, systemReasonOf, UsageError } from '../kernel/startup-error.js';
import { blobStoreOf, filesFolderOf, locationOf } from '../start/files-location.js';
import { filesStateOf, identityOf } from '../start/files-mark.js';
import { openParley } from '../start/open-parley.js';
import { findSecret, requireSameSecret, secretPathFor } from '../start/secret.js';
import { parleyVersion } from '../version.js';
import { always, type Command, type CommandContext, type CommandResult, EXIT_CODES } from './command.js';
import { requireDatabase } from './databases.js';
import { ownerMissing } from './erasure.commands.js';
import { MOVE_COMMAND } from './move.command.js';
import { replayErasures } from './replay-erasures.js';

const MIB = 1024 * 1024;
/** Default backup speed in MiB per second; keeps a shared disk responsive for the server. */
const DEFAULT_PACE = 20;

const BACKUP_OF_POSTGRES =
  ' Use pg_dump or base backups of the database server, and bucket versioning or a copy of the files folder.';

async function backup({ invocation, terminal, words, flag }: CommandContext): Promise<CommandResult> {
  const [path] = words as [string];
  const { configuration } = invocation;
  requireDatabase(invocation);
  const database = sqliteOf(configuration, 'parley backup', BACKUP_OF_POSTGRES);
  const secret = findSecret(configuration);
  const { secretFingerprint, bytes } = administerDatabase(database.path).inspect();
  requireSameSecret(configuration, secret, secretFingerprint);
  if (secret === null) throw new StartupError('There is no secret yet: no server has opened this database.');
  const pace = parsePace(flag('pace'));
  const keep = parseKeep(flag('keep'));
  terminal.comeAfterServer();
  const { createBackup, pruneBackups } = await import('../backup/backup.js');
  const record = (takenAt: Date | null) => {
    try {
      recordBackup(database.path, takenAt);
    } catch (error) {
      terminal.err(`parley: The result could not be recorded for the metrics: ${(error as Error).message}`);
    }
  };
  const takenAt = new Date();
  const create = async () => {
    requireSpace(path, 2.1 * bytes);
    const source = {
      ...{ database: database.path, url: configuration.url, secret, version: parleyVersion() },
      blobs: blobStoreOf(configuration),
      checksums: Checksums.of(database),
    };
    return createBackup(source, path, { takenAt, bytesPerSecond: pace === 0 ? null : pace * MIB });
  };
  const result = await create().catch((error: unknown) => {
    record(null);
    throw error;
  });
  const { missingFiles, secretFingerprint: _, ...data } = result;
  const isWhole = missingFiles.length === 0;
  record(isWhole ? takenAt : null);
  const removed = keep === null ? [] : await pruneBackups(result.path, keep);
  return {
    lines: [
      `${result.path}: ${(result.bytes / MIB).toFixed(1)} MiB, ${counted(result.files, 'file')}, as of ${result.takenAt}. Anyone with the archive can read everything.`,
      ...(isWhole ? [] : [`The backup is incomplete: ${describeMissing(missingFiles)}`]),
      ...removed.map((name) => `Removed ${name}.`),
    ],
    data: { ...data, missingFiles, removed },
    exitCode: isWhole ? EXIT_CODES.done : EXIT_CODES.found,
  };
}

const describeMissing = (files: readonly string[]): string =>
  `the content of ${counted(files.length, 'file')} is missing or altered, such as ${files[0]}; see parley doctor --thorough.`;

/** Returns null to keep all. @throws UsageError */
function parseKeep(text: string | undefined): number | null {
  if (text === undefined) return null;
  if (!/^[1-9]\d{0,3}$/.test(text)) throw new UsageError('--keep must be a number of backups from 1 to 9999.');
  return Number(text);
}

function parsePace(text: string | undefined): number {
  if (text === undefined) return DEFAULT_PACE;
  if (!/^\d{1,5}$/.test(text)) throw new UsageError('--pace must be a number of MiB per second; 0: unlimited.');
  return Number(text);
}

function requireSpace(path: string, bytes: number): void {
  let free: number;
  try {
    const { bavail, bsize } = statfsSync(dirname(path));
    free = bavail * bsize;
  } catch (error) {
    throw new StartupError(`Cannot write to the folder of ${path}: ${systemReasonOf(error)}.`);
  }
  if (free < bytes) {
    throw new StartupError(
      `Not enough space for ${path}: ${Math.ceil(bytes / MIB)} MiB are needed, ${Math.floor(free / MIB)} MiB are free.`,
    );
  }
}

/**
 * Accepts the original's files in PARLEY_FILES, where the server requires `parley file adopt` afterwards; but for a copy
 * only a location without files of others. @throws StartupError
 */
async function requireOwnFiles(configuration: Configuration, unfinished: string, isCopy: boolean): Promise<void> {
  const state = await filesStateOf(configuration, identityOf(unfinished));
  if (state === 'free') return;
  if (!isCopy && (state === 'own' || (state === 'original' && configuration.files !== null))) return;
  throw new StartupError(
    `${locationOf(configuration)} holds the files of another database. Restore into another folder, or set PARLEY_FILES. ` +
      'If no server uses the other one any more, move its files away: the backup contains all files.',
  );
}

const SQLITE_MAGIC = 'SQLite format 3\0';

/** Reads erasures from a ledger or from the database that the backup replaces. @throws StartupError */
async function readErasures(path: string | undefined): Promise<readonly ErasureRecord[]> {
  if (path === undefined) return [];
  if (!existsSync(path)) throw new StartupError(`${path} does not exist.`);
  const start = await text(createReadStream(path, { end: SQLITE_MAGIC.length - 1 }));
  return start === SQLITE_MAGIC ? administerDatabase(path).listErasures() : readLedger(path);
}

/** Opens a restored database that no server uses yet. */
async function withUnfinished<T>(
  configuration: Configuration,
  { path, secret, ledger }: { readonly path: string; readonly secret: string; readonly ledger: string },
  work: (parley: ComposedParley) => Promise<T>,
): Promise<T> {
  const blobs = blobStoreOf(configuration);
  const parley = await openParley(
    { ...configuration, ...addressesOf(configuration), secret, database: { kind: 'sqlite', path } },
    { logger: silentLogger, isOneOff: true, acceptsNewSecret: false, ports: { blobs }, erasureLedgerPath: ledger },
  );
  try {
    return await work(parley);
  } finally {
    await parley.close();
  }
}

const failedCheck = (path: string, problem: string, data = {}): CommandResult => ({
  lines: [problem.startsWith(path) ? problem : `${path}: ${problem}.`],
  data: { path, ...data, problem },
  exitCode: EXIT_CODES.found,
});

const unique = (erasures: readonly ErasureRecord[]): readonly ErasureRecord[] => [
  ...new Map(
    erasures.map((erasure) => [`${erasure.realmUuid} ${erasure.personId} ${erasure.requestedAt}`, erasure]),
  ).values(),
];

async function postgresAdministration(url: string) {
  const { inspectPostgres, migratePostgres } = await import('@parley/postgres');
  return { inspect: () => inspectPostgres(url), migrate: () => migratePostgres(url) };
}

async function migrate({ invocation, isOn }: CommandContext): Promise<CommandResult> {
  requireDatabase(invocation);
  const { configuration } = invocation;
  const { database } = configuration;
  const name = database.kind === 'sqlite' ? database.path : database.url;
  const administration =
    database.kind === 'sqlite' ? administerDatabase(database.path) : await postgresAdministration(database.url);
  const inspected = await administration.inspect();
  const { schema, latestSchema, pendingSteps, secretFingerprint } = inspected;
  const finalSteps = 'finalSteps' in inspected ? inspected.finalSteps : [];
  const isChecking = isOn('check');
  const secretProblem = problemWithSecret(configuration, secretFingerprint);
  const state = { schema, latestSchema, pendingSteps, secretProblem };
  if (isChecking || isOn('status')) {
    const hasFound = pendingSteps.length > 0 || secretProblem !== null;
    const exitCode = isChecking && hasFound ? EXIT_CODES.found : EXIT_CODES.done;
    const lines = [
      `The schema of ${name} is ${schema}; the latest is ${latestSchema}.`,
      ...pendingSteps.map((name) => `  pending: ${name}`),
      ...finalSteps.map((name) => `  pending until parley cluster finish-upgrade: ${name}`),
      ...(secretProblem === null ? [] : [`The server will reject the secret: ${secretProblem}`]),
    ];
    return { lines, data: state, exitCode };
  }
  requireSameSecret(configuration, findSecret(configuration), secretFingerprint);
  const done = await administration.migrate();
  return {
    lines: [
      done.length === 0 ? 'The schema is up to date.' : `Applied: ${done.join(', ')}.`,
      ...(finalSteps.length > 0 ? ['Run parley cluster finish-upgrade once all servers run this release.'] : []),
    ],
    data: { ...state, schema: latestSchema - finalSteps.length, pendingSteps: [], done },
  };
}

/** Returns the reason why the server would reject the secret; null if it would accept it. */
function problemWithSecret(configuration: Configuration, fingerprint: string | null): string | null {
  try {
    requireSameSecret(configuration, findSecret(configuration), fingerprint);
    return null;
  } catch (error) {
    if (error instanceof StartupError) return error.message;
    throw error;
  }
}

async function compact({ invocation }: CommandContext): Promise<CommandResult> {
  requireDatabase(invocation);
  const hint = ' PostgreSQL does this itself (VACUUM).';
  const { path } = sqliteOf(invocation.configuration, 'parley database compact', hint);
  const administration = administerDatabase(path);
  const { bytes: before } = administration.inspect();
  administration.compact();
  const { bytes: after } = administration.inspect();
  const sizes = [before, after].map((bytes) => `${(bytes / MIB).toFixed(1)} MiB`).join(' to ');
  return { lines: [`Compacted ${path} from ${sizes}.`], data: { database: path, before, after } };
}

const MARKS = { good: 'ok      ', advice: 'consider', problem: 'PROBLEM ' } as const;

export const STORAGE_COMMANDS: readonly Command[] = [
  {
    name: 'backup',
    words: 'FILE',
    help: 'writes the database, its secret and all files to a tar archive; the server may be running',
    details: [
      'The archive contains everything acknowledged before the backup began. It is verified before it is renamed to FILE. Backups',
      'temporarily need twice the space of the database. The archive is not encrypted: keep it safe.',
      'If files are missing or altered, the archive gets the name FILE.incomplete, and the command exits with 3.',
    ].join('\n'),
    flags: {
      pace: {
        value: 'MIB',
        help: `maximum MiB to copy per second, 0 for unlimited; default: ${DEFAULT_PACE}`,
      },
      keep: {
        value: 'NUMBER',
        help: 'afterwards removes all but this many complete backups with names that differ from FILE only in digits',
      },
    },
    examples: [
      'parley backup /backups/parley-$(date +%F).tar --keep 14',
      'parley backup /backups/now.tar --pace 200 --json',
    ],
    run: backup,
  },
  {
    name: 'backup list',
    words: 'FOLDER',
    help: 'lists the backups in a folder, damaged ones, and how many people in each were erased later',
    details: [
      'Reads each archive completely, and exits with 3 if one is empty, truncated, altered or incomplete.',
      'Delete backups that contain erased people as soon as newer ones suffice. parley restore erases them again.',
    ].join('\n'),
    examples: ['parley backup list /backups', 'parley backup list /backups --json'],
    isReadOnly: always,
    async run({ invocation, words }) {
      const [folder] = words as [string];
      requireDatabase(invocation);
      const { path } = sqliteOf(invocation.configuration, 'parley backup list', BACKUP_OF_POSTGRES);
      const erasures = unique([
        ...(await readLedger(ledgerPathFor(resolve(path)))),
        ...administerDatabase(path).listErasures(),
      ]);
      const { backupsIn, erasuresSince } = await import('../backup/backup.js');
      const backups = [];
      for await (const { problem, description, ...backup } of backupsIn(folder)) {
        const newerErasures = description && erasuresSince(erasures, description).length;
        const { takenAt = null, version = null } = description ?? {};
        backups.push({ ...backup, takenAt, version, newerErasures, problem });
      }
      const hasFound = backups.some(({ problem }) => problem !== null);
      return {
        lines:
          backups.length === 0
            ? [`There are no backups in ${folder}.`]
            : backups.map(({ path: file, takenAt, bytes, newerErasures, problem }) => {
                const people = newerErasures
                  ? `, contains ${counted(newerErasures, 'erased person', 'erased people')}`
                  : '';
                return [
                  file,
                  takenAt ?? '',
                  `${(bytes / MIB).toFixed(1)} MiB${people}`,
                  ...(problem ? [problem] : []),
                ].join('\t');
              }),
        data: { backups },
        exitCode: hasFound ? EXIT_CODES.found : EXIT_CODES.done,
      };
    },
  },
  {
    name: 'backup verify',
    words: 'FILE_OR_FOLDER',
    help: 'verifies a backup, or the newest one in a folder, for monitoring; needs no database',
    details: 'Reads the whole archive. Exits with 3 if it is damaged, incomplete or too old.',
    flags: { 'max-age': { value: 'HOURS', help: 'also exits with 3 for a backup of this age or older' } },
    examples: ['parley backup verify /backups --max-age 26', 'parley backup verify /backups/now.tar --json'],
    isReadOnly: always,
    /** Verifies an archive, or the newest one in a folder, without its database or server. */
    async run({ words, flag }) {
      const [place] = words as [string];
      const hours = flag('max-age');
      if (hours !== undefined && !/^\d{1,5}$/.test(hours)) throw new UsageError('--max-age must be a number of hours.');
      const { newestBackupIn, problemOf, verifyBackup } = await import('../backup/backup.js');
      const path = statSync(place).isDirectory() ? await newestBackupIn(place) : place;
      if (path === null) return failedCheck(place, 'there is no backup in the folder');
      try {
        const { secretFingerprint: _, ...backup } = await verifyBackup(path);
        const age = Math.floor((Date.now() - Date.parse(backup.takenAt)) / 3_600_000);
        const problem =
          problemOf(path) ?? (hours !== undefined && age >= Number(hours) ? `it is ${counted(age, 'hour')} old` : null);
        const text = `version ${backup.version}, ${counted(backup.files, 'file')}, as of ${backup.takenAt}`;
        if (problem !== null) return failedCheck(path, problem, backup);
        return { lines: [`${path} is whole: ${text}.`], data: { path, ...backup, problem } };
      } catch (error) {
        if (error instanceof StartupError) return failedCheck(path, error.message);
        throw error;
      }
    },
  },
  {
    name: 'restore',
    words: 'FILE',
    help: 'restores a backup to the configured paths, which must be empty',
    details: [
      'The server must not be running. A damaged backup is rejected and leaves nothing behind. People who were erased after the',
      'backup are erased again. The server keeps the erasures in the file parley.db.erasures next to the database: leave it there.',
      'All ids continue higher than any that the lost rows may have had. Credentials come back as of the backup.',
    ].join('\n'),
    flags: {
      erasures: {
        value: 'FILE',
        help: 'more erasures: the file .erasures of the server, or the database that the backup replaces',
      },
      'end-sessions': {
        help: 'ends all browser sessions, which is the default; --no-end-sessions keeps them, also those that were ended since',
      },
      copy: { help: 'for trying things: nothing leaves the restored server, which needs files of its own' },
      original: { help: 'the restored server replaces the one of the backup, although its address is another one' },
      'renew-keys': { help: 'ends all API keys and access tokens too, so that everybody logs in again' },
    },
    examples: [
      'parley restore /backups/parley-2026-07-31.tar --database sqlite:/var/lib/parley/parley.db',
      'parley restore /backups/parley-2026-07-31.tar --erasures /lost+found/parley.db',
      'parley restore /backups/parley-2026-07-31.tar --renew-keys',
      'parley restore /backups/parley-2026-07-31.tar --copy --url https://staging.example.com --database sqlite:/srv/staging/parley.db',
    ],
    async run({ invocation, words, flag, isOn }) {
      const [path] = words as [string];
      const { configuration } = invocation;
      const renewsKeys = isOn('renew-keys');
      const endsSessions = flag('end-sessions') !== 'off';
      const isCopy = isOn('copy') ? true : isOn('original') ? false : null;
      if (isOn('copy') && isOn('original')) throw new UsageError('--copy and --original exclude each other.');
      if (renewsKeys && !endsSessions) throw new UsageError('--renew-keys ends browser sessions too.');
      const database = sqliteOf(configuration, 'parley restore', BACKUP_OF_POSTGRES);
      const { restoreBackup } = await import('../backup/restore-backup.js');
      const ledger = ledgerPathFor(resolve(database.path));
      const hasLedger = existsSync(ledger) || flag('erasures') !== undefined;
      const result = await restoreBackup(path, {
        database: database.path,
        secretPath: secretPathFor(database.path),
        secret: findSecret(configuration),
        blobs: blobStoreOf(configuration),
        checksums: Checksums.of(database),
        filesFolder: configuration.files?.kind === 's3' ? null : filesFolderOf(configuration),
        requireOwnFiles: (unfinished) => requireOwnFiles(configuration, unfinished, isCopy ?? false),
        erasures: [...(await readLedger(ledger)), ...(await readErasures(flag('erasures')))],
        replay: (path, secret, erasures) =>
          withUnfinished(configuration, { path, secret, ledger }, (parley) => replayErasures(parley, erasures)),
        ...{ endsSessions, isCopy, url: configuration.url },
        ...(renewsKeys && {
          renewKeys: (path, secret) =>
            withUnfinished(configuration, { path, secret, ledger }, ({ useCase }) =>
              useCase(SignOutEverybody).execute(),
            ),
        }),
        now: new Date(),
      });
      const { secretFingerprint: _, replayed, takenAt, ...data } = result;
      const next =
        data.missingFiles.length === 0
          ? 'Start the server now.'
          : `The restored server is incomplete: ${describeMissing(data.missingFiles)}`;
      return {
        lines: [
          `Restored ${database.path} with ${counted(result.files, 'file')}, as of ${takenAt}. ${next}`,
          ...(data.isCopy ? [`It is a copy for trying things: ${WHILE_QUIET}.`] : []),
          `All ids and event numbers continue ${result.skippedIds} higher, so that no lost one is given again. Clients register again.`,
          endsSessions
            ? `All browser sessions have ended: ${result.endedSessions}.`
            : `Browser sessions came back as of ${takenAt}, also those that people have ended since.`,
          renewsKeys
            ? 'All API keys and access tokens are new or have ended: phones log in again, and bots and programs need their new keys.'
            : `API keys and access tokens came back as of ${takenAt}, also those that were replaced or revoked since; --renew-keys ends them.`,
          `Passwords, linked accounts, second factors, invitations and SCIM tokens came back as of ${takenAt}, too.`,
          hasLedger
            ? `Erased again: ${counted(replayed.repeated.length, 'person', 'people')}.`
            : `People erased after ${takenAt} are unknown: there is no ${ledger}. Find them with --erasures or erase them again.`,
          ...replayed.withoutOwner.map(ownerMissing),
        ],
        data: {
          ...{ database: database.path, takenAt, ...data, hasLedger, erasedAgain: replayed.repeated.length },
          ...{ endsSessions, renewsKeys },
        },
      };
    },
  },
  {
    name: 'migrate',
    help: 'migrates the database schema to this version; servers on SQLite do so at startup',
    flags: {
      status: { help: 'only lists pending steps' },
      check: { help: 'like --dry-run, but exits with 3 if there are pending steps' },
    },
    examples: ['parley migrate --status', 'parley migrate --check && systemctl restart parley'],
    isReadOnly: (flags) => flags.get('status') === 'on',
    run: migrate,
  },
  {
    name: 'database compact',
    help: 'rewrites the SQLite file without the remains of deleted data; once after an upgrade from a release before 0.3',
    details: [
      'No server may use the database. Needs as much free space as the database has, in its folder and in that of SQLITE_TMPDIR',
      '(default: /var/tmp). Files of this release need it only to return all free space at once.',
    ].join('\n'),
    examples: ['parley database compact'],
    run: compact,
  },
  MOVE_COMMAND,
  {
    name: 'doctor',
    help: 'finds problems with the server, database and configuration; --thorough also tests all external services',
    flags: {
      thorough: {
        help: 'also reads the whole database, checks that every file exists, and tests mail, push, log-in services, directories and the proxy in front of the server',
      },
    },
    examples: ['parley doctor', 'parley doctor --thorough --json'],
    isReadOnly: always,
    async run({ invocation, isOn }) {
      requireDatabase(invocation);
      const findings = await examine(invocation.configuration, { isThorough: isOn('thorough') });
      const isIll = findings.some(({ level }) => level === 'problem');
      return {
        lines: [
          ...findings.map(({ level, subject, text }) => `${MARKS[level]} ${subject}: ${text}`),
          isIll ? 'Problems found.' : 'No problems found.',
        ],
        data: { healthy: !isIll, findings },
        exitCode: isIll ? EXIT_CODES.found : EXIT_CODES.done,
      };
    },
  },
];
