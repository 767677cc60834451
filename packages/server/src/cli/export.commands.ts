import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { ImportRealm } from '@parley/domain/exports';
import { openExport } from '@parley/export-files';
import { COLUMN_NAMES } from '../exports/column-names.js';
import { exportToFile } from '../exports/export-to-file.js';
import { StartupError } from '../startup-error.js';
import type { Command, CommandContext, CommandResult, Terminal } from './command.js';
import { findRealm, NEW_DATABASE, nameOf, REALM } from './databases.js';

async function exportRealm(context: CommandContext): Promise<CommandResult> {
  const path = context.words[0]!;
  if (existsSync(path)) throw new StartupError(`There is a file ${path} already.`);
  if (!existsSync(dirname(resolve(path)))) throw new StartupError(`There is no folder for ${path}.`);
  context.terminal.comeAfterServer();
  return context.withParley(async (parley) => {
    const realm = await findRealm(parley, context.flag('realm'));
    const messages = await exportToFile(parley, realm.id, path, progressOn(context.terminal, 'Exported'));
    return {
      lines: [`Exported ${nameOf(realm)} with ${messages} messages to ${path}`],
      data: { id: realm.id, stringId: realm.stringId, messages, file: path },
    };
  });
}

async function importRealm(context: CommandContext): Promise<CommandResult> {
  const path = context.words[0]!;
  if (!existsSync(path)) throw new StartupError(`There is no file ${path}.`);
  return context.withParley(async (parley) => {
    const temporaryFolder = dirname(resolve(context.invocation.configuration.database.path));
    const { source, isOwn, close } = await openExport(path, { names: COLUMN_NAMES, temporaryFolder });
    try {
      const onProgress = progressOn(context.terminal, 'Imported');
      const stringId = context.flag('as') ?? null;
      const { realm, ...counts } = await parley.useCase(ImportRealm).execute({ source, stringId, onProgress });
      const { users, channels, messages, files, missingFiles, missingPictures } = counts;
      const url = parley.ports.realmUrls.urlOf(realm);
      return {
        lines: [
          `Imported ${nameOf(realm)}${isOwn ? '' : ' from a Zulip server'}: ${users} users, ${channels} channels, ` +
            `${messages} messages, ${files} files; reached at ${url}`,
          ...(missingFiles > 0 ? [`The bytes of ${missingFiles} files were not in the export.`] : []),
          ...(missingPictures > 0 ? [`${missingPictures} pictures were not in the export, or cannot be shown.`] : []),
          'Passwords are not in exports: see parley user set-password.',
        ],
        data: { id: realm.id, stringId: realm.stringId, url, ...counts },
      };
    } finally {
      await close();
    }
  });
}

const MESSAGES_BETWEEN_LINES = 100_000;

/** Says now and then how far something has come; apart from the result, which programs may read. */
function progressOn(terminal: Terminal, what: string): (messages: number) => void {
  let said = 0;
  return (messages) => {
    if (messages - said < MESSAGES_BETWEEN_LINES) return;
    said = messages;
    terminal.err(`${what} ${messages} messages …`);
  };
}

export const EXPORT_COMMANDS: readonly Command[] = [
  {
    name: 'export',
    words: 'FILE',
    help: 'writes everything of an organization into a .tar.gz file that a server can import',
    details: 'The server may be running. Everything that people said in private is in the file.',
    flags: REALM,
    examples: ['parley export acme.tar.gz --realm=acme'],
    run: exportRealm,
  },
  {
    name: 'import',
    words: 'FILE',
    help: 'makes an organization of an export, of Parley or of a Zulip server',
    details: 'A .tar.gz file, or the folder that it was unpacked to. Nothing is kept of an import that fails.',
    flags: { as: { value: 'STRING_ID', help: 'another string id than it had' }, ...NEW_DATABASE },
    examples: ['parley import acme.tar.gz', 'parley import zulip-export.tar.gz --as=acme --new-database'],
    run: importRealm,
  },
];
