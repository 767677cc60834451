import {
  type DirectoryReport,
  IssueProvisioningToken,
  ListProvisioningTokens,
  RevokeProvisioningToken,
  SyncDirectory,
} from '@parley/domain/log-in';
import { counted } from '../kernel/counted.js';
import { UsageError } from '../kernel/startup-error.js';
import { type Command, EXIT_CODES } from './command.js';
import { nameOf, realmCommand, serverCommand } from './command-subjects.js';
import { timeOf } from './listed-lines.js';

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
  serverCommand({
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
    async run({ parley, words, isOn }) {
      const [name] = words;
      const directories = parley.ports.peopleDirectories.filter((each) => name === undefined || each.name === name);
      if (directories.length === 0 && name !== undefined) throw new UsageError(`There is no directory ${name}.`);
      const isDryRun = isOn('dry-run');
      const acceptsDeactivations = isOn('accept-deactivations');
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
    },
  }),
  realmCommand({
    name: 'scim token create',
    words: 'NAME',
    help: 'creates a token that lets a directory manage users and groups by SCIM 2.0',
    details: 'NAME appears in audit lines. The server may be running.',
    examples: ['parley scim token create okta'],
    async run({ parley, realm, word }) {
      const name = word(0);
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
    },
  }),
  realmCommand({
    name: 'scim token list',
    help: 'lists the SCIM tokens of an organization (creation time, name)',
    examples: ['parley scim token list'],
    isReadOnly: () => true,
    async run({ parley, realm: { id } }) {
      const tokens = (await parley.useCase(ListProvisioningTokens).execute(id)).map(({ name, createdAt }) => ({
        name,
        created: timeOf(createdAt),
      }));
      return { lines: tokens.map(({ name, created }) => `${created}\t${name}`), data: { tokens } };
    },
  }),
  realmCommand({
    name: 'scim token revoke',
    words: 'NAME',
    help: 'revokes a SCIM token with immediate effect',
    examples: ['parley scim token revoke okta'],
    async run({ parley, realm, word }) {
      const name = word(0);
      await parley.useCase(RevokeProvisioningToken).execute({ realmId: realm.id, name });
      return { lines: [`Revoked token '${name}' of ${nameOf(realm)}`], data: { name } };
    },
  }),
];
