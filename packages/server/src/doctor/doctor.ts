import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import { S3BlobStore } from '@parley/blobs';
import type { BlobKey } from '@parley/domain/files';
import type { DatabaseState, FutureRows } from '@parley/domain/kernel';
import { silentLogger } from '@parley/http';
import { describeProxies, OutgoingProxy, SystemClock } from '@parley/node-adapters';
import type { PostgresState } from '@parley/postgres';
import { administerDatabase, isUnsafeBinary } from '@parley/sqlite';
import { Checksums } from '../backup/checksums.js';
import { type BlobLister, digestOf, findMissing } from '../backup/copy-files.js';
import { WHILE_QUIET } from '../composition/quiet.js';
import type { Configuration } from '../configuration/configuration.js';
import { addressesOf } from '../http/http-server.js';
import { counted } from '../kernel/counted.js';
import { describeSpace, diskSpaceOf, diskStateOf } from '../observation/disk-space.js';
import { type Finding, findingsOn } from '../observation/postgres-findings.js';
import { blobStoreOf, filesFolderOf } from '../start/files-location.js';
import { type DatabaseIdentity, identityOf, requireOwnLocation } from '../start/files-mark.js';
import { HistoryMarks } from '../start/history-marks.js';
import { isReceiving, smtpMailerOf } from '../start/open-parley.js';
import { findSecret, requireSameSecret, secretPathFor } from '../start/secret.js';
import { examineLogIn, reasonOf } from './log-in.js';
import { checkPush, wayToPhones } from './phone-push.js';
import { examinePublicAddress } from './public-address.js';

export interface ExaminationOptions {
  /** Reads the whole database, which may take long. */
  readonly isThorough: boolean;
}

/** Networks with many foreign addresses. The largest private one is `fc00::/7`. */
const WIDE = /\/[0-6]$/;
const MIB = 1024 * 1024;
/** Subject of the finding about a server that sends nothing. */
const QUIET = 'quiet';
/** SQLite normally checkpoints the WAL long before this size. */
const LARGE_LOG_BYTES = 256 * MIB;

/** Reports the state of a server, running or not, to its operator. Changes nothing. */
export async function examine(
  configuration: Configuration,
  { isThorough }: ExaminationOptions,
): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  const add = (level: Finding['level'], subject: string, text: string) => findings.push({ level, subject, text });
  const attempt = async (subject: string, look: () => void | Promise<void>, problem = ''): Promise<void> => {
    try {
      await look();
    } catch (error) {
      add('problem', subject, problem + (error as Error).message);
    }
  };

  const examination = { configuration, isThorough, add, attempt };
  if (configuration.database.kind === 'sqlite') await examineFile(configuration.database.path, examination);
  else await examineServer(configuration.database.url, examination);
  // The restore test runs without a network.
  const callsOthers = isThorough && !findings.some(({ subject }) => subject === QUIET);
  if (callsOthers && configuration.smtpUrl !== null) {
    const verify = async () => {
      await smtpMailerOf({ ...configuration, url: addressesOf(configuration).url })?.verify();
      add('good', 'mail', 'the mail server accepts our login');
    };
    await attempt('mail', verify, 'the mail server cannot be used: ');
  }
  const { push } = configuration;
  if (callsOthers && push) {
    const check = async () => {
      await checkPush(push, new OutgoingProxy(configuration.outgoingProxy));
      add('good', 'push', `phones: ${wayToPhones(push)}`);
    };
    await attempt('push', check, 'phones cannot be reached: ');
  }
  const proxies = describeProxies(configuration.outgoingProxy);
  if (proxies !== null) add('good', 'proxy', `outgoing calls use ${proxies}`);
  if (callsOthers) findings.push(...(await examineLogIn(configuration)));
  await attempt('proxy', async () => {
    if (callsOthers) findings.push(...(await examinePublicAddress(configuration)));
  });
  for (const [level, subject, text] of adviceOn(configuration)) add(level, subject, text);
  return findings;
}

interface Examination extends ExaminationOptions {
  readonly configuration: Configuration;
  readonly add: (level: Finding['level'], subject: string, text: string) => void;
  /** Reports an error of `look` as a problem. */
  readonly attempt: (subject: string, look: () => void | Promise<void>) => Promise<void>;
}

function examineSecret({ configuration, add }: Examination, fingerprint: string | null, missing: string): void {
  const secret = findSecret(configuration);
  requireSameSecret(configuration, secret, fingerprint);
  if (secret === null) add('problem', 'secret', missing);
  else if (fingerprint !== null) add('good', 'secret', 'belongs to the database');
  else add('advice', 'secret', 'there is one; the database does not record which secret it belongs to');
}

