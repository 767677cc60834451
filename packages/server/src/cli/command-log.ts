import { appendFileSync, renameSync, statSync } from 'node:fs';
import { userInfo } from 'node:os';
import type { Invocation } from '../configuration/read-configuration.js';
import { NO_OBJECT, type RecordedOperation } from '../observation/audit-trail.js';
import { realmObject, userObject } from '../observation/audited-objects.js';
import type { Change, Command, CommandContext } from './command.js';
import { hasDatabase } from './databases.js';

/** Size at which the file is rotated; one previous file is kept. */
const MAX_BYTES = 10_000_000;

interface LoggedCommand {
  readonly command: Command;
  readonly invocation: Invocation;
  /** Error code; null for success. */
  readonly error: string | null;
  readonly changes: Readonly<Record<string, Change>> | undefined;
}

/**
 * Appends an audit line for a command that may change or reveal something. Commands do not write to the server's log,
 * so the line goes to a file next to the database, or to standard error with a database server. Returns a description
 * of a failed write, which does not undo the command.
 */
export function logCommand(
  { command, invocation, error, changes }: LoggedCommand,
  print: (line: string) => void,
): string | null {
  const { positionals, flags } = invocation;
  if (command.isReadOnly?.(flags) || !hasDatabase(invocation)) return null;
  const line = {
    level: 'warn',
    time: new Date().toISOString(),
    audit: 'command',
    command: command.name,
    operator: operatorOf(),
    target: positionals,
    // Settings are omitted, since they are the same for all commands.
    options: Object.fromEntries([...flags].filter(([name]) => name in { ...command.flags, 'accept-new-secret': true })),
    ...(changes && { changes }),
    result: error ?? 'done',
  };
  const { database } = invocation.configuration;
  if (database.kind !== 'sqlite') {
    print(JSON.stringify(line));
    return null;
  }
  const path = commandLogOf(database.path);
  try {
    if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) >= MAX_BYTES) renameSync(path, `${path}.1`);
    appendFileSync(path, `${JSON.stringify(line)}\n`, { mode: 0o600 });
    return null;
  } catch (problem) {
    return `The audit line of this command could not be written to ${path}: ${(problem as Error).message}`;
  }
}

export const commandLogOf = (databasePath: string): string => `${databasePath}.commands.log`;

/** Describes a command for the rows of the audit log. A command that only reveals data is recorded too. */
export const auditOf = ({ name }: Command, concerns: CommandContext['concerns']): RecordedOperation => ({
  ...{ action: `parley ${name}`, actorId: null, program: 'command', programName: operatorOf(), target: {} },
  read: (repositories, realmId) => {
    const { userId } = concerns;
    const read = userId !== undefined ? userObject(userId) : name.startsWith('realm ') ? realmObject : NO_OBJECT;
    return read(repositories, realmId);
  },
  get reads() {
    return concerns.realmId;
  },
});

/** Returns the user who called `sudo`, or the system user. */
function operatorOf(): string {
  if (process.env.SUDO_USER) return process.env.SUDO_USER;
  try {
    return userInfo().username;
  } catch {
    // The uid has no user name, as in some containers.
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}
