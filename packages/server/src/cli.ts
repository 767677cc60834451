import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { ImportRealm } from '@parley/domain/exports';
import { IndexMessages, normalizeTopic, RestoreMessages, topicKey } from '@parley/domain/messages';
import { CreateRealm, checkNewRealm, ReactivateRealm, type Realm, takesServerAddress } from '@parley/domain/realms';
import { DomainError, type MessageId } from '@parley/domain/shared';
import { GrantSpecialPermission, RegisterUser, ROLES, type Role, type SpecialPermission } from '@parley/domain/users';
import { openExport } from '@parley/export-files';
import { silentLogger } from '@parley/http';
import { DatabaseRefused } from '@parley/sqlite';
import { type CommandFlags, describeSettings, type Invocation, readConfiguration, StartupError } from './config.js';
import { openParley } from './create-parley.js';
import { COLUMN_NAMES } from './exports/column-names.js';
import { exportToFile } from './exports/export-to-file.js';
import type { ComposedParley } from './parley.js';
import { serverAddressOf } from './realm-resolver.js';
import { startServer } from './serve.js';

/** Input and output of a command. */
export interface Terminal {
  out(line: string): void;
  err(line: string): void;
  /** All of standard input. */
  readInput(): Promise<string>;
  /** Resolves when somebody asks the process to end. */
  interrupted(): Promise<void>;
}

interface Command {
  readonly usage: string;
  readonly help: string;
  readonly flags: CommandFlags;
  /** How many words follow the command. */
  readonly words: number;
  run(invocation: Invocation, terminal: Terminal): Promise<void>;
}

const COMMANDS: Readonly<Record<string, Command>> = {
  serve: {
    usage: 'serve',
    help: 'listens until it is told to stop',
    flags: { 'accept-new-secret': 'switch' },
    words: 0,
    run: serve,
  },
  'create-realm': {
    usage: "create-realm STRING_ID NAME    ('' for the one at the public address)",
    help: 'adds an organization',
    flags: { 'accept-new-secret': 'switch' },
    words: 2,
    run: createRealm,
  },
  'reactivate-realm': {
    usage: 'reactivate-realm STRING_ID',
    help: 'lets people into an organization again that its owners have deactivated',
    flags: { 'accept-new-secret': 'switch' },
    words: 1,
    run: reactivateRealm,
  },
  'create-user': {
    usage: 'create-user EMAIL NAME [--realm STRING_ID] [--role ROLE] [--password-stdin]',
    help: 'adds a user and prints the API key; the password, if any, comes by standard input',
    flags: { realm: 'value', role: 'value', 'password-stdin': 'switch', 'accept-new-secret': 'switch' },
    words: 2,
    run: createUser,
  },
  'restore-messages': {
    usage:
      'restore-messages [--realm STRING_ID] [--channel NAME [--topic NAME]] [--message ID] [--since DATE] [--dry-run]',
    help: 'puts back deleted messages: all that were deleted since, of a channel or topic, or one',
    flags: {
      realm: 'value',
      channel: 'value',
      topic: 'value',
      message: 'value',
      since: 'value',
      'dry-run': 'switch',
      'accept-new-secret': 'switch',
    },
    words: 0,
    run: restoreMessages,
  },
  export: {
    usage: 'export FILE [--realm STRING_ID]',
    help: 'writes everything of an organization into a .tar.gz file that a server can import; the server may be running',
    flags: { realm: 'value', 'accept-new-secret': 'switch' },
    words: 1,
    run: exportRealm,
  },
  import: {
    usage: 'import FILE [--as STRING_ID]',
    help: 'makes an organization of an export, of Parley or of a Zulip server: a .tar.gz file or an unpacked folder',
    flags: { as: 'value', 'accept-new-secret': 'switch' },
    words: 1,
    run: importRealm,
  },
  grant: {
    usage: 'grant EMAIL PERMISSION [--realm STRING_ID]',
    help: 'gives an administrator can_create_users or an owner can_change_user_emails',
    flags: { realm: 'value', 'accept-new-secret': 'switch' },
    words: 2,
    run: grant,
  },
  'rebuild-search': {
    usage: 'rebuild-search',
    help: 'makes the index of searches anew; the server may be running, and finds the newest messages first meanwhile',
    flags: { 'accept-new-secret': 'switch' },
    words: 0,
    run: rebuildSearch,
  },
};

