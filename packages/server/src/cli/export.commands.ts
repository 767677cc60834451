import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, resolve } from 'node:path';
import { RealmReader } from '@parley/transfer/exports';
import { ImportRealm } from '@parley/transfer/imports';
import { COLUMN_NAMES } from '../exports/column-names.js';
import { exportToFile } from '../exports/write-exports.js';
import { counted } from '../kernel/counted.js';
import { StartupError, UsageError } from '../kernel/startup-error.js';
import { always, type Command, type CommandContext, type CommandResult, EXIT_CODES } from './command.js';
import { nameOf, realmCommand } from './command-subjects.js';
import { NEW_DATABASE } from './databases.js';
import { DOWNLOAD } from './import.commands.js';
import { progressOn } from './progress.js';

/** @throws StartupError */
export function requireNewFile(path: string): string {
  if (existsSync(path)) throw new StartupError(`${path} already exists.`);
  if (!existsSync(dirname(resolve(path)))) throw new StartupError(`The folder of ${path} does not exist.`);
  return path;
}

/** Returns the path of a new file that the command writes for long. @throws StartupError */
export function newFile({ word, terminal }: CommandContext, index: number): string {
  const path = requireNewFile(word(index));
  terminal.comeAfterServer();
  return path;
}

/** Imports an archive of Parley or Zulip as a new organization. */
async function importArchive(context: CommandContext, path: string): Promise<CommandResult> {
  return context.withParley(async (parley) => {
    const { database } = context.invocation.configuration;
    const temporaryFolder = database.kind === 'sqlite' ? dirname(resolve(database.path)) : tmpdir();
    const { openExport } = await import('@parley/export-files');
    const { source, isOwn, close } = await openExport(path, { names: COLUMN_NAMES, temporaryFolder });
    try {
      const onProgress = progressOn(context.terminal, 'Imported');
      const stringId = context.flag('realm') ?? context.flag('as') ?? null;
      const { realm, ...counts } = await parley.useCase(ImportRealm).execute({ source, stringId, onProgress });
      const { users, channels, messages, files, missingFiles, missingPictures, dropped } = counts;
      const url = parley.ports.realmUrls.urlOf(realm);
      return {
        lines: [
          `Imported ${nameOf(realm)}${isOwn ? '' : ' from a Zulip server'}: ${counted(users, 'user')}, ${counted(channels, 'channel')}, ` +
            `${counted(messages, 'message')}, ${counted(files, 'file')}; at ${url}`,
          ...(missingFiles > 0 ? [`The export lacks the content of ${counted(missingFiles, 'file')}.`] : []),
          ...(missingPictures > 0
            ? [`Images that are missing from the export or cannot be decoded: ${missingPictures}`]
            : []),
          ...dropped.slice(0, MAX_SHOWN).map((each) => `Not imported: ${each}`),
          ...(dropped.length > MAX_SHOWN ? [`${dropped.length - MAX_SHOWN} more parts are not imported.`] : []),
          'Exports contain no passwords; see parley user set-password.',
        ],
        data: { id: realm.id, stringId: realm.stringId, url, ...counts },
      };
    } finally {
      await close();
    }
  });
}

/** Maximum number of findings in the output. */
const MAX_SHOWN = 1000;

