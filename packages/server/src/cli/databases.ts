import { rmSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { silentLogger } from '@parley/http';
import { HmacApiKeyMint } from '@parley/node-adapters';
import { administerDatabase } from '@parley/sqlite';
import type { ComposedParley } from '../composition/parley.js';
import { sqliteOf } from '../configuration/configuration.js';
import type { Invocation } from '../configuration/read-configuration.js';
import { rehashApiKeys } from '../http/authentication.js';
import { addressesOf } from '../http/http-server.js';
import { StartupError } from '../kernel/startup-error.js';
import { openParley } from '../start/open-parley.js';
import { findSecret, secretPathFor } from '../start/secret.js';
import type { CommandFlag } from './command.js';

/** Flag of commands that may create the database. */
export const NEW_DATABASE: Readonly<Record<string, CommandFlag>> = {
  'new-database': { help: 'creates the database if it does not exist' },
};

/** An empty file is none yet, such as one made by `touch` or a mount. @throws StartupError if it cannot be determined */
export function hasDatabase({ configuration }: Invocation): boolean {
  const { database } = configuration;
  if (database.kind === 'postgres') return true;
  const { path } = database;
  try {
    return (statSync(path, { throwIfNoEntry: false })?.size ?? 0) > 0;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EACCES') return false;
    throw new StartupError(
      `No permission to read ${dirname(resolve(path))}: run parley as the system user of the server.`,
    );
  }
}

/** Rejects a missing database, so that a command in the wrong folder does not create one. @throws StartupError */
export function requireDatabase(invocation: Invocation): void {
  if (hasDatabase(invocation) || invocation.flags.get('new-database') === 'on') return;
  const { path } = sqliteOf(invocation.configuration, 'This command');
  throw new StartupError(
    `There is no database at ${resolve(path)}. Set --database or PARLEY_DATABASE, or create one: ` +
      "parley realm create --new-database '' 'My organization'.",
  );
}

export const acceptsNewSecret = ({ flags }: Invocation): boolean => flags.get('accept-new-secret') === 'on';

/**
 * Opens the database, while a server may be running. With `--accept-new-secret`, accepts the secret after `work` has
 * succeeded. @throws StartupError if there is no database
 */
export async function withParley<T>(
  invocation: Invocation,
  work: (parley: ComposedParley) => Promise<T>,
  { adoptsFiles = false } = {},
): Promise<T> {
  requireDatabase(invocation);
  const { configuration } = invocation;
  const accepts = acceptsNewSecret(invocation);
  const makesSecret = accepts && hasDatabase(invocation) && findSecret(configuration) === null;
  try {
    const parley = await openParley(
      { ...configuration, ...addressesOf(configuration) },
      { logger: silentLogger, isOneOff: true, acceptsNewSecret: accepts, adoptsFiles },
    );
    try {
      const result = await work(parley);
      if (accepts) await rehashApiKeys(parley.ports.unitOfWork, parley.ports.apiKeyMint);
      return result;
    } finally {
      await parley.close();
    }
  } catch (error) {
    if (makesSecret) removeUnusedSecret(configuration);
    throw error;
  }
}

/** Removes the secret file created by a failed command, unless a server has accepted the secret by then. */
function removeUnusedSecret(configuration: Invocation['configuration']): void {
  const { database } = configuration;
  if (database.kind === 'postgres') return;
  const { path } = database;
  const secret = findSecret(configuration);
  const { secretFingerprint } = administerDatabase(path).inspect();
  if (secret === null || new HmacApiKeyMint(secret).secretFingerprint === secretFingerprint) return;
  rmSync(secretPathFor(path), { force: true });
}
