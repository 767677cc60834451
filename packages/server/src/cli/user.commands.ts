import { ROLES } from '@parley/domain/access';
import {
  EraseUser,
  IssuePasswordLink,
  IssueUserKey,
  isErased,
  RegisterUser,
  SetUserActive,
  SetUserEmail,
  SetUserName,
  SetUserPassword,
  SetUserRole,
} from '@parley/domain/membership';
import { GrantSpecialPermission, type SpecialPermission, type User } from '@parley/domain/users';
import { ListEarlierExports, PersonReader } from '@parley/transfer/exports';
import type { ComposedParley } from '../composition/parley.js';
import { zuliprcOf } from '../demo/create-demo.js';
import { writeWhole } from '../exports/write-exports.js';
import { presentErasure } from '../facade/people.js';
import { personArchive } from '../facade/person-archive.js';
import { StartupError, UsageError } from '../kernel/startup-error.js';
import { always, type Command, type CommandContext, type CommandFlag } from './command.js';
import { BY_USER, nameOf, realmCommand, userCommand } from './command-subjects.js';
import { requireDatabase } from './databases.js';
import { newFile } from './export.commands.js';
import { importPeople, parseRole, readPeople } from './import-people.js';
import { timeOf } from './listed-lines.js';

const PERMISSIONS: Readonly<Record<string, SpecialPermission>> = {
  can_create_users: 'canCreateUsers',
  can_change_user_emails: 'canChangeUserEmails',
  can_hold_messages: 'canHoldMessages',
};

const PASSWORD: Readonly<Record<string, CommandFlag>> = {
  'password-stdin': {
    help: 'reads the password from standard input; without a password, the user cannot log in by password',
  },
};

/** User fields in responses, reduced to those that operators need. */
const presentUser = (user: User) => ({
  id: user.id,
  email: user.email,
  name: user.fullName,
  role: user.role,
  active: user.isActive,
  bot: user.bot?.kind ?? null,
});

const lineOf = ({ id, email, fullName, role, isActive, bot }: User): string =>
  `${id}\t${role}${bot ? ' (bot)' : ''}${isActive ? '' : ' (deactivated)'}\t${email}\t${fullName}`;

/** Number of users per page. */
const PAGE = 500;

const keyOf = ({ useCase }: ComposedParley, { realmId, id }: User, rotates: boolean): Promise<string> =>
  useCase(IssueUserKey).execute({ realmId, userId: id, rotates });

const setActive =
  (isActive: boolean): Parameters<typeof userCommand>[0]['run'] =>
  async ({ parley, user }) => {
    const changed = await parley.useCase(SetUserActive).execute({ realmId: user.realmId, userId: user.id, isActive });
    const state = isActive ? 'active' : 'deactivated';
    const who = `${user.fullName} <${user.email}>`;
    return {
      ...(changed && { changes: { active: { from: !isActive, to: isActive } } }),
      lines: [changed ? `${who} is now ${state}` : `${who} was already ${state}`],
      data: { ...presentUser({ ...user, isActive }), changed },
    };
  };

/** Reads a password from standard input; null without `--password-stdin`. */
async function readPassword({ invocation, terminal, isOn }: CommandContext): Promise<string | null> {
  if (!isOn('password-stdin')) return null;
  // Checked before the command waits for a password.
  requireDatabase(invocation);
  const password = (await terminal.readInput()).replace(/\r?\n$/, '');
  if (password === '') throw new StartupError('Standard input contained no password.');
  return password;
}