function examineQuiet({ configuration, add }: Examination, isCopy: boolean): void {
  if (configuration.isQuiet ?? isCopy) add('advice', QUIET, `the server sends nothing: ${WHILE_QUIET}`);
}

/** Reports rows that were written while the clock was ahead; they look new until their time has come. */
function nameFuture({ add }: Examination, rows: readonly FutureRows[]): void {
  if (rows.length === 0) return;
  const latest = new Date(Math.max(...rows.map(({ latest }) => latest)) * 1000).toISOString();
  const named = rows.map(({ name, count }) => `${count} ${name}`).join(', ');
  add('advice', 'clock', `it was wrong, or is: ${named} have times in the future, the latest ${latest}`);
}

async function examineFile(path: string, examination: Examination): Promise<void> {
  const { configuration, isThorough, add, attempt } = examination;
  const administration = administerDatabase(path);
  let state: DatabaseState | null = null;
  await attempt('database', () => {
    state = administration.inspect();
    const { bytes, schema, pendingSteps } = state;
    add('good', 'database', `${path}, ${(bytes / MIB).toFixed(1)} MiB, schema ${schema}`);
    examineQuiet(examination, state.isCopy);
    if (pendingSteps.length > 0)
      add('advice', 'schema', `${pendingSteps.length} migration steps are pending and run at the next start`);
    if (!state.isCompacted) {
      add(
        'advice',
        'deleted data',
        'the file may contain text that was deleted before the upgrade: stop the server and run parley database compact',
      );
    }
    if (state.logBytes > LARGE_LOG_BYTES) {
      add(
        'advice',
        'log',
        `the write-ahead log has ${Math.round(state.logBytes / MIB)} MiB, probably because of a long-running read`,
      );
    }
  });
  await attempt('library', () => {
    if (!isUnsafeBinary()) return;
    const command = 'npm_config_target=24.18.1 npm rebuild better-sqlite3';
    throw new Error(`better-sqlite3 was compiled with headers that make it end the process: run ${command}`);
  });
  await attempt('clock', () => {
    if (state?.pendingSteps.length === 0) nameFuture(examination, administration.findFuture(new SystemClock().now()));
  });
  await attempt('secret', () => {
    if (state === null) return;
    examineSecret(examination, state.secretFingerprint, 'there is none; the server creates one when it starts');
  });
  await attempt('rights', () => {
    const { mode, uid } = statSync(path);
    for (const other of [secretPathFor(path), filesFolderOf(configuration), `${path}-wal`]) {
      const owner = statSync(other, { throwIfNoEntry: false })?.uid ?? uid;
      if (owner !== uid) {
        add(
          'problem',
          'rights',
          `${other} belongs to user ${owner}, but the database to ${uid}: run chown -R ${uid} ${other}`,
        );
      }
    }
    if ((mode & 0o077) === 0 || process.platform === 'win32')
      add('good', 'rights', 'only the owner can read the database');
    else add('advice', 'rights', `other users of this machine can read the database: run chmod 600 ${path}`);
  });
  await attempt('files', () => checkLocation(examination, identityOf(path)));
  await attempt('history', async () => {
    if (state?.pendingSteps.length !== 0) return;
    const database = { id: identityOf(path).id, path, history: administration };
    await new HistoryMarks(database, blobStoreOf(configuration), silentLogger).compare('nothing');
  });
  await attempt('disk', () => {
    const space = diskSpaceOf(dirname(path));
    const state = diskStateOf(space);
    add(state === 'good' ? 'good' : state === 'low' ? 'advice' : 'problem', 'disk', describeSpace(space));
  });
  if (!isThorough) return;
  await attempt('integrity', () => {
    const damage = administration.findDamage();
    if (damage.length === 0) add('good', 'integrity', 'all pages of the database are valid');
    for (const line of damage) add('problem', 'integrity', line);
  });
  await attempt('files', () => checkContents(examination, administration));
}

