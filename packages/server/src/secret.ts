import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { type Configuration, StartupError } from './config.js';

/** Where the secret is kept when the environment holds none. */
export function secretPathFor(databasePath: string): string {
  const beside = `${databasePath}.secret`;
  // Whatever name the database is reached by, it has one secret.
  return existsSync(databasePath) && !existsSync(beside) ? `${realpathSync(databasePath)}.secret` : beside;
}

/**
 * The server's secret: the configured one, else that of the file beside the database, which is made when there is none.
 * @throws StartupError when the file cannot be read or made.
 */
export function loadSecret({ secret, database }: Pick<Configuration, 'secret' | 'database'>): string {
  if (secret !== null) return secret;
  const path = secretPathFor(database.path);
  try {
    return readSecret(path) ?? makeSecret(path);
  } catch (error) {
    if (error instanceof StartupError) throw error;
    throw new StartupError(`Cannot read or write the secret ${path}: ${(error as Error).message}`);
  }
}

function readSecret(path: string): string | null {
  let secret: string;
  try {
    secret = readFileSync(path, 'utf8').trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
  if (secret.length < 32) {
    throw new StartupError(`${path} holds no secret; remove the file to get a new one (everybody is signed out then).`);
  }
  return secret;
}

function makeSecret(path: string): string {
  const secret = randomBytes(32).toString('base64url');
  try {
    writeFileSync(path, `${secret}\n`, { mode: 0o600, flag: 'wx', flush: true });
  } catch (error) {
    // Another process was quicker.
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return readSecret(path)!;
    throw error;
  }
  chmodSync(path, 0o600); // whatever the umask
  return secret;
}