export const EXPORT_COMMANDS: readonly Command[] = [
  realmCommand({
    name: 'export',
    words: 'FILE',
    help: 'writes an organization to a .tar.gz file that a server can import',
    details: 'The server may be running. The file contains all private messages.',
    examples: ['parley export acme.tar.gz --realm=acme'],
    input: (context) => newFile(context, 0),
    async run({ parley, realm, terminal }, path) {
      const messages = await exportToFile(
        parley.useCase(RealmReader),
        realm.id,
        path,
        progressOn(terminal, 'Exported'),
      );
      return {
        lines: [`Exported ${nameOf(realm)} with ${counted(messages, 'message')} to ${path}`],
        data: { id: realm.id, stringId: realm.stringId, messages, file: path },
      };
    },
  }),
  {
    name: 'export verify',
    words: 'FILE',
    help: 'compares the files in an export of held messages with their hashes, and exits with 3 if any differs',
    details: 'FILE is from parley hold export. Needs neither server nor database.',
    flags: {
      manifest: { value: 'SHA256', help: 'hash of the manifest that parley hold export printed' },
    },
    examples: [
      'parley export verify case12.zip --manifest 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
    ],
    isReadOnly: always,
    async run(context) {
      const path = context.word(0);
      if (!existsSync(path)) throw new StartupError(`${path} does not exist.`);
      const { verifyHeld } = await import('@parley/export-files');
      const result = await verifyHeld(path).catch((error: Error) => {
        throw new StartupError(`${path} is not an export of held messages: ${error.message}`);
      });
      const { entries, manifest, findings } = result;
      const known = context.flag('manifest');
      const isOther = known !== undefined && known.toLowerCase() !== manifest;
      return {
        lines: [
          ...findings.slice(0, MAX_SHOWN).map((finding) => `${finding.path}: ${finding.fault}`),
          ...(findings.length > MAX_SHOWN ? [`and ${counted(findings.length - MAX_SHOWN, 'other finding')}`] : []),
          `${counted(entries, 'file')} unchanged, ${counted(findings.length, 'finding')}`,
          `SHA-256 of the manifest: ${manifest}${isOther ? ', which differs from --manifest' : ''}`,
        ],
        data: { ...result, ...(known !== undefined && { isKnown: !isOther }) },
        exitCode: findings.length > 0 || isOther ? EXIT_CODES.found : EXIT_CODES.done,
      };
    },
  },
  {
    name: 'import',
    words: 'FILE',
    help: 'imports an export of Parley, of a Zulip server or of another system',
    details:
      'FILE is a .tar.gz file or a folder with its unpacked contents, an export of Slack, Mattermost, Rocket.Chat ' +
      '(mongodump), Microsoft Teams or Discord (DiscordChatExporter), or a .jsonl file of import records. ' +
      'All of them are imported into the organization if it exists: only what is new since the last import of the source. ' +
      'Otherwise they create it, and leave nothing behind if they fail. The server may be running.',
    flags: {
      realm: { value: 'STRING_ID', help: 'string id of the organization; required for exports without one' },
      as: { value: 'STRING_ID', help: 'same as --realm' },
      people: {
        value: 'FILE',
        help: 'CSV file with the columns person, email and name: accounts of people in the source',
      },
      'claim-by': {
        value: 'LIST',
        help:
          'who gets the account of a person who cannot log in: email (unverified in the source), or the system of the ' +
          'ids in the source: a log-in method, host (the application) or scim',
      },
      'share-public': {
        help: 'keeps public channels public although members of the organization who are not in the source can read them',
      },
      'on-behalf-of': {
        value: 'USER_ID',
        help: "imports what this owner may: within the limits of uploads, and without changes to objects of others' imports",
      },
      'dry-run': { help: 'reads everything, changes nothing and reports what would become of it' },
      ...DOWNLOAD,
      report: { value: 'FOLDER', help: 'writes the report to report.txt, report.json and report.html in a folder' },
      ...NEW_DATABASE,
    },
    examples: [
      'parley import acme.tar.gz',
      'parley import zulip-export.tar.gz --realm=acme --new-database',
      'parley import zulip-export.tar.gz --realm=acme --dry-run --report=report',
      'parley import slack-export.zip --realm=acme --people=people.csv --dry-run --report=report',
      'parley import records.jsonl --realm=acme --people=people.csv --dry-run --report=report',
    ],
    async run(context) {
      const path = context.word(0);
      if (!existsSync(path)) throw new StartupError(`${path} does not exist.`);
      const { isBackup } = await import('../backup/backup.js');
      if (await isBackup(path)) {
        throw new StartupError(`${path} is a backup of a whole server, not an export: use parley restore ${path}.`);
      }
      const { archiveReader, findReader, hasRealm, importRecords } = await import('./import-records.js');
      const stringId = context.flag('realm') ?? context.flag('as');
      const found = await findReader(path);
      const isMerge = !found && stringId !== undefined && (await hasRealm(context, stringId));
      const reader = isMerge ? archiveReader(context) : found;
      if (reader) return importRecords(context, reader, progressOn(context.terminal, 'Imported'));
      for (const name of [
        'people',
        'share-public',
        'claim-by',
        'on-behalf-of',
        'dry-run',
        'download',
        'token-file',
        'report',
      ]) {
        if (context.flag(name) !== undefined || context.isOn(name)) {
          throw new UsageError(
            `--${name} has no meaning for archives of Parley and Zulip that become an organization.`,
          );
        }
      }
      return importArchive(context, path);
    },
  },
];
