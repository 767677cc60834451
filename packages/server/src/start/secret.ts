import { randomBytes } from 'node:crypto';
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
import type { Configuration, SqliteLocation } from '../configuration/configuration.js';
import { formatSecret, isMarkedSecret, isPlainSecret, parseMarkedSecret } from '../kernel/secret-format.js';
import { StartupError, systemReasonOf } from '../kernel/startup-error.js';

type SecretSource = Pick<Configuration, 'secret' | 'database'>;

/** Path of the secret file for servers without a configured secret. */
export function secretPathFor(databasePath: string): string {
  const beside = `${databasePath}.secret`;
  // All paths to the same database share one secret.
  return existsSync(databasePath) && !existsSync(beside) ? `${realpathSync(databasePath)}.secret` : beside;
}

/**
 * Returns the configured secret or the one in the file next to the database; null if there is none yet. Changes
 * nothing. @throws StartupError if the file is damaged, accessible to others, or unreadable
 */
export function findSecret({ secret, database }: SecretSource): string | null {
  if (secret !== null || database.kind === 'postgres') return secret;
  const path = secretPathFor(database.path);
  return orRefuse(path, () => readSecret(path));
}

/**
 * Creates the secret file next to the database; a file created concurrently by another process wins. @throws
 * StartupError
 */
export function makeSecret({ database }: { readonly database: SqliteLocation }): string {
  const path = secretPathFor(database.path);
  return orRefuse(path, () => writeSecret(path));
}

/** @throws StartupError if the database was created with another secret, which would invalidate every API key */
export function requireSameSecret(source: SecretSource, secret: string | null, storedFingerprint: string | null): void {
  if (storedFingerprint === null) return;
  if (secret !== null && new HmacApiKeyMint(secret).secretFingerprint === storedFingerprint) return;
  const path = source.database.kind === 'sqlite' ? secretPathFor(source.database.path) : '';
  const problem =
    source.secret !== null || source.database.kind === 'postgres'
      ? 'PARLEY_SECRET is not the secret of the database; set the original one'
      : secret === null
        ? `The secret file ${path} of the database is missing: restore the file, set PARLEY_SECRET to its secret`
        : `The secret in ${path} is not the secret of the database; restore the original file`;
  throw new StartupError(
    `${problem}, or pass --accept-new-secret (acceptNewSecret in createParley), which changes every API key.`,
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

/** Rejects a file that others can access. They may know every API key, so the operator must decide how to react. */
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
    `The secret file ${path} is ${content === '' ? 'empty' : 'damaged'}. Restore it from a backup. Without a backup, ` +
      'remove it and pass --accept-new-secret, which changes every API key.',
  );
}

/** Writes a temporary file and links it, so that no other process and no start after a crash finds a partial file. */
function writeSecret(path: string): string {
  const secret = randomBytes(32).toString('base64url');
  const draft = `${path}.${process.pid}-${randomBytes(6).toString('hex')}`;
  try {
    const descriptor = openSync(draft, 'wx', 0o600);
    try {
      fchmodSync(descriptor, 0o600); // regardless of the umask
      writeSync(descriptor, formatSecret(secret));
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    linkSync(draft, path);
  } catch (error) {
    // Another process may have created the secret concurrently.
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return readSecret(path)!;
    throw error;
  } finally {
    if (existsSync(draft)) unlinkSync(draft);
  }
  syncFolder(dirname(path));
  return secret;
}

/** Makes the directory entry survive a power failure. */
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
    throw new StartupError(`Cannot read or write the secret ${path}: ${systemReasonOf(error)}`);
  }
}
