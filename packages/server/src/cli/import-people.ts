import { ROLES, type Role } from '@parley/domain/access';
import { DomainError } from '@parley/domain/kernel';
import { RegisterUser } from '@parley/domain/membership';
import type { ComposedParley } from '../composition/parley.js';
import { counted } from '../kernel/counted.js';
import { StartupError, UsageError } from '../kernel/startup-error.js';
import { type CommandContext, type CommandResult, explained } from './command.js';
import { nameOf, type OnRealm } from './command-subjects.js';
import { type CsvRow, readCsvFile } from './csv-file.js';
import { requireDatabase } from './databases.js';

/** @throws UsageError */
export function parseRole(text: string): Role {
  const role = ROLES.find((it) => it === text);
  if (!role) throw new UsageError(`The role must be one of ${ROLES.join(', ')}.`);
  return role;
}

const COLUMNS = ['email', 'name', 'role', 'password'] as const;
type Column = (typeof COLUMNS)[number];
const REQUIRED: readonly Column[] = ['email', 'name'];

/** Maximum number of users in one file. */
export const MAX_IMPORTED_PEOPLE = 10_000;
/** Maximum number of mistakes to report. */
const MAX_TOLD = 20;

interface Person {
  /** Line number in the file. */
  readonly line: number;
  readonly email: string;
  readonly fullName: string;
  readonly role: Role;
  readonly password: string | null;
}

/** Reads the users of a file. @throws StartupError */
export async function readPeople({ invocation, word }: CommandContext): Promise<readonly CsvRow[]> {
  requireDatabase(invocation);
  const path = word(0);
  const rows = await readCsvFile(path, COLUMNS, REQUIRED);
  if (rows.length > MAX_IMPORTED_PEOPLE) {
    throw new StartupError(`${path} has more than ${MAX_IMPORTED_PEOPLE} users; split it into several files.`);
  }
  return rows;
}

/** Imports users. Validates everything before adding anyone; existing users remain unchanged. */
export async function importPeople({ parley, realm, isOn }: OnRealm, rows: readonly CsvRow[]): Promise<CommandResult> {
  const register = parley.useCase(RegisterUser);
  const people = checkedPeople(rows, register);
  const taken = await existingAddresses(parley, realm.id, people);
  const newcomers = people.filter(({ email }) => !taken.has(email.toLowerCase()));
  const isDryRun = isOn('dry-run');
  const invites = isOn('invite');
  const created: { readonly id: number; readonly email: string }[] = [];
  if (!isDryRun) {
    for (const { line, ...person } of newcomers) {
      try {
        const { id, email } = await register.execute({
          realmId: realm.id,
          ...person,
          sendsPasswordLink: invites && person.password === null,
        });
        created.push({ id, email });
      } catch (error) {
        if (!(error instanceof DomainError)) throw error;
        const added = `${counted(created.length, 'user')} added before this line; fix the file and import it again.`;
        throw new StartupError(`line ${line} (${person.email}): ${explained(error)} ${added}`);
      }
    }
  }
  const existing = people.length - newcomers.length;
  const invited = invites ? newcomers.filter(({ password }) => password === null).length : 0;
  return {
    lines: [
      `${isDryRun ? `Would add ${counted(newcomers.length, 'user')}` : `Added ${counted(created.length, 'user')}`} to ${nameOf(realm)}; ${existing} already existed`,
      ...(invited > 0
        ? [`${isDryRun ? 'Would email' : 'The server emails'} links for setting a password to ${invited} of them`]
        : []),
    ],
    data: isDryRun
      ? { wouldCreate: newcomers.map(({ email }) => ({ email })), existing, invited }
      : { created, existing, invited },
  };
}

/** @throws StartupError listing all lines with mistakes */
function checkedPeople(rows: readonly CsvRow[], register: Pick<RegisterUser, 'check'>): readonly Person[] {
  const problems: string[] = [];
  const seen = new Map<string, number>();
  const people: Person[] = [];
  for (const row of rows) {
    const { line, email = '', name = '', role, password } = row;
    try {
      const person = { email, fullName: name, role: parseRole(role || 'member'), password: password || null };
      register.check(person);
      const before = seen.get(email.toLowerCase());
      if (before !== undefined) throw new StartupError(`same email as line ${before}.`);
      seen.set(email.toLowerCase(), line);
      people.push({ line, ...person });
    } catch (error) {
      if (!(error instanceof DomainError || error instanceof StartupError)) throw error;
      problems.push(`line ${line} (${email}): ${explained(error)}`);
    }
  }
  if (problems.length === 0) return people;
  const more = problems.length > MAX_TOLD ? [`and ${problems.length - MAX_TOLD} more`] : [];
  throw new StartupError(['No users were added.', ...problems.slice(0, MAX_TOLD), ...more].join('\n'));
}

const LOOKED_UP_AT_ONCE = 500;

async function existingAddresses(
  { ports }: ComposedParley,
  realmId: Parameters<RegisterUser['execute']>[0]['realmId'],
  people: readonly Person[],
): Promise<ReadonlySet<string>> {
  const taken = new Set<string>();
  for (let start = 0; start < people.length; start += LOOKED_UP_AT_ONCE) {
    const emails = people.slice(start, start + LOOKED_UP_AT_ONCE).map(({ email }) => email);
    const found = await ports.unitOfWork.read(realmId, ({ users }) => users.listByEmail(realmId, emails));
    for (const { email } of found) taken.add(email.toLowerCase());
  }
  return taken;
}
