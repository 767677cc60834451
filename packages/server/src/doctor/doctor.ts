import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import { S3BlobStore } from '@parley/blobs';
import type { BlobKey } from '@parley/domain/files';
import type { DatabaseState } from '@parley/domain/kernel';
import { describeProxies, OutgoingProxy } from '@parley/node-adapters';
import { administerDatabase, isUnsafeBinary } from '@parley/sqlite';
import { listBlobs } from '../backup/copy-files.js';
import { type Configuration, sqliteOf } from '../configuration/configuration.js';
import { addressesOf } from '../http/http-server.js';
import { counted } from '../kernel/counted.js';
import { describeSpace, diskSpaceOf, diskStateOf } from '../observation/disk-space.js';
import { type Finding, findingsOn } from '../observation/postgres-findings.js';
import { blobStoreOf, filesFolderOf } from '../start/files-location.js';
import { filesStateOf, identityOf, notOwn, SHARED_ADVICE, sharersOf } from '../start/files-mark.js';
import { isReceiving, smtpMailerOf } from '../start/open-parley.js';
import { findSecret, requireSameSecret, secretPathFor } from '../start/secret.js';
import { examineLogIn, reasonOf } from './log-in.js';
import { checkPush, wayToPhones } from './phone-push.js';

export interface ExaminationOptions {
  /** Reads the whole database, which may take long. */
  readonly isThorough: boolean;
}

/** Networks with many foreign addresses. The largest private one is `fc00::/7`. */
const WIDE = /\/[0-6]$/;
const MIB = 1024 * 1024;
/** SQLite normally checkpoints the WAL long before this size. */
const LARGE_LOG_BYTES = 256 * MIB;

/** Reports the state of a server, running or not, to its operator. Changes nothing. */
export async function examine(
  configuration: Configuration,
  { isThorough }: ExaminationOptions,
): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  const add = (level: Finding['level'], subject: string, text: string) => findings.push({ level, subject, text });
  const attempt = async (subject: string, look: () => void | Promise<void>): Promise<void> => {
    try {
      await look();
    } catch (error) {
      add('problem', subject, (error as Error).message);
    }
  };

  const examination = { configuration, isThorough, add, attempt };
  if (configuration.database.kind === 'sqlite') await examineFile(configuration.database.path, examination);
  else await examineServer(configuration.database.url, examination);
  if (isThorough && configuration.smtpUrl !== null) {
    await attempt('mail', async () => {
      try {
        await smtpMailerOf({ ...configuration, url: addressesOf(configuration).url })?.verify();
      } catch (error) {
        throw new Error(`the mail server cannot be used: ${(error as Error).message}`);
      }
      add('good', 'mail', 'the mail server accepts our login');
    });
  }
  const { push } = configuration;
  if (isThorough && push) {
    await attempt('push', async () => {
      try {
        await checkPush(push, new OutgoingProxy(configuration.outgoingProxy));
      } catch (error) {
        throw new Error(`phones cannot be reached: ${(error as Error).message}`);
      }
      add('good', 'push', `phones: ${wayToPhones(push)}`);
    });
  }
  const proxies = describeProxies(configuration.outgoingProxy);
  if (proxies !== null) add('good', 'proxy', `outgoing calls use ${proxies}`);
  if (isThorough) findings.push(...(await examineLogIn(configuration)));
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

async function examineFile(path: string, examination: Examination): Promise<void> {
  const { configuration, isThorough, add, attempt } = examination;
  const administration = administerDatabase(path);
  let state: DatabaseState | null = null;
  await attempt('database', () => {
    state = administration.inspect();
    const { bytes, schema, pendingSteps } = state;
    add('good', 'database', `${path}, ${(bytes / MIB).toFixed(1)} MiB, schema ${schema}`);
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
  await attempt('files', async () => {
    const { files } = configuration;
    if (files?.kind === 's3') {
      await checkFiles(configuration);
      add('good', 'files', `the bucket ${files.bucket} responds`);
    }
    await checkOwner(configuration, path);
  });
  await attempt('disk', () => {
    const space = diskSpaceOf(dirname(path));
    const state = diskStateOf(space);
    add(state === 'good' ? 'good' : state === 'low' ? 'advice' : 'problem', 'disk', describeSpace(space));
  });
  if (isThorough) await examineContents(path, examination);
}

async function examineContents(path: string, { configuration, add, attempt }: Examination): Promise<void> {
  await attempt('integrity', () => {
    const damage = administerDatabase(path).findDamage();
    if (damage.length === 0) add('good', 'integrity', 'all pages of the database are valid');
    for (const line of damage) add('problem', 'integrity', line);
  });
  await attempt('files', async () => {
    // A bucket has been checked before.
    if (configuration.files?.kind !== 's3') await checkFiles(configuration);
    const { count, missing } = await findMissingFiles(configuration);
    if (missing.length === 0) add('good', 'files', `the content of ${counted(count, 'file')} exists`);
    else
      add(
        'problem',
        'files',
        `the content of ${missing.length} of ${counted(count, 'file')} is missing, such as ${missing[0]}`,
      );
  });
}

async function examineServer(url: string, examination: Examination): Promise<void> {
  const { configuration, add, attempt } = examination;
  const { examinePostgres, inspectPostgres, SESSIONS_PER_SERVER } = await import('@parley/postgres');
  await attempt('database', async () => {
    const { schema, pendingSteps, secretFingerprint } = await inspectPostgres(url);
    if (pendingSteps.length === 0) add('good', 'schema', `${schema}, that of this version`);
    else add('problem', 'schema', `${pendingSteps.length} migration steps are pending: run parley migrate`);
    for (const { level, subject, text } of findingsOn(await examinePostgres(url), SESSIONS_PER_SERVER))
      add(level, subject, text);
    await attempt('secret', () =>
      examineSecret(
        examination,
        secretFingerprint,
        'there is none: every server needs the same one (PARLEY_SECRET_FILE)',
      ),
    );
  });
  const { busLocation, files } = configuration;
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
  await attempt('files', async () => {
    if (files === null) throw new Error('PARLEY_FILES must name a bucket, or a folder for one server');
    await checkFiles(configuration);
    const isBucket = files.kind === 's3';
    add('good', 'files', isBucket ? `the bucket ${files.bucket} responds` : `the folder ${files.path}, for one server`);
  });
}

/** @throws Error if other databases use the location of files */
async function checkOwner(configuration: Configuration, path: string): Promise<void> {
  const state = await filesStateOf(configuration, identityOf(path));
  if (state === 'shared') {
    const others = sharersOf(path).join(', ');
    throw new Error(`${SHARED_ADVICE}${others && ` (${others})`}; until then, unused files are not removed`);
  }
  if (state !== 'own' && state !== 'free') throw notOwn(configuration, state);
}

/** Tests the store even if there are no files yet. @throws Error */
async function checkFiles(configuration: Configuration): Promise<void> {
  const store = blobStoreOf(configuration);
  if (store instanceof S3BlobStore) await store.check();
  else await store.sizeOf('0'.repeat(32) as BlobKey);
}

async function findMissingFiles(configuration: Configuration) {
  const blobs = blobStoreOf(configuration);
  const { path } = sqliteOf(configuration, 'parley doctor');
  const missing: string[] = [];
  let count = 0;
  for (const { blob, size } of listBlobs(path)) {
    count++;
    if ((await blobs.sizeOf(blob as BlobKey)) !== size) missing.push(blob);
  }
  return { count, missing };
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