export const USER_COMMANDS: readonly Command[] = [
  realmCommand({
    name: 'user list',
    help: 'lists users: id, role, email and name',
    flags: {
      role: { value: 'ROLE', help: `only users of this role: ${ROLES.join(', ')}` },
      deactivated: { help: 'includes deactivated users' },
      bots: { help: 'includes bots' },
    },
    examples: ['parley user list', 'parley user list --role owner --json'],
    isReadOnly: always,
    input: ({ flag }) => (flag('role') === undefined ? null : parseRole(flag('role')!)),
    async run({ parley, realm, isOn }, role) {
      const isWanted = (user: User): boolean =>
        (isOn('bots') || user.bot === null) &&
        (isOn('deactivated') || user.isActive) &&
        (role === null || user.role === role);
      const found = await parley.ports.unitOfWork.read(realm.id, async ({ users }) => {
        const entries = await users.listEntries(realm.id);
        const wanted: User[] = [];
        for (let start = 0; start < entries.length; start += PAGE) {
          const ids = entries.slice(start, start + PAGE).map(({ id }) => id);
          wanted.push(...(await users.list(realm.id, ids)).filter(isWanted));
        }
        return wanted;
      });
      return { lines: found.map(lineOf), data: { users: found.map(presentUser) } };
    },
  }),
  userCommand({
    name: 'user show',
    help: 'shows a user',
    examples: ['parley user show ann@example.com'],
    isReadOnly: always,
    async run({ parley: { ports }, user, realm }) {
      const details = await ports.unitOfWork.read(realm.id, async ({ users, groups }) => ({
        hasPassword: (await users.findPasswordHash(realm.id, user.id)) !== null,
        groups: (await groups.list(realm.id, await groups.listDirectIds(realm.id, user.id))).flatMap(
          ({ name }) => name ?? [],
        ),
      }));
      const joined = timeOf(user.joinedAt);
      const permissions = Object.keys(PERMISSIONS).filter((name) =>
        user.specialPermissions.includes(PERMISSIONS[name]!),
      );
      return {
        lines: [
          `${user.fullName} <${user.email}>, user ${user.id} of ${nameOf(realm)}`,
          `role: ${user.role}${user.bot ? ` (${user.bot.kind} bot)` : ''}${user.isActive ? '' : ', deactivated'}`,
          `joined: ${joined}`,
          `password: ${details.hasPassword ? 'set' : 'none'}`,
          `groups: ${details.groups.join(', ')}`,
          ...(permissions.length > 0 ? [`granted: ${permissions.join(', ')}`] : []),
        ],
        data: { ...presentUser(user), joined, granted: permissions, ...details },
      };
    },
  }),
  realmCommand({
    name: 'user create',
    words: 'EMAIL NAME',
    help: 'creates a user and prints the API key',
    flags: {
      role: { value: 'ROLE', help: `${ROLES.join(', ')}; default: member` },
      ...PASSWORD,
    },
    examples: [
      "parley user create ann@example.com 'Ann Lee' --role owner",
      "parley user create ann@example.com 'Ann Lee' --password-stdin < password.txt",
    ],
    input: async (context) => ({
      role: parseRole(context.flag('role') ?? 'member'),
      password: await readPassword(context),
    }),
    async run({ parley, realm, word }, { role, password }) {
      const input = { realmId: realm.id, email: word(0), fullName: word(1), role, password };
      const user = await parley.useCase(RegisterUser).execute(input);
      const apiKey = await keyOf(parley, user, false);
      return {
        lines: [
          `Created ${user.fullName} <${user.email}>, ${role} of ${nameOf(realm)}, user ${user.id}`,
          `API key: ${apiKey}`,
        ],
        data: { ...presentUser(user), apiKey },
      };
    },
  }),
  userCommand({
    name: 'user set-role',
    words: 'EMAIL ROLE',
    help: 'changes the role of a user',
    examples: ['parley user set-role ann@example.com administrator'],
    input: ({ word }) => parseRole(word(1)),
    async run({ parley, user: { realmId, id, role: from }, realm }, role) {
      const user = await parley.useCase(SetUserRole).execute({ realmId, userId: id, role });
      return {
        changes: { role: { from, to: role } },
        lines: [`${user.fullName} <${user.email}> is now ${role} of ${nameOf(realm)}`],
        data: presentUser(user),
      };
    },
  }),
  userCommand({
    name: 'user rename',
    words: 'EMAIL NAME',
    help: 'renames a user',
    examples: ["parley user rename ann@example.com 'Ann Miller'"],
    async run({ parley, user: { realmId, id, fullName: from }, word }) {
      const user = await parley.useCase(SetUserName).execute({ realmId, userId: id, fullName: word(1) });
      return {
        changes: { name: { from, to: user.fullName } },
        lines: [`Renamed ${user.email} to ${user.fullName}`],
        data: presentUser(user),
      };
    },
  }),
  userCommand({
    name: 'user set-email',
    words: 'EMAIL ADDRESS',
    help: 'changes the email of a user without sending a notification',
    examples: ['parley user set-email ann@example.com ann.lee@example.com'],
    async run({ parley, user: { realmId, id, email: from }, word }) {
      const user = await parley.useCase(SetUserEmail).execute({ realmId, userId: id, email: word(1) });
      return {
        changes: { email: { from, to: user.email } },
        lines: [`Changed the email of ${user.fullName} from ${from} to ${user.email}`],
        data: presentUser(user),
      };
    },
  }),
  userCommand({
    name: 'user deactivate',
    help: 'deactivates a user and their bots; their data stays',
    examples: ['parley user deactivate ann@example.com'],
    run: setActive(false),
  }),
  userCommand({
    name: 'user reactivate',
    help: 'reactivates a deactivated user',
    examples: ['parley user reactivate ann@example.com'],
    run: setActive(true),
  }),
  userCommand({
    name: 'user erase',
    words: 'ID',
    help: 'erases a person for good; messages stay, with the author “Deleted user”, unless --everything-written is given',
    details: [
      'ID is the id of a user; see parley user show. The name, email, settings, drafts, sessions and everything else about the person',
      'are deleted, mentions become “Deleted user”, and the email may be used anew. The command asks for the name on standard input. A',
      'running server does the work in the background. Backups and exports made before still contain the person.',
    ].join('\n'),
    flags: {
      'everything-written': {
        help: 'also deletes all messages, reactions and answers to polls of the person, so that nobody can restore them',
      },
      yes: { help: 'does not ask for the name' },
    },
    examples: [
      'parley user erase 12',
      'parley user erase 12 --everything-written',
      'parley user erase 12 --realm shop --yes',
    ],
    input({ word }) {
      // The audit line of the command contains its arguments.
      if (!/^\d+$/.test(word(0))) throw new UsageError('ID must be a number; see parley user show.');
      return word(0);
    },
    async run({ parley, user, realm, isOn, terminal }, id) {
      const { realmId, id: userId, fullName } = user;
      const { useCase } = parley;
      const everythingWritten = isOn('everything-written');
      if (!isOn('yes') && !isErased(user)) {
        terminal.err(`Type the name of user ${id} of ${nameOf(realm)} to erase the person, and end the input:`);
        if ((await terminal.readInput()).trim() !== fullName) {
          throw new StartupError('This is not the name of the user. Nothing was erased.');
        }
      }
      const stored = await useCase(EraseUser).execute({ realmId, user: { userId }, everythingWritten });
      const erasure = presentErasure(stored, await useCase(ListEarlierExports).execute(realmId, stored.requestedAt));
      const { removedRows, changedTexts, endedAt, exportedAt, heldTexts } = erasure;
      const state = endedAt
        ? `Erased user ${id}: ${removedRows} rows deleted, ${changedTexts} texts changed`
        : `Erased the identity of user ${id}. The server deletes the rest; repeat the command to see whether it has ended`;
      const exports = exportedAt.map(
        (at) => `The export of ${at.toISOString()} contains the person until it expires or an administrator deletes it`,
      );
      const held =
        heldTexts > 0 ? [`${heldTexts} texts are held; the erasure continues when the hold is released`] : [];
      return { lines: [state, ...held, ...exports], data: erasure };
    },
  }),
  userCommand({
    name: 'user set-password',
    help: 'sets or clears the password of a user; the password rules of the API apply',
    flags: { ...PASSWORD, clear: { help: 'removes the password' } },
    examples: [
      'parley user set-password ann@example.com --password-stdin < password.txt',
      'parley user set-password ann@example.com --clear',
    ],
    input(context) {
      if (context.isOn('clear') === context.isOn('password-stdin')) {
        throw new UsageError('Pass either --password-stdin or --clear.');
      }
      return readPassword(context);
    },
    async run({ parley, user }, password) {
      await parley.useCase(SetUserPassword).execute({ realmId: user.realmId, userId: user.id, password });
      const hasPassword = password !== null;
      return {
        lines: [`${user.fullName} <${user.email}> ${hasPassword ? 'has a new password' : 'no longer has a password'}`],
        data: { ...presentUser(user), hasPassword },
      };
    },
  }),
  userCommand({
    name: 'user password-link',
    help: 'prints a link for setting a new password, for servers that cannot send email',
    details: `${BY_USER} The link works once and expires after one day. It begins with PARLEY_URL.`,
    examples: ['parley user password-link ann@example.com --url https://chat.example.com'],
    async run({ parley: { useCase }, user }) {
      const { url, expiresAt } = await useCase(IssuePasswordLink).execute({ realmId: user.realmId, userId: user.id });
      return { lines: [url], data: { ...presentUser(user), url, expires: timeOf(expiresAt) } };
    },
  }),
  userCommand({
    name: 'user api-key',
    help: 'prints the API key of a user',
    flags: {
      rotate: { help: 'issues a new API key and revokes the old one' },
      zuliprc: { help: "prints a zuliprc file for Zulip's clients, libraries and bots" },
    },
    examples: [
      'parley user api-key ann@example.com',
      'parley user api-key build-bot@example.com --rotate',
      'parley user api-key build-bot@example.com --zuliprc > zuliprc',
    ],
    async run({ parley, user, realm, isOn }) {
      const key = await keyOf(parley, user, isOn('rotate'));
      const site = parley.ports.realmUrls.urlOf(realm);
      const lines = isOn('zuliprc') ? zuliprcOf({ email: user.email, apiKey: key, site }) : [key];
      return { lines, data: { ...presentUser(user), apiKey: key } };
    },
  }),
  userCommand({
    name: 'user grant',
    words: 'EMAIL PERMISSION',
    help: 'grants can_create_users to an administrator, or can_change_user_emails or can_hold_messages to an owner',
    examples: ['parley user grant ann@example.com can_create_users'],
    input({ word }) {
      const permission = Object.hasOwn(PERMISSIONS, word(1)) ? PERMISSIONS[word(1)] : undefined;
      if (!permission) throw new UsageError(`PERMISSION must be one of ${Object.keys(PERMISSIONS).join(', ')}.`);
      return permission;
    },
    async run({ parley, user: { realmId, email }, realm, word }, permission) {
      const user = await parley.useCase(GrantSpecialPermission).execute({ realmId, email, permission });
      return {
        lines: [`Granted ${word(1)} to ${user.fullName} of ${nameOf(realm)}`],
        data: { ...presentUser(user), granted: word(1) },
      };
    },
  }),
  userCommand({
    name: 'user export',
    words: 'EMAIL FILE',
    help: 'writes everything that is stored about a user to a ZIP file',
    details: [
      BY_USER,
      'The file has the account, the messages of the user, their direct conversations, reactions and files, but no passwords or',
      'keys. Open index.html in it to read them. The server may be running.',
    ].join('\n'),
    examples: ['parley user export ann@example.com ann.zip'],
    input: (context) => newFile(context, 1),
    async run({ parley, user }, path) {
      await writeWhole(path, personArchive(parley.useCase(PersonReader), { realmId: user.realmId, userId: user.id }));
      return {
        lines: [`Exported everything about ${user.fullName} <${user.email}> to ${path}`],
        data: { ...presentUser(user), file: path },
      };
    },
  }),
  realmCommand({
    name: 'user import',
    words: 'FILE',
    help: 'creates users from a CSV file',
    details: [
      'The first line names the columns: email and name, optionally role and password. All lines are validated before the first',
      'user is created. Existing email addresses are skipped, so a file can be imported again.',
    ].join('\n'),
    flags: {
      invite: { help: 'emails a link for setting a password, valid for a day, to new users without a password' },
      'dry-run': { help: 'only validates the file and prints what would be done' },
    },
    examples: ['parley user import people.csv --dry-run', 'parley user import people.csv --invite'],
    isReadOnly: (flags) => flags.get('dry-run') === 'on',
    input: readPeople,
    run: importPeople,
  }),
];