const PERMISSIONS: Readonly<Record<string, SpecialPermission>> = {
  can_create_users: 'canCreateUsers',
  can_change_user_emails: 'canChangeUserEmails',
};

/** Answers the exit code. An operator's mistake is reported in one line; a stack is for bugs. */
export async function runCommandLine(
  args: readonly string[],
  terminal: Terminal = processTerminal,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): Promise<number> {
  const [name, ...rest] = args;
  if (name === undefined || args.includes('--help') || args.includes('-h') || name === 'help') {
    terminal.out(describeUsage());
    return name === undefined ? 1 : 0;
  }
  try {
    const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
    if (!command) throw new StartupError(`There is no command ${name}; see parley --help.`);
    const invocation = readConfiguration(rest, environment, command.flags);
    if (invocation.positionals.length !== command.words) throw new StartupError(`Usage: parley ${command.usage}`);
    await command.run(invocation, terminal);
    return 0;
  } catch (error) {
    const isExpected =
      error instanceof StartupError || error instanceof DatabaseRefused || error instanceof DomainError;
    terminal.err(isExpected ? `parley: ${error.message}` : `parley: ${(error as Error).stack ?? error}`);
    return 1;
  }
}

function describeUsage(): string {
  const commands = Object.values(COMMANDS).map(({ usage, help }) => `  parley ${usage}\n      ${help}`);
  return `A team-chat server that speaks the Zulip REST API.\n\n${commands.join('\n')}\n\n${NEW_SECRET_HELP}\n\nSettings, as flags or in the environment:\n${describeSettings()}`;
}

const NEW_SECRET_HELP = `With any command:
  --accept-new-secret  goes on with another secret than the database was made with: everybody gets a new API key`;

const acceptsNewSecret = ({ flags }: Invocation): boolean => flags.get('accept-new-secret') === 'on';

async function serve(invocation: Invocation, terminal: Terminal): Promise<void> {
  // Listened for before anything starts: who stops it right away stops it in good order too.
  const interrupted = terminal.interrupted();
  const say = (line: string) => terminal.out(line);
  const server = await startServer(invocation.configuration, acceptsNewSecret(invocation), say);
  await interrupted;
  await server.stop();
}

async function createRealm(invocation: Invocation, terminal: Terminal): Promise<void> {
  const [stringId, name] = invocation.positionals as [string, string];
  // Before there is a file: what is refused leaves none.
  checkNewRealm({ stringId, name });
  if (!hasDatabase(invocation)) takesServerAddress(stringId, [], serverAddressOf(addressesOf(invocation)));
  await withParley(invocation, async ({ useCase, ports }) => {
    const realm = await useCase(CreateRealm).execute({ stringId, name });
    terminal.out(`Created organization ${describe(realm)}, reached at ${ports.realmUrls.urlOf(realm)}`);
  });
}

async function reactivateRealm(invocation: Invocation, terminal: Terminal): Promise<void> {
  const [stringId] = invocation.positionals as [string];
  requireDatabase(invocation);
  await withParley(invocation, async ({ useCase }) => {
    const wasDeactivated = await useCase(ReactivateRealm).execute({ stringId });
    terminal.out(
      wasDeactivated ? `Reactivated organization ${stringId}` : `Organization ${stringId} is in use already`,
    );
  });
}

async function createUser(invocation: Invocation, terminal: Terminal): Promise<void> {
  const [email, fullName] = invocation.positionals as [string, string];
  const role = parseRole(invocation.flags.get('role') ?? 'member');
  const hasPassword = invocation.flags.get('password-stdin') === 'on';
  const password = hasPassword ? (await terminal.readInput()).replace(/\r?\n$/, '') : null;
  if (password === '') throw new StartupError('There was no password in standard input.');
  requireDatabase(invocation);
  await withParley(invocation, async (parley) => {
    const realm = await findRealm(parley, invocation);
    const user = await parley.useCase(RegisterUser).execute({ realmId: realm.id, email, fullName, role, password });
    const { unitOfWork, apiKeyMint } = parley.ports;
    const record = await unitOfWork.read(({ apiKeys }) => apiKeys.find(realm.id, user.id));
    terminal.out(`Created ${user.fullName} <${user.email}>, ${role} of ${describe(realm)}, user ${user.id}`);
    terminal.out(`API key: ${apiKeyMint.derive(record!)}`);
  });
}

