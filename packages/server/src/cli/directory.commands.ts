import {
  type DirectoryReport,
  IssueProvisioningToken,
  ListProvisioningTokens,
  RevokeProvisioningToken,
  SyncDirectory,
} from '@parley/domain/log-in';
import { counted } from '../kernel/counted.js';
import { UsageError } from '../kernel/startup-error.js';
import { type Command, type CommandContext, type CommandResult, EXIT_CODES } from './command.js';
import { findRealm, nameOf, REALM } from './databases.js';

async function createToken(context: CommandContext): Promise<CommandResult> {
  const name = context.word(0);
  return context.withParley(async (parley) => {
    const realm = await findRealm(parley, context);
    const token = await parley.useCase(IssueProvisioningToken).execute({ realmId: realm.id, name });
    const url = `${parley.ports.realmUrls.urlOf(realm)}/scim/v2`;
    return {
      lines: [
        `Token '${name}' can manage users and groups of ${nameOf(realm)}. It is shown only once.`,
        `address: ${url}`,
        `token: ${token}`,
      ],
      data: { name, url, token },
    };
  });
}

async function listTokens(context: CommandContext): Promise<CommandResult> {
  return context.withParley(async (parley) => {
    const { id } = await findRealm(parley, context);
    const tokens = (await parley.useCase(ListProvisioningTokens).execute(id)).map(({ name, createdAt }) => ({
      name,
      created: new Date(createdAt * 1000).toISOString(),
    }));
    return { lines: tokens.map(({ name, created }) => `${created}\t${name}`), data: { tokens } };
  });
}

async function revokeToken(context: CommandContext): Promise<CommandResult> {
  const name = context.word(0);
  return context.withParley(async (parley) => {
    const realm = await findRealm(parley, context);
    await parley.useCase(RevokeProvisioningToken).execute({ realmId: realm.id, name });
    return { lines: [`Revoked token '${name}' of ${nameOf(realm)}`], data: { name } };
  });
}

async function sync(context: CommandContext): Promise<CommandResult> {
  const [name] = context.words;
  return context.withParley(async (parley) => {
    const directories = parley.ports.peopleDirectories.filter((each) => name === undefined || each.name === name);
    if (directories.length === 0 && name !== undefined) throw new UsageError(`There is no directory ${name}.`);
    const isDryRun = context.isOn('dry-run');
    const acceptsDeactivations = context.isOn('accept-deactivations');
    const lines: string[] = [];
    const reports: object[] = [];
    let exitCode: number = EXIT_CODES.done;
    for (const directory of directories) {
      const report = await parley.useCase(SyncDirectory).execute({ directory, isDryRun, acceptsDeactivations });
      lines.push(...linesOf(directory.name, report, isDryRun));
      reports.push({ directory: directory.name, ...report });
      if (report.stopped !== null && exitCode !== EXIT_CODES.failed) {
        exitCode = report.isAcceptable ? EXIT_CODES.found : EXIT_CODES.failed;
      }
    }
    if (directories.length === 0) lines.push('There is no directory; see PARLEY_LDAP in docs/log-in.md.');
    return { lines, data: { dryRun: isDryRun, directories: reports }, exitCode };
  });
}

function linesOf(name: string, report: DirectoryReport, isDryRun: boolean): readonly string[] {
  const { stopped, isAcceptable, people, counts, changes, problems } = report;
  const total = Object.entries(counts).map(([change, count]) => `${count} ${change}`);
  const done = isDryRun ? 'would be changed' : 'changed';
  return [
    ...(isDryRun || stopped !== null ? changes.map(({ email, change }) => `${change}\t${email}`) : []),
    ...problems.map(({ email, reason }) => `problem\t${email}\t${reason}`),
    stopped === null
      ? `${name}: ${counted(people, 'person', 'people')}; ${done}: ${total.join(', ')}`
      : `${name}: nothing was changed. ${stopped}${isAcceptable ? ' Use --accept-deactivations if this is intended.' : ''}`,
  ];
}

export const DIRECTORY_COMMANDS: readonly Command[] = [
  {
    name: 'directory sync',
    words: '[NAME]',
    help: 'synchronizes users with a directory (LDAP) and deactivates those who left; default: all directories',
    details:
      'Stops if this would deactivate more than 10 % of the users or the last owner. The server also does it on a schedule; it may be running.',
    flags: {
      'dry-run': { help: 'only shows what would change' },
      'accept-deactivations': { help: 'deactivates any number of users who left, except the last owner' },
    },
    examples: ['parley directory sync --dry-run', 'parley directory sync company'],
    isReadOnly: (flags) => flags.get('dry-run') === 'on',
    run: sync,
  },
  {
    name: 'scim token create',
    words: 'NAME',
    help: 'creates a token that lets a directory manage users and groups by SCIM 2.0',
    details: 'NAME appears in audit lines. The server may be running.',
    flags: REALM,
    examples: ['parley scim token create okta'],
    run: createToken,
  },
  {
    name: 'scim token list',
    help: 'lists the SCIM tokens of an organization (creation time, name)',
    flags: REALM,
    examples: ['parley scim token list'],
    isReadOnly: () => true,
    run: listTokens,
  },
  {
    name: 'scim token revoke',
    words: 'NAME',
    help: 'revokes a SCIM token with immediate effect',
    flags: REALM,
    examples: ['parley scim token revoke okta'],
    run: revokeToken,
  },
];
