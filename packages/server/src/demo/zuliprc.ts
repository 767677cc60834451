import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Ports } from '@parley/domain/composition';
import type { UserId } from '@parley/domain/kernel';
import { StartupError } from '../startup-error.js';
import { DEMO_PEOPLE, DEMO_REALM } from './organization.js';

export interface DemoAccess {
  readonly email: string;
  readonly apiKey: string;
  /** What the file is called: `hamlet`. */
  readonly name: string;
}

/** How each of the demo's people signs in; those who are gone meanwhile are left out. */
export function listDemoAccess({
  unitOfWork,
  apiKeyMint,
}: Pick<Ports, 'unitOfWork' | 'apiKeyMint'>): Promise<DemoAccess[]> {
  return unitOfWork.read(async ({ realms, users, apiKeys }) => {
    const realm = await realms.findByStringId(DEMO_REALM.stringId);
    const access: DemoAccess[] = [];
    for (const { email } of realm ? DEMO_PEOPLE : []) {
      const user = await users.findByEmail(realm!.id, email);
      const record = user && (await apiKeys.find(realm!.id, user.id as UserId));
      if (record) access.push({ email, apiKey: apiKeyMint.derive(record), name: email.split('@')[0]!.toLowerCase() });
    }
    return access;
  });
}

/** The lines of what Zulip's clients and libraries read. */
export const zuliprcOf = ({ email, apiKey, site }: Record<'email' | 'apiKey' | 'site', string>): readonly string[] => [
  '[api]',
  `email=${email}`,
  `key=${apiKey}`,
  `site=${site}`,
];

/**
 * Writes a file for each that Zulip's clients and libraries read, for the owner of the process alone.
 * @throws StartupError when a file cannot be written.
 */
export function writeZuliprcFiles(directory: string, site: string, people: readonly DemoAccess[]): void {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    for (const { email, apiKey, name } of people) {
      const path = join(directory, name);
      writeFileSync(path, `${zuliprcOf({ email, apiKey, site }).join('\n')}\n`, { mode: 0o600 });
      chmodSync(path, 0o600); // it may have been there before, with another mode
    }
  } catch (error) {
    throw new StartupError(`Cannot write the demo users' zuliprc files: ${(error as Error).message}`);
  }
}