async function grant(invocation: Invocation, terminal: Terminal): Promise<void> {
  const [email, name] = invocation.positionals as [string, string];
  const permission = Object.hasOwn(PERMISSIONS, name) ? PERMISSIONS[name] : undefined;
  if (!permission) throw new StartupError(`PERMISSION is one of ${Object.keys(PERMISSIONS).join(', ')}.`);
  requireDatabase(invocation);
  await withParley(invocation, async (parley) => {
    const realm = await findRealm(parley, invocation);
    const user = await parley.useCase(GrantSpecialPermission).execute({ realmId: realm.id, email, permission });
    terminal.out(`Granted ${name} to ${user.fullName} of ${describe(realm)}`);
  });
}

async function restoreMessages(invocation: Invocation, terminal: Terminal): Promise<void> {
  const { flags } = invocation;
  const [channelName, topic, message, since] = ['channel', 'topic', 'message', 'since'].map((name) => flags.get(name));
  if (channelName === undefined && message === undefined && since === undefined) {
    throw new StartupError('Which messages? Name them by --channel, --message or --since.');
  }
  if (topic !== undefined && channelName === undefined) throw new StartupError('--topic needs --channel.');
  if (message !== undefined && !/^[1-9]\d{0,9}$/.test(message)) throw new StartupError('--message must be an id.');
  const sinceMs = since === undefined ? null : Date.parse(since);
  if (Number.isNaN(sinceMs)) throw new StartupError('--since must be a date such as 2026-07-31 or 2026-07-31T12:00Z.');
  requireDatabase(invocation);
  await withParley(invocation, async (parley) => {
    const realm = await findRealm(parley, invocation);
    const channel =
      channelName === undefined
        ? null
        : await parley.ports.unitOfWork.read(({ channels }) => channels.findByName(realm.id, channelName));
    if (channelName !== undefined && !channel) throw new StartupError(`There is no channel ${channelName}.`);
    const isDryRun = flags.get('dry-run') === 'on';
    const count = await parley.useCase(RestoreMessages).execute({
      realmId: realm.id,
      selection: {
        messageId: message === undefined ? null : (Number(message) as MessageId),
        channelId: channel?.id ?? null,
        topicKey: topic === undefined ? null : topicKey(normalizeTopic(topic)),
        since: sinceMs === null ? null : Math.floor(sinceMs / 1000),
      },
      isDryRun,
    });
    terminal.out(`${isDryRun ? 'Would put back' : 'Put back'} ${count} deleted messages of ${describe(realm)}`);
  });
}

async function exportRealm(invocation: Invocation, terminal: Terminal): Promise<void> {
  const [path] = invocation.positionals as [string];
  requireDatabase(invocation);
  if (existsSync(path)) throw new StartupError(`There is a file ${path} already.`);
  if (!existsSync(dirname(resolve(path)))) throw new StartupError(`There is no folder for ${path}.`);
  await withParley(invocation, async (parley) => {
    const realm = await findRealm(parley, invocation);
    const messages = await exportToFile(parley, realm.id, path, progressOn(terminal, 'Exported'));
    terminal.out(`Exported ${describe(realm)} with ${messages} messages to ${path}`);
  });
}