async function examineServer(url: string, examination: Examination): Promise<void> {
  const { configuration, isThorough, add, attempt } = examination;
  const postgres = await import('@parley/postgres');
  let state: PostgresState | null = null;
  await attempt('database', async () => {
    state = await postgres.inspectPostgres(url);
    const { schema, pendingSteps, secretFingerprint } = state;
    examineQuiet(examination, state.installation?.isCopy ?? false);
    if (pendingSteps.length === 0) add('good', 'schema', `${schema}, that of this version`);
    else add('problem', 'schema', `${pendingSteps.length} migration steps are pending: run parley migrate`);
    for (const { level, subject, text } of findingsOn(
      await postgres.examinePostgres(url),
      postgres.SESSIONS_PER_SERVER,
    ))
      add(level, subject, text);
    await attempt('clock', async () => {
      if (pendingSteps.length === 0)
        nameFuture(examination, await postgres.findFutureOfPostgres(url, new SystemClock().now()));
    });
    await attempt('secret', () =>
      examineSecret(
        examination,
        secretFingerprint,
        'there is none: every server needs the same one (PARLEY_SECRET_FILE)',
      ),
    );
  });
  const { busLocation } = configuration;
  if (busLocation) {
    await attempt('bus', async () => {
      const { examineNats } = await import('@parley/bus-nats');
      const startedAt = performance.now();
      try {
        const version = await examineNats(busLocation);
        add('good', 'bus', `NATS ${version}, connected within ${Math.ceil(performance.now() - startedAt)} ms`);
      } catch (error) {
        throw new Error(`the bus cannot be used: ${reasonOf(error as Error)}`);
      }
    });
  } else
    add(
      'advice',
      'bus',
      'there is none (PARLEY_BUS): servers read events of other servers from the database four times a second',
    );
  await attempt('files', () => checkLocation(examination, state?.installation));
  await attempt('files', async () => {
    if (isThorough && state?.pendingSteps.length === 0)
      await checkContents(examination, { listBlobs: (...page) => postgres.listBlobsOfPostgres(url, ...page) });
  });
}

/**
 * Tests the store, even if there are no files yet. `own` is null for a database that no server has opened, and absent if it
 * is unknown. @throws Error also if other databases use the location of files
 */
async function checkLocation({ configuration, add }: Examination, own?: DatabaseIdentity | null): Promise<void> {
  const { database, files } = configuration;
  if (files === null && database.kind === 'postgres')
    throw new Error('PARLEY_FILES must name a bucket, or a folder for one server');
  const store = blobStoreOf(configuration);
  if (store instanceof S3BlobStore) await store.check();
  else await store.sizeOf('0'.repeat(32) as BlobKey);
  if (files?.kind === 's3') add('good', 'files', `the bucket ${files.bucket} responds`);
  else if (files && database.kind === 'postgres') add('good', 'files', `the folder ${files.path}, for one server`);
  if (own !== undefined) await requireOwnLocation(configuration, own);
}

/** Checks that each file of the database exists with its size and known checksum. @throws Error */
async function checkContents({ configuration, add }: Examination, database: BlobLister): Promise<void> {
  const store = blobStoreOf(configuration);
  const { count, missing } = await findMissing(
    database,
    (blob) => store.sizeOf(blob),
    await Checksums.of(configuration.database)?.read(),
    (blob, size) => digestOf(blob, size, store),
  );
  const all = counted(count, 'file');
  if (missing.length === 0) add('good', 'files', `the content of ${all} exists`);
  else
    add('problem', 'files', `the content of ${missing.length} of ${all} is missing or altered, such as ${missing[0]}`);
}

function* adviceOn(
  configuration: Configuration,
): Generator<readonly [level: Finding['level'], subject: string, text: string]> {
  const { url, smtpUrl, isDev, hasRateLimits, trustedProxies, mailGatewayPattern, incomingMail } = configuration;
  if (isDev) yield ['advice', 'configuration', 'dev mode is on: anyone who can reach the server can act as anyone'];
  if (url === null)
    yield ['advice', 'configuration', 'there is no public address; emails and links contain the name of this machine'];
  else if (url.startsWith('http:')) yield ['advice', 'configuration', `${url} is not encrypted`];
  else if (trustedProxies === 0) {
    yield [
      'advice',
      'configuration',
      'no proxy is trusted (--trust-proxy); behind a proxy, all clients count as one address',
    ];
  }
  const wide = typeof trustedProxies === 'object' ? trustedProxies.find((network) => WIDE.test(network)) : undefined;
  if (wide !== undefined) {
    yield ['problem', 'proxy', `--trust-proxy ${wide} trusts strangers: every client can choose its address and host`];
  }
  if (smtpUrl === null) yield ['advice', 'configuration', 'there is no mail server; emails are written to files'];
  if (mailGatewayPattern !== null && !isReceiving(incomingMail))
    yield ['advice', 'configuration', 'channels have email addresses, but the server receives no email itself'];
  if (!hasRateLimits && !isDev) yield ['advice', 'configuration', 'rate limits are off'];
}
