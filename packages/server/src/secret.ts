import { createHash, randomBytes } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fchmodSync,
  fstatSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  realpathSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { HmacApiKeyMint } from '@parley/node-adapters';
import type { Configuration } from './configuration/configuration.js';
import { StartupError } from './startup-error.js';

/**
 * Prefix of a secret file, followed by the checksum and the secret. It comes first to tell a truncated file from an
 * older file without a checksum.
 */
const MARK = 'parley-secret sha256:';
const MIN_LENGTH = 32;
const CHECKSUM_LENGTH = 64;
/** Length of mark, 64 digits, a space and 32 bytes in base64. A file of this length with another prefix is damaged. */
const MARKED_LENGTH = MARK.length + CHECKSUM_LENGTH + 1 + 43;

const checksumOf = (secret: string): string => createHash('sha256').update(secret).digest('hex');

/** Formats a secret for its file. */
export const formatSecret = (secret: string): string => `${MARK}${checksumOf(secret)} ${secret}\n`;

export const isMarkedSecret = (content: string): boolean => content.startsWith(MARK);

/** Returns the secret in the content of a marked file; null if it is damaged. */
export function parseMarkedSecret(content: string): string | null {
  const checksum = content.slice(MARK.length, MARK.length + CHECKSUM_LENGTH);
  const secret = content.slice(MARK.length + CHECKSUM_LENGTH + 1);
  const isSeparated = content[MARK.length + CHECKSUM_LENGTH] === ' ';
  return isSeparated && secret !== '' && checksumOf(secret) === checksum ? secret : null;
}

/** True for a secret file without a checksum, as earlier versions wrote it. */
export const isPlainSecret = (content: string): boolean =>
  content.length >= MIN_LENGTH && content.length !== MARKED_LENGTH && /^[\x20-\x7e]+$/.test(content);

type SecretSource = Pick<Configuration, 'secret' | 'database'>;

/** Path of the secret file for servers without a configured secret. */
export function secretPathFor(databasePath: string): string {
  const beside = `${databasePath}.secret`;
  // All paths that lead to the same database share one secret.
  return existsSync(databasePath) && !existsSync(beside) ? `${realpathSync(databasePath)}.secret` : beside;
}

/**
 * Returns the configured secret, else that of the file beside the database; null if there is none yet. Changes
 * nothing. @throws StartupError if the file is damaged, accessible to others, or unreadable
 */
export function findSecret({ secret, database }: SecretSource): string | null {
  if (secret !== null) return secret;
  const path = secretPathFor(database.path);
  return orRefuse(path, () => readSecret(path));
}

/**
 * Creates the secret file beside the database; a file that another process created meanwhile wins. @throws
 * StartupError
 */
export function makeSecret({ database }: SecretSource): string {
  const path = secretPathFor(database.path);
  return orRefuse(path, () => writeSecret(path));
}

/** @throws StartupError if the database was made with another secret, which would invalidate every API key */
export function requireSameSecret(source: SecretSource, secret: string | null, storedFingerprint: string | null): void {
  if (storedFingerprint === null) return;
  if (secret !== null && new HmacApiKeyMint(secret).secretFingerprint === storedFingerprint) return;
  const path = secretPathFor(source.database.path);
  const problem =
    source.secret !== null
      ? 'PARLEY_SECRET is another one than the database was made with; set it as it was'
      : secret === null
        ? `The database was made with a secret that is not in ${path}: put that file back, or set PARLEY_SECRET as it was`
        : `The secret in ${path} is another one than the database was made with; put back the file that belongs to it`;
  throw new StartupError(
    `${problem}, or say --accept-new-secret (acceptNewSecret in createParley): everybody gets a new API key then.`,
  );
}

function readSecret(path: string): string | null {
  let descriptor: number;
  try {
    descriptor = openSync(path, 'r');
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return null;
    throw error;
  }
  try {
    requirePrivate(path, fstatSync(descriptor).mode);
    return parseSecretFile(path, readFileSync(descriptor, 'utf8'));
  } finally {
    closeSync(descriptor);
  }
}

/** Rejects a file that others can access. They may know every API key, so the operator must decide what to do. */
function requirePrivate(path: string, mode: number): void {
  // Windows does not have these modes.
  if (process.platform === 'win32' || (mode & 0o077) === 0) return;
  throw new StartupError(
    `Others on this machine can read the secret (mode ${(mode & 0o777).toString(8)}): run chmod 600 ${path}`,
  );
}

function parseSecretFile(path: string, text: string): string {
  const content = text.trim();
  const secret = isMarkedSecret(content) ? parseMarkedSecret(content) : isPlainSecret(content) ? content : null;
  if (secret !== null) return secret;
  throw new StartupError(
    `The secret file ${path} is ${content === '' ? 'empty' : 'damaged'}. Restore it from a backup; without one, remove it ` +
      'and say --accept-new-secret: everybody gets a new API key then.',
  );
}

/**
 * Writes a temporary file and links it, so that neither another process nor a start after a crash finds a partial
 * file.
 */
function writeSecret(path: string): string {
  const secret = randomBytes(32).toString('base64url');
  const draft = `${path}.${process.pid}-${randomBytes(6).toString('hex')}`;
  try {
    const descriptor = openSync(draft, 'wx', 0o600);
    try {
      fchmodSync(descriptor, 0o600); // whatever the umask
      writeSync(descriptor, formatSecret(secret));
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    linkSync(draft, path);
  } catch (error) {
    // Another process may have created the folder first.
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return readSecret(path)!;
    throw error;
  } finally {
    if (existsSync(draft)) unlinkSync(draft);
  }
  syncFolder(dirname(path));
  return secret;
}

/** Makes the directory entry survive a power failure, like the content. */
function syncFolder(path: string): void {
  // Windows cannot open folders.
  if (process.platform === 'win32') return;
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function orRefuse<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof StartupError) throw error;
    throw new StartupError(`Cannot read or write the secret ${path}: ${(error as Error).message}`);
  }
}