async function importRealm(invocation: Invocation, terminal: Terminal): Promise<void> {
  const [path] = invocation.positionals as [string];
  if (!existsSync(path)) throw new StartupError(`There is no file ${path}.`);
  const stringId = invocation.flags.get('as') ?? null;
  await withParley(invocation, async (parley) => {
    const temporaryFolder = dirname(invocation.configuration.database.path);
    const { source, isOwn, close } = await openExport(path, { names: COLUMN_NAMES, temporaryFolder });
    try {
      const onProgress = progressOn(terminal, 'Imported');
      const output = await parley.useCase(ImportRealm).execute({ source, stringId, onProgress });
      const { realm, users, channels, messages, files, missingFiles } = output;
      terminal.out(
        `Imported ${describe(realm)}${isOwn ? '' : ' from a Zulip server'}: ${users} users, ${channels} channels, ` +
          `${messages} messages, ${files} files; reached at ${parley.ports.realmUrls.urlOf(realm)}`,
      );
      if (missingFiles > 0) terminal.err(`parley: the bytes of ${missingFiles} files were not in the export`);
      terminal.out('Nobody has a password or an API key that they know: see docs/export.md.');
    } finally {
      await close();
    }
  });
}

/** Says now and then how far something has come. */
function progressOn(terminal: Terminal, what: string): (messages: number) => void {
  let said = 0;
  return (messages) => {
    if (messages - said < MESSAGES_BETWEEN_LINES) return;
    said = messages;
    terminal.out(`${what} ${messages} messages …`);
  };
}

const MESSAGES_BETWEEN_LINES = 100_000;

async function rebuildSearch(invocation: Invocation, terminal: Terminal): Promise<void> {
  requireDatabase(invocation);
  await withParley(invocation, async ({ useCase }) => {
    const index = useCase(IndexMessages);
    await index.reset();
    while (await index.execute());
    terminal.out('Searches find every message again.');
  });
}

function parseRole(text: string): Role {
  const role = ROLES.find((it) => it === text);
  if (!role) throw new StartupError(`--role must be one of ${ROLES.join(', ')}.`);
  return role;
}

/** The one that was named; else the only one. */
async function findRealm({ ports }: ComposedParley, { flags }: Invocation): Promise<Realm> {
  const realms = await ports.unitOfWork.read((repositories) => repositories.realms.list());
  const named = flags.get('realm');
  const realm = named === undefined && realms.length === 1 ? realms[0] : realms.find((it) => it.stringId === named);
  if (realm) return realm;
  if (realms.length === 0) throw noRealm();
  const known = realms.map(({ stringId }) => `'${stringId}'`).join(', ');
  throw new StartupError(`--realm must be one of ${known}.`);
}

const describe = ({ stringId, name }: Realm): string => (stringId === '' ? name : `${stringId} (${name})`);

const noRealm = () => new StartupError('There is no organization yet; see parley create-realm.');

const hasDatabase = ({ configuration }: Invocation): boolean => existsSync(configuration.database.path);

/** Whoever needs an organization makes no database in which there is none. */
function requireDatabase(invocation: Invocation): void {
  if (!hasDatabase(invocation)) throw noRealm();
}

/** Where the server is reached, as far as a command beside it can know. */
function addressesOf({ configuration }: Invocation): { readonly url: string; readonly defaultRealm: string | null } {
  const { url, port, defaultRealm } = configuration;
  return { url: url ?? `http://localhost:${port}`, defaultRealm };
}

/** On the database, beside a server that may be running. */
async function withParley(invocation: Invocation, work: (parley: ComposedParley) => Promise<void>): Promise<void> {
  const parley = await openParley(
    { ...invocation.configuration, ...addressesOf(invocation) },
    { logger: silentLogger, acceptsNewSecret: acceptsNewSecret(invocation) },
  );
  try {
    await work(parley);
  } finally {
    await parley.close();
  }
}

const SECOND_THOUGHTS_MS = 1000;

const processTerminal: Terminal = {
  out: (line) => console.log(line),
  err: (line) => console.error(line),
  readInput: () => text(process.stdin),
  interrupted: () =>
    new Promise((resolve) => {
      let askedAt = 0;
      const ask = () => {
        if (askedAt === 0) askedAt = performance.now();
        // npm hands on a Ctrl-C that we have had already; whoever asks again later does not want to wait.
        else if (performance.now() - askedAt > SECOND_THOUGHTS_MS) process.exit(1);
        resolve();
      };
      for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, ask);
      // The terminal it was started from may go; it stays.
      process.on('SIGHUP', () => {});
    }),
};
